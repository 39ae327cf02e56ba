package indicators

import "math"

// Arithmetic over whole columns: what a formula does between its averages.

// times returns a*b.
func times(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		out[i] = a[i] * b[i]
	}
	return out
}

// quotient returns a/b, and no value where b is 0.
func quotient(a, b []float64) []float64 {
	out := nans(len(a))
	for i := range out {
		if b[i] != 0 {
			out[i] = a[i] / b[i]
		}
	}
	return out
}

// scaled returns x*by.
func scaled(x []float64, by float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v * by
	}
	return out
}

// absolute returns |x|.
func absolute(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Abs(v)
	}
	return out
}

// exactSum returns the sum of the last n values without ever subtracting: the
// window is the end of one block of n values and the start of the next, and
// both are running sums within their block. So a window of zeros sums to
// exactly zero whatever stood before it, nothing drifts, and a NaN spoils the
// windows that hold it and no other. It is for sums that become divisors; where
// none does, rollingSum is cheaper.
func exactSum(x []float64, n int) []float64 {
	out := nans(len(x))
	first := firstValid(x)
	tail := make([]float64, n) // tail[k]: sum of the block before, from k to its end
	var head float64           // sum of this block so far
	for i := first; i < len(x); i++ {
		k := (i - first) % n
		if k == 0 {
			head = 0
			if i > first {
				var t float64
				for j := n - 1; j >= 0; j-- {
					t += x[i-n+j]
					tail[j] = t
				}
			}
		}
		head += x[i]
		switch {
		case k == n-1:
			out[i] = head
		case i >= first+n:
			out[i] = tail[k+1] + head
		}
	}
	return out
}

// greater returns the larger of a and b.
func greater(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		out[i] = max(a[i], b[i])
	}
	return out
}

// lesser returns the smaller of a and b.
func lesser(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		out[i] = min(a[i], b[i])
	}
	return out
}

// ratioLine returns by*a/b, and 0 where b is 0: nothing moved. Unlike
// quotient it leaves no holes in a line that is smoothed further.
func ratioLine(a, b []float64, by float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		if b[i] != 0 {
			out[i] = by * a[i] / b[i] // NaN before either is warm
		}
	}
	return out
}
