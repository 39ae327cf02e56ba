package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indLinregSlope = aroundZero(Indicator{
	Name: "linreg_slope", Title: "Linreg Slope", Also: []string{"linear_regression_slope"}, Aliases: []string{"linearreg_slope", "slope"}, Category: Statistics,
	Doc:     "Slope of the least-squares line through the last prices, in price per bar. As in TA-Lib.",
	Formula: "slope = b, a + b*k the least-squares line through x[n-1] … x[0] at k = 0 … n-1",
	Params:  []Param{lengthFrom(2, 14), source()},
	Warmup:  windowWarmup,
}, "Slope", func(s *market.Series, a Args) []float64 {
	_, slope := kernel.Regression(column(s, a), a.Int("length"))
	return slope
})
