package indicators

import "wick/indicators/kernel"

var indTEMA = overPrice(Indicator{
	Name: "tema", Title: "TEMA", Also: []string{"moving_average_triple"}, Aliases: []string{"triple_ema"}, Category: Trend,
	Doc:     "Triple exponential average: three exponential averages in a row, combined so that most of the lag cancels. As in TA-Lib.",
	Formula: "TEMA = 3*e1 - 3*e2 + e3, e1 = EMA(x), e2 = EMA(e1), e3 = EMA(e2)",
	Params:  []Param{length(20), source()},
	Warmup:  func(a Args) int { return kernel.AverageWarmup("tema", a.Int("length")) },
}, "TEMA", func(x []float64, a Args) []float64 { return kernel.TEMA(x, a.Int("length")) })
