package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indPivotHighLow = Indicator{
	Name: "pivot_high_low", Title: "Swing levels", Also: []string{"swings", "swing_highs_lows", "swing_points"}, Aliases: []string{"pivots_high_low", "swing_high_low"}, Category: Pattern, Overlay: true,
	Doc:     "Swing highs and lows: the price of the last high above, and of the last low below, all its neighbours, from the bar on that confirms it. They serve as resistance and support; signals mark the confirmation.",
	Formula: "high: high[right] > every high of the left bars before and the right bars after it; low mirrored",
	Params: []Param{
		bars("left", 10, "bars before a swing that it must exceed", "left_bars", "length"),
		bars("right", 10, "bars after a swing that it must exceed; it is known so much later", "right_bars"),
	},
	Signals: []string{shape.PivotHigh, shape.PivotLow},
	// Swings are that many bars apart on average, but much more in a long trend.
	Warmup: func(a Args) int {
		width := a.Int("left") + a.Int("right")
		return max(width+1, min(30*width, MaxWarmup))
	},
	Compute: func(s *market.Series, a Args) *Result {
		left, right := a.Int("left"), a.Int("right")
		r := &Result{}
		// add draws the swings of one side. A swing is known right bars after it, and
		// line and signal stand there.
		add := func(pivots []int, price []float64, line Line, label string, tone Tone) {
			line.Style, line.Values = Step, lastSwing(pivots, price, right)
			for _, bar := range pivots {
				r.Signals = append(r.Signals, shape.Mark(bar+right, price[bar], label, tone))
			}
			r.Lines = append(r.Lines, line)
		}
		add(shape.Peaks(s.High, left, right), s.High, Line{Label: "High", Tone: Down}, shape.PivotHigh, Down)
		add(shape.Troughs(s.Low, left, right), s.Low, Line{Label: "Low", Tone: Up}, shape.PivotLow, Up)
		// A swing that is known is the same for every history that has its bars.
		r.Settles = max(kernel.FirstValid(r.Lines[0].Values), kernel.FirstValid(r.Lines[1].Values))
		shape.InOrder(r.Signals)
		return r
	},
}
