package kernel

import "math"

// renewal is after how many bars a sliding sum is computed again from its window, unless
// the window is longer. That bounds the rounding errors that add up, and costs about one
// addition per bar.
const renewal = 256

// stale reports whether a sliding sum should be computed again because a value has left
// the window that was far larger than what remains. peak is the largest distance that was
// added to the sum since it was computed, and level the size of the result. If such a value
// were still in a window of at most 1,000 bars, the result would be at least a thousandth
// of it.
func stale(peak, level float64) bool { return peak > outlier*level }

// outlier is how many times larger than the values around it a value must be for its
// rounding error to matter in a sum that it has left.
const outlier = 4e3

// SMA returns the mean of the last n values.
//
// The mean slides: it moves by the difference between the value that comes in and the one
// that goes out, divided by n. So equal values leave it unchanged to the last bit.
func SMA(x []float64, n int) []float64 {
	first := FirstValid(x)
	out := Unknown(len(x), first+n-1)
	share := 1 / float64(n)
	fresh := 0 // values that windows were computed from
	for i := first + n - 1; i < len(x); {
		// Compute one window afresh, then slide until it is renewed.
		average := mean(x[i-n+1 : i+1])
		out[i] = average
		i++
		rest := x[i:min(i+max(n, renewal)-1, len(x))]
		gone, means := x[i-n:][:len(rest)], out[i:][:len(rest)]
		k := 0
		for ; k < len(rest) && k < len(gone) && k < len(means); k++ {
			move := rest[k] - gone[k]
			moved := average + float64(move*share)
			// Squares, because absolute values take longer.
			if move*move > outlier*outlier*(moved*moved) {
				break // a far larger value has left: the mean is computed afresh
			}
			average = moved
			means[k] = average
		}
		i += k
		// Of values that cancel out, such leaps may come on every bar. Sums of blocks take the
		// same time whatever the values are.
		if fresh += n; fresh > 8*len(x) {
			for k, sum := range RollingSum(x[i-n+1:], n)[n-1:] {
				out[i+k] = sum * share
			}
			return out
		}
	}
	return out
}

// sumFrom returns the sum of the distances of x from ref, and the largest
// distance.
func sumFrom(x []float64, ref float64) (sum, peak float64) {
	for _, v := range x {
		sum += v - ref
		peak = max(peak, math.Abs(v-ref))
	}
	return sum, peak
}

// mean returns the mean of x, exactly the value if all are equal.
func mean(x []float64) float64 { return x[0] + sumAbove(x, x[0])/float64(len(x)) }

// sumAbove returns the sum of the distances of x from ref. It adds up four partial sums,
// since with one sum every addition would wait for the one before.
func sumAbove(x []float64, ref float64) float64 {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a += x[0] - ref
		b += x[1] - ref
		c += x[2] - ref
		d += x[3] - ref
	}
	for _, v := range x {
		a += v - ref
	}
	return a + b + c + d
}

// RollingSum returns the sum of the last n values without ever subtracting.
//
// The window is the end of one block of n values and the start of the next, and both parts
// are running sums within their block. So the sum of a window of zeros is exactly zero
// whatever came before it, which matters for sums that are divisors; errors do not add up;
// and a NaN affects only the windows that contain it.
func RollingSum(x []float64, n int) []float64 {
	first := FirstValid(x)
	out := Unknown(len(x), first+n-1)
	tails := make([]float64, n) // tails[k]: sum of the block before from its value k on
	for start := first; start < len(x); start += n {
		block := x[start:min(start+n, len(x))]
		var sum float64
		for k, v := range block {
			sum += v
			// The last value of a block ends a window that is the block; earlier ones
			// need the tail of the block before, which the first block does not have.
			switch {
			case k == n-1:
				out[start+k] = sum
			case start > first:
				out[start+k] = tails[k+1] + sum
			}
		}
		sum = 0
		for k := len(block) - 1; k >= 0; k-- {
			sum += block[k]
			tails[k] = sum
		}
	}
	return out
}

// total returns the sum of x.
func total(x []float64) float64 { return sumAbove(x, 0) }

// Cumulative returns the sum of all values so far.
func Cumulative(x []float64) []float64 {
	first := FirstValid(x)
	out := Unknown(len(x), first)
	var sum float64
	for i := first; i < len(x); i++ {
		sum += x[i]
		out[i] = sum
	}
	return out
}
