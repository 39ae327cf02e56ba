package indicators

import "wick/indicators/kernel"

var indTSF = overPrice(Indicator{
	Name: "tsf", Title: "TSF", Aliases: []string{"time_series_forecast"}, Category: Trend,
	Doc:     "Time series forecast: the least-squares line through the last prices, one bar further. As in TA-Lib.",
	Formula: "TSF = a + b*n, a + b*k the least-squares line through x[n-1] … x[0] at k = 0 … n-1",
	Params:  []Param{lengthFrom(2, 14), source()},
	Warmup:  windowWarmup,
}, "TSF", func(x []float64, a Args) []float64 {
	end, slope := kernel.Regression(x, a.Int("length"))
	return kernel.Offset(end, slope, 1)
})
