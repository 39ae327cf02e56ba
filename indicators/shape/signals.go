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
	var c crosser
	for i, v := range a {
		dst = appendCross(dst, i, v, c.step(v, b[i]), up, down)
	}
	return dst
}

// LineCrossings is like [Crossings], for lines that swing around zero or within
// bounds: a difference counts if it is more than rounding of the size that the
// lines had lately. The values themselves may be close to zero, where what is
// left of larger numbers has hardly any right digits.
func LineCrossings(dst []Signal, a, b []float64, up, down string) []Signal {
	c := crosser{memory: memory}
	for i, v := range a {
		dst = appendCross(dst, i, v, c.step(v, b[i]), up, down)
	}
	return dst
}

// LevelCrossings is like [LineCrossings], against a constant.
func LevelCrossings(dst []Signal, a []float64, level float64, up, down string) []Signal {
	c := crosser{memory: memory}
	for i, v := range a {
		dst = appendCross(dst, i, v, c.step(v, level), up, down)
	}
	return dst
}

// memory is the part of a line's size that is kept from bar to bar: of a spike a
// thousandth is left after 700 bars.
const memory = 0.99

// crosser follows which side of b a line a lies on.
type crosser struct {
	memory float64 // part of size kept from bar to bar; 0 looks at each bar alone
	size   float64 // of the lines lately
	before float64 // a less b on the bar before; NaN if there was no value
}

// step takes in the next bar and returns 1 if a was below b and is not now, -1
// if it was above and is not now, else 0.
//
// A difference within rounding is none. If it came there in small steps, as an
// average comes closer and closer to a price that stands still, that is no
// crossing: nothing happened on that bar.
func (c *crosser) step(a, b float64) int {
	const fading = 1e3 // roundings: a last step smaller than this was no move
	now := a - b
	if now != now { // NaN
		c.before = now
		return 0
	}
	c.size = max(c.memory*c.size, math.Abs(a), math.Abs(b))
	limit := kernel.Rounding * c.size
	if math.Abs(now) <= limit {
		now = 0
		if math.Abs(c.before) <= fading*limit {
			c.before = 0
		}
	}
	before := c.before
	c.before = now
	switch {
	case before < 0 && now >= 0:
		return 1
	case before > 0 && now <= 0:
		return -1
	}
	return 0
}

// appendCross appends the signal of a crossing to the given side.
func appendCross(dst []Signal, bar int, y float64, side int, up, down string) []Signal {
	switch {
	case side > 0 && up != "":
		return append(dst, Mark(bar, y, up, Up))
	case side < 0 && down != "":
		return append(dst, Mark(bar, y, down, Down))
	}
	return dst
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
	for i := 1; i < len(a); i++ {
		switch {
		case kernel.Difference(a[i-1], lo) >= 0 && kernel.Difference(a[i], lo) < 0:
			dst = append(dst, Signal{Bar: i, Y: a[i], Label: EntersOversold, Tone: Down, Silent: true})
		case kernel.Difference(a[i-1], hi) <= 0 && kernel.Difference(a[i], hi) > 0:
			dst = append(dst, Signal{Bar: i, Y: a[i], Label: EntersOverbought, Tone: Up, Silent: true})
		}
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
	direction := 0
	for i := 1; i < len(x); i++ {
		now := kernel.Compare(x[i], x[i-1])
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
		if above(i) && !above(i-1) && usual[i-1] == usual[i-1] {
			signals = append(signals, Mark(i, x[i], Spike, Accent))
		}
	}
	return signals
}

// Stacks returns a signal for each bar on which all lines come into rising order
// (the first on top) or into falling order.
func Stacks(lines []Line) []Signal {
	order := func(i int) int {
		up, down := true, true
		for k := 1; k < len(lines) && (up || down); k++ {
			side := kernel.Compare(lines[k-1].Values[i], lines[k].Values[i])
			up, down = up && side > 0, down && side < 0
		}
		switch {
		case up:
			return 1
		case down:
			return -1
		}
		return 0
	}
	var signals []Signal
	before := 0
	for i := range lines[0].Values {
		now := order(i)
		if y := lines[0].Values[i]; now != before && now == 1 {
			signals = append(signals, Mark(i, y, StackUp, Up))
		} else if now != before && now == -1 {
			signals = append(signals, Mark(i, y, StackDown, Down))
		}
		before = now
	}
	return signals
}

// InOrder sorts signals by bar, in place, keeping the order of those on one bar,
// and returns them. They come as a few runs that are in order already, so it
// merges the first run with the rest.
func InOrder(signals []Signal) []Signal {
	half := 1
	for half < len(signals) && signals[half].Bar >= signals[half-1].Bar {
		half++
	}
	if half >= len(signals) {
		return signals
	}
	first, rest := slices.Clone(signals[:half]), InOrder(signals[half:])
	for i := 0; len(first) > 0; i++ {
		if len(rest) > 0 && rest[0].Bar < first[0].Bar {
			signals[i], rest = rest[0], rest[1:]
		} else {
			signals[i], first = first[0], first[1:]
		}
	}
	return signals
}
