package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Where the line starts anew it jumps, which is no crossing: withoutResets drops the
// signals of those bars.
var indVWAP = Indicator{
	Name: "vwap", Title: "VWAP", Aliases: []string{"volume_weighted_average_price"}, Category: Volume, Overlay: true,
	Doc: "Volume weighted average price since the anchor: what the average share cost. As at TradingView it starts anew every UTC day; where it starts anew nothing crosses. " +
		"With anchor none it runs from the first bar loaded. No value before the first volume.",
	Formula: "VWAP = Σ x * volume / Σ volume since the anchor",
	Params:  []Param{anchor(), defaultSource("hlc3")},
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Endless: endlessAnchor,
	History: sinceAnchor,
	Compute: func(s *market.Series, a Args) *Result {
		return sinceAnchorLine("VWAP", s, a, s.Volume)
	},
}

// sinceAnchorLine draws the mean of the source since the anchor, by the given weights of
// the bars, and marks where the closes cross it.
func sinceAnchorLine(label string, s *market.Series, a Args, weights []float64) *Result {
	starts := periodStarts(s, anchorOf(a, s.Interval))
	line := weightedMean(column(s, a), weights, starts)
	return &Result{
		Lines:   []Line{{Label: label, Tone: Primary, Values: line}},
		Signals: withoutResets(shape.PriceCrossings(s.Close, line), starts),
	}
}

// weightedMean returns the mean of x by weight since the last start. Until there is weight
// it has no value. The sums begin with the first bar even if it is no start.
func weightedMean(x, weights []float64, starts []bool) []float64 {
	out := kernel.NaNs(len(x))
	var sum, weight float64
	for i, w := range weights {
		if starts[i] {
			sum, weight = 0, 0
		}
		sum += float64(x[i] * w)
		weight += w
		if weight > 0 {
			out[i] = sum / weight
		}
	}
	return out
}
