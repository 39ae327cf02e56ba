package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Jack K. Hutson, "Good Trix", Technical Analysis of Stocks &
// Commodities, 1983.
var indTRIX = Indicator{
	Name: "trix", Title: "TRIX", Aliases: []string{"triple_exponential_oscillator"}, Category: Momentum,
	Doc:     "Percent change of a triple exponential average from bar to bar, and its own average as signal. As in TA-Lib; TradingView takes the logarithm first and other units.",
	Formula: "TRIX = 100 * (e3/e3[1] - 1), e3 = EMA(EMA(EMA(x))); signal = EMA(TRIX)",
	Params:  []Param{length(18), bars("signal", 9, "signal average", "signal_length", "signalperiod", "signal_period"), source()},
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.ZeroUp, shape.ZeroDown},
	// Three averages in a row forget their start about as late as a triple exponential
	// average does.
	Warmup: func(a Args) int { return 14*a.Int("length") + kernel.EMAMemory*a.Int("signal") },
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		line := kernel.Rate(kernel.EMA(kernel.EMA(kernel.EMA(column(s, a), n), n), n), 1, 100, -1)
		signal := kernel.EMA(line, a.Int("signal"))
		return shape.SignalHistogram("TRIX", line, signal, kernel.Minus(line, signal))
	},
}
