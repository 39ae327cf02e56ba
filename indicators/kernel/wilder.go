package kernel

import (
	"math"

	"wick/market"
)

// TrueRange returns the range of each bar, the close before included. As in
// TA-Lib the first bar has none.
func TrueRange(s *market.Series) []float64 {
	out := Unknown(s.Len(), 1)
	for i := 1; i < len(out); i++ {
		out[i] = rangeOf(s, i)
	}
	return out
}

// rangeOf returns the true range of bar i, which is not the first. It uses plain
// comparisons: the builtin max would take twice the time to handle NaN, which prices never
// are.
func rangeOf(s *market.Series, i int) float64 {
	hi, lo, before := s.High[i], s.Low[i], s.Close[i-1]
	if before > hi {
		hi = before
	}
	if before < lo {
		lo = before
	}
	return hi - lo
}

// TrueRangePine is like [TrueRange], but the first bar has high - low, as in
// Pine's ta.tr(true).
func TrueRangePine(s *market.Series) []float64 {
	out := TrueRange(s)
	if len(out) > 0 {
		out[0] = s.High[0] - s.Low[0]
	}
	return out
}

// ATR returns Wilder's average of [TrueRange], as TA-Lib does.
func ATR(s *market.Series, n int) []float64 { return RMA(TrueRange(s), n) }

// ATRPine returns Wilder's average of [TrueRangePine], as Pine's ta.atr does: it
// begins one bar before [ATR].
func ATRPine(s *market.Series, n int) []float64 { return RMA(TrueRangePine(s), n) }

// RSI returns Wilder's relative strength index of x over n changes, 0 to 100. As
// in TA-Lib the first value belongs to bar n, and it is 0 when nothing moved.
func RSI(x []float64, n int) []float64 {
	return Share(WilderMoves(x, n))
}

// WilderMoves returns Wilder's averages of the gains and of the losses of x over
// n changes, both as positive numbers.
func WilderMoves(x []float64, n int) (gains, losses []float64) {
	first := FirstValid(x)
	gains, losses = Unknown(len(x), first+n), Unknown(len(x), first+n)
	if len(x)-first <= n {
		return gains, losses
	}
	share := 1 / float64(n)
	keep := 1 - share
	var gain, loss float64
	before := x[first]
	for _, v := range x[first+1 : first+n+1] {
		up, down := parts(v - before)
		gain += up
		loss += down
		before = v
	}
	gain, loss = gain*share, loss*share
	gains[first+n], losses[first+n] = gain, loss
	in := x[first+n+1:]
	ups, downs := gains[first+n+1:][:len(in)], losses[first+n+1:][:len(in)]
	for i, v := range in {
		up, down := parts(v - before)
		before = v
		// Wilder's step, old*(1-1/n) + new/n, fused so that every machine rounds it alike.
		gain = math.FMA(gain, keep, float64(up*share))
		loss = math.FMA(loss, keep, float64(down*share))
		ups[i], downs[i] = gain, loss
	}
	return gains, losses
}

// parts splits a move into what it rose and what it fell, one of which is 0. It
// has no branch, because no processor can foresee which way a price moves.
func parts(move float64) (up, down float64) {
	size := math.Abs(move)
	return (size + move) / 2, (size - move) / 2
}

// Directional returns Wilder's +DI and -DI over n bars, and the ADX, the average of their DX
// over smoothing bars. The variant "talib" starts
// the sums of movements with n-1 bars, the variant "pine" with n.
func Directional(s *market.Series, n, smoothing int, variant string) (plus, minus, adx []float64) {
	if variant == "pine" {
		// Pine divides averages, TA-Lib sums; the factor n cancels, so the two differ by their seed alone.
		up, down := Movements(s)
		ranges := RMA(TrueRange(s), n)
		plus, minus = Ratio(RMA(up, n), ranges, 100), Ratio(RMA(down, n), ranges, 100)
	} else {
		plus, minus = DirectionalIndicators(s, n)
	}
	return plus, minus, RMA(DirectionalIndex(plus, minus), smoothing)
}

// DirectionalIndicators returns +DI and -DI as TA-Lib has them.
func DirectionalIndicators(s *market.Series, n int) (plus, minus []float64) {
	plus, minus = Movements(s)
	ranges := TrueRange(s)
	if n == 1 { // TA-Lib leaves out the hundred here
		return Ratio(plus, ranges, 1), Ratio(minus, ranges, 1)
	}
	if len(plus) <= n {
		return NaNs(len(plus)), NaNs(len(plus))
	}
	keep := 1 - 1/float64(n)
	// The sums of WilderSum, three in one loop: in loops of their own they take half again as long.
	up, down, all := sumAbove(plus[1:n], 0), sumAbove(minus[1:n], 0), sumAbove(ranges[1:n], 0)
	for i := n; i < len(plus); i++ {
		up = float64(up*keep) + plus[i]
		down = float64(down*keep) + minus[i]
		all = float64(all*keep) + ranges[i]
		// The columns of movements are overwritten as they are used up.
		plus[i], minus[i] = 0, 0
		if all != 0 {
			plus[i], minus[i] = 100*up/all, 100*down/all
		}
	}
	return From(plus, n), From(minus, n)
}

// DirectionalIndex returns DX, 0 where neither side moved.
func DirectionalIndex(plus, minus []float64) []float64 {
	return zip(plus, minus, func(p, m float64) float64 {
		if sum := p + m; sum != 0 {
			return 100 * math.Abs(p-m) / sum
		}
		return 0
	})
}

// Movements returns +DM and -DM of every bar, at most one of which is not zero; the first bar has none.
func Movements(s *market.Series) (plus, minus []float64) {
	plus, minus = Unknown(s.Len(), 1), Unknown(s.Len(), 1)
	for i := 1; i < s.Len(); i++ {
		rise, fall := s.High[i]-s.High[i-1], s.Low[i-1]-s.Low[i]
		up, _ := parts(rise)
		down, _ := parts(fall)
		// Only the larger of the two movements counts, and none if they differ by no
		// more than rounding of the price.
		switch d := level(rise-fall, s.High[i]); {
		case d > 0:
			down = 0
		case d < 0:
			up = 0
		default: // equal ones cancel each other
			up, down = 0, 0
		}
		plus[i], minus[i] = up, down
	}
	return plus, minus
}

// WilderSum returns Wilder's decaying sum over n bars of x, whose first bar has
// no value. As in TA-Lib it starts, on bar n-1, with the n-1 values so far.
func WilderSum(x []float64, n int) []float64 {
	if n == 1 {
		return x
	}
	out := Unknown(len(x), n-1)
	if len(x) < n {
		return out
	}
	keep := 1 - 1/float64(n)
	sum := sumAbove(x[1:n], 0)
	out[n-1] = sum
	for i := n; i < len(x); i++ {
		sum = float64(sum*keep) + x[i]
		out[i] = sum
	}
	return out
}

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
