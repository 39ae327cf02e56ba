package indicators

import "wick/market"

var indAroon = Indicator{
	Name: "aroon", Title: "Aroon", Category: Trend,
	Doc:     "Chande's Aroon: how recent the highest high and the lowest low of the last n+1 bars are, 100 for this bar, 0 for n bars ago. As in TA-Lib and TradingView.",
	Formula: "up = 100 * (n - bars since highest high) / n; down with the lowest low",
	Params:  []Param{length(14), quiet(factor("strong", 70, 0, 100, "upper level", "upper")), quiet(factor("weak", 30, 0, 100, "lower level", "lower"))},
	Signals: []string{CrossUp, CrossDown},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		up, down := aroon(s, a.Int("length"))
		return &Result{
			YRange:  &[2]float64{0, 100},
			Lines:   []Line{{Label: "Up", Tone: Up, Values: up}, {Label: "Down", Tone: Down, Values: down}},
			HLines:  []HLine{{Y: a.Float("strong")}, {Y: a.Float("weak")}},
			Signals: crossings(nil, up, down, CrossUp, CrossDown),
		}
	},
}

var indAroonOsc = Indicator{
	Name: "aroonosc", Title: "Aroon Osc", Aliases: []string{"aroon_oscillator", "aroon_osc"}, Category: Trend,
	Doc:     "Aroon oscillator: Aroon up less Aroon down, -100 to 100. As in TA-Lib.",
	Formula: "Aroon oscillator = Aroon up - Aroon down",
	Params:  []Param{length(14)},
	Signals: []string{ZeroUp, ZeroDown},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		up, down := aroon(s, a.Int("length"))
		y := minus(up, down)
		return &Result{
			YRange:  &[2]float64{-100, 100},
			Lines:   []Line{{Label: "Aroon Osc", Tone: Primary, Values: y}},
			HLines:  []HLine{{Y: 50}, {Y: 0}, {Y: -50}},
			Signals: levelCrossings(nil, y, 0, ZeroUp, ZeroDown),
		}
	},
}

// aroon returns how recent the extremes of the last n+1 bars are. Of equal
// extremes the latest counts.
func aroon(s *market.Series, n int) (up, down []float64) {
	up, down = unknown(s.Len(), n), unknown(s.Len(), n)
	hi, lo := highestAt(s.High, n+1), lowestAt(s.Low, n+1)
	for i := n; i < s.Len(); i++ {
		up[i] = 100 * float64(n-(i-hi[i])) / float64(n)
		down[i] = 100 * float64(n-(i-lo[i])) / float64(n)
	}
	return up, down
}
