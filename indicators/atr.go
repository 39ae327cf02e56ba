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
	Params:  []Param{length(14), choice("variant", "whose first bar", "talib", "pine")},
	Warmup:  usually(wilderWarmup),
}, "ATR", func(s *market.Series, a Args) []float64 {
	if a.Choice("variant") == "pine" {
		return kernel.ATRPine(s, a.Int("length"))
	}
	return kernel.ATR(s, a.Int("length"))
})
