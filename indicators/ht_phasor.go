package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The two parts are what the period is computed from: their angle is the phase, its
// step from bar to bar the speed.
var indHTPhasor = Indicator{
	Name: "ht_phasor", Title: "HT Phasor", Aliases: []string{"phasor"}, Category: Cycle,
	Doc:      "The two parts of the dominant cycle, one in phase and one a quarter cycle behind. As in TA-Lib.",
	Formula:  "quadrature = H(H(smoothed price)), in phase = H(smoothed price) three bars ago, H Hilbert's transform",
	Params:   []Param{source()},
	Signals:  []string{shape.CrossUp, shape.CrossDown},
	Meanings: shape.CrossMeanings("the part in phase", "the quadrature"),
	Warmup:   cycleWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		inPhase, quadrature := kernel.Phasor(column(s, a))
		return &Result{
			Lines: []Line{
				{Label: "In phase", Tone: Primary, Values: inPhase},
				{Label: "Quadrature", Tone: Second, Values: quadrature},
			},
			HLines:  []HLine{{Y: 0}},
			Signals: shape.LineCrossings(nil, inPhase, quadrature, shape.CrossUp, shape.CrossDown),
		}
	},
}
