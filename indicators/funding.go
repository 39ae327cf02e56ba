package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indFunding = Indicator{
	Name: "funding", Title: "Funding", Aliases: []string{"funding_rate"}, Category: External,
	Doc:     "Funding rate of the perpetual future in percent: positive when longs pay shorts. Signals mark where it changes sign. Bars without a rate are null.",
	Formula: "100 * funding rate",
	Needs:   []string{market.ExtraFunding},
	Signals: []string{shape.ZeroUp, shape.ZeroDown},
	Warmup:  barWarmup,
	Compute: func(s *market.Series, _ Args) *Result {
		// Rates are small fractions, so they are shown in percent; a bar without one
		// stays NaN.
		percent := kernel.Scaled(extra(s, market.ExtraFunding), 100)
		return &Result{
			Histogram: []Histogram{{Label: "Funding %", Values: percent}},
			HLines:    []HLine{{Y: 0}},
			Signals:   shape.LevelCrossings(nil, percent, 0, shape.ZeroUp, shape.ZeroDown),
		}
	},
}
