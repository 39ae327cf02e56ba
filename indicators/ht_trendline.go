package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
)

// Averaged over one whole cycle, the cycle itself adds up to nothing.
var indHTTrendline = Indicator{
	Name: "ht_trendline", Title: "HT Trendline", Aliases: []string{"instantaneous_trend", "instantaneous_trendline", "htl"}, Category: Cycle, Overlay: true,
	Doc:     "Ehlers' instantaneous trend line: the mean over one dominant cycle, which takes the cycle out of the price. As in TA-Lib.",
	Formula: "m = mean of the last p prices, p = cycle period; trend line = (4m + 3m[1] + 2m[2] + m[3]) / 10",
	Params:  []Param{source()},
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Warmup:  cycleWarmup,
	Compute: overPrice("Trendline", func(x []float64, _ Args) []float64 { return kernel.CycleTrend(x) }),
}
