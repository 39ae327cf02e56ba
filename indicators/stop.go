package indicators

import (
	"math"

	"wick/indicators/shape"
)

// What the trailing stops share. A stop remembers where its history began until it
// turns: no fixed number of bars is enough for sure.

// stopWarmup returns the bars in which a stop some ranges away from the price turns as
// a rule, after the first warm ones, which its range needs. A walk takes the square of a
// distance to cover it: a stop 3 ranges away turns every 25 bars or so, one 15 ranges
// away every 600, and ten times that is enough for nearly every market. A very wide stop
// would need more than is ever loaded: its results may stay unsettled.
func stopWarmup(ranges float64, warm int) int {
	return warm + max(400, min(int(25*ranges*ranges), MaxWarmup-warm))
}

// stopResult returns a stop drawn below or above the price, with signals where it
// changes sides. Its range is warm after the first warm bars.
func stopResult(stop []float64, up []bool, warm int) *Result {
	return &Result{Lines: shape.StopLines(stop, up), Signals: shape.Flips(stop, up), Settles: turned(up, warm/4, 2)}
}

// turned returns the bar after from on which up changes for the n-th time, len(up) if
// there is none. A stop keeps a level for either side, and a turn starts one of them
// anew: after two turns nothing of the history before is left. Callers let them count
// from a quarter of what the range needs on: it is not exact there, but near enough
// for the turns to be on the right bars.
func turned(up []bool, from, n int) int {
	for i := max(1, from); i < len(up); i++ {
		if up[i] != up[i-1] {
			n--
		}
		if n == 0 {
			return i
		}
	}
	return len(up)
}

// bounds is between which values a line lies that may have begun anywhere and is clamped
// on every bar. Lines that begin at different values never change their order, so once
// the lowest meets the highest all are the same, whatever the history before.
type bounds struct{ low, high float64 }

// anywhere is the bounds of a line of which nothing is known.
func anywhere() bounds { return bounds{math.Inf(-1), math.Inf(1)} }

// clamp returns what b becomes when the line is clamped between low and high.
func (b bounds) clamp(low, high float64) bounds {
	return bounds{min(max(b.low, low), high), min(max(b.high, low), high)}
}

// met reports whether only one value is left.
func (b bounds) met() bool { return b.low == b.high }
