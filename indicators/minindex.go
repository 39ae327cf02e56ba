package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indMinIndex = Indicator{
	Name: "minindex", Title: "Bars since min", Aliases: []string{"min_index", "lowestbars", "bars_since_low"}, Category: Statistics,
	Doc:     "How many bars ago the lowest of the last prices was. TA-Lib's MININDEX gives its position from the first bar instead; which of equal prices counts is TA-Lib's rule.",
	Formula: "bars since the lowest of x[0] … x[n-1]",
	Params:  []Param{length(30), source()},
	Signals: []string{shape.NewLow},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		y := barsSince(kernel.ExtremeAt(column(s, a), a.Int("length"), -1, false))
		r := &Result{Lines: []Line{{Label: "Bars since min", Tone: Primary, Values: y}}}
		for i := 1; i < len(y); i++ {
			// A run of new lows gives one signal, on its first bar.
			if y[i] == 0 && y[i-1] > 0 {
				r.Signals = append(r.Signals, shape.Mark(i, 0, shape.NewLow, Down))
			}
		}
		return r
	},
}
