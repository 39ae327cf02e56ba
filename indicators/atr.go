package indicators

import "wick/market"

var indATR = Indicator{
	Name: "atr", Title: "ATR", Aliases: []string{"average_true_range"}, Category: Volatility,
	Doc: "Average true range: Wilder's average of the true range, gaps included. As in TA-Lib, where the first bar has no true range; " +
		"the variant pine counts high - low there and begins one bar earlier, as TradingView.",
	Formula: "ATR = (ATR[1]*(n-1) + TR) / n, TR = max(high, close[1]) - min(low, close[1])",
	Params:  []Param{length(14), choice("variant", "whose first bar", "talib", "pine")},
	Warmup:  wilderWarmup,
	Compute: plain("ATR", func(s *market.Series, a Args) []float64 {
		if a.Choice("variant") == "pine" {
			return rma(trueRangePine(s), a.Int("length"))
		}
		return atr(s, a.Int("length"))
	}),
}

var indNATR = Indicator{
	Name: "natr", Title: "NATR", Aliases: []string{"atr_percent", "normalized_atr", "atrp"}, Category: Volatility,
	Doc:     "Average true range in percent of the close, so that symbols can be compared. As in TA-Lib.",
	Formula: "NATR = 100 * ATR / close",
	Params:  []Param{length(14)},
	Warmup:  wilderWarmup,
	Compute: plain("NATR", func(s *market.Series, a Args) []float64 {
		return percentOf(atr(s, a.Int("length")), s.Close)
	}),
}

var indTrueRange = Indicator{
	Name: "true_range", Title: "True Range", Aliases: []string{"trange", "tr"}, Category: Volatility,
	Doc:     "True range: the range of the bar, the close before included. As in TA-Lib: none on the first bar.",
	Formula: "TR = max(high, close[1]) - min(low, close[1])",
	Warmup:  func(Args) int { return 1 },
	Compute: plain("TR", func(s *market.Series, _ Args) []float64 { return trueRange(s) }),
}

// atr returns Wilder's average of the true range.
func atr(s *market.Series, n int) []float64 { return rma(trueRange(s), n) }
