package book

import (
	"math"
	"testing"

	"wick/internal/exact"
)

// TestTooMuch: what leaves the range of exact numbers is worth more than any account has,
// and so are sums of it.
func TestTooMuch(t *testing.T) {
	const most exact.Decimal = math.MaxInt64
	for got, want := range map[exact.Decimal]exact.Decimal{
		worth(-2*exact.One, 3*exact.One): 6 * exact.One,
		together(exact.One, 2):           exact.One + 2,
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, got := range []exact.Decimal{worth(most, 2*exact.One), worth(most, exact.One), together(most, most), together(tooMuch, 1)} {
		if got != tooMuch {
			t.Errorf("%s, want %s", got, tooMuch)
		}
	}
}
