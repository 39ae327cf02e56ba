package indicators

import (
	"math"
	"slices"

	"wick/indicators/kernel"
	"wick/market"
)

// Attributed to John F. Ehlers, "Cybernetic Analysis for Stocks and Futures", 2004.
var indLaguerreRSI = oscillator(Indicator{
	Name: "laguerre_rsi", Title: "LRSI", Aliases: []string{"lrsi", "laguerre"}, Category: Momentum,
	Doc:     "Laguerre RSI of Ehlers: an RSI over four stages of a Laguerre filter, quick with little data. Scale 0 to 100.",
	Formula: "L0 = (1-γ)x + γL0[1]; Lk = -γL(k-1) + L(k-1)[1] + γLk[1]; 100 * rises / (rises + falls) between neighbouring stages",
	Params: slices.Concat([]Param{
		factor("gamma", 0.5, 0, 0.99, "damping of the filter, higher is smoother"),
	}, zone(20, 80, 0, 100), []Param{source()}),
	// Every stage forgets by gamma each bar; four in a row take some more.
	Warmup: func(a Args) int { return 40 + int(40/(1-a.Float("gamma"))) },
}, "LRSI", func(s *market.Series, a Args) []float64 {
	return laguerreRSI(column(s, a), a.Float("gamma"))
})

// laguerreRSI returns the relative strength over the four stages, which start
// from zero. A line that has not moved holds its value.
func laguerreRSI(x []float64, gamma float64) []float64 {
	out := kernel.NaNs(len(x))
	var l [4]float64
	value := 0.0
	for i, v := range x {
		// The first stage is an exponential average. Each further one is an all-pass
		// filter of the one before: it delays it, the more the larger gamma is.
		before := l
		l[0] = float64((1-gamma)*v) + float64(gamma*before[0])
		for k := 1; k < 4; k++ {
			l[k] = float64(-gamma*l[k-1]) + before[k-1] + float64(gamma*before[k])
		}
		// The stages are ever older views of the price: a stage above the next one is a
		// rise.
		var up, move float64
		for k := range 3 {
			up += max(0, l[k]-l[k+1])
			move += math.Abs(l[k] - l[k+1])
		}
		if move > 0 {
			value = 100 * up / move
		}
		// Even with gamma 0 a price takes three bars to reach the last stage.
		if i >= 3 {
			out[i] = value
		}
	}
	return out
}
