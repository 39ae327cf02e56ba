package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Joseph E. Granville, "Granville's New Key to Stock Market Profits",
// 1963.
var indOBV = Indicator{
	Name: "obv", Title: "OBV", Aliases: []string{"on_balance_volume"}, Category: Volume, Total: true,
	Doc:     "Granville's on-balance volume: volume added on rising closes and taken away on falling ones, with its average. As in TA-Lib it begins with the volume of the first bar, so only its changes mean anything.",
	Formula: "OBV = OBV[1] + volume if close > close[1], - volume if close < close[1]",
	Params:  slices.Concat([]Param{bars("ma_length", 20, "simple average of it", "ma", "signal", "length", "period")}, divParams()),
	Signals: append([]string{shape.CrossUp, shape.CrossDown}, divSignals...),
	Warmup:  func(a Args) int { return a.Int("ma_length") },
	Compute: func(s *market.Series, a Args) *Result {
		line := kernel.OBV(s.Close, s.Volume)
		r := shape.AveragedLine("OBV", line, kernel.SMA(line, a.Int("ma_length")))
		addDivergences(r, s, line, a)
		return r
	},
}
