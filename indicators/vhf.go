package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Adam White, in Futures, August 1991.
var indVHF = Indicator{
	Name: "vhf", Title: "VHF", Aliases: []string{"vertical_horizontal_filter"}, Category: Trend,
	Doc:     "Vertical horizontal filter of White: the range of the closes over the way they went. High in a trend, low in a range. The range is that of the last n closes, one fewer than the n changes join.",
	Formula: "VHF = (highest - lowest of the last n closes) / Σ|Δclose| over n changes",
	Params:  []Param{length(28), quiet(factor("level", 0.35, 0, 1, "level of a trend", "threshold")), source()},
	Signals: []string{shape.ModeTrend, shape.ModeCycle},
	Warmup:  crossingWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		line := kernel.Ratio(kernel.Minus(kernel.Highest(x, n), kernel.Lowest(x, n)), kernel.RollingSum(kernel.Absolute(kernel.Change(x, 1)), n), 1)
		return shape.LevelPanel("VHF", line, a.Float("level"), shape.ModeTrend, shape.ModeCycle)
	},
}
