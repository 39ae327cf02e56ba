package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indBias = aroundZero(Indicator{
	Name: "bias", Title: "Bias", Aliases: []string{"disparity_index", "disparity"}, Category: Momentum,
	Doc:     "Bias, or disparity index: by how many percent the price is above or below its simple average.",
	Formula: "bias = 100 * (x / SMA(x, n) - 1)",
	Params:  []Param{length(26), source()},
	Warmup:  changeWarmup,
}, "Bias", func(s *market.Series, a Args) []float64 {
	x := column(s, a)
	mean := kernel.SMA(x, a.Int("length"))
	return kernel.Ratio(kernel.Minus(x, mean), mean, 100)
})
