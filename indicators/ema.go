package indicators

import "wick/indicators/kernel"

// The seed is remembered for long: n bars after it, e^-2 or a seventh of it is left.
var indEMA = overPrice(Indicator{
	Name: "ema", Title: "EMA", Also: []string{"moving_average_exponential"}, Aliases: []string{"exp_ma", "xma", "exponential_ma", "exponential_moving_average"}, Category: Trend,
	Doc:     "Exponential moving average: every older price weighs less by the same factor. As in TA-Lib, seeded with the mean of the first n prices.",
	Formula: "EMA = EMA[1] + 2/(n+1) * (x - EMA[1])",
	Params:  []Param{length(20), source(), offset()},
	Warmup:  displaced(emaWarmup),
}, "EMA", func(x []float64, a Args) []float64 {
	return kernel.Shift(kernel.EMA(x, a.Int("length")), a.Int("offset"))
})
