package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Blau's name for it; on a scale of 1 and with the histogram that TradingView calls
// its oscillator.
var indSMIErgodic = Indicator{
	Name: "smi_ergodic", Title: "SMIE", Aliases: []string{"ergodic", "smiio", "smi_ergodic_oscillator"}, Category: Momentum,
	Doc:     "Ergodic oscillator of Blau: the true strength index with short smoothings, -1 to 1, its exponential average as signal and their difference as bars. As at TradingView.",
	Formula: "SMIE = EMA(EMA(Δx, long), short) / EMA(EMA(|Δx|, long), short); signal = EMA(SMIE)",
	Params: []Param{
		bars("long", 20, "first smoothing", "slow", "long_length", "length"), bars("short", 5, "second smoothing", "fast", "short_length"),
		bars("signal", 5, "signal average", "signal_length"), source(),
	},
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.ZeroUp, shape.ZeroDown},
	Compute: func(s *market.Series, a Args) *Result {
		line := trueStrength(column(s, a), a.Int("long"), a.Int("short"), 1)
		signal := kernel.EMA(line, a.Int("signal"))
		return shape.SignalHistogram("SMIE", line, signal, kernel.Minus(line, signal))
	},
}
