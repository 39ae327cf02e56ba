package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indHTDCPhase = turning(Indicator{
	Name: "ht_dcphase", Title: "HT Phase", Aliases: []string{"dominant_cycle_phase", "cycle_phase", "ht_dc_phase"}, Category: Cycle,
	Doc:     "Phase of the dominant cycle in degrees, -45 to 315: where in the cycle the price stands. As in TA-Lib.",
	Formula: "phase = atan(Σ s*sin / Σ s*cos) over one cycle of the smoothed price s, + 90 + 360/period",
	Params:  []Param{source()},
	Warmup:  cycleWarmup,
}, "Phase", func(s *market.Series, a Args) []float64 { return kernel.CyclePhase(column(s, a)) })
