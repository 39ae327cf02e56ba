package indicators

import "wick/market"

var indPivotFibonacci = pivotEntry(Indicator{
	Name: "pivot_fibonacci", Title: "Pivot Fib", Aliases: []string{"fibonacci_pivots", "fib_pivots", "pivot_fib"},
	Doc:     "Fibonacci pivot points: the mean price of the period before, and its range in Fibonacci's parts above and below. As at TradingView.",
	Formula: "P = (h + l + c) / 3; R1 to R3, S1 to S3 = P ± 0.382, 0.618, 1 * (h - l)",
}, 3, func(p market.Bar, _ float64) []float64 {
	pp := (p.High + p.Low + p.Close) / 3
	return around(pp, pp, p.High-p.Low, 0.382, 0.618, 1)
})
