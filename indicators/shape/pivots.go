package shape

import "wick/indicators/kernel"

// Peaks returns the bars whose value is above each of the left values before it and each of
// the right values after it. All these values must exist, and left and right must be at
// least 1. A plateau has no peak. A peak at bar i becomes known on bar i+right.
func Peaks(x []float64, left, right int) []int {
	peaks, _ := pivots(x, left, right)
	return peaks
}

// Troughs is like [Peaks], for values below their neighbours.
func Troughs(x []float64, left, right int) []int {
	_, troughs := pivots(x, left, right)
	return troughs
}

// pivots returns the peaks and the troughs of x. A bar above the one before it can only be
// a peak, and one below it only a trough. Most bars are ruled out because the next one goes
// on in the same direction.
func pivots(x []float64, left, right int) (peaks, troughs []int) {
	if len(x) <= left+right {
		return nil, nil
	}
	next := kernel.Compare(x[left], x[left-1])
	for i := left; i+right < len(x); i++ {
		side := next
		next = kernel.Compare(x[i+1], x[i])
		switch {
		// A bar that equals the one before it is neither.
		case side == 0 || next != -side || !standsOut(x, i, left, right, side):
		case side > 0:
			peaks = append(peaks, i)
		default:
			troughs = append(troughs, i)
		}
	}
	return peaks, troughs
}

// standsOut reports whether bar i is above (side 1) or below (side -1) each of the left
// bars before it and the right bars after it. It does not check the two neighbours, which
// pivots has checked. It goes outwards from bar i, since most bars are ruled out after one
// or two comparisons, whatever the widths.
func standsOut(x []float64, i, left, right, side int) bool {
	for k := 2; k <= max(left, right); k++ {
		if k <= right && kernel.Compare(x[i], x[i+k]) != side || k <= left && kernel.Compare(x[i], x[i-k]) != side {
			return false
		}
	}
	return true
}
