package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indRelativeVolume = Indicator{
	Name: "relative_volume", Title: "RVOL", Aliases: []string{"rvol"}, Category: Volume,
	Doc:     "Relative volume: the volume of a bar as a multiple of the average of the bars before it, itself left out. 1 is usual. No value while those traded nothing.",
	Formula: "RVOL = volume / SMA(volume[1], n)",
	Params:  []Param{length(10), spikeFactor()},
	Signals: []string{shape.Spike},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		ratio, mean := kernel.NaNs(s.Len()), kernel.SMA(s.Volume, a.Int("length"))
		for i := 1; i < len(ratio); i++ {
			// The bar itself is not part of its average.
			if mean[i-1] > 0 {
				ratio[i] = s.Volume[i] / mean[i-1]
			}
		}
		return timesUsual("RVOL", ratio, s, a)
	},
}

// timesUsual draws volume as a multiple of its usual size, and marks its spikes.
func timesUsual(label string, ratio []float64, s *market.Series, a Args) *Result {
	// volumeSpikes wants a limit per bar; here it is the same on all.
	limit := slices.Repeat([]float64{a.Float("spike")}, len(ratio))
	return &Result{
		Lines:   []Line{{Label: label, Tone: Primary, Values: ratio}},
		HLines:  []HLine{{Y: 1}},
		Signals: volumeSpikes(s, ratio, limit),
	}
}
