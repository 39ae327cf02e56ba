package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indMinusDI = turning(Indicator{
	Name: "minus_di", Title: "-DI", Aliases: []string{"mdi", "di_minus"}, Category: Trend,
	Doc:     "Wilder's minus directional indicator: downward movement in percent of the true range. As in TA-Lib; with length 1 a fraction, not a percentage.",
	Formula: "-DI = 100 * -DM(n) / TR(n)",
	Params:  []Param{length(14)},
	Warmup:  wilderWarmup,
}, "-DI", func(s *market.Series, a Args) []float64 {
	_, minus := kernel.DirectionalIndicators(s, a.Int("length"))
	return minus
})
