package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indVolumeOscillator = aroundZero(Indicator{
	Name: "volume_oscillator", Title: "VO", Aliases: []string{"vosc", "vo"}, Category: Volume,
	Doc:     "Volume oscillator: by how many percent a fast simple average of the volume is above a slow one. A move with a rising oscillator has support.",
	Formula: "VO = 100 * (SMA(volume, fast) - SMA(volume, slow)) / SMA(volume, slow)",
	Params:  []Param{bars("fast", 5, "fast average", "short", "fast_length"), bars("slow", 10, "slow average", "long", "slow_length")},
	Warmup:  func(a Args) int { return max(a.Int("fast"), a.Int("slow")) + 1 },
}, "VO", func(s *market.Series, a Args) []float64 {
	// RollingSum and not SMA: a window without volume is then exactly 0.
	mean := func(name string) []float64 {
		n := a.Int(name)
		return kernel.Scaled(kernel.RollingSum(s.Volume, n), 1/float64(n))
	}
	slow := mean("slow")
	return kernel.Ratio(kernel.Minus(mean("fast"), slow), slow, 100)
})
