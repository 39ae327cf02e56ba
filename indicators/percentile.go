package indicators

import (
	"math"
	"slices"

	"wick/indicators/kernel"
)

var indPercentile = overPrice(Indicator{
	Name: "percentile", Title: "Percentile", Aliases: []string{"percentile_nearest_rank"}, Category: Statistics,
	Doc:     "Percentile of the last prices by nearest rank: the smallest of them that is not below the given share of them; 50 is the lower median. As in TA-Lib 0.8 and TradingView's ta.percentile_nearest_rank.",
	Formula: "the value at rank ceil(percent / 100 * n) of the last n values in order",
	Params:  []Param{length(30), factor("percent", 50, 0, 100, "share of the values, in percent", "percentage", "percentile"), source()},
	Warmup:  windowWarmup,
}, "Percentile", func(x []float64, a Args) []float64 { return nearestRank(x, a.Int("length"), a.Float("percent")) })

// nearestRank returns the percentile of the last n values at each bar. It keeps them
// sorted. Sorting each window anew would take the logarithm of n times as long.
func nearestRank(x []float64, n int, percent float64) []float64 {
	first := kernel.FirstValid(x)
	out := kernel.Unknown(len(x), first+n-1)
	// Ranks count from 1; 0 percent is the smallest value.
	rank := max(1, int(math.Ceil(percent/100*float64(n)-1e-9))) // 7 % of 100 is 7.000000000000001
	window := make([]float64, 0, n)
	for i := first; i < len(x); i++ {
		if len(window) == n {
			// Which of equal values goes makes no difference.
			oldest, _ := slices.BinarySearch(window, x[i-n])
			window = slices.Delete(window, oldest, oldest+1)
		}
		at, _ := slices.BinarySearch(window, x[i])
		window = slices.Insert(window, at, x[i])
		if len(window) == n {
			out[i] = window[rank-1]
		}
	}
	return out
}
