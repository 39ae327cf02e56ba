package kernel

import (
	"math"

	"wick/market"
)

// Acceleration says how fast a parabolic stop approaches the price: the first factor, what
// each new extreme adds to it, and the largest factor.
type Acceleration struct{ Start, Step, Most float64 }

// bounded returns a with its first factor and its step at most the largest factor,
// as in TA-Lib.
func (a Acceleration) bounded() Acceleration {
	return Acceleration{min(a.Start, a.Most), min(a.Step, a.Most), a.Most}
}

// Parabolic returns Wilder's stop and reverse at every bar from the second on,
// and whether the market rises there by it. startValue and offset are those of
// TA-Lib's SAREXT, 0 for none.
func Parabolic(s *market.Series, long, short Acceleration, startValue, offset float64) (stop []float64, up []bool) {
	n := s.Len()
	stop, up = Unknown(n, 1), make([]bool, n)
	if n < 2 {
		return stop, up
	}
	high, low := s.High, s.Low[:n]
	long, short = long.bounded(), short.bounded()
	rising, sar, extreme := sarStart(s, startValue)
	factor := long.Start
	if !rising {
		factor = short.Start
	}
	// As in TA-Lib bar 1 counts as its own predecessor in the first step.
	hiBefore, loBefore := high[1], low[1]
	for i := 1; i < n; i++ {
		hi, lo := high[i], low[i]
		top, bottom := hi, lo // of this bar and the one before
		if hiBefore > top {
			top = hiBefore
		}
		if loBefore < bottom {
			bottom = loBefore
		}
		near := Rounding * math.Abs(sar) // a price that equals the stop but for rounding touches it
		switch {
		// The low reaches the stop: turn to falling. The stop jumps to the highest high
		// of the rise, and may not lie inside the last two bars.
		case rising && lo <= sar+near:
			rising, factor = false, short.Start
			stop[i], sar = reverse(max(extreme, top), offset, lo, factor)
			sar, extreme = max(sar, top), lo
		// Still rising: a new high makes the stop faster, and the stop of the next bar
		// stays at or below the lows of this bar and the one before.
		case rising:
			stop[i] = sar
			if hi > extreme {
				extreme, factor = hi, min(factor+long.Step, long.Most)
			}
			if sar += float64(factor * (extreme - sar)); sar > bottom {
				sar = bottom
			}
		// The mirror image: the high reaches the stop, so turn to rising.
		case hi >= sar-near:
			rising, factor = true, long.Start
			stop[i], sar = reverse(min(extreme, bottom), -offset, hi, factor)
			sar, extreme = min(sar, bottom), hi
		// Still falling, mirrored in the same way.
		default:
			stop[i] = sar
			if lo < extreme {
				extreme, factor = lo, min(factor+short.Step, short.Most)
			}
			if sar += float64(factor * (extreme - sar)); sar < top {
				sar = top
			}
		}
		up[i], hiBefore, loBefore = rising, hi, lo
	}
	return stop, up
}

// reverse returns the stop on the bar of a turn, the old extreme moved away from the
// price by a share of offset, and the stop that follows it towards the new extreme.
func reverse(from, offset, extreme, factor float64) (stop, next float64) {
	stop = from + float64(from*offset)
	return stop, stop + float64(factor*(extreme-stop))
}

// sarStart decides how a parabolic begins: by the sign of startValue, or by
// which way the second bar moved further.
func sarStart(s *market.Series, startValue float64) (rising bool, sar, extreme float64) {
	up, down := s.High[1]-s.High[0], s.Low[0]-s.Low[1]
	// As in TA-Lib it falls only if the low fell by more than the high rose.
	rising = !(down > 0 && down > up)
	if startValue != 0 {
		rising = startValue > 0
	}
	// A rise begins with its stop at the first low and the second high as its extreme,
	// a fall the other way round.
	sar, extreme = s.Low[0], s.High[1]
	if !rising {
		sar, extreme = s.High[0], s.Low[1]
	}
	if startValue != 0 {
		sar = math.Abs(startValue)
	}
	return rising, sar, extreme
}
