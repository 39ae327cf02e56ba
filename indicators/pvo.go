package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indPVO = Indicator{
	Name: "pvo", Title: "PVO", Aliases: []string{"volume_oscillator_percent", "percentage_volume_oscillator"}, Category: Volume,
	Doc:     "Percentage volume oscillator: a MACD of the volume in percent of its slow average. Each average is seeded with the mean of its own first values, as at TradingView.",
	Formula: "PVO = 100 * (EMA(volume, fast) - EMA(volume, slow)) / EMA(volume, slow); signal = EMA(PVO)",
	Params: []Param{
		bars("fast", 12, "fast average", "fast_length"), bars("slow", 26, "slow average", "slow_length"), bars("signal", 9, "signal average", "signal_length"),
	},
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.ZeroUp, shape.ZeroDown},
	Compute: func(s *market.Series, a Args) *Result {
		// Without volume the slow average is 0, and Ratio gives 0 rather than a hole.
		slow := kernel.EMA(s.Volume, a.Int("slow"))
		line := kernel.Ratio(kernel.Minus(kernel.EMA(s.Volume, a.Int("fast")), slow), slow, 100)
		signal := kernel.EMA(line, a.Int("signal"))
		return shape.SignalHistogram("PVO", line, signal, kernel.Minus(line, signal))
	},
}
