package trade

import (
	"testing"

	"wick/internal/exact"
	"wick/trade/book"
)

// TestFlatPositions: 2 bought at 100 and sold at 110 with a fee of 1 %: 20
// gained, fees 2 and 2.2; the result stays visible when nothing is held, with
// the totals over all symbols, and after a restart.
func TestFlatPositions(t *testing.T) {
	o := testOptions(t)
	o.FeeRate = exact.One / 100
	e := openTest(t, o)
	place(t, e, book.Buy, book.Market, "2", "")
	price(e, "AAA", 110)
	place(t, e, book.Sell, book.Market, "2", "")
	if _, err := e.Place(t.Context(), book.OrderRequest{Symbol: "BBB", Side: book.Buy, Type: book.Market, Quantity: exact.One}); err != nil {
		t.Fatal(err)
	}
	price(e, "BBB", 105)
	check := func(when, unrealized string) {
		t.Helper()
		if p := must(e.Positions(false)); len(p) != 1 || p[0].Symbol != "BBB" {
			t.Errorf("%s: open positions %+v, want BBB alone", when, p)
		}
		p := must(e.Positions(true))
		if len(p) != 2 || p[0].Symbol != "AAA" || p[0].Side != "flat" || p[0].Quantity != 0 || p[0].RealizedPnL.String() != "15.8" || p[0].Fees.String() != "4.2" {
			t.Errorf("%s: all positions %+v, want AAA flat with 15.8 realized and fees of 4.2", when, p)
		}
		if s, ok := book.Sum(p); !ok || s.Realized.String() != "14.8" || s.Fees.String() != "5.2" || s.Unrealized == nil || s.Unrealized.String() != unrealized {
			t.Errorf("%s: totals %+v, want 14.8 realized and fees of 5.2", when, s)
		}
	}
	check("at once", "5")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openTest(t, o)
	defer e.Close()
	if s, _ := book.Sum(must(e.Positions(true))); s.Unrealized != nil {
		t.Errorf("totals without a price: %+v, want no unrealized profit", s)
	}
	e.watchNeeded(t.Context())
	check("after a restart", "0")
}
