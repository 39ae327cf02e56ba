package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indStdDev = volatile(Indicator{
	Name: "stddev", Title: "StdDev", Aliases: []string{"stdev", "standard_deviation"}, Category: Statistics,
	Doc:     "Standard deviation of the last prices (population: divided by n), times a factor. As in TA-Lib.",
	Formula: "σ = sqrt(Σ(x - mean)² / n) * mult",
	Params:  []Param{lengthFrom(2, 20), quiet(factor("mult", 1, 0.01, 100, "factor", "nbdev", "multiplier", "deviation")), source()},
	Warmup:  usually(windowWarmup),
}, "StdDev", func(s *market.Series, a Args) []float64 {
	return kernel.Scaled(kernel.StdDev(column(s, a), a.Int("length")), a.Float("mult"))
})
