package indicators

import (
	"wick/indicators/shape"
	"wick/market"
)

var indOI = Indicator{
	Name: "oi", Title: "Open interest", Aliases: []string{"open_interest"}, Category: External,
	Doc:     "Open interest: the value of all open futures contracts, in the quote currency. Rising with price, new money follows the trend; falling, positions are being closed.",
	Formula: "open interest as the source reports it",
	Needs:   []string{market.ExtraOI},
	Signals: []string{shape.TurnUp, shape.TurnDown},
	Warmup:  func(Args) int { return 10 },
	Compute: func(s *market.Series, _ Args) *Result {
		line := extra(s, market.ExtraOI)
		return &Result{Lines: []Line{{Label: "OI", Tone: Primary, Values: line}}, Signals: shape.Silently(shape.Turns(nil, line))}
	},
}
