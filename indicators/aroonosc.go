package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Like the two lines it moves in steps, by 100/n for every bar that an extreme grows
// older.
var indAroonOsc = Indicator{
	Name: "aroonosc", Title: "Aroon Osc", Aliases: []string{"aroon_oscillator", "aroon_osc"}, Category: Trend,
	Doc:     "Aroon oscillator: Aroon up less Aroon down, -100 to 100. As in TA-Lib.",
	Formula: "Aroon oscillator = Aroon up - Aroon down",
	Params:  []Param{length(14)},
	Signals: []string{shape.ZeroUp, shape.ZeroDown},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		up, down := aroon(s, a.Int("length"))
		r := shape.ZeroPanel("Aroon Osc", kernel.Minus(up, down))
		r.YRange = &[2]float64{-100, 100}
		r.HLines = []HLine{{Y: 50}, {Y: 0}, {Y: -50}}
		return r
	},
}
