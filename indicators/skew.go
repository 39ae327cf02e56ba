package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// Skew and kurtosis divide by n: the window is all there is, not a sample of more.
var indSkew = aroundZero(Indicator{
	Name: "skew", Title: "Skew", Aliases: []string{"skewness"}, Category: Statistics,
	Doc:     "Skewness of the last prices: positive when the long tail is above the mean. Of the population (g1), not corrected for small samples.",
	Formula: "m3 / m2^1.5, m the central moments of x over n bars",
	Params:  []Param{lengthFrom(3, 30), source()},
	Warmup:  changeWarmup,
}, "Skew", func(s *market.Series, a Args) []float64 {
	skew, _ := kernel.Moments(column(s, a), a.Int("length"))
	return skew
})
