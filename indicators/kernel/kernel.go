// Package kernel is the arithmetic that indicators are made of: pure functions
// over columns, a column being one float64 per bar.
//
// # Alignment and NaN
//
// A result has the length of its input and is aligned with it: value i belongs
// to bar i. Bars before a function has enough history hold NaN. Leading NaNs
// in an input (a column that is itself not warm yet) only delay the result.
// Market data are checked before they get here, so no NaN follows the first
// value of a column. A function for columns that may have holes says what it
// does with them. A window of n < 1 bars is a mistake of the caller and
// panics, as do columns of different lengths.
//
// # Rounding
//
// Windows slide: a sum adds the newest value and subtracts the oldest. To keep
// rounding errors from adding up, sums are of distances from a reference value
// inside the window. They are computed again from the whole window every few
// hundred bars, and at once when a value has left that was thousands of times
// larger than what remains. So the relative error of an average stays below 1e-13, for
// values between 1e-140 and 1e140: the squares of others are out of range.
//
// Two computed values that differ by less than a part in 1e12 ([Rounding]) may
// therefore be equal but for rounding, and no market quotes prices to twelve
// digits. [Compare] calls them equal, and [Minus] makes their difference exactly
// zero. Without that, a price that does not move would cross its own average at
// random.
//
// A product that feeds a sum is written float64(a*b) + c: without the
// conversion some processors fuse the two, and the last bit would differ from
// machine to machine.
//
// # Sources
//
// Definitions follow TA-Lib where it has the function, else TradingView's
// reference manual of Pine Script; each function says where they differ.
package kernel

import (
	"math"
	"slices"
)

// Rounding is the relative difference up to which two computed values count as
// equal.
const Rounding = 1e-12

// Compare returns -1 if a is below b, 1 if it is above, and 0 if they are equal or
// differ by no more than [Rounding] times the larger of their absolute values. It
// returns 0 if either is NaN.
//
// The larger absolute value is the larger number itself, or the smaller number with its
// sign changed. So no absolute values need be computed, which would take most of the time.
func Compare(a, b float64) int {
	switch d := a - b; {
	case d > Rounding*a && d > -Rounding*b:
		return 1
	case d < Rounding*a && d < -Rounding*b:
		return -1
	}
	return 0
}

var nan = math.NaN()

// NaNs returns n values that are NaN.
func NaNs(n int) []float64 { return Unknown(n, n) }

// Unknown returns n values, of which the first warm are NaN and the rest zero.
// A warm below 0 or above n is taken as that bound.
func Unknown(n, warm int) []float64 {
	out := make([]float64, n)
	for i := range out[:min(max(warm, 0), n)] {
		out[i] = nan
	}
	return out
}

// FirstValid returns the index of the first value of x that is not NaN, or
// len(x) if there is none.
func FirstValid(x []float64) int {
	for i, v := range x {
		if !math.IsNaN(v) {
			return i
		}
	}
	return len(x)
}

// From sets the values of x before bar first to NaN, in place, and returns x.
func From(x []float64, first int) []float64 {
	for i := range x[:min(first, len(x))] {
		x[i] = nan
	}
	return x
}

// Skip returns a copy of x in which the first k values are NaN too: what is
// computed from it begins k bars later.
func Skip(x []float64, k int) []float64 {
	return From(slices.Clone(x), FirstValid(x)+k)
}
