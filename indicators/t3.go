package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indT3 = Indicator{
	Name: "t3", Title: "T3", Aliases: []string{"tillson", "tillson_t3"}, Category: Trend, Overlay: true,
	Doc:     "Tillson's T3: six exponential averages in a row, combined into a smooth line with little lag. As in TA-Lib.",
	Formula: "T3 = -v³*e6 + (3v²+3v³)*e5 + (-6v²-3v-3v³)*e4 + (1+3v+v³+3v²)*e3",
	Params: []Param{
		length(5), factor("factor", 0.7, 0, 1, "volume factor: 0 is smooth, 1 is quick", "vfactor", "volume_factor", "v"), source(),
	},
	Signals: []string{shape.TurnUp, shape.TurnDown},
	Warmup:  func(a Args) int { return kernel.AverageWarmup("t3", a.Int("length")) },
	Compute: func(s *market.Series, a Args) *Result {
		y := kernel.T3(column(s, a), a.Int("length"), a.Float("factor"))
		return &Result{Lines: []Line{{Label: "T3", Values: y}}, Signals: shape.Turns(nil, y)}
	},
}
