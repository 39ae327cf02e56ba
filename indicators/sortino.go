package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to Frank A. Sortino and Robert van der Meer, "Downside Risk", Journal of
// Portfolio Management, 1991, with a target of 0.
var indSortino = aroundZero(Indicator{
	Name: "sortino", Title: "Sortino", Aliases: []string{"sortino_ratio"}, Category: Statistics,
	Doc:     "Sortino ratio of the last returns, a year: their mean over the root of the mean square of the losses among them. The target is 0; no value where there was no loss.",
	Formula: "mean(r, n) / √(Σ min(r, 0)² / n) * √periods, r = x / x[1] - 1",
	Params:  returnParams(),
	Warmup:  crossingWarmup,
}, "Sortino", func(s *market.Series, a Args) []float64 {
	returns := kernel.Rate(column(s, a), 1, 1, -1)
	// Gains count as 0 in the mean square, and in the number it is divided by.
	losses := kernel.Lesser(returns, make([]float64, len(returns)))
	n := a.Int("length")
	return perRisk(kernel.SMA(returns, n), kernel.Scaled(kernel.RollingSum(kernel.Times(losses, losses), n), 1/float64(n)), perYear(s, a))
})
