package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indLogReturn = Indicator{
	Name: "log_return", Title: "Log return", Aliases: []string{"logret"}, Category: Statistics,
	Doc:     "Logarithmic return over some bars: returns that add up. No value where a price is not positive.",
	Formula: "ln(x / x[n])",
	Params:  []Param{length(1), source()},
	Signals: []string{shape.ZeroUp, shape.ZeroDown},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		return returnBars("Log return", kernel.LogReturns(column(s, a), a.Int("length")))
	},
}

// returnBars draws what a bar brought, such as its return, as a histogram and marks where
// that changes sign. The signals are silent: returns of one bar change sign every other bar.
func returnBars(label string, y []float64) *Result {
	return &Result{
		Histogram: []Histogram{{Label: label, Values: y}},
		HLines:    []HLine{{Y: 0}},
		Signals:   shape.Silently(shape.LevelCrossings(nil, y, 0, shape.ZeroUp, shape.ZeroDown)),
	}
}
