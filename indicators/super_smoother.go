package indicators

import (
	"math"

	"wick/indicators/kernel"
)

var indSuperSmoother = overPrice(Indicator{
	Name: "super_smoother", Title: "SSF", Aliases: []string{"ssf", "supersmoother", "ehlers_super_smoother"}, Category: Trend,
	Doc:     "Super smoother of Ehlers: a two-pole filter that removes cycles shorter than its length with little lag. Of the mean of two prices, as he published it; begins with the price itself.",
	Formula: "y = c1 * (x + x[1]) / 2 + c2 * y[1] + c3 * y[2]; a = e^(-√2 π / n), c2 = 2 a cos(√2 π / n), c3 = -a², c1 = 1 - c2 - c3",
	Params:  []Param{bars("length", 10, "shortest cycle that passes", "period", "len"), source()},
	// The filter forgets by e^-4.4 every length.
	Warmup: func(a Args) int { return 6 * a.Int("length") },
}, "SSF", func(x []float64, a Args) []float64 { return superSmoother(x, a.Int("length")) })

// superSmoother filters x. It shows nothing before it has seen n values: the
// start has not faded by then.
func superSmoother(x []float64, n int) []float64 {
	out := kernel.NaNs(len(x))
	// Ehlers' two-pole Butterworth filter: c2 and c3 feed back the last two outputs,
	// and c1 is what is left, so that a level price passes unchanged.
	angle := math.Sqrt2 * math.Pi / float64(n)
	a := math.Exp(-angle)
	c2, c3 := 2*a*math.Cos(angle), -a*a
	c1 := 1 - c2 - c3
	var y, y1, y2 float64
	first := kernel.FirstValid(x)
	for i := first; i < len(x); i++ {
		// The filter looks back two bars; the first two values are the price itself.
		if i < first+2 {
			y = x[i]
		} else {
			y = float64(c1*(x[i]+x[i-1])/2) + float64(c2*y1) + float64(c3*y2)
		}
		y1, y2 = y, y1
		if i >= first+n-1 {
			out[i] = y
		}
	}
	return out
}
