package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to Roger Altman, "Relative Momentum Index: Modifying RSI", Technical
// Analysis of Stocks & Commodities, February 1993.
var indRMI = oscillator(Indicator{
	Name: "rmi", Title: "RMI", Aliases: []string{"relative_momentum", "relative_momentum_index"}, Category: Momentum,
	Doc:     "Relative momentum index: RSI of changes over several bars instead of one, in Wilder's smoothing. With momentum 1 it is RSI. 0 when nothing moved.",
	Formula: "RMI = 100 * G / (G + L), G and L Wilder averages of rises and falls of x against x[momentum]",
	Params:  slices.Concat([]Param{length(14), bars("momentum", 5, "bars a change is measured over", "mom")}, zone(30, 70, 0, 100), []Param{source()}),
	Warmup:  func(a Args) int { return 20*a.Int("length") + a.Int("momentum") },
}, "RMI", func(s *market.Series, a Args) []float64 {
	return relativeMomentum(column(s, a), a.Int("length"), a.Int("momentum"))
})

// relativeMomentum returns the share of rises in all changes over k bars.
func relativeMomentum(x []float64, n, k int) []float64 {
	rises, falls := kernel.NaNs(len(x)), kernel.NaNs(len(x))
	for i := kernel.FirstValid(x) + k; i < len(x); i++ {
		rises[i], falls[i] = max(x[i]-x[i-k], 0), max(x[i-k]-x[i], 0)
	}
	return kernel.Share(kernel.RMA(rises, n), kernel.RMA(falls, n))
}
