package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The rule: three bars of which the first and the third do not overlap leave a gap
// that the second ran through. A gap is filled when a bar reaches its far edge.
var indFairValueGap = Indicator{
	Name: "fair_value_gap", Title: "FVG", Aliases: []string{"fvg", "imbalance"}, Category: Pattern, Overlay: true,
	Doc:     "Fair value gaps: prices between the first and the third of three bars that do not overlap. The zones are those of the newest gap on each side that is not filled; a gap is filled when a bar reaches its far edge, and forgotten after some bars. Nothing repaints.",
	Formula: "up: low > high[2], the zone between them; down: high < low[2]; filled: low <= lower edge of an upward gap, high >= upper edge of a downward one",
	Params:  []Param{factor("minimum_size", 0, 0, 100, "smallest gap, in percent of the price", "threshold"), bars("lookback", 200, "bars after which a gap is forgotten", "max_age")},
	Signals: []string{shape.GapUp, shape.GapDown, shape.GapFilled},
	Warmup:  func(a Args) int { return a.Int("lookback") + 3 },
	Compute: func(s *market.Series, a Args) *Result {
		return fairValueGaps(s, a.Float("minimum_size")/100, a.Int("lookback"))
	},
}

// fairValueGaps draws the gaps of s that are at least as large as a part of the price
// and at most age bars old. Several gaps may be open at a time; a bar that fills more
// than one gives one signal.
func fairValueGaps(s *market.Series, least float64, age int) *Result {
	above, below := newZoneEdges(s.Len()), newZoneEdges(s.Len())
	var up, down []priceZone // gaps that are not filled, the newest last
	var signals []Signal
	for i := range s.Len() {
		// First forget what is too old, then what this bar fills; only the latter is a
		// signal. After that this bar may complete gaps of its own.
		old := func(g priceZone) bool { return i-g.known > age }
		up, down = slices.DeleteFunc(up, old), slices.DeleteFunc(down, old)
		filled := len(up) + len(down)
		up = slices.DeleteFunc(up, func(g priceZone) bool { return kernel.Compare(s.Low[i], g.low) <= 0 })
		down = slices.DeleteFunc(down, func(g priceZone) bool { return kernel.Compare(s.High[i], g.high) >= 0 })
		if len(up)+len(down) < filled {
			signals = append(signals, shape.Mark(i, s.Close[i], shape.GapFilled, Muted))
		}
		if i >= 2 && kernel.Compare(s.Low[i], s.High[i-2]) > 0 && s.Low[i]-s.High[i-2] >= least*s.Close[i] {
			up = append(up, priceZone{low: s.High[i-2], high: s.Low[i], known: i})
			signals = append(signals, shape.Mark(i, s.High[i-2], shape.GapUp, Up))
		}
		if i >= 2 && kernel.Compare(s.High[i], s.Low[i-2]) < 0 && s.Low[i-2]-s.High[i] >= least*s.Close[i] {
			down = append(down, priceZone{low: s.High[i], high: s.Low[i-2], known: i})
			signals = append(signals, shape.Mark(i, s.Low[i-2], shape.GapDown, Down))
		}
		// The newest gap of each side that is left is drawn on this bar.
		above.show(i, up)
		below.show(i, down)
	}
	r, falls := above.result("Up", Up, 0), below.result("Down", Down, 0)
	r.Lines, r.Fills, r.Signals = append(r.Lines, falls.Lines...), append(r.Fills, falls.Fills...), signals
	return r
}
