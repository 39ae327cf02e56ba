package indicators

import (
	"slices"

	"wick/market"
)

var indStoch = Indicator{
	Name: "stoch", Title: "Stoch", Aliases: []string{"stochastic", "slow_stochastic", "stochastic_slow"}, Category: Momentum,
	Doc:     "Lane's slow stochastic: where the close lies in the range of the last bars, 0 to 100, smoothed, with its own average. As in TA-Lib: both lines begin together, 0 when there is no range. The default length is TradingView's.",
	Formula: "%K = average(100 * (close - lowest low) / (highest high - lowest low)); %D = average(%K)",
	Params: slices.Concat([]Param{
		bars("length", 14, "bars in the range", "period", "len", "window", "k_length", "k_period", "k", "fastk_period", "stoch_k"),
		bars("smooth", 3, "average that makes %K", "smooth_k", "k_smooth", "slowk_period", "slowing", "stoch_smooth"),
		bars("d", 3, "average that makes %D", "d_length", "d_period", "d_smooth", "slowd_period", "smooth_d", "stoch_d"),
		averageType("k_type", "sma", "kind of average for %K", "slowk_matype"), averageType("d_type", "sma", "kind of average for %D", "slowd_matype"),
	}, zone(20, 80, 0, 100), divParams()),
	Signals: append([]string{CrossUp, CrossDown, CrossUpOS, CrossDownOB}, divSignals...),
	Warmup: func(a Args) int {
		return a.Int("length") + averageWarmup(a.Choice("k_type"), a.Int("smooth")) + averageWarmup(a.Choice("d_type"), a.Int("d"))
	},
	Compute: func(s *market.Series, a Args) *Result {
		k := average(a.Choice("k_type"), stochastic(s.Close, s.High, s.Low, a.Int("length")), a.Int("smooth"))
		d := average(a.Choice("d_type"), k, a.Int("d"))
		k = from(k, firstValid(d))
		r := stochResult(k, d, a)
		addDivergences(r, s, k, a)
		return r
	},
}

var indStochF = Indicator{
	Name: "stochf", Title: "Fast Stoch", Aliases: []string{"fast_stochastic", "stochastic_fast", "stoch_fast"}, Category: Momentum,
	Doc:     "Lane's fast stochastic: where the close lies in the range of the last bars, 0 to 100, unsmoothed, with its average. As in TA-Lib: both lines begin together.",
	Formula: "%K = 100 * (close - lowest low) / (highest high - lowest low); %D = average(%K)",
	Params: slices.Concat([]Param{
		bars("length", 5, "bars in the range", "period", "len", "window", "k_length", "k_period", "k", "fastk_period"),
		bars("d", 3, "average that makes %D", "d_length", "d_period", "d_smooth", "fastd_period", "smooth_d"),
		averageType("d_type", "sma", "kind of average for %D", "fastd_matype"),
	}, zone(20, 80, 0, 100)),
	Signals: []string{CrossUp, CrossDown, CrossUpOS, CrossDownOB},
	Warmup:  func(a Args) int { return a.Int("length") + averageWarmup(a.Choice("d_type"), a.Int("d")) },
	Compute: func(s *market.Series, a Args) *Result {
		k := stochastic(s.Close, s.High, s.Low, a.Int("length"))
		d := average(a.Choice("d_type"), k, a.Int("d"))
		return stochResult(from(k, firstValid(d)), d, a)
	},
}

var indStochRSI = Indicator{
	Name: "stoch_rsi", Title: "Stoch RSI", Aliases: []string{"srsi", "stochrsi", "stochastic_rsi"}, Category: Momentum,
	Doc: "Where the RSI lies in its own range of the last bars, 0 to 100. The variant tradingview smooths %K, as TradingView and most; the variant talib does not, " +
		"and begins both lines together, as TA-Lib.",
	Formula: "%K = SMA(100 * (RSI - lowest RSI) / (highest RSI - lowest RSI), k); %D = average(%K, d); talib: k = 1",
	Params: slices.Concat([]Param{
		bars("rsi_length", 14, "changes in the RSI", "rsi_period", "rsi", "timeperiod", "length", "period"),
		bars("stoch_length", 14, "bars in the range", "stoch_period", "stoch", "fastk_period"),
		bars("k", 3, "average that makes %K", "k_length", "smooth_k", "k_smooth", "smooth"), bars("d", 3, "average that makes %D", "d_length", "smooth_d", "d_smooth", "fastd_period"),
		averageType("d_type", "sma", "kind of average for %D", "fastd_matype"), choice("variant", "whose definition", "tradingview", "talib"),
	}, zone(20, 80, 0, 100), []Param{source()}),
	Signals: []string{CrossUp, CrossDown, CrossUpOS, CrossDownOB},
	Warmup: func(a Args) int {
		return wilderMemory*a.Int("rsi_length") + a.Int("stoch_length") + a.Int("k") + averageWarmup(a.Choice("d_type"), a.Int("d"))
	},
	Compute: func(s *market.Series, a Args) *Result {
		rsi := wilderRSI(column(s, a), a.Int("rsi_length"))
		if a.Choice("variant") == "talib" {
			k := stochastic(rsi, rsi, rsi, a.Int("stoch_length"))
			d := average(a.Choice("d_type"), k, a.Int("d"))
			return stochResult(from(k, firstValid(d)), d, a)
		}
		// TradingView's ranges take in the bar before the first RSI and pass
		// over it: the first range is one value short.
		ranges := slices.Clone(rsi)
		if first := firstValid(rsi); first < len(rsi) {
			ranges[first-1] = rsi[first]
		}
		k := sma(stochastic(rsi, ranges, ranges, a.Int("stoch_length")), a.Int("k"))
		return stochResult(k, average(a.Choice("d_type"), k, a.Int("d")), a)
	},
}

// stochastic returns where x lies between the lowest of low and the highest of
// high of the last n bars, 0 to 100; 0 where there is no range.
func stochastic(x, high, low []float64, n int) []float64 {
	out, bottom := highest(high, n), lowest(low, n)
	for i, top := range out {
		if lo := bottom[i]; top != lo {
			out[i] = 100 * (x[i] - lo) / (top - lo)
		} else {
			out[i] = 0
		}
	}
	return out
}

// stochResult draws the two lines and marks their crossings, by zone where %D
// lies in one.
func stochResult(k, d []float64, a Args) *Result {
	lo, hi := a.Float("oversold"), a.Float("overbought")
	return &Result{
		YRange:  &[2]float64{0, 100},
		Lines:   []Line{{Label: "%K", Tone: Primary, Values: k}, {Label: "%D", Tone: Second, Values: d}},
		HLines:  []HLine{{Y: hi}, {Y: lo}},
		Signals: zonedCrossings(k, d, lo, hi),
	}
}
