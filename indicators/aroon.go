package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Tushar S. Chande, "A Time Price Oscillator", Technical Analysis of
// Stocks & Commodities, September 1995.
var indAroon = Indicator{
	Name: "aroon", Title: "Aroon", Category: Trend,
	Doc:      "Chande's Aroon: how recent the highest high and the lowest low of the last n+1 bars are, 100 for this bar, 0 for n bars ago. As in TA-Lib and TradingView.",
	Formula:  "up = 100 * (n - bars since highest high) / n; down with the lowest low",
	Params:   []Param{length(14), quiet(factor("strong", 70, 0, 100, "upper level", "upper")), quiet(factor("weak", 30, 0, 100, "lower level", "lower"))},
	Signals:  []string{shape.CrossUp, shape.CrossDown},
	Meanings: shape.CrossMeanings("Up", "Down"),
	Warmup:   changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		up, down := aroon(s, a.Int("length"))
		return &Result{
			YRange:  &[2]float64{0, 100},
			Lines:   []Line{{Label: "Up", Tone: Up, Values: up}, {Label: "Down", Tone: Down, Values: down}},
			HLines:  []HLine{{Y: a.Float("strong")}, {Y: a.Float("weak")}},
			Signals: shape.LineCrossings(nil, up, down, shape.CrossUp, shape.CrossDown),
		}
	},
}

// aroon returns how recent the extremes of the last n+1 bars are. Of equal
// extremes the latest counts.
func aroon(s *market.Series, n int) (up, down []float64) {
	up, down = kernel.Unknown(s.Len(), n), kernel.Unknown(s.Len(), n)
	// n+1 bars, so that an extreme can be 0 to n bars ago, and the scale reaches from 0
	// to 100.
	hi, lo := kernel.ExtremeAt(s.High, n+1, 1, true), kernel.ExtremeAt(s.Low, n+1, -1, true)
	for i := n; i < s.Len(); i++ {
		up[i] = 100 * float64(n-(i-hi[i])) / float64(n)
		down[i] = 100 * float64(n-(i-lo[i])) / float64(n)
	}
	return up, down
}
