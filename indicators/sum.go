package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indSum = turning(Indicator{
	Name: "sum", Title: "Sum", Aliases: []string{"rolling_sum"}, Category: Statistics,
	Doc:     "Sum of the last prices. As in TA-Lib.",
	Formula: "sum = x[0] + … + x[n-1]",
	Params:  []Param{length(30), source()},
	Warmup:  turnWarmup,
}, "Sum", func(s *market.Series, a Args) []float64 { return kernel.RollingSum(column(s, a), a.Int("length")) })
