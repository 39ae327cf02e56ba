package indicators

import "wick/indicators/shape"

var indMinIndex = sinceExtreme(Indicator{
	Name: "minindex", Title: "Bars since min", Aliases: []string{"min_index", "lowestbars", "bars_since_low"},
	Doc:     "How many bars ago the lowest of the last prices was. TA-Lib's MININDEX gives its position from the first bar instead; which of equal prices counts is TA-Lib's rule.",
	Formula: "bars since the lowest of x[0] … x[n-1]",
}, "Bars since min", -1, shape.NewLow, Down)
