package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The MACD in percent, so that markets of different prices can be compared.
var indPPO = Indicator{
	Name: "ppo", Title: "PPO", Aliases: []string{"percentage_price_oscillator"}, Category: Momentum,
	Doc:     "Percentage price oscillator: a fast less a slow average in percent of the slow one, and its own exponential average as signal. The line as in TA-Lib, with exponential averages by default; the shorter of fast and slow is the fast one, whichever was given as that.",
	Formula: "PPO = 100 * (average(fast) - average(slow)) / average(slow); signal = EMA(PPO)",
	Params:  append(oscillatorParams(), bars("signal", 9, "signal average", "signal_length", "signalperiod", "signal_period")),
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.ZeroUp, shape.ZeroDown},
	Warmup:  func(a Args) int { return oscillatorWarmup(a) + kernel.EMAMemory*a.Int("signal") },
	Compute: func(s *market.Series, a Args) *Result {
		fast, slow := twoAverages(column(s, a), a)
		line := make([]float64, len(fast))
		for i, f := range fast {
			// An average of 0 gives 0, as in TA-Lib; an unknown one stays unknown.
			if slow[i] != 0 {
				line[i] = 100 * (f - slow[i]) / slow[i]
			}
		}
		signal := kernel.EMA(line, a.Int("signal"))
		return shape.SignalHistogram("PPO", line, signal, kernel.Minus(line, signal))
	},
}
