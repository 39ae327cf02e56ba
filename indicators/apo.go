package indicators

import (
	"wick/indicators/kernel"
	"wick/market"
)

var indAPO = aroundZero(Indicator{
	Name: "apo", Title: "APO", Aliases: []string{"absolute_price_oscillator"}, Category: Momentum,
	Doc:     "Absolute price oscillator: a fast less a slow average, in price. As in TA-Lib, with exponential averages by default, each seeded with its own first prices; the shorter of fast and slow is the fast one, whichever was given as that.",
	Formula: "APO = average(fast) - average(slow)",
	Params:  oscillatorParams(),
	Warmup:  oscillatorWarmup,
}, "APO", func(s *market.Series, a Args) []float64 {
	fast, slow := twoAverages(column(s, a), a)
	return kernel.Minus(fast, slow)
})

// oscillatorParams returns the parameters that apo and ppo share.
func oscillatorParams() []Param {
	return []Param{
		bars("fast", 12, "fast average", "fast_length", "fastperiod", "fast_period"),
		bars("slow", 26, "slow average", "slow_length", "slowperiod", "slow_period"),
		averageType("ma_type", "ema", "kind of averages", "type", "matype"), source(),
	}
}

// oscillatorWarmup returns the history that the slower of the two averages needs.
func oscillatorWarmup(a Args) int {
	return kernel.AverageWarmup(a.Choice("ma_type"), max(a.Int("fast"), a.Int("slow")))
}

// twoAverages returns the fast and the slow average; the shorter length is the fast
// one, whichever it was given as. TA-Lib swaps them in the same way.
func twoAverages(x []float64, a Args) (fast, slow []float64) {
	m, n, kind := a.Int("fast"), a.Int("slow"), a.Choice("ma_type")
	return kernel.Average(kind, x, min(m, n)), kernel.Average(kind, x, max(m, n))
}
