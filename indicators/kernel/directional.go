package kernel

import (
	"math"

	"wick/market"
)

// Directional returns Wilder's +DI and -DI over n bars, and the ADX, the average of their DX
// over smoothing bars. The variant "talib" starts
// the sums of movements with n-1 bars, the variant "pine" with n.
func Directional(s *market.Series, n, smoothing int, variant string) (plus, minus, adx []float64) {
	if variant == "pine" {
		// Pine divides averages, TA-Lib sums; the factor n cancels, so the two differ
		// by their seed alone.
		up, down, ranges := Movements(s)
		ranges = RMA(ranges, n)
		plus, minus = Ratio(RMA(up, n), ranges, 100), Ratio(RMA(down, n), ranges, 100)
	} else {
		plus, minus = DirectionalIndicators(s, n)
	}
	return plus, minus, RMA(DirectionalIndex(plus, minus), smoothing)
}

// DirectionalIndicators returns +DI and -DI as TA-Lib has them.
func DirectionalIndicators(s *market.Series, n int) (plus, minus []float64) {
	plus, minus, ranges := Movements(s)
	if n == 1 { // TA-Lib leaves out the hundred here
		return Ratio(plus, ranges, 1), Ratio(minus, ranges, 1)
	}
	if len(plus) <= n {
		return NaNs(len(plus)), NaNs(len(plus))
	}
	keep := 1 - 1/float64(n)
	// The seed is the sum of the n-1 movements of bars 1 to n-1. From bar n on each sum
	// loses its n-th part and takes in the newest movement.
	up, down, all := total(plus[1:n]), total(minus[1:n]), total(ranges[1:n])
	for i := n; i < len(plus); i++ {
		up = float64(up*keep) + plus[i]
		down = float64(down*keep) + minus[i]
		all = float64(all*keep) + ranges[i]
		// The columns of movements are overwritten as they are used up.
		plus[i], minus[i] = 0, 0
		if all != 0 {
			plus[i], minus[i] = 100*up/all, 100*down/all
		}
	}
	return From(plus, n), From(minus, n)
}

// DirectionalIndex returns DX, 0 where neither side moved.
func DirectionalIndex(plus, minus []float64) []float64 {
	out := make([]float64, len(plus))
	for i, p := range plus {
		if sum := p + minus[i]; sum != 0 {
			out[i] = 100 * math.Abs(p-minus[i]) / sum
		}
	}
	return out
}

// Movements returns +DM, -DM and the true range of every bar; the first bar has none. At
// most one of +DM and -DM is not zero.
func Movements(s *market.Series) (plus, minus, ranges []float64) {
	n := s.Len()
	plus, minus, ranges = Unknown(n, 1), Unknown(n, 1), Unknown(n, 1)
	for i := 1; i < n; i++ {
		rise, fall := s.High[i]-s.High[i-1], s.Low[i-1]-s.Low[i]
		up, _ := parts(rise)
		down, _ := parts(fall)
		// Only the larger of the two movements counts, and none if they differ by no
		// more than rounding of the price.
		switch d := level(rise-fall, s.High[i]); {
		case d > 0:
			down = 0
		case d < 0:
			up = 0
		default: // equal ones cancel each other
			up, down = 0, 0
		}
		plus[i], minus[i] = up, down
		ranges[i] = rangeOf(s, i)
	}
	return plus, minus, ranges
}

// WilderSum returns Wilder's decaying sum over n bars of x, whose first bar has
// no value. As in TA-Lib it starts, on bar n-1, with the n-1 values so far.
func WilderSum(x []float64, n int) []float64 {
	if n == 1 {
		return x
	}
	out := Unknown(len(x), n-1)
	if len(x) < n {
		return out
	}
	keep := 1 - 1/float64(n)
	sum := total(x[1:n])
	out[n-1] = sum
	for i := n; i < len(x); i++ {
		sum = float64(sum*keep) + x[i]
		out[i] = sum
	}
	return out
}
