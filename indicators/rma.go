package indicators

import "wick/indicators/kernel"

// Attributed to J. Welles Wilder, "New Concepts in Technical Trading Systems", 1978,
// where it smooths the RSI and the true range.
var indRMA = overPrice(Indicator{
	Name: "rma", Title: "RMA", Also: []string{"smma", "smoothed_moving_average", "wilders"}, Aliases: []string{"smma", "wilder", "wilders", "wilder_ma", "wsma", "modified_ma", "smoothed_ma"},
	Category: Trend,
	Doc:      "Wilder's smoothed moving average, the one inside RSI and ATR: slower than an exponential average of the same length. Seeded with the mean of the first values, as TradingView's ta.rma.",
	Formula:  "RMA = RMA[1] + (x - RMA[1]) / n",
	Params:   []Param{length(14), source()},
	Warmup:   wilderWarmup,
}, "RMA", func(x []float64, a Args) []float64 { return kernel.RMA(x, a.Int("length")) })
