package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indMaxIndex = Indicator{
	Name: "maxindex", Title: "Bars since max", Aliases: []string{"max_index", "highestbars", "bars_since_high"}, Category: Statistics,
	Doc:     "How many bars ago the highest of the last prices was. TA-Lib's MAXINDEX gives its position from the first bar instead, which says nothing on a chart; which of equal prices counts is TA-Lib's rule.",
	Formula: "bars since the highest of x[0] … x[n-1]",
	Params:  []Param{length(30), source()},
	Signals: []string{shape.NewHigh},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		y := barsSince(kernel.ExtremeAt(column(s, a), a.Int("length"), 1, false))
		r := &Result{Lines: []Line{{Label: "Bars since max", Tone: Primary, Values: y}}}
		for i := 1; i < len(y); i++ {
			// A run of new highs gives one signal, on its first bar.
			if y[i] == 0 && y[i-1] > 0 {
				r.Signals = append(r.Signals, shape.Mark(i, 0, shape.NewHigh, Up))
			}
		}
		return r
	},
}
