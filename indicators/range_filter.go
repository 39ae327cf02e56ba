package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Source: the public script "Range Filter" by DonovanWall on TradingView, its
// default filter of type 1.
var indRangeFilter = Indicator{
	Name: "range_filter", Title: "Range Filter", Aliases: []string{"rngfilt"}, Category: Trend, Overlay: true,
	Doc:     "Range filter: a line that stands still while the price stays within a smoothed range of it, and else follows at that distance. After DonovanWall's script.",
	Formula: "r = mult * EMA(EMA(|Δx|, n), 2n-1); filter = max(filter[1], x - r) if x > filter[1], else min(filter[1], x + r)",
	Params:  []Param{length(100), factor("mult", 3, 0.1, 50, "ranges between price and line", "multiplier", "range_multiplier"), source()},
	Signals: []string{shape.TurnUp, shape.TurnDown},
	// Two averages in a row, of n and 2n-1 bars, and 500 bars for the price to have
	// moved the line.
	Warmup: func(a Args) int { return 3*kernel.EMAMemory*a.Int("length") + 500 },
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		reach := kernel.Scaled(kernel.EMA(kernel.EMA(kernel.Absolute(kernel.Change(x, 1)), n), 2*n-1), a.Float("mult"))
		line := rangeFilter(x, reach)
		return &Result{
			Lines: []Line{
				{Label: "Filter", Tone: Primary, Values: line},
				{Label: "Upper", Tone: Band, Values: kernel.Offset(line, reach, 1)}, {Label: "Lower", Tone: Band, Values: kernel.Offset(line, reach, -1)},
			},
			Signals: shape.Turns(nil, line),
		}
	},
}

// rangeFilter returns the line that lets x move by reach before it follows.
func rangeFilter(x, reach []float64) []float64 {
	first := kernel.FirstValid(reach)
	out := kernel.Unknown(len(x), first)
	for i := first; i < len(x); i++ {
		switch {
		case i == first:
			out[i] = x[i]
		// max and min keep the line still while x is within reach of it.
		case x[i] > out[i-1]:
			out[i] = max(out[i-1], x[i]-reach[i])
		default:
			out[i] = min(out[i-1], x[i]+reach[i])
		}
	}
	return out
}
