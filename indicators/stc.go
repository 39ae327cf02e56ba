package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to Doug Schaff, who developed it in the nineties and published it in
// 2008.
var indSTC = oscillator(Indicator{
	Name: "stc", Title: "STC", Aliases: []string{"schaff", "schaff_trend_cycle"}, Category: Momentum,
	Doc:     "Schaff trend cycle: the stochastic of the stochastic of a MACD, 0 to 100, quicker than the MACD itself. As at TradingView; averages are seeded with means.",
	Formula: "m = EMA(fast) - EMA(slow); twice: stochastic over n, then y = y[1] + factor * (x - y[1])",
	Params: slices.Concat([]Param{
		bars("length", 10, "bars of the stochastics", "period", "len", "cycle", "tclength", "window"),
		bars("fast", 23, "fast average", "fast_length"), bars("slow", 50, "slow average", "slow_length"),
		factor("factor", 0.5, 0.01, 1, "smoothing after each stochastic", "smooth"),
	}, zone(25, 75, 0, 100), []Param{source()}),
	Warmup: func(a Args) int {
		// The MACD's averages, two windows, and two smoothings that lose the part
		// factor of their past on every bar.
		return kernel.EMAMemory*max(a.Int("fast"), a.Int("slow")) + 2*a.Int("length") + int(40/a.Float("factor"))
	},
}, "STC", func(s *market.Series, a Args) []float64 {
	x, n := column(s, a), a.Int("length")
	line := kernel.Minus(kernel.EMA(x, a.Int("fast")), kernel.EMA(x, a.Int("slow")))
	// The second stochastic is taken of the smoothed first one.
	for range 2 {
		line = kernel.Follow(kernel.HeldStochastic(line, n), a.Float("factor"))
	}
	return line
})
