package kernel

import "math"

// WMA returns the average with weights 1 to n, the newest heaviest.
func WMA(x []float64, n int) []float64 {
	weights := make([]float64, n)
	for k := range weights {
		weights[k] = float64(k+1) / (float64(n) * float64(n+1) / 2)
	}
	return Convolve(x, weights)
}

// HMA returns Hull's average: a weighted average of twice the fast less the
// slow one. Half the length and its square root are rounded down, as in Pine.
func HMA(x []float64, n int) []float64 {
	fast, slow := WMA(x, max(1, n/2)), WMA(x, n)
	raw := make([]float64, len(x))
	for i := range raw {
		raw[i] = float64(2*fast[i]) - slow[i]
	}
	return WMA(raw, HullRoot(n))
}

// HullRoot returns the length of the last average in [HMA].
func HullRoot(n int) int { return int(math.Sqrt(float64(n))) }

// SWMA returns the average of the last four values with weights 1, 2, 2, 1.
func SWMA(x []float64) []float64 {
	out := NaNs(len(x))
	for i := FirstValid(x) + 3; i < len(x); i++ {
		out[i] = (x[i] + float64(2*x[i-1]) + float64(2*x[i-2]) + x[i-3]) / 6
	}
	return out
}

// Convolve returns the weighted sum of the last len(weights) values, of which
// weights[0] belongs to the oldest. It costs a multiplication per weight and
// bar.
func Convolve(x, weights []float64) []float64 {
	n := len(weights)
	first := FirstValid(x)
	out := Unknown(len(x), first+n-1)
	for i := first + n - 1; i < len(x); i++ {
		out[i] = dot(x[i-n+1:i+1], weights)
	}
	return out
}

// dot returns the sum of products, in four strands like [total].
func dot(x, w []float64) float64 {
	w = w[:len(x)]
	var a, b, c, d float64
	for len(x) >= 4 && len(w) >= 4 {
		a += float64(x[0] * w[0])
		b += float64(x[1] * w[1])
		c += float64(x[2] * w[2])
		d += float64(x[3] * w[3])
		x, w = x[4:], w[4:]
	}
	for k, v := range x {
		a += float64(v * w[k])
	}
	return a + b + c + d
}

// Regression fits a least-squares line through the last n values. It returns
// the value of that line at the newest bar and its slope per bar. With n = 1
// the slope is 0. Every window is summed up by itself: with the longest that takes
// a few milliseconds on 5,000 bars.
func Regression(x []float64, n int) (end, slope []float64) {
	first := FirstValid(x)
	end, slope = Unknown(len(x), first+n-1), Unknown(len(x), first+n-1)
	size, half := float64(n), float64(n-1)/2
	spreadX := size * (size*size - 1) / 12 // sum of squared distances of 0 … n-1 from half
	if n == 1 {
		spreadX = 1 // the slope is 0 whatever it is divided by
	}
	for i := first + n - 1; i < len(x); i++ {
		ref := x[i]
		var sum, tilt float64 // of values less ref; tilt = sum of (k-half)*value
		for k, v := range x[i-n+1 : i+1] {
			sum += v - ref
			tilt += float64((float64(k) - half) * (v - ref))
		}
		slope[i] = tilt / spreadX
		// The line passes through the mean at the middle of the window.
		end[i] = ref + sum/size + float64(slope[i]*half)
	}
	return end, slope
}
