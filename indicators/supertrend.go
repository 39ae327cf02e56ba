package indicators

import (
	"wick/indicators/kernel"
	"wick/indicators/shape"
	"wick/market"
)

// Attributed to Olivier Seban.
var indSupertrend = Indicator{
	Name: "supertrend", Title: "Supertrend", Aliases: []string{"st", "super_trend"}, Category: Trend, Overlay: true,
	Doc:     "Supertrend: a trailing stop a multiple of the average true range from the middle of the bar. It only tightens until a close breaks it, then changes sides. As TradingView's ta.supertrend, which starts in a falling trend.",
	Formula: "hl2 ± mult * ATR(n); the band in force only moves towards the price and flips when a close crosses it",
	Params: []Param{
		bars("length", 10, "bars of the average true range", "period", "len", "window", "atr_length", "atr_period", "timeperiod"),
		factor("mult", 3, 0.01, 50, "ranges between price and stop", "multiplier", "factor", "atr_mult"),
	},
	Signals: []string{shape.FlipUp, shape.FlipDown},
	Warmup:  func(a Args) int { return stopWarmup(a.Float("mult"), wilderWarmup(a)) },
	Compute: func(s *market.Series, a Args) *Result {
		stop, up := supertrend(s, a.Int("length"), a.Float("mult"))
		return stopResult(stop, up, wilderWarmup(a))
	},
}

// supertrend returns the stop at each bar and whether the trend is up there. Both
// bands are kept all the time; the one on the side of the trend is the stop.
func supertrend(s *market.Series, n int, mult float64) (stop []float64, up []bool) {
	atr := kernel.ATRPine(s, n)
	stop, up = atr, make([]bool, s.Len()) // the range of a bar is read once, so its place can take the stop
	var upper, lower float64
	rising, started := false, false
	for i := kernel.FirstValid(atr); i < len(atr); i++ {
		mid, reach := (s.High[i]+s.Low[i])/2, float64(mult*atr[i])
		newUpper, newLower := mid+reach, mid-reach
		switch {
		// The first bar with a range sets both bands and counts as falling.
		case !started:
			upper, lower, started = newUpper, newLower, true
		default:
			// A band moves towards the price only, unless the close before had gone
			// through it: then it starts anew from this bar.
			if newUpper < upper || s.Close[i-1] > upper {
				upper = newUpper
			}
			if newLower > lower || s.Close[i-1] < lower {
				lower = newLower
			}
			if rising {
				// A close on the stop keeps the trend, on either side.
				rising = !(s.Close[i] < lower)
			} else {
				rising = s.Close[i] > upper
			}
		}
		up[i] = rising
		if stop[i] = upper; rising {
			stop[i] = lower
		}
	}
	return stop, up
}
