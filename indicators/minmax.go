package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The same as donchian, of one price in place of highs and lows.
var indMinMax = Indicator{
	Name: "minmax", Title: "MinMax", Aliases: []string{"min_max"}, Category: Statistics, Overlay: true,
	Doc:     "Lowest and highest of the last prices. As in TA-Lib.",
	Formula: "min, max = lowest and highest of x[0] … x[n-1]",
	Params:  []Param{length(30), source()},
	Signals: []string{shape.NewHigh, shape.NewLow},
	Warmup:  changeWarmup,
	Compute: func(s *market.Series, a Args) *Result {
		x, n := column(s, a), a.Int("length")
		top, bottom := kernel.Highest(x, n), kernel.Lowest(x, n)
		return &Result{
			Lines:   []Line{{Label: "Max", Tone: Band, Values: top}, {Label: "Min", Tone: Band, Values: bottom}},
			Fills:   []Fill{{Y1: top, Y2: bottom, Tone: Band}},
			Signals: shape.NewExtremes(top, bottom),
		}
	},
}
