package indicators

import (
	"cmp"
	"slices"
)

// bucketSort sorts values by the part of their range they lie in and then, what
// few are left out of order, by insertion: in linear time for prices. A value
// far from all others crowds these into one bucket, which is sorted as usual.
type bucketSort struct {
	bucket []int32 // of each value
	starts []int32 // where the next value of each bucket goes
}

func newBucketSort(n int) *bucketSort {
	return &bucketSort{make([]int32, n), make([]int32, 2*n+2)}
}

// sort fills order with the indices of x by value, equal ones in their order.
func (s *bucketSort) sort(x []float64, order []int32) {
	if len(x) == 0 {
		return
	}
	clear(s.starts)
	lo, hi := x[0], x[0]
	for _, v := range x {
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
	}
	var scale float64
	if width := hi - lo; width > 1e-300 && width < 1e300 { // else the scale or the width may be infinite
		scale = float64(len(s.starts)-2) / width
	}
	for i, v := range x {
		var k int32
		if scale > 0 {
			k = int32((v - lo) * scale)
		}
		s.bucket[i] = k
		s.starts[k+1]++
	}
	var at int32
	for k, n := range s.starts {
		at += n
		s.starts[k] = at
	}
	for i := range x {
		k := s.bucket[i]
		order[s.starts[k]] = int32(i)
		s.starts[k]++
	}
	s.uncrowd(x, order)
	for p, i := range order {
		for ; p > 0 && x[order[p-1]] > x[i]; p-- {
			order[p] = order[p-1]
		}
		order[p] = i
	}
}

// uncrowd sorts the buckets that hold too many for insertion.
func (s *bucketSort) uncrowd(x []float64, order []int32) {
	const crowd = 16
	var start int32
	for _, end := range s.starts { // by now where the bucket ends
		if end-start > crowd {
			slices.SortFunc(order[start:end], func(i, j int32) int {
				return cmp.Or(cmp.Compare(x[i], x[j]), cmp.Compare(i, j))
			})
		}
		start = end
	}
}
