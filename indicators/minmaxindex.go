package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Both lines count upwards from 0, the bar of a new extreme.
var indMinMaxIndex = Indicator{
	Name: "minmaxindex", Title: "Bars since extremes", Aliases: []string{"minmax_index", "min_max_index"}, Category: Statistics,
	Doc:      "How many bars ago the lowest and the highest of the last prices were. TA-Lib's MINMAXINDEX gives their positions from the first bar instead; which of equal prices counts is TA-Lib's rule.",
	Formula:  "bars since the lowest and the highest of x[0] … x[n-1]",
	Params:   []Param{length(30), source()},
	Signals:  []string{shape.CrossUp, shape.CrossDown},
	Meanings: shape.CrossMeanings("the line of the lowest price", "that of the highest"),
	Warmup:   windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		top, bottom := barsSince(kernel.ExtremeAt(x, n, 1, false)), barsSince(kernel.ExtremeAt(x, n, -1, false))
		return &Result{
			Lines: []Line{{Label: "Bars since max", Tone: Up, Values: top}, {Label: "Bars since min", Tone: Down, Values: bottom}},
			// The high becomes the more recent extreme when its line falls below.
			Signals: shape.Crossings(nil, bottom, top, shape.CrossUp, shape.CrossDown),
		}
	},
}
