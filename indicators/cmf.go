package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The money flow of a window over its volume: unlike the line it has a level that can
// be compared.
var indCMF = Indicator{
	Name: "cmf", Title: "CMF", Aliases: []string{"chaikin_money_flow", "money_flow"}, Category: Volume,
	Doc:     "Chaikin money flow: the share of volume traded near the highs of its bars less that near the lows, -1 to 1. A bar without range adds its volume and no flow. No value where the window traded nothing.",
	Formula: "CMF = Σ volume * ((close - low) - (high - close)) / (high - low) / Σ volume over n bars",
	Params:  []Param{length(20)},
	Signals: []string{shape.ZeroUp, shape.ZeroDown},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		r := shape.ZeroPanel("CMF", kernel.Quotient(kernel.RollingSum(kernel.MoneyFlow(s), n), kernel.RollingSum(s.Volume, n)))
		r.HLines = []HLine{{Y: 0.05}, {Y: 0}, {Y: -0.05}}
		return r
	},
}
