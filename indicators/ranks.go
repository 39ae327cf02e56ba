package indicators

import "slices"

// ranks is a window of values that answers where a value stands among them. It
// is a pair of Fenwick trees over the places of all values in sorted order, so
// that each step costs the logarithm of the number of bars, whatever the
// window.
type ranks struct {
	place []int // of each bar: 1 for the smallest value of all; equal values share one
	count []int // Fenwick tree: values in the window
	bars  []int // Fenwick tree: sum of their bars
}

// newRanks returns an empty window over x, which has no NaN.
func newRanks(x []float64) *ranks {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	r := &ranks{make([]int, len(x)), make([]int, len(sorted)+1), make([]int, len(sorted)+1)}
	for i, v := range x {
		at, _ := slices.BinarySearch(sorted, v)
		r.place[i] = at + 1
	}
	return r
}

// add puts bar i into the window, times 1, or takes it out, times -1.
func (r *ranks) add(i, times int) {
	for k := r.place[i]; k < len(r.count); k += k & -k {
		r.count[k] += times
		r.bars[k] += times * i
	}
}

// upTo returns how many values of the window are at most at this place, and
// the sum of their bars.
func (r *ranks) upTo(place int) (count, bars int) {
	for k := place; k > 0; k -= k & -k {
		count += r.count[k]
		bars += r.bars[k]
	}
	return count, bars
}

// inPieces computes f, whose values depend on no more than the n values before
// them, piece by piece: trees over a few thousand values stay in the
// processor's cache, so the time per bar does not grow with the bars.
func inPieces(x []float64, n int, f func(x []float64, n int) []float64) []float64 {
	const piece = 4096
	first := firstValid(x)
	out := unknown(len(x), first)
	for start := first; start < len(x); start += piece {
		from, end := max(first, start-n), min(start+piece, len(x))
		copy(out[start:end], f(x[from:end], n)[start-from:])
	}
	return out
}

// percentRank returns which percentage of the n values before is below the
// newest.
func percentRank(x []float64, n int) []float64 { return inPieces(x, n, percentRanks) }

func percentRanks(x []float64, n int) []float64 {
	out := nans(len(x))
	r := newRanks(x)
	for i := range x {
		if i >= n {
			count, _ := r.upTo(r.place[i] - 1)
			out[i] = 100 * float64(count) / float64(n)
			r.add(i-n, -1)
		}
		r.add(i, 1)
	}
	return out
}
