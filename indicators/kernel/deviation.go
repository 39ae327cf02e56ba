package kernel

import "math"

// fallen is the part of its highest below which a sum of squares consists mostly of rounding errors.
const fallen = 1e-2

// StdDev returns the population deviation of the last n values.
func StdDev(x []float64, n int) []float64 {
	return Each(Variance(x, n), math.Sqrt)
}

// Variance returns the population variance of the last n values.
func Variance(x []float64, n int) []float64 {
	_, out := MeanVariance(x, n)
	return out
}

// MeanVariance returns the mean and the population variance of the last n
// values.
//
// It slides the mean and the sum of squared distances from the mean. A reference value is
// subtracted from all values first, because the mean of squares minus the square of the
// mean loses its digits at high prices and small ticks. When the sum of squares has fallen
// far below its highest (a spike left the window), it consists mostly of rounding errors,
// and is computed again from the window.
func MeanVariance(x []float64, n int) (mean, variance []float64) {
	first := FirstValid(x)
	mean, variance = Unknown(len(x), first+n-1), Unknown(len(x), first+n-1)
	share, lifetime := 1/float64(n), max(n, renewal)
	for i := first + n - 1; i < len(x); {
		// Each turn of this loop computes one window from its values, around the newest, and
		// then slides as long as the sums can be trusted.
		ref := x[i]
		mid, squares := spread(x[i-n+1:i+1], ref)
		mean[i], variance[i] = ref+mid, squares*share
		floor := fallen * squares
		i++
		rest := x[i:min(i+lifetime-1, len(x))]
		// All four have one length, so that the inner loop needs no checks of bounds.
		gone, means, variances := x[i-n:][:len(rest)], mean[i:][:len(rest)], variance[i:][:len(rest)]
		for k, v := range rest {
			squares, mid = slid(squares, mid, v-ref, gone[k]-ref, share)
			if fallen*squares > floor { // it follows the highest since the window was computed afresh
				floor = fallen * squares
			}
			if squares < floor {
				break
			}
			means[k], variances[k] = ref+mid, squares*share
			i++
		}
	}
	return mean, variance
}

// spread returns the mean of x, less ref, and the sum of squared distances
// from the mean.
func spread(x []float64, ref float64) (mean, squares float64) {
	for _, v := range x {
		mean += v - ref
	}
	mean /= float64(len(x))
	for _, v := range x {
		squares += float64((v - ref - mean) * (v - ref - mean))
	}
	return mean, squares
}

// MeanDeviation returns the mean distance of the last n values from their mean.
func MeanDeviation(x []float64, n int) []float64 {
	_, deviation := centred(x, n)
	return deviation
}

// centred returns how far the newest of the last n values is from their mean, and how far
// all of them are on average. Every window is summed up by itself: with the longest that
// takes a few milliseconds on 5,000 bars.
func centred(x []float64, n int) (distance, deviation []float64) {
	first := FirstValid(x)
	distance, deviation = Unknown(len(x), first+n-1), Unknown(len(x), first+n-1)
	share := 1 / float64(n)
	for i := first + n - 1; i < len(x); i++ {
		w := x[i-n+1 : i+1]
		mean := sumAbove(w, x[i]) * share // less x[i]
		distance[i], deviation[i] = level(-mean, x[i]), distances(w, x[i], mean)*share
	}
	return distance, deviation
}

// distances returns the sum of |v - ref - mean| over x, in four strands like
// [sumAbove].
func distances(x []float64, ref, mean float64) float64 {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a += math.Abs(x[0] - ref - mean)
		b += math.Abs(x[1] - ref - mean)
		c += math.Abs(x[2] - ref - mean)
		d += math.Abs(x[3] - ref - mean)
	}
	for _, v := range x {
		a += math.Abs(v - ref - mean)
	}
	return a + b + c + d
}

// CCI returns the distance of x from its mean over n values, in units of 0.015
// of their mean deviation; 0 where nothing moved.
func CCI(x []float64, n int) []float64 {
	y, deviation := centred(x, n)
	for i, d := range deviation {
		if d > Rounding*math.Abs(x[i]) {
			y[i] /= 0.015 * d
		} else {
			y[i] *= 0 // NaN stays NaN
		}
	}
	return y
}

// Covariance returns the population variances of the last n values of x and of
// y, and their covariance. It slides like [MeanVariance].
func Covariance(x, y []float64, n int) (varX, varY, cov []float64) {
	first := max(FirstValid(x), FirstValid(y))
	varX, varY, cov = Unknown(len(x), first+n-1), Unknown(len(x), first+n-1), Unknown(len(x), first+n-1)
	share, lifetime := 1/float64(n), max(n, renewal)
	var midX, midY, xx, yy, xy, floorX, floorY, refX, refY float64
	for i, age := first+n-1, lifetime; i < len(x); i, age = i+1, age+1 {
		if age < lifetime {
			// The step of MeanVariance for both columns, and its twin for the product:
			// the new pair comes in around the old mean of x and the new mean of y, and
			// the old pair leaves around the same two.
			inX, inY, goneX, goneY, oldX := x[i]-refX, y[i]-refY, x[i-n]-refX, y[i-n]-refY, midX
			xx, midX = slid(xx, midX, inX, goneX, share)
			yy, midY = slid(yy, midY, inY, goneY, share)
			xy += float64((inX-oldX)*(inY-midY)) - float64((goneX-oldX)*(goneY-midY))
			floorX, floorY = max(floorX, fallen*xx), max(floorY, fallen*yy)
		}
		if age == lifetime || xx < floorX || yy < floorY {
			refX, refY, xy, age = x[i], y[i], 0, 0
			midX, xx = spread(x[i-n+1:i+1], refX)
			midY, yy = spread(y[i-n+1:i+1], refY)
			for k := i - n + 1; k <= i; k++ {
				xy += float64((x[k] - refX - midX) * (y[k] - refY - midY))
			}
			floorX, floorY = fallen*xx, fallen*yy
		}
		varX[i], varY[i], cov[i] = max(0, xx)*share, max(0, yy)*share, xy*share // rounding may leave less than nothing
	}
	return varX, varY, cov
}

// slid returns the sum of squared distances from the mean, and the mean, of a window in which a
// value replaces another: the mean moves by (in-out)/n, and the squares around it change by
// (in-out) * ((in-new mean) + (out-old mean)).
func slid(squares, mean, in, out, share float64) (after, mid float64) {
	change := in - out
	mid = mean + float64(change*share)
	return squares + float64(change*((in-mid)+(out-mean))), mid
}

// Moments returns the skewness and the excess kurtosis of the last n values, of
// the population (g1 and g2). A window without movement beyond rounding has
// neither.
func Moments(x []float64, n int) (skew, kurtosis []float64) {
	skew, kurtosis = NaNs(len(x)), NaNs(len(x))
	size := float64(n)
	for i := FirstValid(x) + n - 1; i < len(x); i++ {
		w, ref := x[i-n+1:i+1], x[i]
		mean := sumAbove(w, ref) / size // less ref, as all that follows
		var second, third, fourth float64
		for _, v := range w {
			d := v - ref - mean
			square := d * d
			second += float64(square)
			third += float64(square * d)
			fourth += float64(square * square)
		}
		// Both are ratios of moments and mean nothing where the deviation is rounding.
		if variance := second / size; math.Sqrt(variance) > Rounding*math.Abs(ref) {
			skew[i] = third / size / (variance * math.Sqrt(variance))
			kurtosis[i] = fourth/size/(variance*variance) - 3
		}
	}
	return skew, kurtosis
}

// Bollinger returns the bands that lie up and down deviations of the last n values of x
// away from an average of them; nil is their mean. The deviation is always the one around
// the mean.
func Bollinger(x []float64, n int, up, down float64, average []float64) (mid, upper, lower []float64) {
	// The variance is put into lower and turned into the band in place.
	mid, lower = MeanVariance(x, n)
	if average != nil {
		mid = average
	}
	upper = make([]float64, len(x))
	for i, v := range lower {
		dev := math.Sqrt(v)
		upper[i], lower[i] = mid[i]+float64(up*dev), mid[i]-float64(down*dev)
	}
	return mid, upper, lower
}
