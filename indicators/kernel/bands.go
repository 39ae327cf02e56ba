package kernel

import "math"

// Bollinger returns the average of the kind named (see [Averages]) and the bands
// that lie up and down deviations away from it. The deviation is always the one
// around the plain mean.
func Bollinger(x []float64, n int, up, down float64, kind string) (mid, upper, lower []float64) {
	// The variance is put into lower and turned into the band in place.
	mid, lower = MeanVariance(x, n)
	if kind != "sma" {
		mid = Average(kind, x, n)
	}
	upper = make([]float64, len(x))
	for i, v := range lower {
		dev := math.Sqrt(v)
		upper[i], lower[i] = mid[i]+float64(up*dev), mid[i]-float64(down*dev)
	}
	return mid, upper, lower
}
