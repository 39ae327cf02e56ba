package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to Alexander Elder, "Trading for a Living", 1993.
var indForceIndex = aroundZero(Indicator{
	Name: "force_index", Title: "EFI", Also: []string{"elders_force_index"}, Aliases: []string{"efi", "fi", "elder_force_index"}, Category: Volume,
	Doc:     "Elder's force index: change times volume, smoothed: how hard the market pushed.",
	Formula: "EFI = EMA((x - x[1]) * volume, n)",
	Params:  []Param{length(13), source()},
	Warmup:  emaWarmup,
}, "EFI", func(s *market.Series, a Args) []float64 {
	return kernel.EMA(kernel.Times(kernel.Change(column(s, a), 1), s.Volume), a.Int("length"))
})
