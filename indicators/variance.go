package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indVariance = volatile(Indicator{
	Name: "variance", Title: "Variance", Aliases: []string{"var"}, Category: Statistics,
	Doc:     "Variance of the last prices (population: divided by n). As in TA-Lib.",
	Formula: "σ² = Σ(x - mean)² / n",
	Params:  []Param{lengthFrom(2, 20), source()},
	Warmup:  usually(windowWarmup),
}, "Variance", func(s *market.Series, a Args) []float64 { return kernel.Variance(column(s, a), a.Int("length")) })
