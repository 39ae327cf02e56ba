package indicators

import "wick/indicators/kernel"

var indLSMA = turningOver(Indicator{
	Name: "lsma", Title: "LSMA", Also: []string{"linear_regression", "linear_regression_curve"}, Aliases: []string{"linreg", "linearreg", "linear_regression", "epma", "least_squares_ma"}, Category: Trend,
	Doc:     "Least-squares average: the end of the straight line that fits the last prices best. TA-Lib's LINEARREG, with TradingView's length 25.",
	Formula: "LSMA = a + b*(n-1), a + b*k the least-squares line through x[n-1] … x[0] at k = 0 … n-1",
	Params:  []Param{lengthFrom(2, 25), source()},
	Warmup:  turnWarmup,
}, "LSMA", func(x []float64, a Args) []float64 {
	end, _ := kernel.Regression(x, a.Int("length"))
	return end
})
