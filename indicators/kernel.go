package indicators

import (
	"math"

	"wick/market"
)

// Kernels. Each is a pure function over columns: the result is aligned with
// the input, NaN before it is warm, and costs one pass whatever the window.
// Leading NaNs (an unwarmed input) only delay a kernel; bars are checked when
// they enter the house, so no NaN comes after the first value. A window n < 1
// is a broken promise of the caller and panics.
//
// A product that feeds a sum is written float64(a*b) + c: without the
// conversion some machines fuse the two and the last bit differs.

// nans returns n values that are not yet known.
func nans(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = nan
	}
	return out
}

// firstValid returns the index of the first value of x that is not NaN, or
// len(x).
func firstValid(x []float64) int {
	for i, v := range x {
		if !math.IsNaN(v) {
			return i
		}
	}
	return len(x)
}

// sma returns the mean of the last n values.
func sma(x []float64, n int) []float64 {
	out := nans(len(x))
	first := firstValid(x)
	var sum float64
	for i := first; i < len(x); i++ {
		sum += x[i]
		if i >= first+n {
			sum -= x[i-n]
		}
		if i >= first+n-1 {
			out[i] = sum / float64(n)
		}
	}
	return out
}

// ema returns the exponential average with weight 2/(n+1). As in TA-Lib its
// first value is the mean of the first n inputs.
func ema(x []float64, n int) []float64 {
	return smooth(x, n, 2/(float64(n)+1))
}

// rma returns Wilder's average, weight 1/n, seeded like ema.
func rma(x []float64, n int) []float64 {
	return smooth(x, n, 1/float64(n))
}

// smooth returns the exponential average with the given weight, whose first
// value is the mean of the first n inputs.
func smooth(x []float64, n int, weight float64) []float64 {
	out := nans(len(x))
	first := firstValid(x)
	if len(x)-first < n {
		return out
	}
	var sum float64
	for _, v := range x[first : first+n] {
		sum += v
	}
	value := sum / float64(n)
	out[first+n-1] = value
	for i := first + n; i < len(x); i++ {
		value += float64(weight * (x[i] - value))
		out[i] = value
	}
	return out
}

// stdev returns the population deviation of the last n values. It slides the
// mean and the sum of squares around it, because the mean of squares less the
// square of the mean cancels at high prices and small ticks.
func stdev(x []float64, n int) []float64 {
	out := nans(len(x))
	first := firstValid(x)
	if len(x)-first < n {
		return out
	}
	var mean, squares float64
	for k, v := range x[first : first+n] {
		d := v - mean
		mean += d / float64(k+1)
		squares += float64(d * (v - mean))
	}
	out[first+n-1] = math.Sqrt(max(0, squares/float64(n)))
	for i := first + n; i < len(x); i++ {
		in, gone := x[i], x[i-n]
		old := mean
		mean += (in - gone) / float64(n)
		squares += float64((in - gone) * (in - mean + gone - old))
		out[i] = math.Sqrt(max(0, squares/float64(n)))
	}
	return out
}

// trueRange returns the larger of the bar's range and its distance from the
// close before. As in TA-Lib the first bar has none.
func trueRange(s *market.Series) []float64 {
	out := nans(s.Len())
	for i := 1; i < len(out); i++ {
		before := s.Close[i-1]
		out[i] = max(s.High[i], before) - min(s.Low[i], before)
	}
	return out
}

// minus returns a-b.
func minus(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		out[i] = a[i] - b[i]
	}
	return out
}
