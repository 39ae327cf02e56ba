package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The lead sine is ahead by an eighth of the cycle, so in a cycle it turns, and
// crosses, before the price does.
var indHTSine = Indicator{
	Name: "ht_sine", Title: "HT Sine", Aliases: []string{"sine_wave", "sinewave"}, Category: Cycle,
	Doc:      "Sine of the dominant cycle's phase and the same 45 degrees ahead. In a cycle they cross at its turns; in a trend they lie side by side. As in TA-Lib.",
	Formula:  "sine = sin(phase), lead = sin(phase + 45°)",
	Params:   []Param{source()},
	Signals:  []string{shape.CrossUp, shape.CrossDown},
	Meanings: shape.CrossMeanings("the lead sine", "the sine"),
	Warmup:   cycleWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		sine, lead := kernel.CycleSine(column(s, a))
		return &Result{
			YRange: &[2]float64{-1, 1},
			Lines: []Line{
				{Label: "Sine", Tone: Primary, Values: sine}, {Label: "Lead sine", Tone: Second, Values: lead},
			},
			HLines:  []HLine{{Y: 0}},
			Signals: shape.LineCrossings(nil, lead, sine, shape.CrossUp, shape.CrossDown),
		}
	},
}
