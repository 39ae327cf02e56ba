package trade

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/trade/book"
)

// TestOrderFilled: a subscription that names order is told of the fill of a resting
// order, once, also over a crash, and so is the polling queue. Other subscriptions are not
// told, and if no subscription asks for fills nobody is.
func TestOrderFilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := journaltest.NewDisk()
		e, err := openOn(testOptions(t), d)
		if err != nil {
			t.Fatal(err)
		}
		waiting := func(caller string) int {
			_, n, _ := e.hub.Status(caller)
			return n
		}
		if _, err := e.Subscribe(from("alerts"), Filter{}); err != nil {
			t.Fatal(err)
		}
		place(t, e, book.Buy, book.Limit, "1", "99")
		walk(e, 100, minute(0, 100, 100, 98, 100))
		if n := e.PendingNotifications("") + waiting("alerts"); n != 0 {
			t.Errorf("%d notifications, want none: nobody asked for fills", n)
		}
		for _, filter := range []Filter{{AlertTypes: []string{"order"}}, {AlertTypes: []string{"order", "price_above"}, Symbols: []string{"BBB"}}} {
			if _, err := e.Subscribe(from("orders"+strings.Join(filter.Symbols, "")), filter); err != nil {
				t.Fatal(err)
			}
		}
		id := ask(t, e, func(r *book.OrderRequest) { r.Side, r.Type, r.StopPrice = book.Sell, book.Stop, 95*exact.One }).ID
		walk(e, 100, minute(0, 100, 100, 94, 94))
		for range 2 {
			if waiting("orders") != 1 || waiting("ordersBBB") != 0 || waiting("alerts") != 0 {
				t.Errorf("%d wait for the subscriber to orders, %d for that of another symbol, %d for that of alerts; want 1, 0 and 0", waiting("orders"), waiting("ordersBBB"), waiting("alerts"))
			}
			if e, err = openOn(testOptions(t), d.Cut(journaltest.Dropped)); err != nil {
				t.Fatal(err)
			}
		}
		n, _, err := e.Notifications("", false, Page{Size: 1 << 20})
		if err != nil || len(n) != 1 || n[0].Order == nil || n[0].Order.ID != id || n[0].Order.By != nil {
			t.Fatalf("notifications %+v, %v, want one of the order, which does not say who placed it", n, err)
		}
		text, err := json.Marshal(n[0])
		if want := `{"type":"order_filled","symbol":"AAA","order":{"order_id":"` + id; err != nil || !strings.HasPrefix(string(text), want) ||
			!strings.Contains(string(text), `"message":"Stop order `+id+`: sell 1 of AAA filled at 95."`) || strings.Contains(string(text), "alert_id") {
			t.Errorf("notification %s, %v, want that of a filled stop order", text, err)
		}
		e.Close()
	})
}

// TestPartialFillIsSaid: the message of an order that ended filled in part says how much it
// was for, and why the rest was not filled.
func TestPartialFillIsSaid(t *testing.T) {
	price := 100 * exact.One
	o := &book.Order{ID: "o-1", Symbol: "AAA", Side: book.Buy, Type: book.Limit, Status: book.StatusCancelled, Why: []book.Reason{book.Because(book.Expired)}, Quantity: 2 * exact.One, FilledQuantity: exact.One, Price: &price, AveragePrice: &price}
	if got, want := book.EndNotification(o, nil, now()).Message, "Limit order o-1: buy 1 of AAA filled at 100. It was for 2 in all; the rest was cancelled: expired."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestFilledMessage: the message of an exit names the group that it belongs to, and one of
// invented prices says so.
func TestFilledMessage(t *testing.T) {
	price := 95 * exact.One
	o := book.Order{ID: "o-1-1", Symbol: "AAA", Side: book.Sell, Type: book.StopLimit, Status: book.StatusCancelled, Quantity: 2 * exact.One, FilledQuantity: exact.One, AveragePrice: &price}
	for _, c := range []struct {
		role      book.Role
		synthetic bool
		want      string
	}{
		{"", false, "Stop limit order o-1-1: sell 1 of AAA filled at 95. It was for 2 in all; the rest was cancelled."},
		{book.RoleOCO, false, "Stop limit order o-1-1: sell 1 of AAA filled at 95. It was for 2 in all; the rest was cancelled."},
		{book.RoleStopLoss, true, "Stop limit order o-1-1: sell 1 of AAA filled at 95. It was for 2 in all; the rest was cancelled. It was the stop loss of g-1-1." + book.Invented},
	} {
		o.Role, o.Synthetic, o.Group = c.role, c.synthetic, "g-1-1"
		if got := book.EndNotification(&o, nil, book.Time{}).Message; got != c.want {
			t.Errorf("role %q: %q, want %q", c.role, got, c.want)
		}
	}
}
