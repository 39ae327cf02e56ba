package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indStochF = Indicator{
	Name: "stochf", Title: "Fast Stoch", Aliases: []string{"fast_stochastic", "stochastic_fast", "stoch_fast"}, Category: Momentum, Beyond: true,
	Doc:     "Lane's fast stochastic: where the close lies in the range of the last bars, 0 to 100, unsmoothed, with its average. As in TA-Lib: both lines begin together.",
	Formula: "%K = 100 * (close - lowest low) / (highest high - lowest low); %D = average(%K)",
	Params: slices.Concat([]Param{
		bars("length", 5, "bars in the range", "period", "len", "window", "k_length", "k_period", "k", "fastk_period"),
		bars("d", 3, "average that makes %D", "d_length", "d_period", "d_smooth", "fastd_period", "smooth_d"),
		averageType("d_type", "sma", "kind of average for %D", "fastd_matype"),
	}, zone(20, 80, 0, 100)),
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.CrossUpOS, shape.CrossDownOB},
	Warmup:  func(a Args) int { return a.Int("length") + kernel.AverageWarmup(a.Choice("d_type"), a.Int("d")) },
	Compute: func(s *market.Series, a Args) *Result {
		k := kernel.Stochastic(s.Close, s.High, s.Low, a.Int("length"))
		d := kernel.Average(a.Choice("d_type"), k, a.Int("d"))
		return stochResult(kernel.From(k, kernel.FirstValid(d)), d, a)
	},
}
