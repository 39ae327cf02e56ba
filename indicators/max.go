package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The line stands still until its extreme is passed or leaves the window; only
// passing it is a signal.
var indMax = Indicator{
	Name: "max", Title: "Max", Aliases: []string{"highest"}, Category: Statistics, Overlay: true,
	Doc:     "Highest of the last prices. As in TA-Lib.",
	Formula: "max = highest of x[0] … x[n-1]",
	Params:  []Param{length(30), source()},
	Signals: []string{shape.NewHigh},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		y := kernel.Highest(column(s, a), a.Int("length"))
		return &Result{Lines: []Line{{Label: "Max", Values: y}}, Signals: shape.NewExtremes(y, nil)}
	},
}
