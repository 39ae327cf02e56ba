package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Carl Swenlin of DecisionPoint.
var indPMO = Indicator{
	Name: "pmo", Title: "PMO", Aliases: []string{"price_momentum_oscillator", "decisionpoint_pmo"}, Category: Momentum,
	Doc:     "Price momentum oscillator of DecisionPoint: the one-bar rate of change smoothed twice with its own constant 2/n, and an exponential average as signal. Smoothings are seeded with means.",
	Formula: "PMO = S(10 * S(ROC(x, 1), first), second), S(x, n) = S[1] + 2/n * (x - S[1])",
	Params: []Param{
		atLeast(2, bars("first", 35, "first smoothing", "length", "length1", "long")), atLeast(2, bars("second", 20, "second smoothing", "length2", "short")),
		bars("signal", 10, "signal average", "signal_length"), source(),
	},
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.ZeroUp, shape.ZeroDown},
	Compute: func(s *market.Series, a Args) *Result {
		// An exponential average of n bars would have the weight 2/(n+1).
		custom := func(x []float64, n int) []float64 { return kernel.Smooth(x, n, 2/float64(n)) }
		line := custom(kernel.Scaled(custom(kernel.ROC(column(s, a), 1), a.Int("first")), 10), a.Int("second"))
		return shape.SignalPanel("PMO", line, kernel.EMA(line, a.Int("signal")))
	},
}
