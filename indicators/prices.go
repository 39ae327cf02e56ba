package indicators

import (
	"wick/indicators/shape"
	"wick/market"
)

// priceOf completes the record of a price that is made of the four of a bar, with the
// signals of the close crossing it. These crossings are silent: a close crosses the middle
// of its own bar every few bars.
func priceOf(ind Indicator, label string, price func(*market.Series) []float64) Indicator {
	ind.Category, ind.Overlay, ind.Warmup = Price, true, barWarmup
	ind.Signals = []string{shape.PriceUp, shape.PriceDown}
	ind.Compute = func(s *market.Series, _ Args) *Result {
		r := shape.OverPrice(label, s.Close, price(s))
		shape.Silently(r.Signals)
		return r
	}
	return ind
}
