package shape

import "wick/indicators/kernel"

// Peaks returns the bars whose value is above each of the left values before
// and the right values after it, all of which must exist. A plateau has no
// peak. The peak at bar i is known on bar i+right.
func Peaks(x []float64, left, right int) []int { return pivots(x, left, right, 1) }

// Troughs returns the bars that are [Peaks] upside down.
func Troughs(x []float64, left, right int) []int { return pivots(x, left, right, -1) }

// pivots looks at the nearest neighbours first: most bars are ruled out after
// two or three comparisons, whatever the widths.
func pivots(x []float64, left, right, sign int) []int {
	var found []int
	beats := func(i, k int) bool { return sign*kernel.Compare(x[i], x[k]) > 0 }
	for i := left; i+right < len(x); i++ {
		k := 1
		for k <= max(left, right) && (k > left || beats(i, i-k)) && (k > right || beats(i, i+k)) {
			k++
		}
		if k > max(left, right) {
			found = append(found, i)
		}
	}
	return found
}
