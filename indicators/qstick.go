package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to Tushar S. Chande and Stanley Kroll, "The New Technical Trader", 1994.
var indQStick = aroundZero(Indicator{
	Name: "qstick", Title: "QStick", Aliases: []string{"q_stick"}, Category: Momentum,
	Doc:     "QStick of Chande: the average body of the last candles, above zero when they rose on balance.",
	Formula: "QStick = SMA(close - open, n)",
	Params:  []Param{length(14)},
	Warmup:  changeWarmup,
}, "QStick", func(s *market.Series, a Args) []float64 {
	return kernel.SMA(kernel.Minus(s.Close, s.Open), a.Int("length"))
})
