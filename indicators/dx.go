package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indDX = trendPanel(Indicator{
	Name: "dx", Title: "DX", Aliases: []string{"directional_movement_index"},
	Doc:     "Directional movement index: how far +DI and -DI lie apart, 0 to 100. Its Wilder average is the ADX. As in TA-Lib.",
	Formula: "DX = 100 * |+DI - -DI| / (+DI + -DI)",
	Warmup:  wilderWarmup,
}, "DX", func(s *market.Series, n int) []float64 {
	plus, minus := kernel.DirectionalIndicators(s, n)
	return kernel.DirectionalIndex(plus, minus)
})
