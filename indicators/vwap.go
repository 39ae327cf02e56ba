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
		starts := periodStarts(s, anchorOf(a, s.Interval))
		line := vwap(s, column(s, a), starts)
		return &Result{
			Lines:   []Line{{Label: "VWAP", Tone: Primary, Values: line}},
			Signals: withoutResets(shape.PriceCrossings(s.Close, line), starts),
		}
	},
}

// vwap returns the average of x by volume since the last start. Until there is volume
// it has no value. The sums begin with the first bar even if it is no start.
func vwap(s *market.Series, x []float64, starts []bool) []float64 {
	out := kernel.NaNs(len(x))
	var money, volume float64
	for i := range x {
		if starts[i] {
			money, volume = 0, 0
		}
		money += float64(x[i] * s.Volume[i])
		volume += s.Volume[i]
		if volume > 0 {
			out[i] = money / volume
		}
	}
	return out
}
