package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to E. A. Nadaraya, "On Estimating Regression", 1964, and G. S. Watson,
// "Smooth Regression Analysis", 1964, with a Gaussian kernel that looks back only. The
// scripts of that name that smooth both ways repaint; this does not.
var indNadarayaWatson = Indicator{
	Name: "nadaraya_watson", Title: "NW", Aliases: []string{"nw", "kernel_regression"}, Category: Trend, Overlay: true,
	Doc:     "Nadaraya-Watson estimate with a Gaussian kernel over the bars up to this one: a smooth average that weighs the newest bars most. It does not repaint, unlike scripts that smooth both ways.",
	Formula: "Σ w[j] * x[j] / Σ w[j], w[j] = exp(-j² / (2 h²)), j bars ago, over n bars",
	Params:  []Param{lengthFrom(2, 100), factor("bandwidth", 8, 0.1, 500, "bars h after which a weight has fallen to 0.61", "h"), source()},
	Signals: []string{shape.TurnUp, shape.TurnDown, shape.PriceUp, shape.PriceDown},
	Warmup:  turnWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		n := a.Int("length")
		// Half a bell, whose peak is the newest bar.
		line := kernel.Convolve(column(s, a), bell(n, float64(n-1), a.Float("bandwidth")))
		// A line this smooth has both kinds of signals: where it turns and where closes
		// cross it.
		r := shape.OverPrice("NW", s.Close, line)
		r.Signals = shape.InOrder(shape.Turns(r.Signals, line))
		return r
	},
}
