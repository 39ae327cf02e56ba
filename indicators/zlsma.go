package indicators

import "wick/indicators/kernel"

// Source: the public script "ZLSMA - Zero Lag LSMA" by veryfid on TradingView.
var indZLSMA = overPrice(Indicator{
	Name: "zlsma", Title: "ZLSMA", Aliases: []string{"zero_lag_lsma"}, Category: Trend,
	Doc:     "Zero lag least squares moving average: the end of a regression line plus how far it lies from its own. After veryfid's script.",
	Formula: "L = LSMA(x, n); ZLSMA = 2L - LSMA(L, n)",
	Params:  []Param{length(32), source()},
	// The second line is fitted to ends of the first one, each of which took a window.
	Warmup: func(a Args) int { return 2 * a.Int("length") },
}, "ZLSMA", func(x []float64, a Args) []float64 {
	once, _ := kernel.Regression(x, a.Int("length"))
	twice, _ := kernel.Regression(once, a.Int("length"))
	for i, v := range twice {
		twice[i] = float64(2*once[i]) - v
	}
	return twice
})
