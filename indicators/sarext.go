package indicators

import (
	"cmp"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indSARExt = Indicator{
	Name: "sarext", Title: "SAR Ext", Aliases: []string{"extended_sar", "sar_extended"}, Category: Trend, Overlay: true,
	Doc:     "Parabolic stop and reverse with factors of their own for rising and falling markets, a chosen first value and a wider stop after a turn. As in TA-Lib, but falling stops are not shown as negative numbers.",
	Formula: "as sar; on a turn the stop moves away by offset * SAR",
	Params: []Param{
		factor("start_value", 0, -1e12, 1e12, "first stop: positive starts rising, negative falling, 0 lets the price decide", "startvalue"),
		factor("offset", 0, 0, 10, "part of itself by which the stop widens on a turn", "offset_on_reverse", "offsetonreverse"),
		factor("start_long", 0.02, 0, 10, "first factor in a rise", "accelerationinitlong"),
		factor("increment_long", 0.02, 0, 10, "what a new high adds", "accelerationlong"),
		factor("maximum_long", 0.2, 0, 10, "largest factor in a rise", "accelerationmaxlong"),
		factor("start_short", 0.02, 0, 10, "first factor in a fall", "accelerationinitshort"),
		factor("increment_short", 0.02, 0, 10, "what a new low adds", "accelerationshort"),
		factor("maximum_short", 0.2, 0, 10, "largest factor in a fall", "accelerationmaxshort"),
	},
	Signals: []string{shape.FlipUp, shape.FlipDown},
	Endless: func(a Args) string { return cmp.Or(sarStill(a, "_long"), sarStill(a, "_short")) },
	Warmup: func(a Args) int {
		return sarWarmup(min(a.Float("start_long"), a.Float("start_short")), min(a.Float("maximum_long"), a.Float("maximum_short")))
	},
	Compute: func(s *market.Series, a Args) *Result {
		// TA-Lib has a set of factors for each direction; where a first factor exceeds
		// the largest one, the kernel uses the largest.
		long := kernel.Acceleration{Start: a.Float("start_long"), Step: a.Float("increment_long"), Most: a.Float("maximum_long")}
		short := kernel.Acceleration{Start: a.Float("start_short"), Step: a.Float("increment_short"), Most: a.Float("maximum_short")}
		return sarResult(kernel.Parabolic(s, long, short, a.Float("start_value"), a.Float("offset")))
	},
}
