package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// It looks at one bar alone, so it needs no smoothing and has no memory.
var indIBS = oscillator(Indicator{
	Name: "ibs", Title: "IBS", Aliases: []string{"internal_bar_strength"}, Category: Momentum,
	Doc:     "Internal bar strength: where the close lies in the range of its bar, 0 at the low, 1 at the high. A bar without range has none.",
	Formula: "IBS = (close - low) / (high - low)",
	Params:  zone(0.2, 0.8, 0, 1),
	Warmup:  barWarmup,
}, "IBS", func(s *market.Series, _ Args) []float64 {
	line := kernel.NaNs(s.Len())
	for i := range line {
		// A bar without range has no place to close in, and no value.
		if span := s.High[i] - s.Low[i]; span > 0 {
			line[i] = (s.Close[i] - s.Low[i]) / span
		}
	}
	return line
})
