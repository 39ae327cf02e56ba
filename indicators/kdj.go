package indicators

import (
	"slices"

	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// K and D are those of a slow stochastic with Wilder's averages; J is as far beyond K
// as twice the distance of K from D.
var indKDJ = Indicator{
	Name: "kdj", Title: "KDJ", Aliases: []string{"kdj_indicator"}, Category: Momentum,
	Doc: "KDJ: a stochastic smoothed by thirds, and J, which overshoots them on both sides and whose zones the signals are of. As on Chinese terminals and TradingView, by recursion from the first value; " +
		"the stochastic of a bar without range counts as 0.",
	Formula: "RSV = stochastic(n); K = K[1] + (RSV - K[1]) / k; D = D[1] + (K - D[1]) / d; J = 3K - 2D",
	Params: slices.Concat([]Param{
		length(9), bars("k", 3, "smoothing of K", "k_length", "signal", "m1"), bars("d", 3, "smoothing of D", "d_length", "m2"),
	}, zone(20, 80, 0, 100)),
	ZoneLine: "J",
	Meanings: map[string]string{
		shape.Oversold: "J leaves the oversold zone upwards", shape.Overbought: "J leaves the overbought zone downwards",
		shape.EntersOversold: "J falls into the oversold zone", shape.EntersOverbought: "J rises into the overbought zone",
	},
	Signals: []string{shape.CrossUp, shape.CrossDown, shape.Oversold, shape.Overbought},
	// K and D have the weights 1/k and 1/d, those of Wilder's averages.
	Warmup: func(a Args) int { return a.Int("length") + kernel.WilderMemory*(a.Int("k")+a.Int("d")) },
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		hi, lo := kernel.Highest(s.High, n), kernel.Lowest(s.Low, n)
		// Follow starts from the first value itself, as the terminals do, not from 50.
		k := kernel.Follow(kernel.Ratio(kernel.Minus(s.Close, lo), kernel.Minus(hi, lo), 100), 1/a.Float("k"))
		d := kernel.Follow(k, 1/a.Float("d"))
		j := make([]float64, len(k))
		for i := range j {
			j[i] = float64(3*k[i]) - float64(2*d[i])
		}
		signals := shape.LineCrossings(nil, k, d, shape.CrossUp, shape.CrossDown)
		return &Result{
			Lines: []Line{
				{Label: "K", Tone: Primary, Values: k}, {Label: "D", Tone: Second, Values: d}, {Label: "J", Tone: Accent, Values: j},
			},
			HLines:  []HLine{{Y: a.Float("overbought")}, {Y: a.Float("oversold")}},
			Signals: shape.InOrder(shape.ZoneExits(signals, j, a.Float("oversold"), a.Float("overbought"), shape.Oversold, shape.Overbought)),
		}
	},
}
