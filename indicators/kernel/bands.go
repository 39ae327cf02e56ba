package kernel

import "math"

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
