package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Tushar S. Chande and Stanley Kroll, "The New Technical Trader", 1994.
var indStochRSI = Indicator{
	Name: "stoch_rsi", Title: "Stoch RSI", Aliases: []string{"srsi", "stochrsi", "stochastic_rsi"}, Category: Momentum, Beyond: true,
	Doc: "Where the RSI lies in its own range of the last bars, 0 to 100. The variant tradingview smooths %K, as TradingView and most; the variant talib does not, " +
		"and begins both lines together, as TA-Lib.",
	Formula: "%K = SMA(100 * (RSI - lowest RSI) / (highest RSI - lowest RSI), k); %D = average(%K, d); talib: k = 1",
	Params: slices.Concat([]Param{
		bars("rsi_length", 14, "changes in the RSI", "rsi_period", "rsi", "timeperiod", "length", "period"),
		bars("stoch_length", 14, "bars in the range", "stoch_period", "stoch", "fastk_period"),
		bars("k", 3, "average that makes %K", "k_length", "smooth_k", "k_smooth", "smooth"), bars("d", 3, "average that makes %D", "d_length", "smooth_d", "d_smooth", "fastd_period"),
		averageType("d_type", "sma", "kind of average for %D", "fastd_matype"), choice("variant", "whose definition", "tradingview", "talib"),
	}, zone(20, 80, 0, 100), []Param{source()}),
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.CrossUpOS, shape.CrossDownOB},
	Warmup: func(a Args) int {
		// More than the RSI alone needs: a narrow range magnifies what is left of its
		// start.
		return 32*a.Int("rsi_length") + a.Int("stoch_length") + a.Int("k") + kernel.AverageWarmup(a.Choice("d_type"), a.Int("d"))
	},
	Compute: func(s *market.Series, a Args) *Result {
		rsi := kernel.RSI(column(s, a), a.Int("rsi_length"))
		if a.Choice("variant") == "talib" {
			// TA-Lib does not smooth %K and shows it only where there is a %D.
			k := kernel.Stochastic(rsi, rsi, rsi, a.Int("stoch_length"))
			d := kernel.Average(a.Choice("d_type"), k, a.Int("d"))
			return stochResult(kernel.From(k, kernel.FirstValid(d)), d, a)
		}
		// TradingView's ranges take in the bar before the first RSI and pass
		// over it: the first range is one value short.
		ranges := slices.Clone(rsi)
		if first := kernel.FirstValid(rsi); first < len(rsi) {
			ranges[first-1] = rsi[first]
		}
		k := kernel.SMA(kernel.Stochastic(rsi, ranges, ranges, a.Int("stoch_length")), a.Int("k"))
		return stochResult(k, kernel.Average(a.Choice("d_type"), k, a.Int("d")), a)
	},
}
