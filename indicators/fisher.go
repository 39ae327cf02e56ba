package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to John F. Ehlers, "Using the Fisher Transform", Technical Analysis of
// Stocks & Commodities, November 2002.
var indFisher = Indicator{
	Name: "fisher", Title: "Fisher", Aliases: []string{"fisher_transform"}, Category: Momentum,
	Doc:     "Fisher transform of Ehlers: the place of the median price in its range, stretched so that extremes become sharp peaks. The trigger is the line one bar before. As at TradingView.",
	Formula: "v = 0.66 * ((hl2 - lowest) / range - 0.5) + 0.67 * v[1], beyond ±0.99 set to ±0.999; fisher = 0.5 * ln((1+v)/(1-v)) + 0.5 * fisher[1]",
	Params:  []Param{length(9)},
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.ZeroUp, shape.ZeroDown},
	Warmup:  func(a Args) int { return a.Int("length") + 100 }, // v forgets by 0.67 each bar
	Compute: func(s *market.Series, a Args) *Result {
		line := fisher(kernel.MedianPrice(s), a.Int("length"))
		// The trigger is drawn and crossed like a signal line.
		r := shape.SignalPanel("Fisher", line, kernel.Shift(line, 1))
		r.Lines[1].Label = "Trigger"
		r.HLines = []HLine{{Y: 1.5}, {Y: 0}, {Y: -1.5}}
		return r
	},
}

// fisher returns the transform of x. A window without range counts as its
// middle.
func fisher(x []float64, n int) []float64 {
	hi, lo := kernel.Highest(x, n), kernel.Lowest(x, n)
	first := kernel.FirstValid(hi)
	out := kernel.Unknown(len(x), first)
	var v, value float64
	for i := first; i < len(x); i++ {
		place := 0.5
		if span := kernel.Difference(hi[i], lo[i]); span > 0 {
			place = (x[i] - lo[i]) / span
		}
		// Place runs from 0 at the bottom of the window to 1 at its top. Smoothed by
		// its own past, v lies between -1 and 1, where the logarithm is defined.
		v = float64(0.66*(place-0.5)) + float64(0.67*v)
		// Ehlers' jump from 0.99 to 0.999 keeps the logarithm finite. TradingView has
		// it too.
		if v > 0.99 {
			v = 0.999
		} else if v < -0.99 {
			v = -0.999
		}
		value = float64(0.5*math.Log((1+v)/(1-v))) + float64(0.5*value)
		out[i] = value
	}
	return out
}
