package indicators

import "wick/indicators/kernel"

var indMidpoint = overPrice(Indicator{
	Name: "midpoint", Title: "Midpoint", Category: Trend,
	Doc:     "Middle between the highest and the lowest of the last prices. As in TA-Lib.",
	Formula: "midpoint = (highest(x, n) + lowest(x, n)) / 2",
	Params:  []Param{length(14), source()},
	Warmup:  windowWarmup,
}, "Midpoint", func(x []float64, a Args) []float64 {
	return kernel.Midway(kernel.Highest(x, a.Int("length")), kernel.Lowest(x, a.Int("length")))
})
