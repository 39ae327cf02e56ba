package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indVWAPAnchored = Indicator{
	Name: "vwap_anchored", Title: "AVWAP", Aliases: []string{"avwap", "anchored_vwap"}, Category: Volume, Overlay: true,
	Doc:     "Volume weighted average price since a moment: what those who bought since then paid on average. No value before it.",
	Formula: "Σ x * volume / Σ volume since the anchor",
	Params: []Param{
		beginning("anchor", "when it starts", "the first bar loaded", "anchor_time", "start", "since"),
		defaultSource("hlc3"),
	},
	Signals: []string{shape.PriceUp, shape.PriceDown},
	Since:   func(a Args) int64 { return int64(a.Int("anchor")) },
	Warmup: func(a Args) int {
		// Without an anchor the line starts with the first bar loaded, and bars before
		// the chart are not needed.
		if a.Int("anchor") == 0 {
			return 0
		}
		return MaxLength // to reach an anchor before the first bar shown
	},
	Compute: func(s *market.Series, a Args) *Result {
		// The bars before the anchor are cut off; among the rest the line never starts
		// anew.
		n := s.Len()
		first, _ := slices.BinarySearch(s.Time, int64(a.Int("anchor")))
		line := append(kernel.NaNs(first), weightedMean(column(s, a)[first:], s.Volume[first:], make([]bool, n-first))...)
		return &Result{Lines: []Line{{Label: "AVWAP", Tone: Primary, Values: line}}, Signals: shape.PriceCrossings(s.Close, line)}
	},
}
