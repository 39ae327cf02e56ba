package kernel

import (
	"math"
	"slices"
	"sort"

	"wick/market"
)

// Highest returns the largest of the last n values.
func Highest(x []float64, n int) []float64 { return extremes(x, n, 1) }

// Lowest returns the smallest of the last n values.
func Lowest(x []float64, n int) []float64 { return extremes(x, n, -1) }

// MidRange returns the middle between the highest high and the lowest low of
// the last n bars.
func MidRange(s *market.Series, n int) []float64 {
	return Midway(Highest(s.High, n), Lowest(s.Low, n))
}

// extremes returns the largest of the last n values of sign*x, times sign.
//
// The bars are divided into blocks of n, so a window crosses at most one border between
// blocks. Its extreme is the larger of two: the extreme from its start to the border, which
// was computed backwards for the whole block, and the running extreme since the border.
// That takes three comparisons per bar, whatever n is (van Herk; Gil and Werman). The builtin
// max takes as long at every n; a branch would be quicker where n is above 20 or so, and
// slower at the usual lengths.
func extremes(x []float64, n int, sign float64) []float64 {
	first := FirstValid(x)
	out := Unknown(len(x), first+n-1)
	tails := make([]float64, n+1) // tails[k]: the extreme of the block before, from its bar k to its end
	for start := first; start < len(x); start += n {
		block := x[start:min(start+n, len(x))]
		run := sign * block[0]
		// A window that is exactly a block takes nothing from the block before. For it this
		// entry is used, which cannot exceed the running extreme.
		tails[n] = run
		results, rest := out[start:start+len(block)], tails[1:len(block)+1]
		for k, v := range block {
			run = max(run, sign*v)
			// The first block has no block before it: only its last bar ends a whole window.
			if start > first || k == n-1 {
				results[k] = sign * max(run, rest[k])
			}
		}
		run = sign * block[len(block)-1]
		for k := len(block) - 1; k >= 0; k-- {
			run = max(run, sign*block[k])
			tails[k] = run
		}
	}
	return out
}

// ExtremeAt returns the bar of the largest of the last n values of sign*x, and -1 before
// there are n. A new value that equals the extreme takes its place. When the extreme leaves
// the window and several equal values are the next largest, the newest of them counts if
// latest is set; otherwise the oldest, as in TA-Lib's MAXINDEX.
func ExtremeAt(x []float64, n int, sign float64, latest bool) []int {
	first := FirstValid(x)
	out := make([]int, len(x))
	at := first
	for i := range x {
		switch {
		case i < first:
		case at <= i-n: // it has left the window
			at = i - n + 1
			for k := at + 1; k <= i; k++ {
				if v, best := sign*x[k], sign*x[at]; v > best || latest && v == best {
					at = k
				}
			}
		case sign*x[i] >= sign*x[at]:
			at = i
		}
		if out[i] = at; i < first+n-1 {
			out[i] = -1
		}
	}
	return out
}

// Stochastic returns where x is between the lowest of low and the highest of high of the
// last n bars, from 0 to 100. It is 0 if that range is no larger than [Rounding].
func Stochastic(x, high, low []float64, n int) []float64 {
	out, bottom := Highest(high, n), Lowest(low, n)
	for i, top := range out {
		lo := bottom[i]
		if span := Difference(top, lo); span != 0 {
			out[i] = 100 * (x[i] - lo) / span
		} else {
			out[i] = 0
		}
	}
	return out
}

// HeldStochastic is like [Stochastic] of x alone, but a window without range
// keeps the value of the bar before.
func HeldStochastic(x []float64, n int) []float64 {
	hi, lo := Highest(x, n), Lowest(x, n)
	out := Unknown(len(x), FirstValid(hi))
	value := 0.0
	for i := FirstValid(hi); i < len(x); i++ {
		if span := Difference(hi[i], lo[i]); span > 0 {
			value = 100 * Difference(x[i], lo[i]) / span
		}
		out[i] = value
	}
	return out
}

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
