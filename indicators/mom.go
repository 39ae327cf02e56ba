package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indMOM = Indicator{
	Name: "mom", Title: "Momentum", Aliases: []string{"momentum"}, Category: Momentum,
	Doc:     "Momentum: how far the price moved in n bars. As in TA-Lib.",
	Formula: "MOM = x - x[n]",
	Params:  []Param{length(10), source()},
	Signals: []string{shape.ZeroUp, shape.ZeroDown},
	Warmup:  changeWarmup,
	Compute: aroundZero("MOM", func(s *market.Series, a Args) []float64 { return kernel.Change(column(s, a), a.Int("length")) }),
}

// rateIn returns the rate of change of the source as [kernel.Rate] scales it: times
// unit, after less was added to the quotient.
func rateIn(unit, less float64) func(*market.Series, Args) []float64 {
	return func(s *market.Series, a Args) []float64 {
		return kernel.Rate(column(s, a), a.Int("length"), unit, less)
	}
}

// ratio returns the Compute of a rate of change that swings around one, which is what
// an unchanged price gives: 1 or 100.
func ratio(label string, one float64) func(*market.Series, Args) *Result {
	return func(s *market.Series, a Args) *Result {
		y := kernel.Rate(column(s, a), a.Int("length"), one, 0)
		return &Result{
			Lines:   []Line{{Label: label, Tone: Primary, Values: y}},
			HLines:  []HLine{{Y: one}},
			Signals: shape.LevelCrossings(nil, y, one, shape.CrossUp, shape.CrossDown),
		}
	}
}
