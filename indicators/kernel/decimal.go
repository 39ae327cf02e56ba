package kernel

import "math"

// corrected corrects the values of x, each the mean of n quoted prices, in place and returns
// x. Means that should be equal, such as the thirds of 10.01 + 10.03 + 10.02 and of 10.02 +
// 10.02 + 10.02, may differ in the last bit. So the sum is rounded to 13 or 14 significant
// decimal digits, more than any market quotes, and divided again: then they are the same
// number. Rounding the mean itself would also make them equal, but a third has no end, so
// that would change a small difference of two means by a part in 1e11.
func corrected(x []float64, n float64) []float64 {
	for i, v := range x {
		x[i] = decimal(v*n) / n
	}
	return x
}

// decimal returns v rounded to 13 or 14 significant decimal digits. The number of
// decimals follows from the binary exponent, which is cheaper than a logarithm and at
// most one digit off.
func decimal(v float64) float64 {
	const log2 = 0.30102999566398120 // decimal digits per binary digit
	_, exponent := math.Frexp(v)
	digits := 12 - int(math.Floor(float64(exponent-1)*log2))
	// Powers of ten up to 22 are exact; NaN, zero and prices beyond 1e12 or below
	// 1e-10 stay as they are.
	if v == 0 || v != v || digits < 0 || digits > 22 {
		return v
	}
	power := math.Pow10(digits)
	return math.Round(v*power) / power
}
