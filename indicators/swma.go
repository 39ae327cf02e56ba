package indicators

import "wick/indicators/kernel"

var indSWMA = overPrice(Indicator{
	Name: "swma", Title: "SWMA", Aliases: []string{"symmetric_weighted_ma", "symmetrically_weighted_ma"}, Category: Trend,
	Doc:     "Symmetrically weighted moving average of four bars, the middle two counting double: it removes jitter at a lag of a bar and a half. As TradingView's ta.swma.",
	Formula: "SWMA = (x + 2x[1] + 2x[2] + x[3]) / 6",
	Params:  []Param{source()},
	Warmup:  func(Args) int { return 4 },
}, "SWMA", func(x []float64, _ Args) []float64 { return kernel.SWMA(x) })
