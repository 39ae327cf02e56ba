package indicators

import "wick/indicators/kernel"

var indSMA = overPrice(Indicator{
	Name: "sma", Title: "SMA", Also: []string{"moving_average_simple"}, Aliases: []string{"moving_average", "simple_ma"}, Category: Trend,
	Doc:     "Simple moving average: the mean of the last prices. As in TA-Lib, with TradingView's usual length.",
	Formula: "SMA = (x[0] + … + x[n-1]) / n",
	Params:  []Param{length(20), source(), offset()},
	Warmup:  displaced(windowWarmup),
}, "SMA", func(x []float64, a Args) []float64 {
	return kernel.Shift(kernel.SMA(x, a.Int("length")), a.Int("offset"))
})
