package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Mark Johnson, who held positions beyond 3 until the line came back to
// zero.
var indPrettyGoodOscillator = Indicator{
	Name: "pretty_good_oscillator", Title: "PGO", Aliases: []string{"pgo"}, Category: Momentum,
	Doc:      "Pretty good oscillator of Johnson: how many average ranges the close is from its average. The range is Wilder's average true range smoothed once more, as in pandas-ta. Beyond 3 he took it for a breakout.",
	Formula:  "PGO = (close - SMA(close, n)) / EMA(ATR(n), n)",
	Params:   []Param{length(14), quiet(factor("level", 3, 0.1, 20, "breakout level", "threshold"))},
	Signals:  []string{shape.BreakUp, shape.BreakDown},
	Meanings: shape.BreakMeanings("the line", "the upper level", "the lower level"),
	// An exponential average of Wilder's average: the two memories add up.
	Warmup: func(a Args) int { return (kernel.EMAMemory + kernel.WilderMemory) * a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		n, level := a.Int("length"), a.Float("level")
		line := kernel.Ratio(kernel.Minus(s.Close, kernel.SMA(s.Close, n)), kernel.EMA(kernel.ATR(s, n), n), 1)
		signals := shape.LevelCrossings(nil, line, level, shape.BreakUp, "")
		return &Result{
			Lines:   []Line{{Label: "PGO", Tone: Primary, Values: line}},
			HLines:  []HLine{{Y: level}, {Y: 0}, {Y: -level}},
			Signals: shape.InOrder(shape.LevelCrossings(signals, line, -level, "", shape.BreakDown)),
		}
	},
}
