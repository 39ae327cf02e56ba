package indicators

import (
	"math"

	"wick/indicators/shape"
)

// What the trailing stops share. A stop depends on where its history began until it
// turns, so no fixed number of bars is certain to be enough.

// stopWarmup returns how many bars a stop that is ranges ranges away from the price usually
// needs until it has turned, after the first warm bars, which its range needs. A random walk
// needs as many steps as the square of the distance: a stop 3 ranges away turns about every
// 25 bars, one 15 ranges away every 600, and ten times that is enough for nearly every
// market. A very wide stop would need more bars than are ever loaded: its results may stay
// unsettled.
func stopWarmup(ranges float64, warm int) int {
	return warm + max(400, min(int(25*ranges*ranges), MaxWarmup-warm))
}

// stopResult returns a stop drawn below or above the price, with signals where it
// changes sides. Its range is warm after the first warm bars.
func stopResult(stop []float64, up []bool, warm int) *Result {
	return &Result{Lines: shape.StopLines(stop, up), Signals: shape.Flips(stop, up), Settles: turned(up, warm/4, 2)}
}

// turned returns the bar after from on which up changes for the n-th time, or len(up) if
// there is none. A stop has a level for each side, and a turn sets one of them again: after
// two turns nothing depends on the history before. Callers count turns from a quarter of
// the bars that the range needs: it is not exact there, but near enough for the turns to be
// on the right bars.
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

// bounds is the range of values that a line can have if it began at an unknown value and
// is clamped on every bar. Lines that begin at different values never change their order, so
// once the lowest equals the highest, all are the same, whatever the history before.
type bounds struct{ low, high float64 }

// anywhere is the bounds of a line of which nothing is known.
func anywhere() bounds { return bounds{math.Inf(-1), math.Inf(1)} }

// clamp returns what b becomes when the line is clamped between low and high.
func (b bounds) clamp(low, high float64) bounds {
	return bounds{min(max(b.low, low), high), min(max(b.high, low), high)}
}

// met reports whether only one value is left.
func (b bounds) met() bool { return b.low == b.high }
