package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to J. Welles Wilder, "New Concepts in Technical Trading Systems", 1978.
var indATR = volatile(Indicator{
	Name: "atr", Title: "ATR", Aliases: []string{"average_true_range"}, Category: Volatility,
	Doc: "Average true range: Wilder's average of the true range, gaps included. As in TA-Lib, where the first bar has no true range; " +
		"the variant pine counts high - low there and begins one bar earlier, as TradingView.",
	Formula: "ATR = (ATR[1]*(n-1) + TR) / n, TR = max(high, close[1]) - min(low, close[1])",
	Params:  []Param{length(14), averageType("ma_type", "rma", "kind of average", "smoothing", "matype"), choice("variant", "whose first bar", "talib", "pine")},
	Warmup:  usually(func(a Args) int { return kernel.AverageWarmup(a.Choice("ma_type"), a.Int("length")) + 1 }),
}, "ATR", func(s *market.Series, a Args) []float64 {
	ranges := kernel.TrueRange(s)
	if a.Choice("variant") == "pine" {
		ranges = kernel.TrueRangePine(s)
	}
	return kernel.Average(a.Choice("ma_type"), ranges, a.Int("length"))
})
