package trade

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Decimal is an exact decimal number: a whole count of 0.00000001. Prices,
// quantities, rates and fees are Decimals, so they compare and add as integers
// and no binary fraction ever stands in for what a client wrote. The range is
// about 92 billion either way.
type Decimal int64

const (
	decimals = 8
	one      = Decimal(1e8) // the number 1
)

// ErrDecimal reports a text that is no exact decimal number of ours.
var ErrDecimal = errors.New("bad decimal")

// ParseDecimal reads a JSON number or a JSON string that holds one, or the
// bare text. It refuses what it could not give back exactly: more than eight
// decimals, a number out of range, NaN, infinities, hex and blanks.
func ParseDecimal(text []byte) (Decimal, error) {
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
		return 0, fmt.Errorf("%w %q: beyond 92 billion", ErrDecimal, clip(s))
	}
	if negative {
		n = -n
	}
	return Decimal(n), nil
}

// plain is the short way for what we write ourselves, which a start reads by
// the hundred thousand: perhaps a sign, up to 18 digits, perhaps a point among
// them. It returns the digits as a number and how many stand after the point.
// Anything else goes the long way.
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

// scale returns the digits of the decimal text s counted in units of
// 10^-places, without leading zeros. What lies below one unit must be zero.
func scale(s string, places int) (digits string, negative bool, err error) {
	if len(s) > 64 {
		return "", false, fmt.Errorf("%w %q: longer than 64 characters", ErrDecimal, clip(s))
	}
	rest, negative := strings.CutPrefix(s, "-")
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(rest), "e")
	shift := 0
	if hasExponent {
		if shift, err = strconv.Atoi(exponent); err != nil || shift < -64 || shift > 64 {
			return "", false, fmt.Errorf("%w %q: the exponent is no whole number from -64 to 64", ErrDecimal, clip(s))
		}
	}
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	if !allDigits(whole) || (hasPoint && !allDigits(fraction)) {
		return "", false, fmt.Errorf("%w %q: write a plain number such as 0.25", ErrDecimal, clip(s))
	}
	digits = whole + fraction
	if shift += places - len(fraction); shift >= 0 {
		digits += strings.Repeat("0", shift)
	} else {
		cut := max(0, len(digits)+shift)
		if strings.Trim(digits[cut:], "0") != "" {
			return "", false, fmt.Errorf("%w %q: more than %d decimals", ErrDecimal, clip(s), places)
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

// fromFloat is the border between charts and money: it takes the shortest text
// that names the float, which is what the source wrote, and rounds only what
// has more decimals than we keep. False means no positive price in range.
func fromFloat(x float64) (Decimal, bool) {
	if !(x > 0) || x > math.MaxInt64/1e8-1 {
		return 0, false
	}
	text := strconv.FormatFloat(x, 'f', -1, 64)
	if _, fraction, _ := strings.Cut(text, "."); len(fraction) > decimals {
		text = strconv.FormatFloat(x, 'f', decimals, 64)
	}
	d, err := ParseDecimal([]byte(text))
	return d, err == nil && d > 0
}

// String returns d in plain digits, without exponent or trailing zeros.
func (d Decimal) String() string { return string(d.append(nil)) }

func (d Decimal) append(b []byte) []byte {
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
func (d Decimal) MarshalJSON() ([]byte, error) { return d.append(nil), nil }

// UnmarshalJSON reads what ParseDecimal takes.
func (d *Decimal) UnmarshalJSON(text []byte) error {
	v, err := ParseDecimal(text)
	if err == nil {
		*d = v
	}
	return err
}

// abs is safe because no parser makes the one value without a positive twin.
func (d Decimal) abs() Decimal { return max(d, -d) }

// add returns the sum, and false when it leaves the range.
func (d Decimal) add(x Decimal) (Decimal, bool) {
	sum := d + x
	return sum, (sum > d) == (x > 0) && sum != math.MinInt64
}

// direction says which way a result that falls between two units is rounded.
type direction int

const (
	down    direction = -1
	nearest direction = 0 // half to even
	up      direction = 1
)

// times returns d*x rounded to a unit. Both must not be negative. False means
// that the product is out of range.
func (d Decimal) times(x Decimal, to direction) (Decimal, bool) {
	hi, lo := bits.Mul64(uint64(d), uint64(x))
	return quotient(hi, lo, uint64(one), to)
}

// multiple rounds d, not negative, to a whole multiple of step.
func (d Decimal) multiple(step Decimal, to direction) (Decimal, bool) {
	n, ok := quotient(0, uint64(d), uint64(step), to)
	if !ok || n > math.MaxInt64/step {
		return 0, false
	}
	return n * step, true
}

// quotient divides 128 bits by 64 with rounding.
func quotient(hi, lo, by uint64, to direction) (Decimal, bool) {
	if hi >= by {
		return 0, false
	}
	q, r := bits.Div64(hi, lo, by)
	if roundsUp(q, r, by, to) {
		q++
	}
	return Decimal(q), q <= math.MaxInt64
}

// roundsUp decides about a quotient q with remainder r of a division by d.
func roundsUp(q, r, d uint64, to direction) bool {
	switch {
	case r == 0 || to == down:
		return false
	case to == up:
		return true
	}
	return r > d-r || (r == d-r && q&1 == 1)
}

// clip shortens what a stranger sent before it is quoted back.
func clip(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}
