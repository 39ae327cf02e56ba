package shape

import "wick/indicators/kernel"

// Peaks returns the bars whose value is above each of the left values before
// and the right values after it, all of which must exist; both widths are at least
// 1. A plateau has no peak. The peak at bar i is known on bar i+right.
func Peaks(x []float64, left, right int) []int {
	peaks, _ := pivots(x, left, right)
	return peaks
}

// Troughs returns the bars that are [Peaks] upside down.
func Troughs(x []float64, left, right int) []int {
	_, troughs := pivots(x, left, right)
	return troughs
}

// pivots returns the peaks and the troughs of x. The side on which a bar lies of
// the one before says which of the two it could be, and most bars are ruled out
// because the next one goes on in that direction.
func pivots(x []float64, left, right int) (peaks, troughs []int) {
	if len(x) <= left+right {
		return nil, nil
	}
	next := kernel.Compare(x[left], x[left-1])
	for i := left; i+right < len(x); i++ {
		side := next
		next = kernel.Compare(x[i+1], x[i])
		switch {
		// A bar level with the one before is neither.
		case side == 0 || next != -side || !standsOut(x, i, left, right, side):
		case side > 0:
			peaks = append(peaks, i)
		default:
			troughs = append(troughs, i)
		}
	}
	return peaks, troughs
}

// standsOut reports whether bar i lies on the given side of each of the left bars
// before and the right bars after it but for its neighbours, which pivots has
// looked at. It looks at the nearest first: most bars are ruled out after one or
// two, whatever the widths.
func standsOut(x []float64, i, left, right, side int) bool {
	for k := 2; k <= max(left, right); k++ {
		if k <= right && kernel.Compare(x[i], x[i+k]) != side || k <= left && kernel.Compare(x[i], x[i-k]) != side {
			return false
		}
	}
	return true
}
