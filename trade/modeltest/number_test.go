// Package modeltest judges the paper broker by a second implementation of its
// rules, which was written from docs/trading.md
// and not from package trade. It counts in fractions of whole numbers (big.Rat),
// so that it cannot share a rounding mistake with the engine, and is driven
// through the tools that clients call.
package modeltest

import (
	"math/big"
	"strings"
)

// num is an exact number. The functions below return new ones and change none.
type num = *big.Rat

// n reads a number such as 0.001. It panics if s is none: all of them are
// written in this package or by the tools.
func n(s string) num {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic("not a number: " + s)
	}
	return r
}

func whole(i int64) num { return new(big.Rat).SetInt64(i) }
func add(a, b num) num  { return new(big.Rat).Add(a, b) }
func sub(a, b num) num  { return new(big.Rat).Sub(a, b) }
func mul(a, b num) num  { return new(big.Rat).Mul(a, b) }
func div(a, b num) num  { return new(big.Rat).Quo(a, b) }
func neg(a num) num     { return new(big.Rat).Neg(a) }
func abs(a num) num     { return new(big.Rat).Abs(a) }

func less(a, b num) bool  { return a.Cmp(b) < 0 }
func equal(a, b num) bool { return a.Cmp(b) == 0 }

func lower(a, b num) num {
	if less(b, a) {
		return b
	}
	return a
}

func higher(a, b num) num {
	if less(a, b) {
		return b
	}
	return a
}

// The smallest steps: of prices, quantities and fees, and of sums of money.
var (
	unit  = n("0.00000001")
	money = n("0.0000000000000001")
)

// floor returns the largest multiple of step that is not above a.
func floor(a, step num) num {
	q := div(a, step)
	i, rest := new(big.Int).QuoRem(q.Num(), q.Denom(), new(big.Int))
	if rest.Sign() < 0 {
		i.Sub(i, big.NewInt(1))
	}
	return mul(new(big.Rat).SetInt(i), step)
}

// ceil returns the smallest multiple of step that is not below a.
func ceil(a, step num) num { return neg(floor(neg(a), step)) }

// nearest returns the multiple of step that is next to a, of two the even one.
func nearest(a, step num) num {
	down := floor(a, step)
	twice := mul(sub(a, down), whole(2))
	switch twice.Cmp(step) {
	case -1:
		return down
	case 1:
		return add(down, step)
	}
	if div(down, step).Num().Bit(0) == 0 {
		return down
	}
	return add(down, step)
}

// show writes a number as the tools do: plain digits, no trailing zeros.
func show(a num) string {
	if a == nil {
		return "null"
	}
	s := a.FloatString(16)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
