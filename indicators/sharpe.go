package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to William F. Sharpe, "The Sharpe Ratio", Journal of Portfolio
// Management, 1994, of simple returns without a riskless rate.
var indSharpe = aroundZero(Indicator{
	Name: "sharpe", Title: "Sharpe", Aliases: []string{"sharpe_ratio"}, Category: Statistics,
	Doc:     "Sharpe ratio of the last returns, a year: their mean over their deviation (population). Without a riskless rate; no value where they did not vary.",
	Formula: "mean(r, n) / σ(r, n) * √periods, r = x / x[1] - 1",
	Params:  returnParams(),
	Warmup:  crossingWarmup,
}, "Sharpe", func(s *market.Series, a Args) []float64 {
	returns := kernel.Rate(column(s, a), 1, 1, -1)
	mean, variance := kernel.MeanVariance(returns, a.Int("length"))
	return perRisk(mean, variance, perYear(s, a))
})

// returnParams returns the parameters of ratios of returns.
func returnParams() []Param { return []Param{lengthFrom(2, 60), barsInYear(), source()} }

// perRisk returns mean / √variance * √periods, and no value where nothing varies.
func perRisk(mean, variance []float64, periods float64) []float64 {
	out := kernel.NaNs(len(mean))
	for i, m := range mean {
		if deviation := math.Sqrt(variance[i]); deviation > kernel.Rounding {
			out[i] = m / deviation * math.Sqrt(periods)
		}
	}
	return out
}
