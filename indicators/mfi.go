package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Gene Quong and Avrum Soudack, "Volume-Weighted RSI: Money Flow",
// Technical Analysis of Stocks & Commodities, March 1989.
var indMFI = Indicator{
	Name: "mfi", Title: "MFI", Aliases: []string{"money_flow_index"}, Category: Volume,
	Doc:     "Money flow index: an RSI that weighs movement by volume. The share of money that changed hands on rising typical prices, 0 to 100. As in TA-Lib; 0 when no money moved (TA-Lib: less than 1).",
	Formula: "MFI = 100 * P / (P + N), P and N the sums over n bars of p*volume where p rose and fell, p = (high + low + close) / 3",
	Params:  slices.Concat([]Param{length(14)}, zone(20, 80, 0, 100), divParams()),
	Signals: append([]string{shape.Oversold, shape.Overbought}, divSignals...),
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		y := kernel.MFI(s, a.Int("length"))
		r := oscillator("MFI", y, a)
		addDivergences(r, s, y, a)
		return r
	},
}
