package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// The stop is moved and crossed by closes alone; highs and lows count in its range.
var indUTBot = Indicator{
	Name: "ut_bot", Title: "UT Bot", Aliases: []string{"utbot", "ut_bot_alerts"}, Category: Trend, Overlay: true,
	Doc:     "UT Bot: a stop that trails the close at a multiple of the average true range and changes sides when a close crosses it. After the script by QuantNomad on TradingView.",
	Formula: "two closes above the stop: max(stop[1], close - key * ATR(n)); two below: min(stop[1], close + key * ATR(n)); else anew from this close",
	Params: []Param{
		factor("key", 1, 0.01, 50, "ranges between price and stop", "key_value", "mult", "multiplier", "sensitivity"),
		bars("length", 10, "bars of the average true range", "period", "atr_length", "atr_period"),
	},
	Signals: []string{shape.FlipUp, shape.FlipDown},
	Warmup:  func(a Args) int { return stopWarmup(a.Float("key"), wilderWarmup(a)) },
	Compute: func(s *market.Series, a Args) *Result {
		stop, up := closeTrail(s.Close, kernel.ATRPine(s, a.Int("length")), a.Float("key"))
		return stopResult(stop, up, wilderWarmup(a))
	},
}
