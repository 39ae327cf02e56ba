package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indMinusDM = turning(Indicator{
	Name: "minus_dm", Title: "-DM", Aliases: []string{"dm_minus"}, Category: Trend,
	Doc:     "Wilder's minus directional movement: how far lows reach below the low before, where highs reach out less. A decaying sum over n bars, in price. As in TA-Lib.",
	Formula: "-DM(n) = -DM(n)[1] - -DM(n)[1]/n + d, d = low[1] - low if that is positive and more than high - high[1], else 0",
	Params:  []Param{length(14)},
	Warmup:  wilderWarmup,
}, "-DM", func(s *market.Series, a Args) []float64 {
	_, minus, _ := kernel.Movements(s)
	return kernel.WilderSum(minus, a.Int("length"))
})
