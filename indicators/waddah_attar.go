package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Source: the public script "Waddah Attar Explosion" by LazyBear on TradingView.
var indWaddahAttar = Indicator{
	Name: "waddah_attar", Title: "WAE", Aliases: []string{"waddah_attar_explosion", "wae"}, Category: Momentum,
	Doc:     "Waddah Attar explosion: the change of a MACD as bars, the width of the Bollinger bands as explosion line, and a dead zone below which nothing counts. breakout_up and breakout_down fire where the bars rise above both. After LazyBear's script.",
	Formula: "trend = sensitivity * (MACD - MACD[1]); explosion = width of BB(length, mult); dead zone = 3.7 * Wilder average of TR over 100",
	Params: []Param{
		factor("sensitivity", 150, 1, 10000, "factor of the bars"), bars("fast", 20, "fast average"), bars("slow", 40, "slow average"),
		atLeast(2, bars("length", 20, "Bollinger bands", "channel", "bb_length")), factor("mult", 2, 0.1, 20, "deviations of the bands", "std"),
	},
	Signals:  []string{shape.BreakUp, shape.BreakDown},
	Meanings: shape.BreakMeanings("the trend", "the larger of explosion line and dead zone", "the negative of the larger of explosion line and dead zone"),
	Warmup: func(a Args) int {
		// 2000 bars are the memory of Wilder's average of 100, on which the dead zone
		// rests.
		return max(2000, kernel.EMAMemory*max(a.Int("fast"), a.Int("slow")), a.Int("length"))
	},
	Compute: func(s *market.Series, a Args) *Result {
		trend := kernel.Scaled(kernel.Change(kernel.Minus(kernel.EMA(s.Close, a.Int("fast")), kernel.EMA(s.Close, a.Int("slow"))), 1), a.Float("sensitivity"))
		_, upper, lower := kernel.Bollinger(s.Close, a.Int("length"), a.Float("mult"), a.Float("mult"), nil)
		explosion, dead := kernel.Minus(upper, lower), kernel.Scaled(kernel.ATRPine(s, 100), 3.7)
		// Bars count above the larger of the two, and below its negative.
		limit := kernel.Greater(explosion, dead)
		signals := shape.LineCrossings(nil, trend, limit, shape.BreakUp, "")
		return &Result{
			Histogram: []Histogram{{Label: "Trend", Values: trend}},
			Lines:     []Line{{Label: "Explosion", Tone: Second, Values: explosion}, {Label: "Dead zone", Tone: Muted, Values: dead}},
			HLines:    []HLine{{Y: 0}},
			Signals:   shape.InOrder(shape.LineCrossings(signals, trend, kernel.Scaled(limit, -1), "", shape.BreakDown)),
		}
	},
}
