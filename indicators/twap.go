package indicators

import (
	"slices"

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
		return sinceAnchorLine("TWAP", s, a, slices.Repeat([]float64{1}, s.Len()))
	},
}
