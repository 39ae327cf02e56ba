package kernel

import "math"

// means divides the values of x, each the sum of n quoted prices, by n, in place, and returns
// x. Means that should be equal, such as the thirds of 10.01 + 10.03 + 10.02 and of 10.02 +
// 10.02 + 10.02, may differ in the last bit. So the sum is rounded to 13 or 14 significant
// decimal digits first, more than any market quotes: then they are the same number. Rounding the mean itself would also make them equal, but a third has no end, so
// that would change a small difference of two means by a part in 1e11.
func means(x []float64, n float64) []float64 {
	before, scale := uint64(0), 0.0 // the scale follows from the exponent, which few prices change
	for i, sum := range x {
		if exponent := math.Float64bits(sum) >> 52 & 0x7ff; exponent != before {
			before, scale = exponent, decimals(int(exponent)-1023)
		}
		if scale > 0 {
			sum = math.Round(sum*scale) / scale
		}
		x[i] = sum / n
	}
	return x
}

// decimals returns the power of ten that leaves 13 or 14 significant decimal digits of a
// number with this binary exponent, which is cheaper than a logarithm and at most one digit
// off; 0 for none. Powers of ten up to 22 are exact; NaN, zero and prices beyond 1e12 or
// below 1e-10 stay as they are.
func decimals(exponent int) float64 {
	const log2 = 0.30102999566398120 // decimal digits per binary digit
	digits := 12 - int(math.Floor(float64(exponent)*log2))
	if digits < 0 || digits > 22 {
		return 0
	}
	return math.Pow10(digits)
}
