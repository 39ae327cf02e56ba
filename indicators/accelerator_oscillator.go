package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indAcceleratorOscillator = Indicator{
	Name: "accelerator_oscillator", Title: "AC", Aliases: []string{"ac", "accelerator"}, Category: Momentum,
	Doc:     "Accelerator oscillator of Williams: the awesome oscillator less its own average, the change of driving force that comes before a change of momentum.",
	Formula: "AC = AO - SMA(AO, signal)",
	Params:  append(awesomeParams(), bars("signal", 5, "average of the oscillator", "signal_length", "smooth")),
	Signals: []string{shape.ZeroUp, shape.ZeroDown, shape.TurnUp, shape.TurnDown},
	// Two bars more than the windows: a turn needs the directions of two changes.
	Warmup: func(a Args) int { return max(a.Int("fast"), a.Int("slow")) + a.Int("signal") + 2 },
	Compute: func(s *market.Series, a Args) *Result {
		ao := awesome(s, a)
		return colouredBars("AC", kernel.Minus(ao, kernel.SMA(ao, a.Int("signal"))), func(i int) float64 { return s.Close[i] })
	},
}
