package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to John F. Ehlers, "MESA Adaptive Moving Averages", Technical Analysis of
// Stocks & Commodities, September 2001.
var indMAMA = Indicator{
	Name: "mama", Title: "MAMA", Aliases: []string{"mesa_adaptive", "mesa_adaptive_ma"}, Category: Trend, Overlay: true,
	Doc:     "Ehlers' MESA adaptive average and its follower FAMA: the slower the phase of the dominant cycle turns, the closer they keep to the price. As in TA-Lib.",
	Formula: "MAMA = a*x + (1-a)*MAMA[1], FAMA with a/2; a = fast limit / change of phase in degrees, at least the slow limit",
	Params: []Param{
		factor("fast_limit", 0.5, 0.01, 0.99, "largest weight of the newest price", "fastlimit", "fast"),
		factor("slow_limit", 0.05, 0.01, 0.99, "smallest weight", "slowlimit", "slow"), source(),
	},
	Signals: []string{shape.CrossUp, shape.CrossDown},
	// FAMA's weight is never below half the slow limit: so many bars leave e^-12 of its
	// start.
	Warmup: func(a Args) int { return int(25/a.Float("slow_limit")) + kernel.HilbertWarmup },
	Compute: func(s *market.Series, a Args) *Result {
		line, follower := kernel.MAMA(column(s, a), a.Float("fast_limit"), a.Float("slow_limit"))
		return &Result{
			Lines:   []Line{{Label: "MAMA", Values: line}, {Label: "FAMA", Values: follower}},
			Signals: shape.Crossings(nil, line, follower, shape.CrossUp, shape.CrossDown),
		}
	},
}
