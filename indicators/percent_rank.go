package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to ta.percentrank in the reference manual of Pine Script, which counts
// values at most as large as the newest.
var indPercentRank = oscillator(Indicator{
	Name: "percent_rank", Title: "%Rank", Aliases: []string{"percentrank", "percentile_rank"}, Category: Statistics,
	Doc:     "Percent rank: which share of the last prices was at most as high as this one. As TradingView's ta.percentrank.",
	Formula: "100 * (number of x[1] … x[n] that are <= x) / n",
	Params:  slices.Concat([]Param{length(100)}, zone(10, 90, 0, 100), []Param{source()}),
	Warmup:  changeWarmup,
}, "%Rank", func(s *market.Series, a Args) []float64 {
	return rankAtMost(column(s, a), a.Int("length"))
})

// rankAtMost returns the percentage of the n values before each that are at most as
// large. Values before the first are none, so the result begins n bars after it.
func rankAtMost(x []float64, n int) []float64 {
	out := kernel.NaNs(len(x))
	for i := kernel.FirstValid(x) + n; i < len(x); i++ {
		count := 0
		for _, v := range x[i-n : i] {
			// Equal up to rounding counts as at most as large.
			if kernel.Compare(v, x[i]) <= 0 {
				count++
			}
		}
		out[i] = 100 * float64(count) / float64(n)
	}
	return out
}
