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
