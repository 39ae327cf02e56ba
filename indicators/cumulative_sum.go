package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to ta.cum in the reference manual of Pine Script.
var indCumulativeSum = turning(Indicator{
	Name: "cumulative_sum", Title: "Cum", Aliases: []string{"cumsum", "cum"}, Category: Statistics, Total: true,
	Doc:     "Running sum of a price or of the volume from the first bar loaded, so only its changes mean anything. As TradingView's ta.cum.",
	Formula: "Σ x",
	Params:  []Param{defaultSource("volume")},
	Warmup:  noWarmup,
}, "Cum", func(s *market.Series, a Args) []float64 { return kernel.Cumulative(column(s, a)) })
