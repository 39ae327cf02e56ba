package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to John F. Ehlers, "Rocket Science for Traders", 2001. The kernels follow
// TA-Lib's version of it, see kernel/hilbert.go.
var indHTDCPeriod = turning(Indicator{
	Name: "ht_dcperiod", Title: "HT Period", Aliases: []string{"dominant_cycle_period", "cycle_period", "ht_dc_period"}, Category: Cycle,
	Doc:     "Period of the dominant cycle in bars, 6 to 50, by Ehlers' Hilbert transform. As in TA-Lib.",
	Formula: "period = 360 / degrees the phase turns per bar, smoothed",
	Params:  []Param{source()},
	Warmup:  cycleWarmup,
}, "Period", func(s *market.Series, a Args) []float64 { return kernel.CyclePeriod(column(s, a)) })
