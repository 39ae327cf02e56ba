package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Gerald Appel, "The Moving Average Convergence-Divergence Trading
// Method", 1979. The histogram is Thomas Aspray's, of 1986.
var indMACD = Indicator{
	Name: "macd", Title: "MACD", Aliases: []string{"moving_average_convergence_divergence"}, Category: Momentum,
	Doc: "Moving average convergence and divergence: a fast less a slow exponential average, its own average as signal, and their difference. As in TA-Lib: both averages are seeded on the same bar, " +
		"all three series begin together, and the shorter of fast and slow is the fast one, whichever was given as that. The variant pine takes the two as given and seeds each average with its own first bars, as TradingView; after about 200 bars the two agree.",
	Formula: "MACD = EMA(fast) - EMA(slow); signal = EMA(MACD); histogram = MACD - signal",
	Params: slices.Concat([]Param{
		bars("fast", 12, "fast average", "fast_length", "fastperiod", "fast_period"), bars("slow", 26, "slow average", "slow_length", "slowperiod", "slow_period"),
		bars("signal", 9, "signal average", "signal_length", "signalperiod", "signal_period", "smooth"), choice("variant", "whose seeds", "talib", "pine"), source(),
	}, divParams()),
	Signals: append([]string{shape.CrossUp, shape.CrossDown, shape.ZeroUp, shape.ZeroDown}, divSignals...),
	Warmup:  macdWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x, fast, slow, signal := column(s, a), a.Int("fast"), a.Int("slow"), a.Int("signal")
		var line, signalLine, hist []float64
		if a.Choice("variant") == "talib" {
			line, signalLine, hist = kernel.MACD(x, fast, slow, signal)
		} else {
			// Each line begins as soon as it can, and the signal is seeded with the
			// first values of the line.
			line = kernel.Minus(kernel.EMA(x, fast), kernel.EMA(x, slow))
			signalLine = kernel.EMA(line, signal)
			hist = kernel.Minus(line, signalLine)
		}
		r := shape.SignalHistogram("MACD", line, signalLine, hist)
		addDivergences(r, s, line, a)
		return r
	},
}

// macdWarmup adds up the memory of the slower average and of the signal line, which
// starts from the first value of the other.
func macdWarmup(a Args) int {
	return kernel.EMAMemory * (max(a.Int("fast"), a.Int("slow")) + a.Int("signal"))
}
