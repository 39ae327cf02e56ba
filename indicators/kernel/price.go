package kernel

import "wick/market"

// Means of the prices of each bar: (high+low)/2, (high+low+close)/3, (open+high+low+close)/4 and
// (high+low+2*close)/4. Those which should be equal are equal, see means.
func MedianPrice(s *market.Series) []float64   { return means(2, s.High, s.Low) }
func TypicalPrice(s *market.Series) []float64  { return means(3, s.High, s.Low, s.Close) }
func AveragePrice(s *market.Series) []float64  { return means(4, s.High, s.Low, s.Close, s.Open) }
func WeightedClose(s *market.Series) []float64 { return means(4, s.High, s.Low, Scaled(s.Close, 2)) }

// MidRange returns the middle between the highest high and the lowest low of
// the last n bars.
func MidRange(s *market.Series, n int) []float64 {
	return Midway(Highest(s.High, n), Lowest(s.Low, n))
}

// TrueRange returns the range of each bar, the close before included. As in
// TA-Lib the first bar has none.
func TrueRange(s *market.Series) []float64 {
	out := Unknown(s.Len(), 1)
	for i := 1; i < len(out); i++ {
		out[i] = rangeOf(s, i)
	}
	return out
}

// rangeOf returns the true range of bar i, which is not the first. It uses plain
// comparisons: the builtin max would take twice the time to handle NaN, which prices never
// are.
func rangeOf(s *market.Series, i int) float64 {
	hi, lo, before := s.High[i], s.Low[i], s.Close[i-1]
	if before > hi {
		hi = before
	}
	if before < lo {
		lo = before
	}
	return hi - lo
}

// TrueRangePine is like [TrueRange], but the first bar has high - low, as in
// Pine's ta.tr(true).
func TrueRangePine(s *market.Series) []float64 {
	out := TrueRange(s)
	if len(out) > 0 {
		out[0] = s.High[0] - s.Low[0]
	}
	return out
}

// ATR returns Wilder's average of [TrueRange], as TA-Lib does.
func ATR(s *market.Series, n int) []float64 { return RMA(TrueRange(s), n) }

// ATRPine returns Wilder's average of [TrueRangePine], as Pine's ta.atr does: it
// begins one bar before [ATR].
func ATRPine(s *market.Series, n int) []float64 { return RMA(TrueRangePine(s), n) }
