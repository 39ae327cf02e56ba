package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Unlike roc it has no value where the earlier price is not positive, and none of
// TA-Lib's zeros.
var indPercentReturn = Indicator{
	Name: "percent_return", Title: "Return %", Aliases: []string{"pctret", "pct_change"}, Category: Statistics,
	Doc:     "Return over some bars in percent. No value where the earlier price is not positive.",
	Formula: "100 * (x / x[n] - 1)",
	Params:  []Param{length(1), source()},
	Signals: []string{shape.ZeroUp, shape.ZeroDown},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		percent := kernel.NaNs(len(x))
		for i := n; i < len(x); i++ {
			// From a price that is not positive there is no percentage.
			if x[i-n] > 0 {
				percent[i] = 100 * (x[i] - x[i-n]) / x[i-n]
			}
		}
		return returnBars("Return %", percent)
	},
}
