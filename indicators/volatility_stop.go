package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

var indVolatilityStop = Indicator{
	Name: "volatility_stop", Title: "VStop", Aliases: []string{"vstop"}, Category: Trend, Overlay: true,
	Doc:     "Volatility stop: a multiple of the average true range below the highest close since the trend began, or above the lowest; it never gives way and turns on a close beyond it. As at TradingView; starts in a rising trend on the first bar with a range.",
	Formula: "rising: stop = max(stop[1], highest close - mult * ATR(n)); falling mirrored",
	Params: []Param{
		length(20), factor("mult", 2, 0.01, 50, "ranges between price and stop", "multiplier", "factor", "atr_mult"),
	},
	Signals: []string{shape.FlipUp, shape.FlipDown},
	Warmup:  func(a Args) int { return stopWarmup(a.Float("mult"), wilderWarmup(a)) },
	Compute: func(s *market.Series, a Args) *Result {
		stop, up := volatilityStop(s.Close, kernel.ATRPine(s, a.Int("length")), a.Float("mult"))
		return stopResult(stop, up, wilderWarmup(a))
	},
}

// volatilityStop returns the stop at each bar and whether the trend is up.
func volatilityStop(x, atr []float64, mult float64) (stop []float64, up []bool) {
	first := kernel.FirstValid(atr)
	stop, up = kernel.Unknown(len(x), first), make([]bool, len(x))
	var extreme, level float64 // best close of the trend, and its stop
	rising := true
	for i := first; i < len(x); i++ {
		reach := float64(mult * atr[i])
		switch {
		case i == first:
			extreme, level = x[i], x[i]-reach
		// While the trend lasts the best close and the stop only move in its direction,
		// even when the range grows.
		case rising:
			extreme = max(extreme, x[i])
			level = max(level, extreme-reach)
		default:
			extreme = min(extreme, x[i])
			level = min(level, extreme+reach)
		}
		// A close beyond the stop turns the trend, and both start anew from that close.
		if now := kernel.Compare(x[i], level) >= 0; now != rising {
			rising, extreme = now, x[i]
			if level = x[i] + reach; rising {
				level = x[i] - reach
			}
		}
		stop[i], up[i] = level, rising
	}
	return stop, up
}

// closeTrail returns the stop at each bar and whether it lies below the close. The
// side is told by the stop alone: unlike volatilityStop it keeps no best close of the
// trend.
func closeTrail(x, atr []float64, mult float64) (stop []float64, up []bool) {
	first := kernel.FirstValid(atr)
	stop, up = kernel.Unknown(len(x), first), make([]bool, len(x))
	for i := first; i < len(x); i++ {
		below, above := x[i]-float64(mult*atr[i]), x[i]+float64(mult*atr[i])
		// The first stop lies below the close: the trend begins as up, unless the range
		// is 0.
		if i == first {
			stop[i], up[i] = below, kernel.Compare(x[i], below) > 0
			continue
		}
		switch before, now := kernel.Compare(x[i-1], stop[i-1]), kernel.Compare(x[i], stop[i-1]); {
		// Two closes on one side: the stop only moves towards them. After a crossing it
		// starts anew from this close, on the other side.
		case now > 0 && before > 0:
			stop[i] = max(stop[i-1], below)
		case now < 0 && before < 0:
			stop[i] = min(stop[i-1], above)
		case now > 0:
			stop[i] = below
		default:
			stop[i] = above
		}
		up[i] = kernel.Compare(x[i], stop[i]) > 0
	}
	return stop, up
}
