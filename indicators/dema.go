package indicators

import "wick/indicators/kernel"

// Attributed to Patrick G. Mulloy, "Smoothing Data with Faster Moving Averages",
// Technical Analysis of Stocks & Commodities, January 1994; TEMA is his too.
var indDEMA = overPrice(Indicator{
	Name: "dema", Title: "DEMA", Also: []string{"moving_average_double"}, Aliases: []string{"double_ema"}, Category: Trend,
	Doc:     "Double exponential average: twice an exponential average less the average of it, which cancels most of its lag. As in TA-Lib.",
	Formula: "DEMA = 2*EMA(x) - EMA(EMA(x))",
	Params:  []Param{length(20), source()},
	Warmup:  func(a Args) int { return kernel.AverageWarmup("dema", a.Int("length")) },
}, "DEMA", func(x []float64, a Args) []float64 { return kernel.DEMA(x, a.Int("length")) })
