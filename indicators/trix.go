package indicators

import "wick/market"

var indTRIX = Indicator{
	Name: "trix", Title: "TRIX", Aliases: []string{"triple_exponential_oscillator"}, Category: Momentum,
	Doc:     "Percent change of a triple exponential average from bar to bar, and its own average as signal. As in TA-Lib; TradingView takes the logarithm first and other units.",
	Formula: "TRIX = 100 * (e3/e3[1] - 1), e3 = EMA(EMA(EMA(x))); signal = EMA(TRIX)",
	Params:  []Param{length(18), bars("signal", 9, "signal average", "signal_length", "signalperiod", "signal_period"), source()},
	Signals: []string{CrossUp, CrossDown, ZeroUp, ZeroDown},
	Warmup:  func(a Args) int { return 14*a.Int("length") + emaMemory*a.Int("signal") },
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		line := rate(ema(ema(ema(column(s, a), n), n), n), 1, 100, -1)
		signal := ema(line, a.Int("signal"))
		return lineWithSignal("TRIX", line, signal, minus(line, signal))
	},
}
