package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
)

var indMidpoint = Indicator{
	Name: "midpoint", Title: "Midpoint", Category: Trend, Overlay: true,
	Doc:     "Middle between the highest and the lowest of the last prices. As in TA-Lib.",
	Formula: "midpoint = (highest(x, n) + lowest(x, n)) / 2",
	Params:  []Param{length(14), source()},
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Warmup:  windowWarmup,
	Compute: overPrice("Midpoint", func(x []float64, a Args) []float64 {
		return kernel.Midway(kernel.Highest(x, a.Int("length")), kernel.Lowest(x, a.Int("length")))
	}),
}
