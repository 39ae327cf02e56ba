package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indMOM = aroundZero(Indicator{
	Name: "mom", Title: "Momentum", Aliases: []string{"momentum"}, Category: Momentum,
	Doc:     "Momentum: how far the price moved in n bars. As in TA-Lib.",
	Formula: "MOM = x - x[n]",
	Params:  []Param{length(10), source()},
	Warmup:  changeWarmup,
}, "MOM", func(s *market.Series, a Args) []float64 { return kernel.Change(column(s, a), a.Int("length")) })

// rateIn returns the rate of change of the source as [kernel.Rate] scales it: times
// unit, after less was added to the quotient.
func rateIn(unit, less float64) func(*market.Series, Args) []float64 {
	return func(s *market.Series, a Args) []float64 {
		return kernel.Rate(column(s, a), a.Int("length"), unit, less)
	}
}

// ratio completes the record of a rate of change that swings around one, which is what
// an unchanged price gives: 1 or 100.
func ratio(ind Indicator, label string, one float64) Indicator {
	ind.Category, ind.Params, ind.Warmup = Momentum, []Param{length(10), source()}, changeWarmup
	ind.Signals, ind.Meanings = []string{shape.CrossUp, shape.CrossDown}, shape.CrossMeanings("the line", number(one))
	ind.Compute = func(s *market.Series, a Args) *Result {
		return shape.LevelPanel(label, kernel.Rate(column(s, a), a.Int("length"), one, 0), one, shape.CrossUp, shape.CrossDown)
	}
	return ind
}
