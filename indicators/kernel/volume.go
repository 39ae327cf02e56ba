package kernel

import (
	"math"

	"wick/market"
)

// OBV returns the running sum of volume by the direction of the closes.
func OBV(closes, volume []float64) []float64 {
	out := make([]float64, len(closes))
	if len(closes) == 0 {
		return out
	}
	sum, before := volume[0], closes[0]
	out[0] = sum
	volume, rest := volume[1:len(closes)], out[1:]
	for i, now := range closes[1:] {
		// Copysign has no branch, which no processor could foresee here.
		move := now - before
		before = now
		if move != 0 {
			sum += math.Copysign(volume[i], move)
		}
		rest[i] = sum
	}
	return out
}

// MoneyFlow returns the volume of each bar times where its close lies in its
// range, -1 to 1; 0 for a bar without range.
func MoneyFlow(s *market.Series) []float64 {
	out := make([]float64, s.Len())
	for i, c := range s.Close {
		if height := s.High[i] - s.Low[i]; height > 0 {
			out[i] = level((c-s.Low[i])-(s.High[i]-c), c) / height * s.Volume[i]
		}
	}
	return out
}

// MFI returns the money flow index over n changes of the typical price, 0 to
// 100: the share of money that changed hands on rising prices, money being
// typical price times volume. It is 0 when no money moved.
//
// Typical prices that are equal up to [Rounding] count as unchanged: 4.99 + 5.01
// + 5.00 and three times 5.00 are the same price, whatever the last bit of their
// sums says.
func MFI(s *market.Series, n int) []float64 {
	out := Unknown(s.Len(), n)
	if s.Len() == 0 {
		return out
	}
	flows := make([]float64, len(out)) // negative where the price fell
	high, low, closes, volume := s.High[:len(out)], s.Low[:len(out)], s.Close[:len(out)], s.Volume[:len(out)]
	before := high[0] + low[0] + closes[0] // three times the typical price: the factor cancels
	var all, signed float64                // sums of |flow| and of flow
	for i := 1; i < len(out); i++ {
		price := high[i] + low[i] + closes[i]
		// The flow has the sign of the price's change, so that one column holds both sides.
		flow, move := math.Abs(price*volume[i]), price-before
		before = price
		if math.Abs(move) <= Rounding*math.Abs(price) {
			flow = 0
		}
		flow = math.Copysign(flow, move)
		flows[i] = flow
		var gone float64
		if i > n {
			gone = flows[i-n]
		}
		all += math.Abs(flow) - math.Abs(gone)
		signed += flow - gone
		// When a very large flow goes out, its rounding error stays in the sums.
		if math.Abs(gone) > outlier*all {
			all, signed = 0, 0
			for _, v := range flows[i-n+1 : i+1] {
				all += math.Abs(v)
				signed += v
			}
		}
		// The rising part is (all+signed)/2, so its share in percent is 50 +
		// 50*signed/all. Rounding may carry it past its bounds.
		if i >= n && all > 0 {
			switch share := noiseless(50+50*signed/all, 100*Rounding); {
			case share > 100:
				out[i] = 100
			case share > 0:
				out[i] = share
			}
		}
	}
	return out
}
