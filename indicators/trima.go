package indicators

import "wick/indicators/kernel"

var indTRIMA = overPrice(Indicator{
	Name: "trima", Title: "TRIMA", Aliases: []string{"triangular_ma", "tma"}, Category: Trend,
	Doc:     "Triangular average: a simple average of a simple average, so that the middle of the window weighs most. As in TA-Lib.",
	Formula: "TRIMA = SMA(SMA(x, (n+1)/2), n/2+1), divisions rounded down",
	Params:  []Param{length(20), source()},
	Warmup:  windowWarmup,
}, "TRIMA", func(x []float64, a Args) []float64 { return kernel.TRIMA(x, a.Int("length")) })
