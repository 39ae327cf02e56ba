package indicators

import (
	"wick/indicators/kernel"
)

// cycles are those of the Hilbert transform.
var cycles = []Indicator{
	// Averaged over one whole cycle, the cycle itself adds up to nothing.
	{Name: "ht_trendline", Title: "HT Trendline", Also: "instantaneous_trend instantaneous_trendline htl", Category: Cycle, Form: crossed, Label: "Trendline",
		Doc:     "Ehlers' instantaneous trend line: the mean over one dominant cycle, which takes the cycle out of the price. As in TA-Lib.",
		Formula: "m = mean of the last p prices, p = cycle period; trend line = (4m + 3m[1] + 2m[2] + m[3]) / 10",
		Params:  []Param{source()}, Memory: cycleMemory, Line: func(in Input) []float64 { return kernel.CycleTrend(in.source()) }},
	{Name: "ht_dcperiod", Title: "HT Period", Also: "dominant_cycle_period cycle_period ht_dc_period", Category: Cycle, Form: turning, Label: "Period",
		Doc:     "Period of the dominant cycle in bars, 6 to 50, by Ehlers' Hilbert transform. As in TA-Lib.",
		Formula: "period = 360 / degrees the phase turns per bar, smoothed",
		Params:  []Param{source()}, Memory: cycleMemory, Line: func(in Input) []float64 { return kernel.CyclePeriod(in.source()) }},
	{Name: "ht_dcphase", Title: "HT Phase", Also: "dominant_cycle_phase cycle_phase ht_dc_phase", Category: Cycle, Form: turning, Label: "Phase",
		Doc:     "Phase of the dominant cycle in degrees, -45 to 315: where in the cycle the price stands. As in TA-Lib.",
		Formula: "phase = atan(Σ s*sin / Σ s*cos) over one cycle of the smoothed price s, + 90 + 360/period",
		Params:  []Param{source()}, Memory: cycleMemory, Line: func(in Input) []float64 { return kernel.CyclePhase(in.source()) }},
	// The two parts are what the period is computed from: their angle is the phase, its
	// step from bar to bar the speed.
	{Name: "ht_phasor", Title: "HT Phasor", Also: "phasor", Category: Cycle,
		Doc:     "The two parts of the dominant cycle, one in phase and one a quarter cycle behind. As in TA-Lib.",
		Formula: "quadrature = H(H(smoothed price)), in phase = H(smoothed price) three bars ago, H Hilbert's transform",
		Params:  []Param{source()}, Memory: cycleMemory,
		Plots: []Plot{mainly("In phase"), second("Quadrature")}, Events: []Event{lines("In phase", "Quadrature").crossedBy("the part in phase", "the quadrature")}, Levels: constant(0),
		Calc: func(in Input) Columns { return together(kernel.Phasor(in.source())) }},
	// The lead sine is ahead by an eighth of the cycle, so in a cycle it turns, and
	// crosses, before the price does.
	{Name: "ht_sine", Title: "HT Sine", Also: "sine_wave sinewave", Category: Cycle,
		Doc:     "Sine of the dominant cycle's phase and the same 45 degrees ahead. In a cycle they cross at its turns; in a trend they lie side by side. As in TA-Lib.",
		Formula: "sine = sin(phase), lead = sin(phase + 45°)",
		Params:  []Param{source()}, Memory: cycleMemory,
		Plots: []Plot{mainly("Sine"), second("Lead sine")}, Events: []Event{lines("Lead sine", "Sine").crossedBy("the lead sine", "the sine")}, Levels: constant(0), Between: [2]float64{-1, 1},
		Calc: func(in Input) Columns { return together(kernel.CycleSine(in.source())) }},
	// The step from 0 to 1 is a crossing of 0.5, which gives both signals.
	{Name: "ht_trendmode", Title: "HT Trend Mode", Also: "trend_mode trend_vs_cycle", Category: Cycle,
		Doc:     "1 while the market trends, 0 while it cycles, by Ehlers' rules. As in TA-Lib.",
		Formula: "0 for half a cycle after sine and lead sine cross, and while the phase turns as a cycle's would; 1 if the price is 1.5 % off the trend line",
		Params:  []Param{source()}, Memory: cycleMemory,
		Plots: []Plot{{Label: "Trend mode", Tone: Primary, Style: Step}}, Events: []Event{crossesAt("Trend mode", 0.5, ModeTrend, ModeCycle)}, Between: [2]float64{0, 1},
		Calc: func(in Input) Columns { return Columns{kernel.TrendMode(in.source())} }},
}
