package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indPlusDI = turning(Indicator{
	Name: "plus_di", Title: "+DI", Aliases: []string{"pdi", "di_plus"}, Category: Trend,
	Doc:     "Wilder's plus directional indicator: upward movement in percent of the true range. As in TA-Lib; with length 1 a fraction, not a percentage.",
	Formula: "+DI = 100 * +DM(n) / TR(n)",
	Params:  []Param{length(14)},
	Warmup:  wilderWarmup,
}, "+DI", func(s *market.Series, a Args) []float64 {
	plus, _ := kernel.DirectionalIndicators(s, a.Int("length"))
	return plus
})
