package trade

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/trade/book"
)

// TestApprovalCovers: an order that a person has approved is placed within what was approved,
// and names the evidence in the journal; one beyond its quantity, price or time is refused.
func TestApprovalCovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t)
		e := openTest(t, o)
		defer e.Close()
		preview, err := e.Place(t.Context(), book.OrderRequest{Symbol: "BTCUSDT", Side: book.Buy, Type: book.Market, Quantity: exact.One, DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		price, soon := *preview.AveragePrice, time.Now().Add(time.Minute)
		for name, c := range map[string]struct {
			side     book.Side
			approval book.Approval
			refused  string
		}{
			"within":          {book.Buy, book.Approval{Evidence: "evidence-1", Quantity: exact.One, Price: price + price/20, Until: soon}, ""},
			"too much":        {book.Buy, book.Approval{Evidence: "evidence-2", Quantity: exact.One / 2, Price: price + price/20, Until: soon}, "a quantity of 0.5"},
			"bought too high": {book.Buy, book.Approval{Evidence: "evidence-3", Quantity: exact.One, Price: price / 2, Until: soon}, "the market is at"},
			"sold too low":    {book.Sell, book.Approval{Evidence: "evidence-4", Quantity: exact.One, Price: price * 2, Until: soon}, "the market is at"},
			"too late":        {book.Buy, book.Approval{Evidence: "evidence-5", Quantity: exact.One, Price: 0, Until: time.Now().Add(-time.Second)}, "the approval has ended"},
		} {
			placed, err := e.Place(t.Context(), book.OrderRequest{Symbol: "BTCUSDT", Side: c.side, Type: book.Market, Quantity: exact.One, Approval: &c.approval, ClientOrderID: c.approval.Evidence})
			if c.refused == "" && (err != nil || placed.Evidence != "") || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
				t.Errorf("%s: %+v, %v", name, placed, err)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		var audit strings.Builder
		if err := Audit(o.Dir, &audit); err != nil || strings.Count(audit.String(), `"evidence":"evidence-1"`) != 1 || strings.Contains(audit.String(), "evidence-2") {
			t.Errorf("%v: %s", err, &audit)
		}
	})
}
