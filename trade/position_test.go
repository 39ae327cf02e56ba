package trade

import (
	"bytes"
	"math/big"
	"math/bits"
	rand "math/rand/v2"
	"testing"

	"wick/internal/exact"
	"wick/trade/book"
)

// TestConservation fills a million times, with reversals through zero, and
// after every fill holds
//
//	realized + fees + (quantity*mark - cost) = quantity*mark - sum(size*price)
//
// without any tolerance. The right side is kept in math/big by a ledger that
// knows nothing of positions.
func TestConservation(t *testing.T) {
	t.Parallel()
	fills := 1_000_000 / stride()
	r := rand.New(rand.NewPCG(5, 6))
	var h book.Holding
	paid, fees, reversals := new(big.Int), new(big.Int), 0 // in units of 10^-16
	left, right, x, y := new(big.Int), new(big.Int), new(big.Int), new(big.Int)
	for i := range fills {
		size := exact.Decimal(1 + r.Int64N(1e12>>r.IntN(30)))
		if h.Quantity != 0 && r.IntN(20) == 0 {
			size = h.Quantity.Abs() // close exactly
		}
		if h.Quantity > 0 == (r.IntN(5) > 1) {
			size = -size // tends back to zero, so that it is crossed often
		}
		price, fee := exact.Decimal(1+r.Int64N(1e13>>r.IntN(30))), exact.Decimal(r.Int64N(1e9))
		was := h.Quantity
		var err error
		if h, err = h.Fill(size, price, fee); err != nil {
			t.Fatalf("fill %d: %v", i, err)
		}
		if was > 0 && h.Quantity < 0 || was < 0 && h.Quantity > 0 {
			reversals++
			if entry, ok := h.Cost.Per(h.Quantity); !ok || entry != price {
				t.Fatalf("fill %d reversed at %s, entry price %s", i, price, entry)
			}
		}
		paid.Add(paid, x.Mul(x.SetInt64(int64(size)), y.SetInt64(int64(price))))
		fees.Add(fees, x.Mul(x.SetInt64(int64(fee)), y.SetInt64(1e8)))
		mark := exact.Decimal(1 + r.Int64N(1e13))
		value := x.Mul(x.SetInt64(int64(h.Quantity)), y.SetInt64(int64(mark)))
		right.Sub(value, paid)
		kept, ok1 := h.Realized.Add(h.Fees)
		kept, ok2 := kept.Sub(h.Cost)
		left.Add(units(kept), value)
		if !ok1 || !ok2 {
			t.Fatalf("fill %d: the sums of %+v leave the range", i, h)
		}
		if left.Cmp(right) != 0 || units(h.Fees).Cmp(fees) != 0 {
			t.Fatalf("fill %d of %s at %s: %s is not %s", i, size, price, left, right)
		}
		if h.Quantity == 0 && h.Cost != (exact.Money{}) {
			t.Fatalf("fill %d closed the position and left a cost of %s", i, h.Cost)
		}
	}
	if reversals < fills/20 {
		t.Errorf("only %d reversals in %d fills", reversals, fills)
	}
	t.Logf("%d fills, %d reversals", fills, reversals)
}

// TestPositionByHand follows one position through growing, partial closing and
// reversal; the figures are worked out by hand.
func TestPositionByHand(t *testing.T) {
	var h book.Holding
	for _, c := range []struct{ size, price, fee, quantity, entry, realized, unrealized string }{
		{"2", "100", "0.2", "2", "100", "-0.2", "20"},
		{"1", "103", "0.1", "3", "101", "-0.3", "27"},   // 303 paid for 3
		{"-1", "111", "0.1", "2", "101", "9.6", "18"},   // 10 gained, 0.1 fee
		{"-5", "121", "0.5", "-3", "121", "49.1", "33"}, // 2*20 gained, 3 opened short at 121
		{"1", "130", "0", "-2", "121", "40.1", "22"},    // 9 lost on one
		{"2", "110", "0", "0", "0", "62.1", "0"},        // 22 gained, flat
		{"0.00000001", "0.3", "0", "0.00000001", "0.3", "62.1", "0.000001097"},
	} {
		var err error
		if h, err = h.Fill(dec(t, c.size), dec(t, c.price), dec(t, c.fee)); err != nil {
			t.Fatal(err)
		}
		p := h.Show("X", "paper", book.Quote{Price: dec(t, "110")})
		if h.Quantity.String() != c.quantity || p.EntryPrice.String() != c.entry || p.RealizedPnL.String() != c.realized || p.UnrealizedPnL.String() != c.unrealized {
			t.Errorf("after %s at %s: %s at %s, realized %s, unrealized %s; want %+v", c.size, c.price, h.Quantity, p.EntryPrice, p.RealizedPnL, p.UnrealizedPnL, c)
		}
	}
}

// TestOverflow: a position that is too large for the numbers is refused and does not wrap
// around.
func TestOverflow(t *testing.T) {
	h, err := book.Holding{}.Fill(1<<62, 1<<62, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Fill(1<<62, 1<<62, 0); err == nil {
		t.Error("a quantity beyond 63 bits was accepted")
	}
}

// units returns m as a count of 10^-16, from its text. TestConservation asks two
// million times, so it adds up the digits in two words instead of having math/big
// read them.
func units(m exact.Money) *big.Int {
	var room [48]byte
	whole, fraction, _ := bytes.Cut(m.Append(room[:0]), []byte("."))
	var high, low uint64 // as one number of 128 bits
	push := func(digit byte) {
		over, sum := bits.Mul64(low, 10)
		sum, carry := bits.Add64(sum, uint64(digit-'0'), 0)
		high, low = 10*high+over+carry, sum
	}
	for _, digit := range bytes.TrimPrefix(whole, []byte("-")) {
		push(digit)
	}
	for i := range 16 {
		if i < len(fraction) {
			push(fraction[i])
		} else {
			push('0')
		}
	}
	n := new(big.Int).SetUint64(high)
	n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(low))
	if whole[0] == '-' {
		n.Neg(n)
	}
	return n
}

// product returns a*b as a count of 10^-16.
func product(a, b exact.Decimal) *big.Int {
	n := big.NewInt(int64(a))
	return n.Mul(n, big.NewInt(int64(b)))
}
