// Package exact has the two numbers that money is counted in. Both are whole
// counts of a fixed small unit, so that adding, comparing and storing them is
// exact: what a client wrote is never replaced by a binary fraction.
//
//   - [Decimal] counts units of 10^-8 in 64 bits. Prices, quantities, rates and
//     fees are Decimals. The range is about 92 billion either way.
//   - [Money] counts units of 10^-16 in 128 bits. A price times a quantity is a
//     Money without rounding, which is why a position adds up to the last unit.
//
// # Rounding and range
//
// Only products and quotients that must become a Decimal again are rounded, and
// the caller says which way: see [Rounding]. A result that leaves the range is
// reported by a second result of false; nothing ever wraps around.
//
// # Text
//
// Both are written as plain JSON numbers without exponent or trailing zeros, and
// [Parse] refuses a text that it could not write back exactly: more than eight
// decimals are an error, not a rounded number. Reading what was written gives
// the same number again.
package exact

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"

	"wick/internal/limit"
)

// Decimal is an exact decimal number: a whole count of 0.00000001. The smallest
// int64, which has no positive counterpart, is not a Decimal: no function here
// returns it.
type Decimal int64

// One is the number 1.
const One Decimal = 1e8

// How many digits there are after the point, in a Decimal and in a Money.
const (
	decimals    = 8
	moneyPlaces = 2 * decimals
)

// errDecimal reports a text that is not a decimal number, or not one that can be
// kept exactly.
var errDecimal = errors.New("bad decimal")

// Parse reads a JSON number, a JSON string with a number in it, or a number as plain
// text. It refuses what a Decimal cannot hold exactly: more than eight decimals and
// numbers out of range. It also refuses NaN, infinities, hexadecimal numbers and blanks.
func Parse(text []byte) (Decimal, error) {
	if digits, places, ok := plain(text); ok && len(text)-places <= 10 && places <= decimals {
		return Decimal(digits) * powers[decimals-places], nil
	}
	s := string(text)
	if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' {
		s = s[1 : len(s)-1]
	}
	digits, negative, err := scale(s, decimals)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w %q: beyond 92 billion", errDecimal, limit.Clip(s))
	}
	if negative {
		n = -n
	}
	return Decimal(n), nil
}

// plain reads numbers in the form that we write ourselves: at most 18 digits, perhaps
// with a minus before them and a point among them. It returns the digits as one number
// and how many of them are after the point. It returns false for anything else, which
// scale then reads. A start reads hundreds of thousands of such numbers, and plain
// allocates no memory.
func plain(text []byte) (digits int64, places int, ok bool) {
	rest, negative := bytes.CutPrefix(text, []byte("-"))
	if len(rest) == 0 || len(rest) > 18 || rest[0] == '.' || rest[len(rest)-1] == '.' {
		return 0, 0, false
	}
	point := len(rest)
	for i, c := range rest {
		switch {
		case c >= '0' && c <= '9':
			digits = 10*digits + int64(c-'0')
		case c == '.' && point == len(rest):
			point = i + 1
		default:
			return 0, 0, false
		}
	}
	if negative {
		digits = -digits
	}
	return digits, len(rest) - point, true
}

// powers of ten, as far as Money needs them.
var powers = func() (p [moneyPlaces + 1]Decimal) {
	p[0] = 1
	for i := range moneyPlaces {
		p[i+1] = 10 * p[i]
	}
	return p
}()

// scale returns the decimal number in the text s as a whole number of units of
// 10^-places, in digits without leading zeros, and whether it is negative. It is an error
// if the number is not a whole number of units.
func scale(s string, places int) (digits string, negative bool, err error) {
	if utf8.RuneCountInString(s) > 64 {
		return "", false, fmt.Errorf("%w %q: longer than 64 characters", errDecimal, limit.Clip(s))
	}
	rest, negative := strings.CutPrefix(s, "-")
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(rest), "e")
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	// The digits are checked before the exponent, so that a word with an e in it, such as
	// five, gets this error.
	if !allDigits(whole) || (hasPoint && !allDigits(fraction)) {
		return "", false, fmt.Errorf("%w %q: it is no plain number; write one such as 0.25", errDecimal, limit.Clip(s))
	}
	shift := 0
	if hasExponent {
		if shift, err = strconv.Atoi(exponent); err != nil || shift < -64 || shift > 64 {
			return "", false, fmt.Errorf("%w %q: the exponent is no whole number from -64 to 64", errDecimal, limit.Clip(s))
		}
	}
	digits = whole + fraction
	if shift += places - len(fraction); shift >= 0 {
		digits += strings.Repeat("0", shift)
	} else {
		cut := max(0, len(digits)+shift)
		if strings.Trim(digits[cut:], "0") != "" {
			return "", false, fmt.Errorf("%w %q: more than %d decimals", errDecimal, limit.Clip(s), places)
		}
		digits = digits[:cut]
	}
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		return "0", false, nil
	}
	return digits, negative, nil
}

func allDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// FromFloat turns a price of a chart into a Decimal. It returns false if x is not a
// positive number in range. It uses the shortest text that stands for the float, which is
// what the source of the price wrote: 1.15 becomes 1.15, while multiplying by 1e8 and
// truncating would give 1.14999999. Only digits beyond the eighth decimal are rounded.
func FromFloat(x float64) (Decimal, bool) {
	if !(x > 0) || x > math.MaxInt64/1e8-1 {
		return 0, false
	}
	text := strconv.FormatFloat(x, 'f', -1, 64)
	if _, fraction, _ := strings.Cut(text, "."); len(fraction) > decimals {
		text = strconv.FormatFloat(x, 'f', decimals, 64)
	}
	d, err := Parse([]byte(text))
	return d, err == nil && d > 0
}

// String returns d in plain digits, without exponent or trailing zeros.
func (d Decimal) String() string { return string(d.Append(nil)) }

// Append adds d, as String writes it, to the end of b.
func (d Decimal) Append(b []byte) []byte {
	u := uint64(d)
	if d < 0 {
		b, u = append(b, '-'), -u
	}
	return point(b, strconv.FormatUint(u, 10), decimals)
}

// point appends digits with the decimal point before the last places of them.
func point(b []byte, digits string, places int) []byte {
	if n := places + 1 - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	cut := len(digits) - places
	b = append(b, digits[:cut]...)
	if fraction := strings.TrimRight(digits[cut:], "0"); fraction != "" {
		b = append(append(b, '.'), fraction...)
	}
	return b
}

// MarshalJSON writes d as a plain JSON number.
func (d Decimal) MarshalJSON() ([]byte, error) { return d.Append(nil), nil }

// UnmarshalJSON reads what Parse takes.
func (d *Decimal) UnmarshalJSON(text []byte) error {
	v, err := Parse(text)
	if err == nil {
		*d = v
	}
	return err
}

// Abs returns d without its sign.
func (d Decimal) Abs() Decimal { return max(d, -d) }

// Add returns the sum, and false when it leaves the range.
func (d Decimal) Add(x Decimal) (Decimal, bool) {
	sum := d + x
	return sum, (sum > d) == (x > 0) && sum != math.MinInt64
}

// Rounding says to which of two units a result between them is rounded.
type Rounding int

// The roundings. Money is always rounded against the trader, hence Up and Down.
const (
	Down     Rounding = -1 // towards zero
	HalfEven Rounding = 0  // to the nearest unit; if both are equally near, to the even one
	Up       Rounding = 1  // away from zero
)

// Times returns d*x rounded to a unit. Neither may be negative. False means that
// the product is out of range.
func (d Decimal) Times(x Decimal, to Rounding) (Decimal, bool) {
	hi, lo := bits.Mul64(uint64(d), uint64(x))
	return quotient(hi, lo, uint64(One), to)
}

// Percent returns d*x/100 rounded once to a unit. Neither may be negative. False
// means that the result is out of range.
func (d Decimal) Percent(x Decimal, to Rounding) (Decimal, bool) {
	hi, lo := bits.Mul64(uint64(d), uint64(x))
	return quotient(hi, lo, 100*uint64(One), to)
}

// Step returns d rounded to a whole multiple of step; a step of zero leaves it as
// it is. Neither may be negative. False means that the result is out of range.
func (d Decimal) Step(step Decimal, to Rounding) (Decimal, bool) {
	if step == 0 || d%step == 0 {
		return d, true
	}
	q := uint64(d / step)
	if roundsUp(q, uint64(d%step), uint64(step), to) {
		q++
	}
	hi, lo := bits.Mul64(q, uint64(step))
	return quotient(hi, lo, 1, Down)
}

// Over returns d/x rounded to a unit. Neither may be negative. False means that x
// is zero or the quotient out of range.
func (d Decimal) Over(x Decimal, to Rounding) (Decimal, bool) {
	hi, lo := bits.Mul64(uint64(d), uint64(One))
	return quotient(hi, lo, uint64(x), to)
}

// quotient divides the 128-bit number of hi and lo by by. False means that by is zero or
// that the result does not fit a Decimal. Div64 panics unless hi is below by; then the
// result would not fit anyway.
func quotient(hi, lo, by uint64, to Rounding) (Decimal, bool) {
	if hi >= by {
		return 0, false
	}
	q, r := bits.Div64(hi, lo, by)
	if roundsUp(q, r, by, to) {
		q++
	}
	return Decimal(q), q <= math.MaxInt64
}

// roundsUp reports whether q, the quotient of a division by d with the remainder r, has
// to be rounded up. It compares r with d-r because 2*r could overflow.
func roundsUp(q, r, d uint64, to Rounding) bool {
	switch {
	case r == 0 || to == Down:
		return false
	case to == Up:
		return true
	}
	return r > d-r || (r == d-r && q&1 == 1)
}
