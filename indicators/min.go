package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indMin = Indicator{
	Name: "min", Title: "Min", Aliases: []string{"lowest"}, Category: Statistics, Overlay: true,
	Doc:     "Lowest of the last prices. As in TA-Lib.",
	Formula: "min = lowest of x[0] … x[n-1]",
	Params:  []Param{length(30), source()},
	Signals: []string{shape.NewLow},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		y := kernel.Lowest(column(s, a), a.Int("length"))
		return &Result{Lines: []Line{{Label: "Min", Values: y}}, Signals: shape.NewExtremes(nil, y)}
	},
}
