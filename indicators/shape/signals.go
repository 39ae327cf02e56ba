package shape

import (
	"math"
	"slices"

	"wick/indicators/kernel"
)

// Crossings appends to dst a signal wherever a crosses b: up where it was below
// b on the bar before and is not now, down where it was above and is not now.
// Both must have values on both bars. Y is a's value. An empty label leaves out
// that side.
//
// It is for prices and averages of prices: a difference counts if it is more
// than rounding of the two values themselves.
func Crossings(dst []Signal, a, b []float64, up, down string) []Signal {
	return crossings(dst, a, b, 0, 0, up, down)
}

// LineCrossings is like [Crossings], for lines that swing around zero or within
// bounds: a difference counts if it is more than rounding of the size that the
// lines had lately. The values themselves may be close to zero, where what is
// left of larger numbers has hardly any right digits.
func LineCrossings(dst []Signal, a, b []float64, up, down string) []Signal {
	return crossings(dst, a, b, 0, memory, up, down)
}

// LevelCrossings is like [LineCrossings], against a constant.
func LevelCrossings(dst []Signal, a []float64, level float64, up, down string) []Signal {
	return crossings(dst, a, nil, level, memory, up, down)
}

// memory is the part of a line's size that is kept from bar to bar: of a spike a
// thousandth is left after 700 bars.
const memory = 0.99

// crossings follows which side of b, or of the level if b is nil, a lies on. Keep
// is the part of the lines' size that is kept from bar to bar; 0 looks at each bar
// alone.
//
// A difference within rounding is none. If it came there in small steps, as an
// average comes closer and closer to a price that stands still, that is no
// crossing: nothing happened on that bar.
func crossings(dst []Signal, a, b []float64, level, keep float64, up, down string) []Signal {
	const fading = 1e3 // roundings: a last step smaller than this was no move
	size, before := 0.0, 0.0
	for i, v := range a {
		if b != nil {
			level = b[i]
		}
		// The sign of now is the side of this bar, that of before the side of the bar
		// before.
		now := v - level
		if now != now { // NaN: there is no value to cross from on the next bar
			before = now
			continue
		}
		// The size that rounding is measured against: of this bar, or of recent ones.
		size = largest(keep*size, math.Abs(v), math.Abs(level))
		limit := kernel.Rounding * size
		if math.Abs(now) > limit && before*now > 0 { // on the same side as before, as most are
			before = now
			continue
		}
		// Equal up to rounding counts as equal. If the bar before was close too, the
		// lines ran together slowly, and setting before to 0 keeps that from being a
		// crossing.
		if math.Abs(now) <= limit {
			now = 0
			if math.Abs(before) <= fading*limit {
				before = 0
			}
		}
		switch {
		case before < 0 && now >= 0 && up != "":
			dst = add(dst, Mark(i, v, up, Up))
		case before > 0 && now <= 0 && down != "":
			dst = add(dst, Mark(i, v, down, Down))
		}
		before = now
	}
	return dst
}

// add appends s to signals, whose first room is for as many as most histories have:
// growing there from one signal by doubling takes as long as finding them.
func add(signals []Signal, s Signal) []Signal {
	if signals == nil {
		signals = make([]Signal, 0, 64)
	}
	return append(signals, s)
}

// largest returns the largest of three numbers, none of them NaN, in a third of
// the time of the built-in max, which takes care of NaN.
func largest(a, b, c float64) float64 {
	if b > a {
		a = b
	}
	if c > a {
		a = c
	}
	return a
}

// ZoneExits appends to dst a signal where a leaves the zone below lo upwards,
// and where it leaves the zone above hi downwards.
func ZoneExits(dst []Signal, a []float64, lo, hi float64, oversold, overbought string) []Signal {
	dst = LevelCrossings(dst, a, lo, oversold, "")
	return InOrder(LevelCrossings(dst, a, hi, "", overbought))
}

// ZoneEntries appends to dst a signal where a falls below lo, and where it rises
// above hi: the moments at which it enters the zones of which [ZoneExits] tells
// the end. They are silent.
func ZoneEntries(dst []Signal, a []float64, lo, hi float64) []Signal {
	lowBefore, highBefore := math.NaN(), math.NaN() // how far the bar before lay above lo and hi
	for i, v := range a {
		low, high := kernel.Difference(v, lo), kernel.Difference(v, hi)
		switch {
		case lowBefore >= 0 && low < 0:
			dst = append(dst, Signal{Bar: i, Y: v, Label: EntersOversold, Tone: Down, Silent: true})
		case highBefore <= 0 && high > 0:
			dst = append(dst, Signal{Bar: i, Y: v, Label: EntersOverbought, Tone: Up, Silent: true})
		}
		lowBefore, highBefore = low, high
	}
	return dst
}

// Silently marks the signals as silent and returns them.
func Silently(signals []Signal) []Signal {
	for i := range signals {
		signals[i].Silent = true
	}
	return signals
}

// LastTouches returns a signal for each level that the newest bar reaches and the
// bar before did not. It is for levels that describe the bars as a whole, such
// as those of a profile: of earlier bars it would say what nobody knew then.
func LastTouches(high, low []float64, levels []HLine) []Signal {
	i := len(high) - 1
	if i < 1 {
		return nil
	}
	reaches := func(i int, y float64) bool {
		return kernel.Difference(low[i], y) <= 0 && kernel.Difference(y, high[i]) <= 0
	}
	var signals []Signal
	for _, l := range levels {
		if reaches(i, l.Y) && !reaches(i-1, l.Y) {
			signals = append(signals, Mark(i, l.Y, LevelTouch, Muted))
		}
	}
	return signals
}

// ZonedCrossings returns the crossings of a and b. Where b lies in a zone, below
// lo or above hi, the label says so. Y is b's value.
func ZonedCrossings(a, b []float64, lo, hi float64) []Signal {
	signals := LineCrossings(nil, a, b, CrossUp, CrossDown)
	slack := kernel.Rounding * max(1, math.Abs(lo), math.Abs(hi)) // a level may be 0, a line near it rounding
	for i := range signals {
		sig := &signals[i]
		sig.Y = b[sig.Bar]
		switch {
		case sig.Label == CrossUp && sig.Y <= lo+slack:
			sig.Label = CrossUpOS
		case sig.Label == CrossDown && sig.Y >= hi-slack:
			sig.Label = CrossDownOB
		}
	}
	return signals
}

// PriceCrossings returns the signals of the closes crossing a line, placed on
// the line.
func PriceCrossings(closes, line []float64) []Signal {
	signals := Crossings(nil, closes, line, PriceUp, PriceDown)
	for i := range signals {
		signals[i].Y = line[signals[i].Bar]
	}
	return signals
}

// Breakouts returns a signal for each close that leaves a band, placed on the
// close.
func Breakouts(closes, upper, lower []float64) []Signal {
	signals := Crossings(nil, closes, upper, BreakUp, "")
	return InOrder(Crossings(signals, closes, lower, "", BreakDown))
}

// Touches returns a signal for each bar whose high comes to the upper band, or
// whose low comes to the lower one, when the bar before did not. It is placed on
// the band.
func Touches(high, low, upper, lower []float64) []Signal {
	var signals []Signal
	for _, sig := range Crossings(nil, high, upper, TouchUpper, "") {
		signals = append(signals, Mark(sig.Bar, upper[sig.Bar], TouchUpper, Down))
	}
	for _, sig := range Crossings(nil, low, lower, "", TouchLower) {
		signals = append(signals, Mark(sig.Bar, lower[sig.Bar], TouchLower, Up))
	}
	return InOrder(signals)
}

// Turns appends to dst a signal wherever a line that fell rises, or one that
// rose falls. A level stretch keeps the direction in which it was entered.
func Turns(dst []Signal, x []float64) []Signal {
	return TurnsOf(dst, x, func(int) float64 { return 0 })
}

// TurnsOf is like Turns, for a line that is a difference of larger numbers: size
// gives how large they are at a bar, and what is rounding is measured by them.
func TurnsOf(dst []Signal, x []float64, size func(i int) float64) []Signal {
	direction := 0
	for i := 1; i < len(x); i++ {
		of := size(i)
		now := kernel.Compare(of+x[i], of+x[i-1])
		switch {
		case now > 0 && direction < 0:
			dst = append(dst, Mark(i, x[i], TurnUp, Up))
		case now < 0 && direction > 0:
			dst = append(dst, Mark(i, x[i], TurnDown, Down))
		}
		if now != 0 {
			direction = now
		}
	}
	return dst
}

// Flips returns a signal for each bar on which a trend changes sides, placed on
// y. The first bar with a value changes nothing.
func Flips(y []float64, up []bool) []Signal {
	var signals []Signal
	for i := 1; i < len(y); i++ {
		switch {
		case up[i] == up[i-1] || y[i-1] != y[i-1]: // NaN
		case up[i]:
			signals = append(signals, Mark(i, y[i], FlipUp, Up))
		default:
			signals = append(signals, Mark(i, y[i], FlipDown, Down))
		}
	}
	return signals
}

// NewExtremes returns a signal for each bar that pushes an edge of a channel
// outwards. Either edge may be nil.
func NewExtremes(upper, lower []float64) []Signal {
	var signals []Signal
	for i := 1; i < max(len(upper), len(lower)); i++ {
		if upper != nil && kernel.Compare(upper[i], upper[i-1]) > 0 {
			signals = append(signals, Mark(i, upper[i], NewHigh, Up))
		}
		if lower != nil && kernel.Compare(lower[i], lower[i-1]) < 0 {
			signals = append(signals, Mark(i, lower[i], NewLow, Down))
		}
	}
	return signals
}

// Spikes returns a signal for each bar on which x rises above by times its usual
// size.
func Spikes(x, usual []float64, by float64) []Signal {
	above := func(i int) bool { return kernel.Compare(x[i], by*usual[i]) > 0 }
	var signals []Signal
	for i := 1; i < len(x); i++ {
		// The comparison of NaN with itself: the bar before must have had a usual size.
		if above(i) && !above(i-1) && usual[i-1] == usual[i-1] {
			signals = append(signals, Mark(i, x[i], Spike, Accent))
		}
	}
	return signals
}

// Stacks returns a signal for each bar on which all lines, at least two, come into
// rising order (the first on top) or into falling order.
func Stacks(lines []Line) []Signal {
	// order returns 1 if the lines lie in rising order on bar i, -1 if in falling
	// order, and 0 if they lie in neither or some are equal or missing.
	order := func(i int) int {
		side := kernel.Compare(lines[0].Values[i], lines[1].Values[i])
		for k := 2; k < len(lines) && side != 0; k++ {
			if kernel.Compare(lines[k-1].Values[i], lines[k].Values[i]) != side {
				return 0
			}
		}
		return side
	}
	var signals []Signal
	before := 0
	for i, y := range lines[0].Values {
		now := order(i)
		switch {
		case now == before:
		case now > 0:
			signals = add(signals, Mark(i, y, StackUp, Up))
		case now < 0:
			signals = add(signals, Mark(i, y, StackDown, Down))
		}
		before = now
	}
	return signals
}

// InOrder sorts signals by bar, in place, keeping the order of those on one bar,
// and returns them. They come as a few runs that are in order already, so it
// merges the first run with the rest.
func InOrder(signals []Signal) []Signal {
	// half is where the first run ends: the first signal on an earlier bar than the one
	// before it.
	half := 1
	for half < len(signals) && signals[half].Bar >= signals[half-1].Bar {
		half++
	}
	if half >= len(signals) {
		return signals
	}
	first, rest := slices.Clone(signals[:half]), InOrder(signals[half:])
	// signals[half:] is sorted in place and read from its start, so that writing from
	// the front never overtakes it. On equal bars the first run goes first.
	for i := 0; len(first) > 0; i++ {
		if len(rest) > 0 && rest[0].Bar < first[0].Bar {
			signals[i], rest = rest[0], rest[1:]
		} else {
			signals[i], first = first[0], first[1:]
		}
	}
	return signals
}
