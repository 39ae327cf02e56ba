package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indADR = volatile(Indicator{
	Name: "adr", Title: "ADR", Aliases: []string{"average_day_range", "average_range"}, Category: Volatility,
	Doc:     "Average range of a bar, high less low, gaps left out; on daily bars the average day range. As at TradingView.",
	Formula: "SMA(high - low, n)",
	Params:  []Param{length(14)},
	Warmup:  usually(windowWarmup),
}, "ADR", func(s *market.Series, a Args) []float64 {
	return kernel.SMA(kernel.Minus(s.High, s.Low), a.Int("length"))
})
