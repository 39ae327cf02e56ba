package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to J. Welles Wilder, "New Concepts in Technical Trading Systems", 1978.
var indRSI = Indicator{
	Name: "rsi", Title: "RSI", Aliases: []string{"relative_strength", "relative_strength_index"}, Also: []string{"rsi_divergence"}, Category: Momentum,
	Doc:     "Relative strength index: the share of gains in all movement, 0 to 100, in Wilder's smoothing. As in TA-Lib: first value at bar n, 0 when nothing moved.",
	Formula: "RSI = 100 * G / (G + L), G and L Wilder averages of gains and losses",
	Params:  slices.Concat([]Param{length(14)}, zone(30, 70, 0, 100), []Param{source()}, divParams()),
	Signals: append([]string{shape.RSIOversold, shape.RSIOverbought}, divSignals...),
	Warmup:  wilderWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		line := kernel.RSI(column(s, a), a.Int("length"))
		r := zoned("RSI", line, a, shape.RSIOversold, shape.RSIOverbought)
		r.YRange = &[2]float64{0, 100}
		addDivergences(r, s, line, a)
		return r
	},
}
