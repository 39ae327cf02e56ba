package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indMaxIndex = Indicator{
	Name: "maxindex", Title: "Bars since max", Aliases: []string{"max_index", "highestbars", "bars_since_high"}, Category: Statistics,
	Doc:     "How many bars ago the highest of the last prices was. TA-Lib's MAXINDEX gives its position from the first bar instead, which says nothing on a chart; which of equal prices counts is TA-Lib's rule.",
	Formula: "bars since the highest of x[0] … x[n-1]",
	Params:  []Param{length(30), source()},
	Warmup:  windowWarmup,
	Compute: plain("Bars since max", func(s *market.Series, a Args) []float64 {
		return barsSince(kernel.ExtremeAt(column(s, a), a.Int("length"), 1, false))
	}),
}
