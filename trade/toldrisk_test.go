package trade

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wick/internal/exact"
	"wick/market"
	"wick/trade/book"
)

// TestProtectionCountsWhatFills: what the account calls the risk, and what it calls
// unprotected, is what a fall through all stops then costs. Each case is 20 bought at 100,
// without fees and slippage.
func TestProtectionCountsWhatFills(t *testing.T) {
	sell := func(kind book.OrderType, quantity, stop, limit int64) func(*book.OrderRequest) {
		return func(r *book.OrderRequest) {
			r.Side, r.Type, r.Quantity, r.StopPrice, r.Price = book.Sell, kind, exact.Decimal(quantity)*exact.One, exact.Decimal(stop)*exact.One, exact.Decimal(limit)*exact.One
		}
	}
	for _, c := range []struct {
		name              string
		risk, unprotected string
		held              string // after a fall to 80
		place             func(t *testing.T, e *Engine)
	}{
		{"of two stops of a group the nearer one ends the other", "30", "1000", "10", func(t *testing.T, e *Engine) {
			id := ask(t, e, func(r *book.OrderRequest) {
				sell(book.Limit, 10, 0, 110)(r)
				r.OCO = book.OCO{StopPrice: 90 * exact.One}
			}).ID
			ask(t, e, func(r *book.OrderRequest) { sell(book.Stop, 10, 97, 0)(r); r.Replaces = id })
		}},
		{"and so for a stop in place of a take_profit", "30", "1000", "10", func(t *testing.T, e *Engine) {
			id := ask(t, e, func(r *book.OrderRequest) {
				r.Side, r.Quantity, r.StopLoss.Price, r.TakeProfit.Price = book.Buy, 10*exact.One, 95*exact.One, 110*exact.One
			}).ID
			ask(t, e, func(r *book.OrderRequest) { r.Side, r.Quantity = book.Sell, 10*exact.One })
			ask(t, e, func(r *book.OrderRequest) { sell(book.Stop, 10, 97, 0)(r); r.Replaces = id + "-tp" })
		}},
		{"a stop_limit that is set off beyond its limit waits on", "0", "2000", "20", func(t *testing.T, e *Engine) {
			ask(t, e, sell(book.StopLimit, 20, 95, 97))
		}},
		{"one with room fills", "100", "0", "0", func(t *testing.T, e *Engine) {
			ask(t, e, sell(book.StopLimit, 20, 95, 94))
		}},
	} {
		inBubble(t, func(o *Options) {
			o.Slippage, o.FeeRate, o.Account = 0, 0, book.AccountRules{Cash: 1000000 * exact.One, Currency: "USD", Leverage: exact.One, Short: true}
		}, func(t *testing.T, e *Engine) {
			ask(t, e, func(r *book.OrderRequest) { r.Quantity = 20 * exact.One })
			c.place(t, e)
			a := must(e.Account())
			if got := fmt.Sprint(a.Risk, " ", a.Unprotected); got != c.risk+" "+c.unprotected {
				t.Errorf("%s: risk and unprotected %s, want %s %s", c.name, got, c.risk, c.unprotected)
			}
			price(e, "AAA", 100)
			time.Sleep(time.Minute)
			e.deliver(context.Background(), market.Update{Symbol: "AAA", From: 100, Price: 80, High: 100, Low: 80, At: time.Now().UnixMilli()})
			if got := netOf(e); got != c.held {
				t.Errorf("%s: %s are held after the fall, want %s", c.name, got, c.held)
			}
		})
	}
}

// TestReducingClosesWhatIsHeld: while trading may only reduce, a stop for more than is held
// closes what is held: it must not wait, since it is what ends the loss.
func TestReducingClosesWhatIsHeld(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	defer e.Close()
	place(t, e, book.Buy, book.Market, "10", "")
	stop := ask(t, e, func(r *book.OrderRequest) { stopping(book.Sell, 90)(r); r.Quantity, r.MayOpen = 20*exact.One, true })
	if err := os.WriteFile(filepath.Join(o.Dir, haltName), []byte("reducing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := e.refreshTrading(); err != nil {
		t.Fatal(err)
	}
	price(e, "AAA", 85)
	got, err := e.Order(stop.ID)
	if err != nil || netOf(e) != "0" || got.Status != book.StatusCancelled || got.FilledQuantity != 10*exact.One || got.Reason != "the rest would not have reduced the position" {
		t.Errorf("%s are held, and the stop is %+v, %v; want 10 of it filled and the rest cancelled", netOf(e), got, err)
	}
}

// TestEndedByAnother: who did not ask for the end of its order hears of it, and the order says
// who did. An order that its own client ends is told by the reply.
func TestEndedByAnother(t *testing.T) {
	a, b := book.Who{Name: "A", Client: "a", ID: "1"}, book.Who{Name: "B", Client: "b", ID: "2"}
	for _, c := range []struct {
		name string
		end  func(t *testing.T, e *Engine, id string)
		told bool
		says string
	}{
		{"its own client", func(t *testing.T, e *Engine, id string) { must(e.CancelOrder(a, id)) }, false, ""},
		{"another client", func(t *testing.T, e *Engine, id string) { must(e.CancelOrder(b, id)) }, true, "cancelled by B"},
		{"another client, with all", func(t *testing.T, e *Engine, id string) { must(e.CancelOrders(b, "")) }, true, "cancelled by B"},
		{"another client's replacement", func(t *testing.T, e *Engine, id string) {
			ask(t, e, func(r *book.OrderRequest) { r.Who = b; limiting(book.Buy, 91)(r); r.Replaces = id })
		}, true, "replaced by "},
		{"its own replacement", func(t *testing.T, e *Engine, id string) {
			ask(t, e, func(r *book.OrderRequest) { r.Who = a; limiting(book.Buy, 91)(r); r.Replaces = id })
		}, false, "replaced by "},
	} {
		inBubble(t, nil, func(t *testing.T, e *Engine) {
			id := ask(t, e, func(r *book.OrderRequest) { r.Who = a; limiting(book.Buy, 90)(r) }).ID
			c.end(t, e, id)
			list, _, err := e.Notifications("reader", false, Page{Limit: 10})
			if told := len(list) == 1 && list[0].Order != nil && list[0].Order.ID == id; err != nil || told != c.told || len(list) > 1 {
				t.Errorf("%s: told %+v, %v; want told %t", c.name, list, err, c.told)
			}
			if o, err := e.Order(id); err != nil || len(o.Reason) < len(c.says) || o.Reason[:len(c.says)] != c.says || c.says == "" && o.Reason != "" {
				t.Errorf("%s: the reason is %q, %v; want %q", c.name, o.Reason, err, c.says)
			}
		})
	}
}

// TestReplaceExitByEntry: an order of the other side leaves nothing in the place of a stop, so
// it must say that it is meant so.
func TestReplaceExitByEntry(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		place(t, e, book.Buy, book.Market, "10", "")
		id := ask(t, e, func(r *book.OrderRequest) { stopping(book.Sell, 95)(r); r.Quantity = 10 * exact.One }).ID
		entry := book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Stop, Quantity: 10 * exact.One, StopPrice: 105 * exact.One, Replaces: id}
		if _, err := e.Place(context.Background(), entry); !book.IsRefusal(err, "bad_replaces") {
			t.Errorf("a buy in place of an exit: %v, want bad_replaces", err)
		}
		entry.MayOpen = true
		if _, err := e.Place(context.Background(), entry); err != nil {
			t.Errorf("with may_open: %v", err)
		}
	})
}
