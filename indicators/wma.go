package indicators

import "wick/indicators/kernel"

var indWMA = overPrice(Indicator{
	Name: "wma", Title: "WMA", Also: []string{"moving_average_weighted"}, Aliases: []string{"lwma", "linear_weighted", "weighted_ma", "weighted_moving_average"}, Category: Trend,
	Doc:     "Weighted moving average: weights fall in a straight line from the newest price to the oldest. As in TA-Lib.",
	Formula: "WMA = (n*x[0] + (n-1)*x[1] + … + x[n-1]) / (n*(n+1)/2)",
	Params:  []Param{length(20), source(), offset()},
	Warmup:  displaced(windowWarmup),
}, "WMA", func(x []float64, a Args) []float64 {
	return kernel.Shift(kernel.WMA(x, a.Int("length")), a.Int("offset"))
})
