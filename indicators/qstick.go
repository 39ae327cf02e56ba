package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Tushar S. Chande and Stanley Kroll, "The New Technical Trader", 1994.
var indQStick = Indicator{
	Name: "qstick", Title: "QStick", Aliases: []string{"q_stick"}, Category: Momentum,
	Doc:     "QStick of Chande: the average body of the last candles, above zero when they rose on balance.",
	Formula: "QStick = SMA(close - open, n)",
	Params:  []Param{length(14)},
	Signals: []string{shape.ZeroUp, shape.ZeroDown},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		return shape.ZeroPanel("QStick", kernel.SMA(kernel.Minus(s.Close, s.Open), a.Int("length")))
	},
}
