package indicators

import "wick/indicators/kernel"

var indLinregIntercept = overPrice(Indicator{
	Name: "linreg_intercept", Title: "Linreg Intercept", Aliases: []string{"linearreg_intercept"}, Category: Statistics,
	Doc:     "Where the least-squares line through the last prices begins, at the oldest of them. As in TA-Lib.",
	Formula: "intercept = a, a + b*k the least-squares line through x[n-1] … x[0] at k = 0 … n-1",
	Params:  []Param{lengthFrom(2, 14), source()},
	Warmup:  windowWarmup,
}, "Intercept", func(x []float64, a Args) []float64 {
	n := a.Int("length")
	end, slope := kernel.Regression(x, n)
	return kernel.Offset(end, slope, -float64(n-1))
})
