package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to Gene Quong and Avrum Soudack, "Volume-Weighted RSI: Money Flow",
// Technical Analysis of Stocks & Commodities, March 1989.
var indMFI = oscillator(Indicator{
	Name: "mfi", Title: "MFI", Aliases: []string{"money_flow_index"}, Category: Volume,
	Doc:     "Money flow index: an RSI that weighs movement by volume. The share of money that changed hands on rising typical prices, 0 to 100. As in TA-Lib; 0 when no money moved (TA-Lib: less than 1).",
	Formula: "MFI = 100 * P / (P + N), P and N the sums over n bars of p*volume where p rose and fell, p = (high + low + close) / 3",
	Params:  slices.Concat([]Param{length(14)}, zone(20, 80, 0, 100), divParams()),
	Warmup:  changeWarmup,
}, "MFI", func(s *market.Series, a Args) []float64 {
	return kernel.MFI(s, a.Int("length"))
})
