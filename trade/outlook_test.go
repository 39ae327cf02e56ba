package trade

import (
	"testing"

	"wick/internal/exact"
	"wick/trade/book"
)

// TestOutlook: one order says what it waits for and how far that is from the price, which is 100, or
// what ended it.
func TestOutlook(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		look := func(id string) book.Outlook {
			_, x, err := e.Outlook(id)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		of := func(told *book.Told) string {
			if told == nil {
				return ""
			}
			return string(told.Code) + ": " + told.Says
		}
		first := place(t, e, book.Buy, book.Market, "10", "")
		me, ids := book.Who{Client: "me"}, map[string]string{}
		for name, change := range map[string]func(*book.OrderRequest){
			"limit":    func(r *book.OrderRequest) { r.Who, r.Type, r.Price = me, book.Limit, 95*exact.One },
			"target":   func(r *book.OrderRequest) { r.Type, r.Side, r.Price = book.Limit, book.Sell, 110*exact.One },
			"stop":     func(r *book.OrderRequest) { r.Type, r.Side, r.StopPrice = book.Stop, book.Sell, 98*exact.One },
			"trailing": func(r *book.OrderRequest) { r.Type, r.Side, r.TrailAmount = book.TrailingStop, book.Sell, 3*exact.One },
		} {
			ids[name] = ask(t, e, change).ID
		}
		for name, want := range map[string]struct{ waits, distance string }{
			"limit":    {"waits_for_fall: the market to fall to 95", "5"},
			"target":   {"waits_for_rise: the market to rise to 110", "10"},
			"stop":     {"waits_for_fall: the market to fall to 98", "2"},
			"trailing": {"waits_for_fall: the market to fall to 97", "3"},
		} {
			if x := look(ids[name]); of(x.Waits) != want.waits || show(x.Distance) != want.distance || show(x.Percent) != want.distance || show(x.Now) != "100" || x.Ended != nil {
				t.Errorf("%s: %+v, %s, want %+v", name, x, of(x.Waits), want)
			}
		}
		if _, err := e.CancelOrder(me, ids["limit"]); err != nil {
			t.Fatal(err)
		}
		if _, err := e.CancelOrder(book.Who{Name: "ann", Client: "another"}, ids["target"]); err != nil {
			t.Fatal(err)
		}
		place(t, e, book.Sell, book.Market, "10", "")
		for name, want := range map[string]string{
			first.ID:      "filled_at_market: it was filled at the price of the market",
			ids["limit"]:  "cancelled_by_client: the client that placed it cancelled it",
			ids["target"]: "cancelled_by: cancelled by ann",
			ids["stop"]:   "nothing_to_reduce: nothing is left to reduce",
		} {
			if x := look(name); of(x.Ended) != want || x.Waits != nil || x.Distance != nil {
				t.Errorf("%+v, %s, want %s", x, of(x.Ended), want)
			}
		}
	})
}
