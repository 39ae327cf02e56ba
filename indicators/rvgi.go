package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to John F. Ehlers, "Relative Vigor Index", Technical Analysis of Stocks &
// Commodities, January 2002.
var indRVGI = Indicator{
	Name: "rvgi", Title: "RVGI", Aliases: []string{"relative_vigor", "relative_vigor_index"}, Category: Momentum,
	Doc:     "Relative vigor index of Ehlers: how much of their range bars keep between open and close, over a window, and a four-bar average as signal. As at TradingView.",
	Formula: "RVGI = Σ SWMA(close - open) / Σ SWMA(high - low) over n bars; signal = SWMA(RVGI)",
	Params:  []Param{length(10)},
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.ZeroUp, shape.ZeroDown},
	Warmup:  func(a Args) int { return a.Int("length") + 7 },
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		line := kernel.Ratio(kernel.RollingSum(kernel.SWMA(kernel.Minus(s.Close, s.Open)), n), kernel.RollingSum(kernel.SWMA(kernel.Minus(s.High, s.Low)), n), 1)
		return shape.SignalPanel("RVGI", line, kernel.SWMA(line))
	},
}
