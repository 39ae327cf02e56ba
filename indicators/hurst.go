package indicators

import (
	"math"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Harold E. Hurst, "Long-Term Storage Capacity of Reservoirs", 1951. He
// used the rescaled range; the growth of the mean square, used here, can slide with
// the window.
var indHurst = Indicator{
	Name: "hurst", Title: "Hurst", Aliases: []string{"hurst_exponent"}, Category: Statistics,
	Doc: "Hurst exponent: above 0.5 moves tend to go on, below it to turn back, at 0.5 price is a random walk. Estimated from how the mean square change of the logarithm grows " +
		"with the distance: 1, 2, 4 and 8 bars. No value where prices are not positive or do not move.",
	Formula:  "H = half the slope of ln mean((ln x - ln x[d])², n) against ln d, by least squares over d = 1, 2, 4, 8",
	Params:   []Param{bars("length", 100, "bars in the window", "period", "len", "window"), source()},
	Signals:  []string{shape.CrossUp, shape.CrossDown},
	Meanings: shape.CrossMeanings("the line", "0.5"),
	Warmup:   func(a Args) int { return a.Int("length") + 8 },
	Compute: func(s *market.Series, a Args) *Result {
		return shape.LevelPanel("Hurst", hurst(column(s, a), a.Int("length")), 0.5, shape.CrossUp, shape.CrossDown)
	},
}

// hurst returns the exponent over the last n changes at each distance.
func hurst(x []float64, n int) []float64 {
	// The distances are powers of 2, so ln d is 0, 1, 2, 3 times ln 2, and the
	// slope of least squares over four such points weighs them -3, -1, 1, 3.
	weights := [4]float64{-0.3, -0.1, 0.1, 0.3}
	slope := make([]float64, len(x))
	for k, w := range weights {
		// Four columns of squared changes, over 1, 2, 4 and 8 bars, each averaged over
		// the same window.
		squares := kernel.LogReturns(x, 1<<k)
		for i, v := range squares {
			squares[i] = v * v
		}
		for i, v := range kernel.InRuns(squares, func(run []float64) []float64 { return kernel.SMA(run, n) }) {
			// A NaN, once set, survives the later additions; a mean square of 0 has no
			// logarithm.
			if v > 0 {
				slope[i] += float64(w * math.Log2(v))
			} else {
				slope[i] = nan
			}
		}
	}
	// The mean square grows with d to the power 2H.
	for i := range slope {
		slope[i] /= 2
	}
	return slope
}
