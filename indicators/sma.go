package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
)

var indSMA = Indicator{
	Name: "sma", Title: "SMA", Also: []string{"moving_average_simple"}, Aliases: []string{"moving_average", "simple_ma"}, Category: Trend, Overlay: true,
	Doc:     "Simple moving average: the mean of the last prices. As in TA-Lib, with TradingView's usual length.",
	Formula: "SMA = (x[0] + … + x[n-1]) / n",
	Params:  []Param{length(20), source()},
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Warmup:  windowWarmup,
	Compute: overPrice("SMA", func(x []float64, a Args) []float64 { return kernel.SMA(x, a.Int("length")) }),
}
