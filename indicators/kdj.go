package indicators

import (
	"slices"

	"wick/market"
)

var indKDJ = Indicator{
	Name: "kdj", Title: "KDJ", Aliases: []string{"kdj_indicator"}, Category: Momentum,
	Doc: "KDJ: a stochastic smoothed by thirds, and J, which overshoots: beyond 0 and 100 it marks extremes. As on Chinese terminals and TradingView, by recursion from the first value; " +
		"the stochastic of a bar without range counts as 0.",
	Formula: "RSV = stochastic(n); K = K[1] + (RSV - K[1]) / k; D = D[1] + (K - D[1]) / d; J = 3K - 2D",
	Params: slices.Concat([]Param{
		length(9), bars("k", 3, "smoothing of K", "k_length", "signal", "m1"), bars("d", 3, "smoothing of D", "d_length", "m2"),
	}, zone(20, 80, 0, 100)),
	Signals: []string{CrossUp, CrossDown, Oversold, Overbought},
	Warmup:  func(a Args) int { return a.Int("length") + wilderMemory*(a.Int("k")+a.Int("d")) },
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		hi, lo := highest(s.High, n), lowest(s.Low, n)
		k := follow(ratioLine(minus(s.Close, lo), minus(hi, lo), 100), 1/a.Float("k"))
		d := follow(k, 1/a.Float("d"))
		j := make([]float64, len(k))
		for i := range j {
			j[i] = float64(3*k[i]) - float64(2*d[i])
		}
		signals := crossings(nil, k, d, CrossUp, CrossDown)
		return &Result{
			Lines: []Line{
				{Label: "K", Tone: Primary, Values: k}, {Label: "D", Tone: Second, Values: d}, {Label: "J", Tone: Accent, Values: j},
			},
			HLines:  []HLine{{Y: a.Float("overbought")}, {Y: a.Float("oversold")}},
			Signals: inOrder(zoneExits(signals, j, a.Float("oversold"), a.Float("overbought"), Oversold, Overbought)),
		}
	},
}

// follow returns the exponential average that starts with the first value of
// x itself.
func follow(x []float64, weight float64) []float64 {
	first := firstValid(x)
	out := unknown(len(x), first)
	value := 0.0
	for i := first; i < len(x); i++ {
		if i == first {
			value = x[i]
		}
		value += float64(weight * (x[i] - value))
		out[i] = value
	}
	return out
}
