package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indKurtosis = aroundZero(Indicator{
	Name: "kurtosis", Title: "Kurtosis", Aliases: []string{"excess_kurtosis"}, Category: Statistics,
	Doc:     "Excess kurtosis of the last prices: positive when the tails are heavier than a normal distribution's. Of the population (g2), not corrected for small samples.",
	Formula: "m4 / m2² - 3, m the central moments of x over n bars",
	Params:  []Param{lengthFrom(4, 30), source()},
	Warmup:  changeWarmup,
}, "Kurtosis", func(s *market.Series, a Args) []float64 {
	_, kurtosis := kernel.Moments(column(s, a), a.Int("length"))
	return kurtosis
})
