package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to Tushar S. Chande and Stanley Kroll, "The New Technical Trader", 1994.
var indIMI = oscillator(Indicator{
	Name: "imi", Title: "IMI", Aliases: []string{"intraday_momentum", "intraday_momentum_index"}, Category: Momentum,
	Doc:     "Intraday momentum index: the share of rising bodies in the bodies of the last bars, 0 to 100. As in TA-Lib; no value when no bar has a body.",
	Formula: "IMI = 100 * U / (U + D), U and D the sums of close-open of the bars that rose and fell",
	Params:  slices.Concat([]Param{length(14)}, zone(30, 70, 0, 100)),
	Warmup:  windowWarmup,
}, "IMI", func(s *market.Series, a Args) []float64 {
	up, down := make([]float64, s.Len()), make([]float64, s.Len())
	for i, c := range s.Close {
		up[i], down[i] = max(c-s.Open[i], 0), max(s.Open[i]-c, 0)
	}
	up, down = kernel.RollingSum(up, a.Int("length")), kernel.RollingSum(down, a.Int("length"))
	for i, u := range up {
		// No body in the window gives no value; before the window is full move is
		// NaN, and the comparison false.
		up[i] = nan
		if move := u + down[i]; move > 0 {
			up[i] = 100 * u / move
		}
	}
	return up
})
