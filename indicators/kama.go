package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Perry J. Kaufman, "Smarter Trading", 1995.
var indKAMA = Indicator{
	Name: "kama", Title: "KAMA", Aliases: []string{"kaufman", "ama"}, Category: Trend, Overlay: true,
	Doc:     "Kaufman's adaptive average: quick when the price goes straight, slow when it wanders. As in TA-Lib, with Kaufman's length 10.",
	Formula: "KAMA = KAMA[1] + c² * (x - KAMA[1]), c = er*(2/(fast+1) - 2/(slow+1)) + 2/(slow+1), er = |x - x[n]| / sum of n |x - x[1]|",
	Params: []Param{
		length(10), bars("fast", 2, "length at full efficiency", "fast_length"),
		bars("slow", 30, "length when the price goes nowhere", "slow_length"), source(),
	},
	Signals: []string{shape.PriceUp, shape.PriceDown, shape.TurnUp, shape.TurnDown},
	Warmup:  func(a Args) int { return a.Int("length") + kernel.KAMAMemory(a.Float("slow")) },
	Compute: func(s *market.Series, a Args) *Result {
		y := kernel.KAMA(column(s, a), a.Int("length"), a.Float("fast"), a.Float("slow"))
		return &Result{
			Lines:   []Line{{Label: "KAMA", Values: y}},
			Signals: shape.InOrder(shape.Turns(shape.PriceCrossings(s.Close, y), y)),
		}
	},
}
