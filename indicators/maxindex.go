package indicators

import "wick/indicators/shape"

var indMaxIndex = sinceExtreme(Indicator{
	Name: "maxindex", Title: "Bars since max", Aliases: []string{"max_index", "highestbars", "bars_since_high"},
	Doc:     "How many bars ago the highest of the last prices was. TA-Lib's MAXINDEX gives its position from the first bar instead, which says nothing on a chart; which of equal prices counts is TA-Lib's rule.",
	Formula: "bars since the highest of x[0] … x[n-1]",
}, "Bars since max", 1, shape.NewHigh, Up)
