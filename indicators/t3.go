package indicators

import "wick/indicators/kernel"

// Attributed to Tim Tillson, "Smoothing Techniques for More Accurate Signals",
// Technical Analysis of Stocks & Commodities, January 1998.
var indT3 = turningOver(Indicator{
	Name: "t3", Title: "T3", Aliases: []string{"tillson", "tillson_t3"}, Category: Trend,
	Doc:     "Tillson's T3: six exponential averages in a row, combined into a smooth line with little lag. As in TA-Lib.",
	Formula: "T3 = -v³*e6 + (3v²+3v³)*e5 + (-6v²-3v-3v³)*e4 + (1+3v+v³+3v²)*e3",
	Params: []Param{
		length(5), factor("factor", 0.7, 0, 1, "volume factor: 0 is smooth, 1 is quick", "vfactor", "volume_factor", "v"), source(),
	},
	Warmup: func(a Args) int { return kernel.AverageWarmup("t3", a.Int("length")) },
}, "T3", func(x []float64, a Args) []float64 { return kernel.T3(x, a.Int("length"), a.Float("factor")) })
