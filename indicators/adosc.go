package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// The line itself has no level that means anything, so its momentum is what is read.
var indADOsc = aroundZero(Indicator{
	Name: "adosc", Title: "Chaikin Osc", Aliases: []string{"chaikin_oscillator", "chaikin_osc"}, Category: Volume,
	Doc:     "Chaikin's oscillator: a fast less a slow exponential average of the accumulation and distribution line. As in TA-Lib: both averages start from the first value of the line.",
	Formula: "EMA(A/D, fast) - EMA(A/D, slow)",
	Params: []Param{
		bars("fast", 3, "fast average", "fast_length", "fastperiod", "fast_period"), bars("slow", 10, "slow average", "slow_length", "slowperiod", "slow_period"),
	},
	Warmup: func(a Args) int { return kernel.EMAMemory * max(a.Int("fast"), a.Int("slow")) },
}, "Chaikin Osc", func(s *market.Series, a Args) []float64 {
	return chaikin(kernel.MoneyFlow(s), a.Int("fast"), a.Int("slow"))
})
