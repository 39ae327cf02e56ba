package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indBias = Indicator{
	Name: "bias", Title: "Bias", Aliases: []string{"disparity_index", "disparity"}, Category: Momentum,
	Doc:     "Bias, or disparity index: by how many percent the price is above or below its simple average.",
	Formula: "bias = 100 * (x / SMA(x, n) - 1)",
	Params:  []Param{length(26), source()},
	Signals: []string{shape.ZeroUp, shape.ZeroDown},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		mean := kernel.SMA(x, a.Int("length"))
		return shape.ZeroPanel("Bias", kernel.Ratio(kernel.Minus(x, mean), mean, 100))
	},
}
