package trade

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/exact"
	"wick/journal/journaltest"
)

// TestOCOCounts: the stop beside a limit counts for the size of the order and for
// the cash it needs, for it may be the one that is filled.
func TestOCOCounts(t *testing.T) {
	inBubble(t, func(o *Options) { o.Limits.OrderNotional = 1000 * exact.One }, func(t *testing.T, e *Engine) {
		walk(e, 100, minute(0, 100, 100, 100, 100))
		with := func(stop exact.Decimal) error {
			_, err := try(t, e, func(r *OrderRequest) {
				r.Type, r.Quantity, r.Price, r.OCO = Limit, 10*exact.One, 90*exact.One, OCO{StopPrice: stop}
			})
			return err
		}
		if err := with(190 * exact.One); code(err) != "max_order_notional" {
			t.Errorf("a stop worth 1,900 beside a limit worth 900: %v", err)
		}
	})
	inBubble(t, func(o *Options) { o.Limits.OrderNotional = 1000 * exact.One }, func(t *testing.T, e *Engine) {
		walk(e, 100, minute(0, 100, 100, 100, 100))
		if _, err := try(t, e, func(r *OrderRequest) {
			r.Side, r.Type, r.Quantity, r.TrailAmount = Sell, TrailingStop, 11*exact.One, 99*exact.One
		}); code(err) != "max_order_notional" {
			t.Errorf("a trailing stop of 11 at a price of 100: %v", err)
		}
	})
}

// TestReplaceOneOfSeveral: what takes the place of an order that others rely on
// must do for them what that did. Otherwise a stop would stay behind alone, or a
// position without one.
func TestReplaceOneOfSeveral(t *testing.T) {
	inBubble(t, func(o *Options) { o.Limits.OrdersPerSecond = 1000 }, func(t *testing.T, e *Engine) {
		walk(e, 100, minute(0, 100, 100, 100, 100))
		id := ask(t, e, func(r *OrderRequest) {
			r.Side, r.Type, r.Price, r.OCO = Sell, Limit, 110*exact.One, OCO{StopPrice: 90 * exact.One}
		}).ID
		for name, change := range map[string]func(*OrderRequest){
			"another oco":  func(r *OrderRequest) { r.OCO = OCO{StopPrice: 91 * exact.One} },
			"a market":     func(r *OrderRequest) { r.Type, r.Price = Market, 0 },
			"ioc":          func(r *OrderRequest) { r.TimeInForce = IOC },
			"another side": func(r *OrderRequest) { r.Side, r.Price = Buy, 95*exact.One },
			"a part":       func(r *OrderRequest) { r.Quantity = exact.One / 2 },
		} {
			if _, err := try(t, e, func(r *OrderRequest) {
				r.Side, r.Type, r.Price, r.Replaces = Sell, Limit, 111*exact.One, id
				change(r)
			}); code(err) != "bad_replaces" {
				t.Errorf("%s: %v", name, err)
			}
		}
		next := ask(t, e, func(r *OrderRequest) { r.Side, r.Type, r.Price, r.Replaces = Sell, Limit, 111*exact.One, id }).ID
		if o := e.ahead.order(next); e.ahead.counts(o, nil) == e.ahead.counts(e.ahead.order(id+"-oco"), nil) {
			t.Error("of the two one counts, replaced or not")
		}
		walk(e, 100, minute(0, 100, 112, 100, 112))
		if got := found(t, e, id) + ", " + found(t, e, next) + ", " + found(t, e, id+"-oco"); got != "cancelled, filled 111, cancelled" {
			t.Errorf("at 112: %s", got)
		}
	})
}

// TestReduceOnlyOCO: of a limit and a stop that can only reduce neither may be for
// more than the position.
func TestReduceOnlyOCO(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		ask(t, e, func(r *OrderRequest) { r.Quantity = 4 * exact.One })
		pair := func(quantity exact.Decimal) func(r *OrderRequest) {
			return func(r *OrderRequest) {
				r.Side, r.Type, r.Price, r.Quantity, r.ReduceOnly = Sell, Limit, 120*exact.One, quantity, true
				r.OCO.StopPrice = 80 * exact.One
			}
		}
		if _, err := try(t, e, pair(5*exact.One)); code(err) != "reduce_only" {
			t.Errorf("5 of 4: %v", err)
		}
		ask(t, e, pair(4*exact.One))
	})
}

// TestReplaceExitOfSmallerPosition: of 5 that have exits 1 was sold. The exits are
// still for 5, as a stop for 5 is that replaces one, also in an account that may not
// sell what it does not hold; 4 are sold by it. What would fill at once is refused,
// and so are exits of an exit.
func TestReplaceExitOfSmallerPosition(t *testing.T) {
	cash := func(o *Options) { o.Account = AccountOptions{Cash: 600 * exact.One, Leverage: exact.One} }
	inBubble(t, cash, func(t *testing.T, e *Engine) {
		walk(e, 100, minute(0, 100, 100, 100, 100))
		id := ask(t, e, func(r *OrderRequest) { bracket(t, "90", "110")(r); r.Quantity = 5 * exact.One }).ID
		ask(t, e, func(r *OrderRequest) { r.Side = Sell })
		stop := func(r *OrderRequest) {
			r.Side, r.Type, r.Quantity, r.StopPrice, r.Replaces = Sell, Stop, 5*exact.One, 95*exact.One, id+"-sl"
		}
		if _, err := try(t, e, func(r *OrderRequest) { stop(r); r.StopLoss.Price = 99 * exact.One }); code(err) != "bad_exit" {
			t.Errorf("with a stop_loss of its own: %v", err)
		}
		if _, err := try(t, e, func(r *OrderRequest) { stop(r); r.Type, r.StopPrice, r.Price = Limit, 0, 99*exact.One }); code(err) != "reduce_only" {
			t.Errorf("a limit that sells 5 at once: %v", err)
		}
		moved := ask(t, e, stop).ID
		again := ask(t, e, func(r *OrderRequest) { stop(r); r.StopPrice, r.Replaces, r.ReduceOnly = 96*exact.One, moved, true }).ID
		walk(e, 100, minute(0, 100, 100, 94, 94))
		o, err := e.Order(again)
		if err != nil || o.FilledQuantity != 4*exact.One || found(t, e, id+"-tp") != "cancelled" || len(e.Positions()) != 0 {
			t.Errorf("the stop: %+v, %v; the profit is %s; held is %v", o, err, found(t, e, id+"-tp"), e.Positions())
		}
	})
}

// TestEntryBeyondProfit: a buy stop of 110 with a profit at 112 is filled at 120.
// The profit is not sold below that.
func TestEntryBeyondProfit(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		walk(e, 100, minute(0, 100, 100, 100, 100))
		id := ask(t, e, func(r *OrderRequest) {
			bracket(t, "105", "112")(r)
			r.Type, r.StopPrice = Stop, 110*exact.One
		}).ID
		walk(e, 100, minute(0, 100, 100, 100, 100), minute(1, 120, 120, 120, 120))
		o, err := e.Order(id + "-tp")
		walk(e, 120, minute(0, 120, 121, 119, 121))
		if err != nil || found(t, e, id) != "filled 120" || found(t, e, id+"-tp") != "filled 120" || !strings.Contains(o.Reason, "beyond its take_profit of 112") {
			t.Errorf("the entry is %s, the profit %s: %+v, %v", found(t, e, id), found(t, e, id+"-tp"), o, err)
		}
	})
}

// TestNothingAfterItsTime: a price that comes after the time of an order does not
// fill it, although the minute began before. The retry of an expired order returns it.
func TestNothingAfterItsTime(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		walk(e, 100, minute(0, 100, 100, 100, 100))
		over := time.Now().Add(20 * time.Second)
		limit := func(r *OrderRequest) {
			r.Type, r.Price, r.TimeInForce, r.ExpiresAt, r.ClientOrderID = Limit, 95*exact.One, GTD, over, "once"
		}
		id := ask(t, e, limit).ID
		walk(e, 100, minute(0, 100, 100, 94, 94)) // a minute later
		if got := found(t, e, id); got != "cancelled" {
			t.Errorf("40 s after its time it is %s", got)
		}
		if again, err := try(t, e, limit); err != nil || again.ID != id {
			t.Errorf("the retry: %v, %v", again.ID, err)
		}
		if _, err := try(t, e, func(r *OrderRequest) { limit(r); r.ClientOrderID = "twice" }); code(err) != "bad_expires_at" {
			t.Errorf("a new order of the past: %v", err)
		}
	})
}

// TestTrailOverKill: where a trailing stop stands is on disk within a second, and
// the filled order says where it stood.
func TestTrailOverKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := journaltest.NewDisk()
		e, err := openOn(testOptions(t), d)
		if err != nil {
			t.Fatal(err)
		}
		walk(e, 100, minute(0, 100, 100, 100, 100))
		id := ask(t, e, func(r *OrderRequest) { r.Side, r.Type, r.TrailAmount = Sell, TrailingStop, 5*exact.One }).ID
		if err := e.tidy(); err != nil {
			t.Fatal(err)
		}
		walk(e, 100, minute(0, 100, 120, 100, 119))
		time.Sleep(time.Second)
		if err := e.tidy(); err != nil { // which runs every second
			t.Fatal(err)
		}
		if e, err = openOn(testOptions(t), d.Cut(journaltest.Dropped)); err != nil { // it was killed
			t.Fatal(err)
		}
		e.watchNeeded(t.Context())
		if o, err := e.Order(id); err != nil || show(o.StopPrice) != "115" {
			t.Errorf("after a kill the stop is at %s, want 115 (%v)", show(o.StopPrice), err)
		}
		walk(e, 119, minute(0, 119, 119, 112, 112))
		if o, err := e.Order(id); err != nil || o.Status != StatusFilled || show(o.StopPrice) != "115" {
			t.Errorf("at 112: %s, stop %s (%v)", o.Status, show(o.StopPrice), err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}
