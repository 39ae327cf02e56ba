package kernel

import "math"

// Crosser finds where one line crosses another, bar by bar. It is the only place that knows
// what a crossing is, for signals, alerts and rules alike: as in Pine, a line crosses above
// another on a bar on which it lies above and on the bar before did not; below likewise. So
// a touch is no crossing, and a line that leaves another one crosses it.
//
// A difference counts if it is larger than the rounding error of the largest values that the
// lines had lately. The current values may be close to zero, as differences of larger
// numbers whose rounding errors remain. The zero Crosser has seen no bar.
type Crosser struct {
	size float64 // of the lines lately
	side int     // on the last bar: 1 if the first line was above the other, -1 below, 0 neither
	seen bool    // the last bar had both values
}

// lately is the part of a line's size that remains from bar to bar: after 700 bars a
// thousandth of a spike is left.
const lately = 0.99

// Step takes the values of the two lines on the next bar. It returns 1 if the first crosses
// above the other there, -1 if it crosses below it, and otherwise 0. A bar without both
// values is crossed by nothing, and neither is the bar after it.
func (c *Crosser) Step(a, b float64) int {
	difference := a - b
	if difference != difference { // NaN
		c.seen = false
		return 0
	}
	c.size = largest(lately*c.size, math.Abs(a), math.Abs(b))
	before, seen := c.side, c.seen
	c.seen = true
	switch slack := Rounding * c.size; {
	case difference > slack:
		c.side = 1
	case difference < -slack:
		c.side = -1
	default:
		c.side = 0
	}
	if !seen || c.side == before {
		return 0
	}
	return c.side
}

// Reach is like Step, and returns 1 if the first line comes up to the other from below, or
// beyond it, and -1 if it comes down to it from above. It is for what is reached, such as a
// band or the end of a range, and not crossed.
func (c *Crosser) Reach(a, b float64) int {
	before, seen := c.Side()
	c.Step(a, b)
	if now, known := c.Side(); seen && known && before != 0 && now != before {
		return -before
	}
	return 0
}

// Side returns on which side of the other line the first one was on the last bar: 1 above,
// -1 below, 0 neither. It is not known if a value was missing there.
func (c *Crosser) Side() (side int, known bool) { return c.side, c.seen }

// largest returns the largest of three numbers, none of which is NaN. It takes a third of
// the time of the built-in max, which also handles NaN.
func largest(a, b, c float64) float64 {
	if b > a {
		a = b
	}
	if c > a {
		a = c
	}
	return a
}
