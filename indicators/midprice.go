package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indMidprice = Indicator{
	Name: "midprice", Title: "Midprice", Category: Trend, Overlay: true,
	Doc:     "Middle between the highest high and the lowest low of the last bars. As in TA-Lib.",
	Formula: "midprice = (highest(high, n) + lowest(low, n)) / 2",
	Params:  []Param{length(14)},
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		y := kernel.Midway(kernel.Highest(s.High, a.Int("length")), kernel.Lowest(s.Low, a.Int("length")))
		return &Result{Lines: []Line{{Label: "Midprice", Values: y}}, Signals: shape.PriceCrossings(s.Close, y)}
	},
}
