package indicators

import "wick/market"

var indMidpoint = Indicator{
	Name: "midpoint", Title: "Midpoint", Category: Trend, Overlay: true,
	Doc:     "Middle between the highest and the lowest of the last prices. As in TA-Lib.",
	Formula: "midpoint = (highest(x, n) + lowest(x, n)) / 2",
	Params:  []Param{length(14), source()},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  windowWarmup,
	Compute: overPrice("Midpoint", func(x []float64, a Args) []float64 {
		return midway(highest(x, a.Int("length")), lowest(x, a.Int("length")))
	}),
}

var indMidprice = Indicator{
	Name: "midprice", Title: "Midprice", Category: Trend, Overlay: true,
	Doc:     "Middle between the highest high and the lowest low of the last bars. As in TA-Lib.",
	Formula: "midprice = (highest(high, n) + lowest(low, n)) / 2",
	Params:  []Param{length(14)},
	Signals: []string{PriceUp, PriceDown},
	Warmup:  windowWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		y := midway(highest(s.High, a.Int("length")), lowest(s.Low, a.Int("length")))
		return &Result{Lines: []Line{{Label: "Midprice", Values: y}}, Signals: priceCrossings(s, y)}
	},
}
