package kernel

import (
	"math"
	"slices"
)

// PercentRank returns which percentage of the n values before the newest lies
// below it. It keeps those n values sorted.
func PercentRank(x []float64, n int) []float64 {
	first := FirstValid(x)
	out := Unknown(len(x), first+n)
	window := make([]float64, 0, n)
	for i := first; i < len(x); i++ {
		if len(window) == n {
			// The place of the first value that is not smaller counts those that are.
			below, _ := slices.BinarySearch(window, x[i])
			out[i] = 100 * float64(below) / float64(n)
			oldest, _ := slices.BinarySearch(window, x[i-n])
			window = slices.Delete(window, oldest, oldest+1)
		}
		at, _ := slices.BinarySearch(window, x[i])
		window = slices.Insert(window, at, x[i])
	}
	return out
}

// RankCorrelation returns Spearman's correlation of the last n values with
// their order in time, times 100; 0 where all are equal. Equal values share the
// mean of their ranks. All sums are of whole numbers and so without rounding.
func RankCorrelation(x []float64, n int) []float64 {
	first := FirstValid(x)
	out := Unknown(len(x), first+n-1)
	w := rankWindow{values: make([]float64, 0, n), bars: make([]int, 0, n)}
	for i := first; i < len(x); i++ {
		if len(w.values) == n {
			w.remove(x[i-n], i-n)
		}
		w.insert(x[i], i)
		if len(w.values) == n {
			// Bars are numbered from the start of the series. The newest window begins
			// with bar i-n+1, so its places in time, 1 to n, are i-n less than its
			// bars; the sum of twice all ranks is n(n+1).
			out[i] = spearman(w.product-(i-n)*n*(n+1), w.ties, n)
		}
	}
	return out
}

// rankWindow is a window of values, sorted, with the sums that its rank
// correlation is made of.
type rankWindow struct {
	values  []float64 // smallest first
	bars    []int     // the bar of each
	product int       // Σ 2*rank*bar
	ties    int       // Σ (g³ - g) over groups of g equal values
}

// insert puts the value of a bar, the newest, into the window.
func (w *rankWindow) insert(v float64, bar int) {
	low, high := w.equal(v)
	w.count(low, high, bar, 1)
	w.values, w.bars = slices.Insert(w.values, high, v), slices.Insert(w.bars, high, bar)
}

// remove takes the value of a bar, the oldest, out of the window. It is the
// first among its equals.
func (w *rankWindow) remove(v float64, bar int) {
	low, high := w.equal(v)
	w.values, w.bars = slices.Delete(w.values, low, low+1), slices.Delete(w.bars, low, low+1)
	w.count(low, high-1, bar, -1)
}

// equal returns where the values equal to v begin and end.
func (w *rankWindow) equal(v float64) (low, high int) {
	low, _ = slices.BinarySearch(w.values, v)
	high = low
	for high < len(w.values) && w.values[high] == v {
		high++
	}
	return low, high
}

// count adds to the sums, or subtracts from them, the share of a value that equals the
// values from low to high. The value raises the rank of each larger value by 1 and that of
// each equal one by a half, and has a rank itself.
func (w *rankWindow) count(low, high, bar, sign int) {
	// Twice its own rank is low+high+2: it stands at the mean of the places low+1 to
	// high+1. Equal values gain half a rank, larger ones a whole, here doubled.
	change := (low + high + 2) * bar
	for _, b := range w.bars[low:high] {
		change += b
	}
	for _, b := range w.bars[high:] {
		change += 2 * b
	}
	equal := high - low
	w.product += sign * change
	// (g+1)³-(g+1) less g³-g is 3g(g+1).
	w.ties += sign * 3 * equal * (equal + 1)
}

// spearman returns the correlation from the sum of twice the rank times the
// place in time, and the sum over ties: the covariance of rank and place over
// the root of their variances. Ties lessen the variance of the ranks.
func spearman(product, ties, n int) float64 {
	cube := n*n*n - n
	if cube == ties {
		return 0 // all equal
	}
	// Ranks and places have the mean (n+1)/2 each, and the sum of squares around it is
	// (n³-n)/12, for the ranks less ties/12.
	covariance := float64(2*product-n*(n+1)*(n+1)) / 4
	return 100 * covariance * 12 / math.Sqrt(float64(cube)*float64(cube-ties))
}
