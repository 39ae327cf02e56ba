package kernel

import (
	"math"
	"slices"
	"sort"
)

// PercentRank returns which percentage of the n values before the newest lies
// below it, or with ties is not above it.
func PercentRank(x []float64, n int, ties bool) []float64 {
	first := FirstValid(x)
	out := Unknown(len(x), first+n)
	for i := first + n; i < len(x); i++ {
		count := 0
		for _, v := range x[i-n : i] {
			if side := Compare(v, x[i]); side < 0 || ties && side == 0 {
				count++
			}
		}
		out[i] = 100 * float64(count) / float64(n)
	}
	return out
}

// InWindows calls f with the sorted last n values of x for every bar that has as many, and
// the bar of each value; of equal values the earliest comes first.
func InWindows(x []float64, n int, f func(i int, values []float64, bars []int)) {
	first := FirstValid(x)
	values, bars := make([]float64, 0, n), make([]int, 0, n)
	for i := first; i < len(x); i++ {
		if len(values) == n { // the oldest is the first among its equals
			at, _ := slices.BinarySearch(values, x[i-n])
			values, bars = slices.Delete(values, at, at+1), slices.Delete(bars, at, at+1)
		}
		at := sort.Search(len(values), func(k int) bool { return values[k] > x[i] })
		values, bars = slices.Insert(values, at, x[i]), slices.Insert(bars, at, i)
		if len(values) == n {
			f(i, values, bars)
		}
	}
}

// RankCorrelation returns Spearman's correlation of the last n values with
// their order in time, times 100; 0 where all are equal. Equal values share the
// mean of their ranks. All sums are of whole numbers and so without rounding.
func RankCorrelation(x []float64, n int) []float64 {
	out := Unknown(len(x), FirstValid(x)+n-1)
	cube := n*n*n - n
	InWindows(x, n, func(i int, values []float64, bars []int) {
		product, ties := 0, 0 // Σ 2*rank*place in time, and Σ (g³ - g) over groups of g equal values
		for low := 0; low < n; {
			high := low
			places := 0
			for ; high < n && values[high] == values[low]; high++ {
				places += bars[high] - (i - n)
			}
			g := high - low
			product += (low + high + 1) * places // twice the mean of the ranks low+1 to high
			ties += g*g*g - g
			low = high
		}
		if cube == ties {
			out[i] = 0 // all equal
			return
		}
		// The covariance of rank and place over the root of their variances. Both have the mean
		// (n+1)/2, and the sum of squares around it is (n³-n)/12, for the ranks less ties/12.
		covariance := float64(2*product-n*(n+1)*(n+1)) / 4
		out[i] = 100 * covariance * 12 / math.Sqrt(float64(cube)*float64(cube-ties))
	})
	return out
}
