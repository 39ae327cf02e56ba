package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// It looks at one bar alone, so it needs no smoothing and has no memory.
var indIBS = Indicator{
	Name: "ibs", Title: "IBS", Aliases: []string{"internal_bar_strength"}, Category: Momentum,
	Doc:     "Internal bar strength: where the close lies in the range of its bar, 0 at the low, 1 at the high. A bar without range has none.",
	Formula: "IBS = (close - low) / (high - low)",
	Params:  zone(0.2, 0.8, 0, 1),
	Signals: []string{shape.Oversold, shape.Overbought},
	Warmup:  barWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		line := kernel.NaNs(s.Len())
		for i := range line {
			// A bar without range has no place to close in, and no value.
			if span := s.High[i] - s.Low[i]; span > 0 {
				line[i] = (s.Close[i] - s.Low[i]) / span
			}
		}
		r := zoned("IBS", line, a, shape.Oversold, shape.Overbought)
		r.YRange = &[2]float64{0, 1}
		return r
	},
}
