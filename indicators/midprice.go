package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The same as midpoint, of highs and lows in place of one price.
var indMidprice = Indicator{
	Name: "midprice", Title: "Midprice", Category: Trend, Overlay: true,
	Doc:     "Middle between the highest high and the lowest low of the last bars. As in TA-Lib.",
	Formula: "midprice = (highest(high, n) + lowest(low, n)) / 2",
	Params:  []Param{length(14)},
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		return shape.OverPrice("Midprice", s.Close, kernel.MidRange(s, a.Int("length")))
	},
}
