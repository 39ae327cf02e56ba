package indicators

import (
	"wick/indicators/shape"
	"wick/market"
)

// Like vwap with every bar of the same weight, for markets without volume.
var indTWAP = Indicator{
	Name: "twap", Title: "TWAP", Aliases: []string{"time_weighted_average_price"}, Category: Price, Overlay: true,
	Doc:     "Time weighted average price: the mean of the bars since the anchor, each counting the same. As at TradingView it takes the mean of the four prices and starts anew every UTC day; where it starts anew nothing crosses.",
	Formula: "TWAP = mean of x since the anchor",
	Params:  []Param{anchor(), defaultSource("ohlc4")},
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Endless: endlessAnchor,
	History: sinceAnchor,
	Compute: func(s *market.Series, a Args) *Result {
		starts := periodStarts(s, anchorOf(a, s.Interval))
		line := twap(column(s, a), starts)
		return &Result{
			Lines:   []Line{{Label: "TWAP", Tone: Primary, Values: line}},
			Signals: withoutResets(shape.PriceCrossings(s.Close, line), starts),
		}
	},
}

// twap returns the mean of x since the last start.
func twap(x []float64, starts []bool) []float64 {
	out := make([]float64, len(x))
	var sum, count float64
	for i, v := range x {
		if starts[i] {
			sum, count = 0, 0
		}
		sum += v
		count++
		out[i] = sum / count
	}
	return out
}
