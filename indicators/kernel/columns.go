package kernel

import "math"

// Arithmetic of whole columns: what a formula does between its averages. All
// return a new column and give NaN where an input is NaN, unless they say
// otherwise.

// Minus returns a-b, and exactly 0 where the two are equal up to [Rounding]: otherwise the
// sign of a rounding error could make a signal.
func Minus(a, b []float64) []float64 {
	out := make([]float64, len(a))
	b = b[:len(a)]
	for i, v := range a {
		out[i] = Difference(v, b[i])
	}
	return out
}

// Difference returns a-b, and exactly 0 if the two are equal up to [Rounding].
func Difference(a, b float64) float64 {
	d := a - b
	if size := math.Abs(d); size <= Rounding*math.Abs(a) || size <= Rounding*math.Abs(b) {
		return 0
	}
	return d
}

// Change returns how far x moved in k bars, exactly 0 where it moved by no more
// than [Rounding]. The first k bars have no value.
func Change(x []float64, k int) []float64 {
	out := Unknown(len(x), k)
	for i := k; i < len(x); i++ {
		out[i] = Difference(x[i], x[i-k])
	}
	return out
}

// Shift returns x as it was k bars ago. The first k bars have no value.
func Shift(x []float64, k int) []float64 {
	out := Unknown(len(x), k)
	if k < len(x) {
		copy(out[k:], x)
	}
	return out
}

// zip returns the column that f makes of two columns, Each that of one.
func zip(a, b []float64, f func(a, b float64) float64) []float64 {
	out := make([]float64, len(a))
	for i, v := range a {
		out[i] = f(v, b[i])
	}
	return out
}
func Each(x []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = f(v)
	}
	return out
}

// Times returns a*b.
func Times(a, b []float64) []float64 {
	return zip(a, b, func(a, b float64) float64 { return a * b })
}

// Plus returns a+b.
func Plus(a, b []float64) []float64 {
	return zip(a, b, func(a, b float64) float64 { return a + b })
}

// Quotient returns a/b, and NaN where b is 0.
func Quotient(a, b []float64) []float64 {
	return zip(a, b, func(a, b float64) float64 {
		if b == 0 {
			return nan
		}
		return a / b
	})
}

// Ratio returns by*a/b, and 0 where b is 0. Unlike [Quotient] it leaves no
// holes, so its result can be smoothed further. Where a is NaN, because it is not warm yet,
// so is the result, even if b is 0: a value before such a NaN would make it a hole.
func Ratio(a, b []float64, by float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		if b[i] != 0 || math.IsNaN(a[i]) {
			out[i] = by * a[i] / b[i]
		}
	}
	return out
}

// Share returns 100*a/(a+b), the part of a in the whole in percent, and 0 where
// both are 0.
func Share(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		if sum := a[i] + b[i]; sum != 0 {
			out[i] = 100 * a[i] / sum
		}
	}
	return out
}

// Scaled returns x*by.
func Scaled(x []float64, by float64) []float64 {
	return Each(x, func(v float64) float64 { return v * by })
}

// Absolute returns |x|.
func Absolute(x []float64) []float64 { return Each(x, math.Abs) }

// Sides returns the parts of x above zero and, as positive numbers, those below.
func Sides(x []float64) (up, down []float64) {
	return Each(x, func(v float64) float64 { return max(v, 0) }), Each(x, func(v float64) float64 { return max(-v, 0) })
}

// Signs returns 1 where x is above zero, -1 where it is below, and 0 where it is zero.
func Signs(x []float64) []float64 {
	return Each(x, func(v float64) float64 {
		if v == 0 || math.IsNaN(v) {
			return v
		}
		return math.Copysign(1, v)
	})
}

// Streak returns how many bars in a row x rose over k bars, or fell, then negative; 0 where it
// stayed.
func Streak(x []float64, k int) []float64 {
	out := make([]float64, len(x))
	for i := k; i < len(x); i++ {
		switch Compare(x[i], x[i-k]) {
		case 1:
			out[i] = max(out[i-1], 0) + 1
		case -1:
			out[i] = min(out[i-1], 0) - 1
		}
	}
	return out
}

// Clamp returns x kept between lo and hi.
func Clamp(x []float64, lo, hi float64) []float64 {
	return Each(x, func(v float64) float64 { return max(lo, min(hi, v)) })
}

// Greater returns the larger of a and b, Lesser the smaller.
func Greater(a, b []float64) []float64 { return zip(a, b, math.Max) }
func Lesser(a, b []float64) []float64  { return zip(a, b, math.Min) }

// Midway returns (a+b)/2.
func Midway(a, b []float64) []float64 {
	return zip(a, b, func(a, b float64) float64 { return (a + b) / 2 })
}

// Offset returns mid + by*dev: a band.
func Offset(mid, dev []float64, by float64) []float64 {
	return zip(mid, dev, func(m, d float64) float64 { return m + float64(by*d) })
}

// ZeroNaN returns x with 0 in place of NaN.
func ZeroNaN(x []float64) []float64 {
	return Each(x, func(v float64) float64 {
		if math.IsNaN(v) {
			return 0
		}
		return v
	})
}

// Rate compares x with its value k bars ago, old: it returns by*(x/old + less). With 100
// and -1 that is the change in percent, with 1 and 0 the ratio. As in TA-Lib it is 0 where
// the old value was 0.
func Rate(x []float64, k int, by, less float64) []float64 {
	out := Unknown(len(x), FirstValid(x)+k)
	for i := FirstValid(x) + k; i < len(x); i++ {
		switch before := x[i-k]; {
		case before == 0: // out[i] is 0 already
		// A change is computed from the difference, which is exactly 0 if nothing moved; the
		// quotient minus 1 would leave a rounding error.
		case less == -1:
			out[i] = by * (Difference(x[i], before) / before)
		default:
			out[i] = by * (x[i]/before + less)
		}
	}
	return out
}

// ROC returns the change of x in k bars, in percent.
func ROC(x []float64, k int) []float64 { return Rate(x, k, 100, -1) }

// LogReturns returns the logarithm of x over x k bars ago, and NaN where either
// is not positive.
func LogReturns(x []float64, k int) []float64 {
	out := NaNs(len(x))
	for i := k; i < len(x); i++ {
		if x[i] > 0 && x[i-k] > 0 {
			out[i] = math.Log(x[i] / x[i-k])
		}
	}
	return out
}

// InRuns applies f to each unbroken run of values of x on its own, for columns
// that may have holes.
func InRuns(x []float64, f func(x []float64) []float64) []float64 {
	out := NaNs(len(x))
	for start := 0; start < len(x); {
		if math.IsNaN(x[start]) {
			start++
			continue
		}
		end := start
		for end < len(x) && !math.IsNaN(x[end]) {
			end++
		}
		copy(out[start:end], f(x[start:end]))
		start = end
	}
	return out
}
