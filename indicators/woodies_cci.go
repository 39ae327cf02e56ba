package indicators

import "wick/market"

var indWoodiesCCI = Indicator{
	Name: "woodies_cci", Title: "Woodies CCI", Aliases: []string{"woodie_cci", "wcci"}, Category: Momentum,
	Doc:     "Woodie's CCI: a commodity channel index as bars and a faster one, the turbo, as line. Crosses of zero are changes of trend; the turbo crossing the bars shows the turn first. As at TradingView.",
	Formula: "CCI(hlc3, 14) and CCI(hlc3, 6)",
	Params:  []Param{bars("length", 14, "bars of the slow index", "period", "cci", "cci_length"), bars("turbo", 6, "bars of the turbo", "turbo_length", "fast")},
	Signals: []string{ZeroUp, ZeroDown, CrossUp, CrossDown},
	Warmup:  func(a Args) int { return max(a.Int("length"), a.Int("turbo")) + 1 },
	Compute: func(s *market.Series, a Args) *Result {
		x := typicalPrice(s)
		slow, turbo := cci(x, a.Int("length")), cci(x, a.Int("turbo"))
		signals := crossings(nil, turbo, slow, CrossUp, CrossDown)
		return &Result{
			Lines:     []Line{{Label: "Turbo", Tone: Second, Values: turbo}},
			Histogram: []Histogram{{Label: "CCI", Values: slow}},
			HLines:    []HLine{{Y: 100}, {Y: 0}, {Y: -100}},
			Signals:   inOrder(levelCrossings(signals, slow, 0, ZeroUp, ZeroDown)),
		}
	},
}
