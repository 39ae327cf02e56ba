package shape

import (
	"math"
	"slices"

	"wick/indicators/kernel"
)

// Crossings appends to dst a signal wherever a crosses b, in the sense of [kernel.Crosser].
// Y is a's value. An empty label leaves out the signals of that direction.
func Crossings(dst []Signal, a, b []float64, up, down string) []Signal {
	var c kernel.Crosser
	for i, v := range a {
		dst = crossed(dst, c.Step(v, b[i]), i, v, up, down)
	}
	return dst
}

// LevelCrossings is like [Crossings], against a constant.
func LevelCrossings(dst []Signal, a []float64, level float64, up, down string) []Signal {
	var c kernel.Crosser
	for i, v := range a {
		dst = crossed(dst, c.Step(v, level), i, v, up, down)
	}
	return dst
}

// crossed appends the signal of a crossing upwards (way 1) or downwards (-1).
func crossed(dst []Signal, way, bar int, y float64, up, down string) []Signal {
	switch {
	case way > 0 && up != "":
		return add(dst, Mark(bar, y, up, Up))
	case way < 0 && down != "":
		return add(dst, Mark(bar, y, down, Down))
	}
	return dst
}

// add appends s to signals. It allocates room for 64 at first, as many as most histories
// have: growing from one by doubling would take as long as finding the signals.
func add(signals []Signal, s Signal) []Signal {
	if signals == nil {
		signals = make([]Signal, 0, 64)
	}
	return append(signals, s)
}

// ZoneExits appends to dst a signal where a rises out of the zone below lo, and where it
// falls out of the zone above hi.
func ZoneExits(dst []Signal, a []float64, lo, hi float64, oversold, overbought string) []Signal {
	dst = LevelCrossings(dst, a, lo, oversold, "")
	return InOrder(LevelCrossings(dst, a, hi, "", overbought))
}

// ZoneEntries appends to dst a silent signal where a falls below lo, and where it rises
// above hi. There it enters the zones whose exits [ZoneExits] marks.
func ZoneEntries(dst []Signal, a []float64, lo, hi float64) []Signal {
	entries := LevelCrossings(nil, a, lo, "", EntersOversold)
	return append(dst, Silently(LevelCrossings(entries, a, hi, EntersOverbought, ""))...)
}

// Silently marks the signals as silent and returns them.
func Silently(signals []Signal) []Signal {
	for i := range signals {
		signals[i].Silent = true
	}
	return signals
}

// LastTouches returns a signal for each level that the newest bar reaches and the bar
// before did not. It is for levels that are computed from all bars, such as those of a
// profile. Earlier bars get no signals, since nobody knew these levels then.
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

// ZonedCrossings returns the crossings of a and b. A crossing upwards while b is below lo,
// and one downwards while b is above hi, has a label of its own. Y is b's value.
func ZonedCrossings(a, b []float64, lo, hi float64) []Signal {
	signals := Crossings(nil, a, b, CrossUp, CrossDown)
	slack := kernel.Rounding * max(1, math.Abs(lo), math.Abs(hi)) // at least that of 1, since a level may be 0
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

// PriceCrossings returns a signal wherever the closes cross a line. Y is the line's value.
func PriceCrossings(closes, line []float64) []Signal {
	signals := Crossings(nil, closes, line, PriceUp, PriceDown)
	for i := range signals {
		signals[i].Y = line[signals[i].Bar]
	}
	return signals
}

// Breakouts returns a signal for each close that leaves the bands. Y is the close.
func Breakouts(closes, upper, lower []float64) []Signal {
	signals := Crossings(nil, closes, upper, BreakUp, "")
	return InOrder(Crossings(signals, closes, lower, "", BreakDown))
}

// Touches returns a signal for each bar whose high reaches the upper band, or whose low
// reaches the lower one, if that of the bar before did not. Y is the value of the band.
func Touches(high, low, upper, lower []float64) []Signal {
	var over, under kernel.Crosser
	var signals []Signal
	for i, y := range upper {
		if over.Reach(high[i], y) > 0 {
			signals = add(signals, Mark(i, y, TouchUpper, Down))
		}
		if under.Reach(low[i], lower[i]) < 0 {
			signals = add(signals, Mark(i, lower[i], TouchLower, Up))
		}
	}
	return signals
}

// Turns appends to dst a signal wherever a falling line begins to rise, or a rising line
// begins to fall. While the line does not change, its direction stays what it was.
func Turns(dst []Signal, x []float64) []Signal {
	return TurnsOf(dst, x, func(int) float64 { return 0 })
}

// TurnsOf is like Turns, for a line that is a difference of larger numbers. size returns
// how large they are at a bar, because the rounding error depends on that.
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

// NewExtremes returns a signal for each bar on which the upper edge of a channel rises or
// the lower edge falls. Either edge may be nil.
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

// Spikes returns a signal for each bar on which x rises above the product of by and usual.
func Spikes(x, usual []float64, by float64) []Signal {
	signals := Crossings(nil, x, kernel.Scaled(usual, by), Spike, "")
	for i := range signals {
		signals[i].Tone = Accent
	}
	return signals
}

// Stacks returns a signal for each bar on which the lines, of which there are at least two,
// come into rising order, with the first on top, or into falling order.
func Stacks(lines []Line) []Signal {
	// order returns 1 if the lines are in rising order on bar i, -1 if they are in falling
	// order, and 0 if they are in neither or some are equal or missing.
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

// InOrder sorts signals by bar, in place, and returns them. Signals on the same bar stay in
// their order.
func InOrder(signals []Signal) []Signal {
	slices.SortStableFunc(signals, func(a, b Signal) int { return a.Bar - b.Bar })
	return signals
}
