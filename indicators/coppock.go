package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Edwin S. C. Coppock, in Barron's, October 1962.
var indCoppock = Indicator{
	Name: "coppock", Title: "Coppock", Aliases: []string{"coppock_curve", "cc"}, Category: Momentum,
	Doc:     "Coppock curve: a weighted average of two rates of change, meant for monthly bars. Coppock bought where it turned up below zero.",
	Formula: "WMA(ROC(x, long) + ROC(x, short), n)",
	Params: []Param{
		bars("long", 14, "longer rate of change", "slow", "long_length"), bars("short", 11, "shorter rate of change", "fast", "short_length"),
		bars("wma", 10, "weighted average", "length", "period", "wma_length"), source(),
	},
	Signals: []string{shape.TurnUp, shape.TurnDown, shape.ZeroUp, shape.ZeroDown},
	Meanings: map[string]string{
		shape.TurnUp:   "the line stops falling and rises, below zero",
		shape.TurnDown: "the line stops rising and falls, above zero",
	},
	Warmup: func(a Args) int { return max(a.Int("long"), a.Int("short")) + a.Int("wma") + 3 },
	Compute: func(s *market.Series, a Args) *Result {
		x := column(s, a)
		both := kernel.ROC(x, a.Int("long"))
		for i, v := range kernel.ROC(x, a.Int("short")) {
			both[i] += v
		}
		// both has its first value where the longer rate of change has, and the average
		// starts there.
		line := kernel.WMA(both, a.Int("wma"))
		r := shape.ZeroPanel("Coppock", line)
		// A turn counts on its side of zero: up below it, down above. Rates of change
		// are percentages less 100, and their rounding is that of the two hundreds.
		const size = 200
		for _, t := range shape.TurnsOf(nil, line, func(int) float64 { return size }) {
			if (t.Label == shape.TurnUp) == (kernel.Compare(size+line[t.Bar-1], size) < 0) {
				r.Signals = append(r.Signals, t)
			}
		}
		r.Signals = shape.InOrder(r.Signals)
		return r
	},
}
