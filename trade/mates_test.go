package trade

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/book"
)

// TestOCOCounts: the limit of an order's value also counts the stop beside a limit, which
// may be the one that is filled, and the price that a trailing stop may follow.
func TestOCOCounts(t *testing.T) {
	inBubble(t, func(o *Options) { o.Limits.OrderNotional = 1000 * exact.One }, func(t *testing.T, e *Engine) {
		walk(e, 100, minute(0, 100, 100, 100, 100))
		with := func(stop exact.Decimal) error {
			_, err := try(t, e, func(r *book.OrderRequest) {
				r.Type, r.Quantity, r.Price, r.OCO = book.Limit, 10*exact.One, 90*exact.One, book.OCO{StopPrice: stop}
			})
			return err
		}
		if err := with(190 * exact.One); code(err) != "max_order_notional" {
			t.Errorf("a stop worth 1,900 beside a limit worth 900: %v, want max_order_notional", err)
		}
	})
	inBubble(t, func(o *Options) { o.Limits.OrderNotional = 1000 * exact.One }, func(t *testing.T, e *Engine) {
		walk(e, 100, minute(0, 100, 100, 100, 100))
		if _, err := try(t, e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.Quantity, r.TrailAmount = book.Sell, book.TrailingStop, 11*exact.One, 99*exact.One
		}); code(err) != "max_order_notional" {
			t.Errorf("a trailing stop of 11 at a price of 100: %v, want max_order_notional", err)
		}
	})
}

// TestReplaceOneOfSeveral: an order of a group may be replaced only by one that does the
// same for the group. Otherwise a stop would stay behind alone, or a position without a
// stop.
func TestReplaceOneOfSeveral(t *testing.T) {
	inBubble(t, func(o *Options) { o.Limits.OrdersPerSecond = 1000 }, func(t *testing.T, e *Engine) {
		walk(e, 100, minute(0, 100, 100, 100, 100))
		id := ask(t, e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.Price, r.OCO = book.Sell, book.Limit, 110*exact.One, book.OCO{StopPrice: 90 * exact.One}
		}).ID
		for name, change := range map[string]func(*book.OrderRequest){
			"another oco":  func(r *book.OrderRequest) { r.OCO = book.OCO{StopPrice: 91 * exact.One} },
			"a market":     func(r *book.OrderRequest) { r.Type, r.Price = book.Market, 0 },
			"ioc":          func(r *book.OrderRequest) { r.TimeInForce = book.IOC },
			"another side": func(r *book.OrderRequest) { r.Side, r.Price = book.Buy, 95*exact.One },
			"a part":       func(r *book.OrderRequest) { r.Quantity = exact.One / 2 },
		} {
			if _, err := try(t, e, func(r *book.OrderRequest) {
				r.Side, r.Type, r.Price, r.Replaces = book.Sell, book.Limit, 111*exact.One, id
				change(r)
			}); code(err) != "bad_replaces" {
				t.Errorf("replaced by %s: %v, want bad_replaces", name, err)
			}
		}
		next := ask(t, e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.Price, r.Replaces = book.Sell, book.Limit, 111*exact.One, id
		}).ID
		ask(t, e, func(r *book.OrderRequest) { r.Quantity = e.book.Order(next).Quantity }) // as much is held as one of them sells
		if !e.book.Leaves(&book.Order{Symbol: "AAA", Side: book.Sell}) {
			t.Error("of the limit and the stop both or none count for limits, want one")
		}
		walk(e, 100, minute(0, 100, 112, 100, 112))
		if got, want := found(t, e, id)+", "+found(t, e, next)+", "+found(t, e, id+"-oco"), "cancelled, filled 111, cancelled"; got != want {
			t.Errorf("at 112 the old limit, the new one and the stop are %s, want %s", got, want)
		}
	})
}

// TestReplaceOneByShare: of two orders of which one is filled, what stays of the pair takes no buying
// power from what replaces the other. Of 1000, 62.5 % is 625, which buys 5 at 125.
func TestReplaceOneByShare(t *testing.T) {
	cash := func(o *Options) { o.Account = book.AccountRules{Cash: 1000 * exact.One, Leverage: exact.One} }
	inBubble(t, cash, func(t *testing.T, e *Engine) {
		walk(e, 100, minute(0, 100, 100, 100, 100))
		id := ask(t, e, func(r *book.OrderRequest) {
			r.Type, r.Quantity, r.Price, r.OCO = book.Limit, 5*exact.One, 80*exact.One, book.OCO{StopPrice: 125 * exact.One}
		}).ID
		o, err := try(t, e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.Quantity, r.Replaces, r.Share = "", "", 0, id+"-oco", dec(t, "62.5")
		})
		if err != nil || o.Quantity != 5*exact.One {
			t.Errorf("replaced by 62.5%%: %s, %v, want 5", o.Quantity, err)
		}
	})
}

// TestReduceOnlyOCO: a limit and a stop beside it that can only reduce must not be for
// more than the position.
func TestReduceOnlyOCO(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		ask(t, e, func(r *book.OrderRequest) { r.Quantity = 4 * exact.One })
		pair := func(quantity exact.Decimal) func(r *book.OrderRequest) {
			return func(r *book.OrderRequest) {
				r.Side, r.Type, r.Price, r.Quantity, r.ReduceOnly = book.Sell, book.Limit, 120*exact.One, quantity, true
				r.OCO.StopPrice = 80 * exact.One
			}
		}
		if _, err := try(t, e, pair(5*exact.One)); code(err) != "reduce_only" {
			t.Errorf("a pair for 5 with a position of 4: %v, want reduce_only", err)
		}
		ask(t, e, pair(4*exact.One))
	})
}

// TestReplaceExitOfSmallerPosition: of a position of 5 that has exits 1 was sold; the
// exits are still for 5; a stop for 5 may replace one of them, also in an account that may
// not sell short, and sells the 4 that are left. A limit for 5 that would fill at once is
// refused, and so is an exit with exits of its own.
func TestReplaceExitOfSmallerPosition(t *testing.T) {
	cash := func(o *Options) { o.Account = book.AccountRules{Cash: 600 * exact.One, Leverage: exact.One} }
	inBubble(t, cash, func(t *testing.T, e *Engine) {
		walk(e, 100, minute(0, 100, 100, 100, 100))
		id := ask(t, e, func(r *book.OrderRequest) { bracket(t, "90", "110")(r); r.Quantity = 5 * exact.One }).ID
		ask(t, e, func(r *book.OrderRequest) { r.Side = book.Sell })
		stop := func(r *book.OrderRequest) {
			r.Side, r.Type, r.Quantity, r.StopPrice, r.Replaces = book.Sell, book.Stop, 5*exact.One, 95*exact.One, id+"-sl"
		}
		if _, err := try(t, e, func(r *book.OrderRequest) { stop(r); r.StopLoss.Price = 99 * exact.One }); code(err) != "bad_exit" {
			t.Errorf("an exit with a stop_loss of its own: %v, want bad_exit", err)
		}
		if _, err := try(t, e, func(r *book.OrderRequest) { stop(r); r.Type, r.StopPrice, r.Price = book.Limit, 0, 99*exact.One }); code(err) != "reduce_only" {
			t.Errorf("a limit that would sell 5 at once: %v, want reduce_only", err)
		}
		moved := ask(t, e, stop).ID
		again := ask(t, e, func(r *book.OrderRequest) { stop(r); r.StopPrice, r.Replaces, r.ReduceOnly = 96*exact.One, moved, true }).ID
		walk(e, 100, minute(0, 100, 100, 94, 94))
		o, err := e.Order(again)
		if err != nil || o.FilledQuantity != 4*exact.One || found(t, e, id+"-tp") != "cancelled" || len(must(e.Positions(false))) != 0 {
			t.Errorf("the stop is %+v (%v), want 4 filled; the take_profit is %s, want cancelled; positions are %v, want none", o, err, found(t, e, id+"-tp"), must(e.Positions(false)))
		}
	})
}

// TestEntryBeyondProfit: a buy stop of 110 with a take_profit of 112 is filled at 120;
// the take_profit must not sell below that.
func TestEntryBeyondProfit(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		walk(e, 100, minute(0, 100, 100, 100, 100))
		id := ask(t, e, func(r *book.OrderRequest) {
			bracket(t, "105", "112")(r)
			r.Type, r.StopPrice = book.Stop, 110*exact.One
		}).ID
		walk(e, 100, minute(0, 100, 100, 100, 100), minute(1, 120, 120, 120, 120))
		o, err := e.Order(id + "-tp")
		walk(e, 120, minute(0, 120, 121, 119, 121))
		if err != nil || found(t, e, id) != "filled 120" || found(t, e, id+"-tp") != "filled 120" || !strings.Contains(o.Reason, "beyond its take_profit of 112") {
			t.Errorf("the entry is %s and the take_profit %s, want filled 120 for both, and a reason: %+v, %v", found(t, e, id), found(t, e, id+"-tp"), o, err)
		}
	})
}

// TestNothingAfterItsTime: a price that comes after an order has expired does not fill
// it, although the minute began before that. A retry of an expired order returns it.
func TestNothingAfterItsTime(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		walk(e, 100, minute(0, 100, 100, 100, 100))
		over := time.Now().Add(20 * time.Second)
		limit := func(r *book.OrderRequest) {
			r.Type, r.Price, r.TimeInForce, r.ExpiresAt, r.ClientOrderID = book.Limit, 95*exact.One, book.GTD, over, "once"
		}
		id := ask(t, e, limit).ID
		walk(e, 100, minute(0, 100, 100, 94, 94)) // a minute later
		if got := found(t, e, id); got != "cancelled" {
			t.Errorf("40 s after it has expired the order is %s, want cancelled", got)
		}
		if again, err := try(t, e, limit); err != nil || again.ID != id {
			t.Errorf("the retry: order %v, %v; want order %s", again.ID, err, id)
		}
		if _, err := try(t, e, func(r *book.OrderRequest) { limit(r); r.ClientOrderID = "twice" }); code(err) != "bad_expires_at" {
			t.Errorf("a new order that has expired already: %v, want bad_expires_at", err)
		}
	})
}

// TestExpiresInStillMarket: nothing is traded when the time of a limit is over; a few seconds
// later it has ended, and its money is free.
func TestExpiresInStillMarket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newStill(t, 100)
		p.stop()
		change := p.change
		p.change = func(o *Options) {
			change(o)
			o.Account = book.AccountRules{Cash: 1000 * exact.One, Leverage: exact.One}
		}
		p.start()
		id := ask(t, p.e, func(r *book.OrderRequest) {
			limiting(book.Buy, 90)(r)
			r.TimeInForce, r.ExpiresAt = book.GTD, time.Now().Add(5*time.Second)
		}).ID
		time.Sleep(4 * time.Second)
		if got := found(t, p.e, id); got != "open" {
			t.Errorf("before its time the order is %s, want open", got)
		}
		time.Sleep(8 * time.Second)
		if got, reserved := found(t, p.e, id), must(p.e.Account()).Reserved; got != "cancelled" || reserved == nil || reserved.String() != "0" {
			t.Errorf("7 s after its time the order is %s and reserves %v, want cancelled and 0", got, reserved)
		}
		p.stop()
	})
}

// TestTrailOverKill: where a trailing stop stands is on disk within a second, so that a
// kill does not move it back, and at once if an alert is set meanwhile: its record says how
// far the market was judged. The filled order says where the stop stood.
func TestTrailOverKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := journaltest.NewDisk()
		e, err := openOn(testOptions(t), d)
		if err != nil {
			t.Fatal(err)
		}
		walk(e, 100, minute(0, 100, 100, 100, 100))
		id := ask(t, e, func(r *book.OrderRequest) { r.Side, r.Type, r.TrailAmount = book.Sell, book.TrailingStop, 5*exact.One }).ID
		if err := e.tidy(); err != nil {
			t.Fatal(err)
		}
		walk(e, 100, minute(0, 100, 120, 100, 119))
		if _, err := setAlert(t, e, `{"price_below":50}`, ""); err != nil {
			t.Fatal(err)
		}
		if killed, err := tryLoad(d.Cut(journaltest.Dropped), false); err != nil || show(killed.Order(id).StopPrice) != "115" {
			t.Errorf("a kill after an alert was set finds the stop at %s, want 115 (%v)", show(killed.Order(id).StopPrice), err)
		}
		walk(e, 119, minute(0, 119, 120, 119, 120))
		for _, high := range []float64{120, 121} { // tidy runs every second; a minute after the first time it would write in any case
			e.deliver(t.Context(), market.Update{Symbol: "AAA", Source: "test", Price: 120, High: high, Low: 120, From: 120, At: time.Now().UnixMilli()})
			if err := e.tidy(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if e, err = openOn(testOptions(t), d.Cut(journaltest.Dropped)); err != nil { // it was killed
			t.Fatal(err)
		}
		e.watchNeeded(t.Context())
		if o, err := e.Order(id); err != nil || show(o.StopPrice) != "116" {
			t.Errorf("after a kill the stop is at %s, want 116 (%v)", show(o.StopPrice), err)
		}
		walk(e, 120, minute(0, 120, 120, 112, 112))
		if o, err := e.Order(id); err != nil || o.Status != book.StatusFilled || show(o.StopPrice) != "116" {
			t.Errorf("at 112 the order is %s with a stop of %s (%v), want filled and 116", o.Status, show(o.StopPrice), err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}
