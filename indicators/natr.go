package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indNATR = volatile(Indicator{
	Name: "natr", Title: "NATR", Aliases: []string{"atr_percent", "normalized_atr", "atrp"}, Category: Volatility,
	Doc:     "Average true range in percent of the close, so that symbols can be compared. As in TA-Lib.",
	Formula: "NATR = 100 * ATR / close",
	Params:  []Param{length(14)},
	Warmup:  usually(wilderWarmup),
}, "NATR", func(s *market.Series, a Args) []float64 {
	return kernel.Ratio(kernel.ATR(s, a.Int("length")), s.Close, 100)
})
