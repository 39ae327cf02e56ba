package indicators

import "wick/market"

var indPrettyGoodOscillator = Indicator{
	Name: "pretty_good_oscillator", Title: "PGO", Aliases: []string{"pgo"}, Category: Momentum,
	Doc:     "Pretty good oscillator of Johnson: how many average ranges the close is from its average. The range is Wilder's average true range smoothed once more, as in pandas-ta. Beyond 3 he took it for a breakout.",
	Formula: "PGO = (close - SMA(close, n)) / EMA(ATR(n), n)",
	Params:  []Param{length(14), quiet(factor("level", 3, 0.1, 20, "breakout level", "threshold"))},
	Signals: []string{BreakUp, BreakDown},
	Warmup:  func(a Args) int { return (emaMemory + wilderMemory) * a.Int("length") },
	Compute: func(s *market.Series, a Args) *Result {
		n, level := a.Int("length"), a.Float("level")
		line := ratioLine(minus(s.Close, sma(s.Close, n)), ema(rma(trueRange(s), n), n), 1)
		signals := levelCrossings(nil, line, level, BreakUp, "")
		return &Result{
			Lines:   []Line{{Label: "PGO", Tone: Primary, Values: line}},
			HLines:  []HLine{{Y: level}, {Y: 0}, {Y: -level}},
			Signals: inOrder(levelCrossings(signals, line, -level, "", BreakDown)),
		}
	},
}
