package indicators

import "wick/indicators/kernel"

// Averaged over one whole cycle, the cycle itself adds up to nothing.
var indHTTrendline = overPrice(Indicator{
	Name: "ht_trendline", Title: "HT Trendline", Aliases: []string{"instantaneous_trend", "instantaneous_trendline", "htl"}, Category: Cycle,
	Doc:     "Ehlers' instantaneous trend line: the mean over one dominant cycle, which takes the cycle out of the price. As in TA-Lib.",
	Formula: "m = mean of the last p prices, p = cycle period; trend line = (4m + 3m[1] + 2m[2] + m[3]) / 10",
	Params:  []Param{source()},
	Warmup:  cycleWarmup,
}, "Trendline", func(x []float64, _ Args) []float64 { return kernel.CycleTrend(x) })
