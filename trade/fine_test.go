package trade

import (
	"strings"
	"testing"

	"wick/exact"
)

// TestPricesBeyondExactNumbers: prices are counted in 0.00000001 up to 92
// billion. One that is not such a number is refused for good, never with advice to
// try again later, and never traded at a rounded price.
func TestPricesBeyondExactNumbers(t *testing.T) {
	for _, c := range []struct {
		price float64
		want  string
	}{
		{0.00001234, "0.00001234"},
		{1234567890.12, "1234567890.12"},
		{261.739990234375, "261.73999023"}, // what a service makes of 261.74 in 32 bits
		{0.0000123456, "price_not_exact"},  // ten decimals: a part in two thousand would be lost
		{0.0000000012, "price_not_exact"},
		{123456789012, "price_not_exact"},
	} {
		inBubble(t, func(o *Options) {
			o.Source = flat(c.price)
			o.Limits.OrderNotional = 9e18
			o.Limits.PositionNotional = 9e18
		}, func(t *testing.T, e *Engine) {
			o, err := e.Place(t.Context(), OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: exact.One})
			if got := strings.TrimSuffix(code(err)+show(o.AveragePrice), "null"); got != c.want {
				t.Errorf("price %v: %s (%v), want %s", c.price, got, err, c.want)
			}
			if err != nil && !strings.Contains(err.Error(), string(never)) {
				t.Errorf("price %v: %v, want a refusal that is for ever", c.price, err)
			}
		})
	}
}

// TestSmallestQuantity: the smallest quantity trades exactly, at 10^-8 of 100.
func TestSmallestQuantity(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		place(t, e, Buy, Market, "0.00000001", "")
		price(e, "AAA", 100.00000001)
		if p := e.Positions()[0]; p.Quantity.String() != "0.00000001" || p.EntryPrice.String() != "100" || p.UnrealizedPnL.String() != "0.0000000000000001" {
			t.Errorf("position %+v, want 0.00000001 at 100 with a profit of 10^-16", p)
		}
		if _, err := exact.Parse([]byte("0.000000001")); err == nil || !strings.Contains(err.Error(), "more than 8 decimals") {
			t.Errorf("a quantity below the smallest: %v, want a refusal of more than 8 decimals", err)
		}
	})
}
