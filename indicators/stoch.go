package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to George C. Lane, "Lane's Stochastics", Technical Analysis of Stocks &
// Commodities, 1984; he taught it from the fifties on.
var indStoch = Indicator{
	Name: "stoch", Title: "Stoch", Aliases: []string{"stochastic", "slow_stochastic", "stochastic_slow"}, Category: Momentum, Beyond: true,
	Doc:     "Lane's slow stochastic: where the close lies in the range of the last bars, 0 to 100, smoothed, with its own average. As in TA-Lib: both lines begin together, 0 when there is no range. The default length is TradingView's.",
	Formula: "%K = average(100 * (close - lowest low) / (highest high - lowest low)); %D = average(%K)",
	Params: slices.Concat([]Param{
		bars("length", 14, "bars in the range", "period", "len", "window", "k_length", "k_period", "k", "fastk_period", "stoch_k"),
		bars("smooth", 3, "average that makes %K", "smooth_k", "k_smooth", "slowk_period", "slowing", "stoch_smooth"),
		bars("d", 3, "average that makes %D", "d_length", "d_period", "d_smooth", "slowd_period", "smooth_d", "stoch_d"),
		averageType("k_type", "sma", "kind of average for %K", "slowk_matype"), averageType("d_type", "sma", "kind of average for %D", "slowd_matype"),
	}, zone(20, 80, 0, 100), divParams()),
	Signals: append([]string{shape.CrossUp, shape.CrossDown, shape.CrossUpOS, shape.CrossDownOB}, divSignals...),
	Warmup: func(a Args) int {
		return a.Int("length") + kernel.AverageWarmup(a.Choice("k_type"), a.Int("smooth")) + kernel.AverageWarmup(a.Choice("d_type"), a.Int("d"))
	},
	Compute: func(s *market.Series, a Args) *Result {
		k := kernel.Average(a.Choice("k_type"), kernel.Stochastic(s.Close, s.High, s.Low, a.Int("length")), a.Int("smooth"))
		d := kernel.Average(a.Choice("d_type"), k, a.Int("d"))
		// As in TA-Lib %K is not shown before %D.
		k = kernel.From(k, kernel.FirstValid(d))
		r := stochResult(k, d, a)
		addDivergences(r, s, k, a)
		return r
	},
}

// stochResult draws the two lines and marks their crossings, by zone where %D
// lies in one.
func stochResult(k, d []float64, a Args) *Result {
	lo, hi := a.Float("oversold"), a.Float("overbought")
	r := &Result{
		YRange: &[2]float64{0, 100},
		Lines:  []Line{{Label: "%K", Tone: Primary, Values: k}, {Label: "%D", Tone: Second, Values: d}},
		HLines: []HLine{{Y: hi}, {Y: lo}},
	}
	if !a.linesOnly {
		r.Signals = shape.ZonedCrossings(k, d, lo, hi)
	}
	return r
}
