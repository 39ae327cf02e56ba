package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indAvgDev = volatile(Indicator{
	Name: "avgdev", Title: "AvgDev", Aliases: []string{"mad", "mean_deviation", "average_deviation"}, Category: Statistics,
	Doc:     "Mean deviation: how far the last prices lie from their mean on average. As in TA-Lib.",
	Formula: "AvgDev = Σ|x - mean| / n",
	Params:  []Param{lengthFrom(2, 14), source()},
	Warmup:  usually(windowWarmup),
}, "AvgDev", func(s *market.Series, a Args) []float64 { return kernel.MeanDeviation(column(s, a), a.Int("length")) })
