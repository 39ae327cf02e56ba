package exact

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"wick/internal/limit"
)

// Money is an exact sum in the quote currency: a whole count of 10^-16 in 128
// bits, two's complement. A price times a quantity is a Money without any
// rounding, so positions add up to the last unit. Like a Decimal it is never the
// smallest number, which has no positive counterpart.
type Money struct {
	hi int64
	lo uint64
}

// Product returns a*b. It cannot overflow: 63 bits times 63 bits.
func Product(a, b Decimal) Money {
	hi, lo := bits.Mul64(uint64(a.Abs()), uint64(b.Abs()))
	m := Money{int64(hi), lo}
	if (a < 0) != (b < 0) {
		return m.Neg()
	}
	return m
}

// Money returns d as a Money.
func (d Decimal) Money() Money { return Product(d, One) }

// Neg returns -m. It subtracts m from zero, the low word first.
func (m Money) Neg() Money {
	lo, borrow := bits.Sub64(0, m.lo, 0)
	hi, _ := bits.Sub64(0, uint64(m.hi), borrow)
	return Money{int64(hi), lo}
}

// Add returns the sum, and false if it does not fit into 128 bits. That is so if m and x
// have the same sign and the sum has the other.
func (m Money) Add(x Money) (Money, bool) {
	lo, carry := bits.Add64(m.lo, x.lo, 0)
	hi, _ := bits.Add64(uint64(m.hi), uint64(x.hi), carry)
	sum := Money{int64(hi), lo}
	overflow := (m.hi < 0) == (x.hi < 0) && (sum.hi < 0) != (m.hi < 0)
	return sum, !overflow && sum.hi != math.MinInt64
}

// Sub returns m-x, and false if it does not fit into 128 bits.
func (m Money) Sub(x Money) (Money, bool) { return m.Add(x.Neg()) }

// Sign returns -1, 0 or 1.
func (m Money) Sign() int {
	switch {
	case m.hi < 0:
		return -1
	case m == Money{}:
		return 0
	}
	return 1
}

// magnitude returns m without its sign, as two words.
func (m Money) magnitude() (hi, lo uint64) {
	if m.hi < 0 {
		m = m.Neg()
	}
	return uint64(m.hi), m.lo
}

// Share returns m*k/n rounded half to even, for 0 <= k <= n and n > 0: the part of a
// cost that belongs to k of n units. It cannot overflow, because it is no larger than m.
func (m Money) Share(k, n Decimal) Money {
	hi, lo := m.magnitude()
	// The product has three words, w2 the most significant:
	//
	//	hi*k gives w2 and w1, lo*k gives a carry into w1, and w0.
	carry, w0 := bits.Mul64(lo, uint64(k))
	w2, w1 := bits.Mul64(hi, uint64(k))
	w1, c := bits.Add64(w1, carry, 0)
	w2 += c
	q1, r := bits.Div64(w2, w1, uint64(n)) // cannot panic: w2 < k <= n, because hi < 2^63
	q0, r := bits.Div64(r, w0, uint64(n))
	if roundsUp(q0, r, uint64(n), HalfEven) {
		q0++
		if q0 == 0 {
			q1++
		}
	}
	part := Money{int64(q1), q0}
	if m.hi < 0 {
		return part.Neg()
	}
	return part
}

// Per returns m/n rounded half to even: a cost divided by a quantity is a price. False
// means that n is zero or the price is out of range.
func (m Money) Per(n Decimal) (Decimal, bool) {
	hi, lo := m.magnitude()
	d, ok := quotient(hi, lo, uint64(n.Abs()), HalfEven)
	if (m.hi < 0) != (n < 0) {
		d = -d
	}
	return d, ok
}

// PerUp is Per rounded up. Neither may be negative.
func (m Money) PerUp(n Decimal) (Decimal, bool) {
	hi, lo := m.magnitude()
	return quotient(hi, lo, uint64(n), Up)
}

// Ratio returns m/x rounded to a unit: a sum divided by what one unit costs is a quantity.
// Neither may be negative. False means that x is zero or the quotient out of range.
func (m Money) Ratio(x Money, to Rounding) (Decimal, bool) {
	if x == (Money{}) {
		return 0, false
	}
	by := x.big()
	units, rest := new(big.Int).QuoRem(new(big.Int).Mul(m.big(), big.NewInt(int64(One))), by, new(big.Int))
	if twice := rest.Lsh(rest, 1).Cmp(by); to == Up && rest.Sign() > 0 || to == HalfEven && (twice > 0 || twice == 0 && units.Bit(0) == 1) {
		units.Add(units, big.NewInt(1))
	}
	return Decimal(units.Int64()), units.IsInt64()
}

// big returns m as a number of any size.
func (m Money) big() *big.Int {
	n := new(big.Int).SetInt64(m.hi)
	return n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(m.lo))
}

// String returns m in plain digits, without exponent or trailing zeros.
func (m Money) String() string { return string(m.Append(nil)) }

// Append adds m, as String writes it, to the end of b. It cuts the 128 bits into groups of 19
// decimal digits, the most that fit a word.
func (m Money) Append(b []byte) []byte {
	const chunk = 1e19 // the largest power of ten in a word
	if m.hi < 0 {
		b = append(b, '-')
	}
	hi, lo := m.magnitude()
	if hi == 0 {
		return point(b, strconv.FormatUint(lo, 10), moneyPlaces)
	}
	// 2^127 is below 10^39: the high part of the quotient fits one word.
	q1, r := hi/chunk, hi%chunk
	q0, low := bits.Div64(r, lo, chunk)
	digits := fmt.Sprintf("%d%019d", q0, low)
	if q1 > 0 {
		r, q0 = bits.Div64(q1, q0, chunk)
		digits = fmt.Sprintf("%d%019d%019d", r, q0, low)
	}
	return point(b, digits, moneyPlaces)
}

// MarshalJSON writes m as a plain JSON number.
func (m Money) MarshalJSON() ([]byte, error) { return m.Append(nil), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Money) UnmarshalJSON(text []byte) error {
	if digits, places, ok := plain(text); ok && places <= moneyPlaces {
		*m = Product(Decimal(digits), powers[moneyPlaces-places])
		return nil
	}
	digits, negative, err := scale(string(text), moneyPlaces)
	if err != nil {
		return err
	}
	n, _ := new(big.Int).SetString(digits, 10) // they are digits
	if n.BitLen() > 127 {
		return fmt.Errorf("%w %q: beyond 128 bits", errDecimal, limit.Clip(string(text)))
	}
	*m = Money{new(big.Int).Rsh(n, 64).Int64(), new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64()}
	if negative {
		*m = m.Neg()
	}
	return nil
}
