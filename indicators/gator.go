package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The three lines are those of the alligator with the same parameters.
var indGator = Indicator{
	Name: "gator", Title: "Gator", Aliases: []string{"gator_oscillator"}, Category: Momentum,
	Doc:     "Gator oscillator of Williams: how far the alligator's mouth is open. Bars above zero are the distance of jaw and teeth, bars below that of teeth and lips; both widening is a trend that feeds.",
	Formula: "upper = |jaw - teeth|, lower = -|teeth - lips|",
	Params:  alligatorParams(),
	Signals: []string{shape.SqueezeOn, shape.SqueezeOff},
	Warmup:  alligatorWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		jaw, teeth, lips := alligator(s, a)
		upper, lower := kernel.Absolute(kernel.Minus(jaw, teeth)), kernel.Scaled(kernel.Absolute(kernel.Minus(teeth, lips)), -1)
		return &Result{
			Histogram: []Histogram{{Label: "Upper", Values: upper}, {Label: "Lower", Values: lower}},
			HLines:    []HLine{{Y: 0}},
			Signals:   gatorSignals(upper, lower),
		}
	},
}
