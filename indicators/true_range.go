package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indTrueRange = volatile(Indicator{
	Name: "true_range", Title: "True Range", Aliases: []string{"trange", "tr"}, Category: Volatility,
	Doc:     "True range: the range of the bar, the close before included. As in TA-Lib: none on the first bar.",
	Formula: "TR = max(high, close[1]) - min(low, close[1])",
	Warmup:  usually(barWarmup),
}, "TR", func(s *market.Series, _ Args) []float64 { return kernel.TrueRange(s) })
