package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The histogram is the column of the bars itself, not a copy.
var indVolume = Indicator{
	Name: "volume", Title: "Volume", Aliases: []string{"vol"}, Category: Volume,
	Doc:     "Volume of each bar and its simple average. A spike is a bar that trades a multiple of the average, after one that did not.",
	Formula: "SMA(volume, n)",
	Params:  []Param{length(20), spikeFactor()},
	Signals: []string{shape.Spike},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		mean := kernel.SMA(s.Volume, a.Int("length"))
		limit := kernel.Scaled(mean, a.Float("spike"))
		return &Result{
			Histogram: []Histogram{{Label: "Volume", Values: s.Volume}},
			Lines:     []Line{{Label: "MA", Tone: Second, Values: mean}},
			Signals:   volumeSpikes(s, s.Volume, limit),
		}
	},
}

// spikeFactor returns the parameter for how many times its usual volume a bar must
// trade to be a spike.
func spikeFactor() Param {
	return quiet(factor("spike", 2, 1, 100, "multiple of the average that counts as a spike", "threshold", "mult"))
}

// volumeSpikes marks the bars on which x rises to its limit or above it, in the
// direction of the bar. A bar that closes where it opened counts as rising. Reaching
// the limit counts once: the bar before must have been below its own.
func volumeSpikes(s *market.Series, x, limit []float64) []Signal {
	signals := shape.Crossings(nil, x, limit, shape.Spike, "")
	for i := range signals {
		if bar := signals[i].Bar; s.Close[bar] < s.Open[bar] {
			signals[i].Tone = Down
		}
	}
	return signals
}
