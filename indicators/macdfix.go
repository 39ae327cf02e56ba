package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indMACDFix = Indicator{
	Name: "macdfix", Title: "MACD Fix", Category: Momentum,
	Doc:     "MACD 12/26 with the weights 0.15 and 0.075 of its first publication instead of 2/13 and 2/27. As in TA-Lib.",
	Formula: "as macd, with fast weight 0.15 and slow weight 0.075",
	Params:  []Param{bars("signal", 9, "signal average", "signal_length", "signalperiod", "signal_period", "smooth"), source()},
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.ZeroUp, shape.ZeroDown},
	Warmup:  func(a Args) int { return kernel.EMAMemory * (26 + a.Int("signal")) },
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		// The fast average skips 14 prices, so that both begin on the same bar.
		line := kernel.Minus(kernel.Smooth(kernel.Skip(x, 26-12), 12, 0.15), kernel.Smooth(x, 26, 0.075))
		line, signal, hist := kernel.WithSignal(line, kernel.EMA(line, a.Int("signal")))
		return shape.SignalHistogram("MACD", line, signal, hist)
	},
}
