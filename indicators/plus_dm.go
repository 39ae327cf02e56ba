package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indPlusDM = turning(Indicator{
	Name: "plus_dm", Title: "+DM", Aliases: []string{"dm_plus"}, Category: Trend,
	Doc:     "Wilder's plus directional movement: how far highs reach above the high before, where lows reach out less. A decaying sum over n bars, in price. As in TA-Lib.",
	Formula: "+DM(n) = +DM(n)[1] - +DM(n)[1]/n + d, d = high - high[1] if that is positive and more than low[1] - low, else 0",
	Params:  []Param{length(14)},
	Warmup:  wilderWarmup,
}, "+DM", func(s *market.Series, a Args) []float64 {
	plus, _, _ := kernel.Movements(s)
	return kernel.WilderSum(plus, a.Int("length"))
})
