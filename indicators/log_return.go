package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indLogReturn = Indicator{
	Name: "log_return", Title: "Log return", Aliases: []string{"logret"}, Category: Statistics,
	Doc:     "Logarithmic return over some bars: returns that add up. No value where a price is not positive.",
	Formula: "ln(x / x[n])",
	Params:  []Param{length(1), source()},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		return &Result{
			Histogram: []Histogram{{Label: "Log return", Values: kernel.LogReturns(column(s, a), a.Int("length"))}},
			HLines:    []HLine{{Y: 0}},
		}
	},
}
