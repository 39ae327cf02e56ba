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
	// The price must cover the range on both sides to have moved the line. A change of
	// the close is half as large as a bar's range.
	Warmup: func(a Args) int { return stopWarmup(a.Float("mult"), filterWarm(a)) },
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		reach := kernel.Scaled(kernel.EMA(kernel.EMA(kernel.Absolute(kernel.Change(x, 1)), n), 2*n-1), a.Float("mult"))
		line, settles := rangeFilter(x, reach, filterWarm(a)/4)
		return &Result{
			Settles: settles,
			Lines: []Line{
				{Label: "Filter", Tone: Primary, Values: line},
				{Label: "Upper", Tone: Band, Values: kernel.Offset(line, reach, 1)}, {Label: "Lower", Tone: Band, Values: kernel.Offset(line, reach, -1)},
			},
			Signals: shape.Turns(nil, line),
		}
	},
}

// filterWarm returns the bars after which two averages in a row, of n and 2n-1 bars, are
// warm.
func filterWarm(a Args) int { return 3 * emaWarmup(a) }

// rangeFilter returns the line that lets x move by reach before it follows, and the bar on
// which it has forgotten where it began; reach is not trusted before bar from.
func rangeFilter(x, reach []float64, from int) (out []float64, settles int) {
	first := kernel.FirstValid(reach)
	out, settles = kernel.Unknown(len(x), first), len(x)
	possible := anywhere()
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
		if i >= from {
			possible = possible.clamp(x[i]-reach[i], x[i]+reach[i])
		}
		if possible.met() {
			settles = min(settles, i)
		}
	}
	return out, settles
}
