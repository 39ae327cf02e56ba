package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indKurtosis = Indicator{
	Name: "kurtosis", Title: "Kurtosis", Aliases: []string{"excess_kurtosis"}, Category: Statistics,
	Doc:     "Excess kurtosis of the last prices: positive when the tails are heavier than a normal distribution's. Of the population (g2), not corrected for small samples.",
	Formula: "m4 / m2² - 3, m the central moments of x over n bars",
	Params:  []Param{lengthFrom(4, 30), source()},
	Signals: []string{shape.ZeroUp, shape.ZeroDown},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		_, kurtosis := kernel.Moments(column(s, a), a.Int("length"))
		return shape.ZeroPanel("Kurtosis", kurtosis)
	},
}
