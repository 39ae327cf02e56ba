package kernel

import "math"

// Crossings has for each bar on which side of another line a line lies: 1 above, -1 below, 0
// neither, [Missing] if there is no value of one of them. It is the only place that knows what a
// crossing is, for signals, alerts and rules alike: as in Pine, a line crosses above another on
// a bar on which it lies above and on the bar before did not; below likewise. So a touch is no
// crossing, and a line that leaves another one crosses it.
type Crossings []int8

// Missing is the side of a line that has no value.
const Missing int8 = 2

// lately is the part of a line's size that remains from bar to bar: after 700 bars a
// thousandth of a spike is left.
const lately = 0.99

// CrossingsOf returns on which side of b the column a lies. A b of one value is a level; any
// other is as long as a.
//
// A difference counts if it is larger than the rounding error of the largest values that the
// lines had lately. The current values may be close to zero, as differences of larger
// numbers whose rounding errors remain.
func CrossingsOf(a, b []float64) Crossings {
	sides := make(Crossings, len(a))
	size := 0.0 // of the lines lately
	for i, v := range a {
		other := b[0]
		if len(b) > 1 {
			other = b[i]
		}
		difference := v - other
		if difference != difference { // NaN
			sides[i] = Missing
			continue
		}
		size = largest(lately*size, math.Abs(v), math.Abs(other))
		switch slack := Rounding * size; {
		case difference > slack:
			sides[i] = 1
		case difference < -slack:
			sides[i] = -1
		}
	}
	return sides
}

// Crossed yields the bars on which the line crosses above the other, with 1, and those on which
// it crosses below it, with -1. A bar without both values is crossed by nothing, and neither is
// the bar after it.
func (s Crossings) Crossed(yield func(bar, way int) bool) {
	for i, now := range s {
		if i > 0 && now != s[i-1] && now != 0 && now != Missing && s[i-1] != Missing && !yield(i, int(now)) {
			return
		}
	}
}

// Reached is like Crossed, and yields 1 where the line comes up to the other from below, or
// beyond it, and -1 where it comes down to it from above. It is for what is reached, such as a
// band or the end of a range, and not crossed.
func (s Crossings) Reached(yield func(bar, way int) bool) {
	for i, now := range s {
		if i > 0 && now != s[i-1] && s[i-1] != 0 && now != Missing && s[i-1] != Missing && !yield(i, -int(s[i-1])) {
			return
		}
	}
}

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
