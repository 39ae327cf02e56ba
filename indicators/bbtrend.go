package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indBBTrend = Indicator{
	Name: "bbtrend", Title: "BBTrend", Aliases: []string{"bollinger_trend", "bb_trend"}, Category: Trend,
	Doc:     "Bollinger trend of Bollinger: compares short with long bands. Above zero the lower bands are the further apart, in a rising market; below zero the upper ones. As at TradingView.",
	Formula: "100 * (|lower short - lower long| - |upper short - upper long|) / middle short",
	Params: []Param{
		bars("short", 20, "short bands", "short_length", "length", "fast"), bars("long", 50, "long bands", "long_length", "slow"),
		factor("mult", 2, 0.01, 20, "deviations between the middle and a band", "std_dev", "stddev", "multiplier"), source(),
	},
	Signals: []string{shape.ZeroUp, shape.ZeroDown, shape.TurnUp, shape.TurnDown},
	Warmup:  func(a Args) int { return max(a.Int("short"), a.Int("long")) + 2 },
	Compute: func(s *market.Series, a Args) *Result {
		x, mult := column(s, a), a.Float("mult")
		near, far := kernel.SMA(x, a.Int("short")), kernel.SMA(x, a.Int("long"))
		nearDev, farDev := kernel.StdDev(x, a.Int("short")), kernel.StdDev(x, a.Int("long"))
		below := kernel.Absolute(kernel.Minus(kernel.Offset(near, nearDev, -mult), kernel.Offset(far, farDev, -mult)))
		above := kernel.Absolute(kernel.Minus(kernel.Offset(near, nearDev, mult), kernel.Offset(far, farDev, mult)))
		return colouredBars("BBTrend", kernel.Ratio(kernel.Minus(below, above), near, 100))
	},
}
