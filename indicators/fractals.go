package indicators

import (
	"math"

	"wick/market"
)

var indFractals = Indicator{
	Name: "fractals", Title: "Fractals", Aliases: []string{"fractal", "williams_fractals", "williams_fractal"}, Category: Pattern, Overlay: true,
	Doc:     "Williams' fractals: a high above, or a low below, all its neighbours. A fractal is known only when its later neighbours have closed; the dot and the signal stand on that bar, side bars after the extreme, at the price of the extreme.",
	Formula: "up: high[side] > every high of the side bars before and after it; down mirrored",
	Params:  []Param{bars("side", 2, "neighbours on each side", "length", "period", "n", "left", "right")},
	Signals: []string{PivotHigh, PivotLow},
	Warmup:  func(a Args) int { return 2*a.Int("side") + 1 },
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("side")
		ups, downs := confirmedPeaks(s.High, n, 1), confirmedPeaks(s.Low, n, -1)
		var signals []Signal
		for i := range ups {
			if !math.IsNaN(ups[i]) {
				signals = append(signals, Signal{i, ups[i], PivotHigh, Down})
			}
			if !math.IsNaN(downs[i]) {
				signals = append(signals, Signal{i, downs[i], PivotLow, Up})
			}
		}
		return &Result{
			Lines:   []Line{{Label: "Up", Tone: Down, Style: Dots, Values: ups}, {Label: "Down", Tone: Up, Style: Dots, Values: downs}},
			Signals: signals,
		}
	},
}

// confirmedPeaks returns, on the bar that confirms it, each value of sign*x
// that is above its n neighbours on both sides.
func confirmedPeaks(x []float64, n int, sign float64) []float64 {
	out := nans(len(x))
	around := extremes(x, n, sign)
	for i := 2 * n; i < len(x); i++ {
		if peak := sign * x[i-n]; peak > sign*around[i-n-1] && peak > sign*around[i] {
			out[i] = x[i-n]
		}
	}
	return out
}
