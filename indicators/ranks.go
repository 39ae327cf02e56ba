package indicators

// ranks is a window of values that answers where a value stands among them. It
// is a Fenwick tree over the places of all values in sorted order, so that each
// step costs the logarithm of the number of bars, whatever the window.
type ranks struct {
	place []int32 // of each bar: 1 for the smallest value of all; equal values share one
	tree  []tally
}

// tally counts values in the window and adds up their bars. Small numbers keep
// a tree in the processor's cache; a window of [MaxLength] bars fits them.
type tally struct{ count, bars int32 }

// newRanks returns an empty window over x, which has no NaN.
func newRanks(x []float64) *ranks {
	order := make([]int32, len(x))
	newBucketSort(len(x)).sort(x, order)
	r := &ranks{place: make([]int32, len(x))}
	var place int32
	for k, i := range order {
		if k == 0 || x[i] != x[order[k-1]] {
			place++
		}
		r.place[i] = place
	}
	r.tree = make([]tally, place+1)
	return r
}

// add puts bar i into the window, times 1, or takes it out, times -1.
func (r *ranks) add(i, times int) {
	change := tally{int32(times), int32(times * i)}
	for k := int(r.place[i]); k < len(r.tree); k += k & -k {
		r.tree[k].count += change.count
		r.tree[k].bars += change.bars
	}
}

// upTo returns how many values of the window are at most at this place, and
// the sum of their bars.
func (r *ranks) upTo(place int32) (count, bars int) {
	var sum tally
	for k := place; k > 0; k &= k - 1 {
		sum.count += r.tree[k].count
		sum.bars += r.tree[k].bars
	}
	return int(sum.count), int(sum.bars)
}

// inPieces computes f, whose values depend on no more than the n values before
// them, piece by piece: trees over a few thousand values stay in the
// processor's cache, so the time per bar does not grow with the bars. Pieces
// are long next to the n bars that each takes again from the one before.
func inPieces(x []float64, n int, f func(x []float64, n int) []float64) []float64 {
	piece := max(4096, 8*n)
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
