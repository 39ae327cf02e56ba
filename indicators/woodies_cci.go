package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indWoodiesCCI = Indicator{
	Name: "woodies_cci", Title: "Woodies CCI", Aliases: []string{"woodie_cci", "wcci"}, Category: Momentum,
	Doc:     "Woodie's CCI: a commodity channel index as bars and a faster one, the turbo, as line. Crosses of zero are changes of trend; the turbo crossing the bars shows the turn first. As at TradingView, of closes.",
	Formula: "CCI(x, 14) and CCI(x, 6), x = close",
	Params:  []Param{atLeast(2, bars("length", 14, "bars of the slow index", "period", "cci", "cci_length")), atLeast(2, bars("turbo", 6, "bars of the turbo", "turbo_length", "fast")), source()},
	Signals: []string{shape.ZeroUp, shape.ZeroDown, shape.CrossUp, shape.CrossDown},
	Warmup:  func(a Args) int { return max(a.Int("length"), a.Int("turbo")) + 1 },
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		// The same index twice; the crossings are those of the turbo over the bars.
		slow, turbo := kernel.CCI(x, a.Int("length")), kernel.CCI(x, a.Int("turbo"))
		signals := shape.LineCrossings(nil, turbo, slow, shape.CrossUp, shape.CrossDown)
		return &Result{
			Lines:     []Line{{Label: "Turbo", Tone: Second, Values: turbo}},
			Histogram: []Histogram{{Label: "CCI", Values: slow}},
			HLines:    []HLine{{Y: 100}, {Y: 0}, {Y: -100}},
			Signals:   shape.InOrder(shape.LevelCrossings(signals, slow, 0, shape.ZeroUp, shape.ZeroDown)),
		}
	},
}
