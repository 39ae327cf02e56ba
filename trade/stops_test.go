package trade

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/book"
)

// ask places an order of AAA given by changes of a market buy of 1.
func ask(t *testing.T, e *Engine, change func(*book.OrderRequest)) book.Order {
	t.Helper()
	o, err := try(t, e, change)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func try(t *testing.T, e *Engine, change func(*book.OrderRequest)) (book.Order, error) {
	t.Helper()
	r := book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One}
	change(&r)
	return e.Place(t.Context(), r)
}

// stopping returns the change to a stop order.
func stopping(side book.Side, stop int64) func(*book.OrderRequest) {
	return func(r *book.OrderRequest) {
		r.Side, r.Type, r.StopPrice = side, book.Stop, exact.Decimal(stop)*exact.One
	}
}

// found returns how an order stands now, in a few words.
func found(t *testing.T, e *Engine, id string) string {
	t.Helper()
	o, err := e.Order(id)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(o.Status)+" "+show(o.AveragePrice), " null")
}

// TestStopFills: the price is 100 and moves in different ways from there; a stop is filled
// at the price of the market when that reaches it: the stop, or the open of a minute that
// began beyond it, never a better one; and one percent of slippage makes it worse.
func TestStopFills(t *testing.T) {
	for _, c := range []struct {
		name string
		side book.Side
		stop int64
		path []market.Bar
		want string
	}{
		{"not reached", book.Sell, 95, []market.Bar{minute(0, 100, 100, 96, 96)}, "open"},
		{"passed within a minute", book.Sell, 95, []market.Bar{minute(0, 100, 100, 90, 92)}, "filled 94.05"},
		{"touched", book.Sell, 95, []market.Bar{minute(0, 100, 101, 95, 99)}, "filled 94.05"},
		{"a gap", book.Sell, 95, []market.Bar{minute(0, 100, 100, 100, 100), minute(1, 90, 99, 89, 98)}, "filled 89.1"},
		{"a gap on the good side", book.Sell, 95, []market.Bar{minute(0, 100, 100, 100, 100), minute(1, 110, 110, 94, 94)}, "filled 94.05"},
		{"bought, within a minute", book.Buy, 105, []market.Bar{minute(0, 100, 110, 100, 108)}, "filled 106.05"},
		{"bought, a gap", book.Buy, 105, []market.Bar{minute(0, 100, 100, 100, 100), minute(1, 110, 112, 108, 108)}, "filled 111.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(o *Options) { o.Slippage = exact.One / 100 }, func(t *testing.T, e *Engine) {
				place(t, e, book.Buy, book.Market, "5", "")
				walk(e, 100, minute(0, 100, 100, 100, 100))
				id := ask(t, e, stopping(c.side, c.stop)).ID
				for i := range c.path {
					c.path[i].Time = minute(i, 0, 0, 0, 0).Time
				}
				walk(e, 100, c.path...)
				if got := found(t, e, id); got != c.want {
					t.Errorf("the order is %s, want %s", got, c.want)
				}
			})
		})
	}
}

// TestStopRefused: a stop that the market has passed, which would be triggered at once, is
// refused. So are arguments that do not go together, each with its own code.
func TestStopRefused(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		one := exact.One
		for want, change := range map[string]func(*book.OrderRequest){
			"stop_passed":            stopping(book.Buy, 100),
			"price_collar":           stopping(book.Buy, 501),
			"stop_price_required":    func(r *book.OrderRequest) { r.Type = book.Stop },
			"stop_price_not_allowed": func(r *book.OrderRequest) { r.StopPrice = 90 * one },
			"price_required":         func(r *book.OrderRequest) { r.Type, r.StopPrice = book.StopLimit, 110*one },
			"bad_trail":              func(r *book.OrderRequest) { r.Type = book.TrailingStop },
			"bad_post_only":          func(r *book.OrderRequest) { r.PostOnly = true },
			"bad_time_in_force":      func(r *book.OrderRequest) { r.TimeInForce = "week" },
			"bad_expires_at":         func(r *book.OrderRequest) { r.TimeInForce = book.GTD },
			"bad_quantity":           func(r *book.OrderRequest) { r.Notional = one },
			"no_position":            func(r *book.OrderRequest) { r.Quantity, r.All = 0, true },
			"reduce_only":            func(r *book.OrderRequest) { r.ReduceOnly = true },
			"unknown_order":          func(r *book.OrderRequest) { r.Replaces = "o-none-1" },
			"post_only":              func(r *book.OrderRequest) { r.Type, r.Price, r.PostOnly = book.Limit, 101*one, true },
		} {
			if o, err := try(t, e, change); code(err) != want {
				t.Errorf("%+v, %v; want %s", o, err, want)
			}
		}
		_, err := try(t, e, func(r *book.OrderRequest) { r.Side, r.Type, r.TrailAmount = book.Sell, book.TrailingStop, 100*one })
		if code(err) != "bad_trail" || !strings.Contains(err.Error(), "the distance is larger than the price 100; choose a smaller one") {
			t.Errorf("a trailing stop 100 below 100: %v, want bad_trail", err)
		}
		if n := len(must(e.Orders(false))); n != 0 {
			t.Errorf("%d orders were made by refused requests", n)
		}
	})
}

// TestReduceOnlyRefused: the refusal says what the order would do to the position, and
// what reduces it.
func TestReduceOnlyRefused(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		only := func(side book.Side, want string) {
			t.Helper()
			if _, err := try(t, e, func(r *book.OrderRequest) { r.Side, r.Quantity, r.ReduceOnly = side, 3*exact.One, true }); code(err) != "reduce_only" || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
		only(book.Sell, "there is no position in AAA to reduce")
		place(t, e, book.Buy, book.Market, "2", "")
		only(book.Buy, "the position in AAA is 2, and a reduce_only buy of 3 would grow it; a sell of at most 2 reduces it")
		only(book.Sell, "the position in AAA is 2, and a reduce_only sell of 3 would turn it around; at most 2 reduces it")
	})
}

// TestStopLimit: once the market has reached its stop, the order is a limit. If the market
// opened beyond the limit, the order stays open and is filled when the market comes back.
func TestStopLimit(t *testing.T) {
	sell := func(r *book.OrderRequest) {
		r.Side, r.Type, r.StopPrice, r.Price = book.Sell, book.StopLimit, 95*exact.One, 94*exact.One
	}
	inBubble(t, func(o *Options) { o.Slippage = exact.One / 1000 }, func(t *testing.T, e *Engine) {
		walk(e, 100, minute(0, 100, 100, 100, 100))
		first, second := ask(t, e, sell).ID, ask(t, e, func(r *book.OrderRequest) { sell(r); r.Price = 91 * exact.One }).ID
		walk(e, 100, minute(0, 100, 100, 99, 99), minute(1, 92, 93, 90, 90))
		if got := found(t, e, first); got != "open" {
			t.Errorf("when the market opened beyond the limit the order is %s, want open", got)
		}
		if got := found(t, e, second); got != "filled 91.908" { // 92, a thousandth worse
			t.Errorf("when the market opened between stop and limit the order is %s, want filled 91.908", got)
		}
		if o, _ := e.Order(first); o.TriggeredAt == nil {
			t.Errorf("not triggered: %+v", o)
		}
		walk(e, 90, minute(0, 90, 94, 90, 93))
		if got := found(t, e, first); got != "filled 94" {
			t.Errorf("when the market came back the order is %s, want filled 94", got)
		}
	})
}

// TestTrailingStop: the stop follows the market up and never down, by an amount or
// by percent, and goes on from where it stood after a restart.
func TestTrailingStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := journaltest.NewDisk()
		e, err := openOn(testOptions(t), d)
		if err != nil {
			t.Fatal(err)
		}
		walk(e, 100, minute(0, 100, 100, 100, 100))
		amount := ask(t, e, func(r *book.OrderRequest) { r.Side, r.Type, r.TrailAmount = book.Sell, book.TrailingStop, 5*exact.One }).ID
		percent := ask(t, e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.TrailPercent = book.Sell, book.TrailingStop, 10*exact.One
		}).ID
		check := func(id, want string) {
			t.Helper()
			if o, err := e.Order(id); err != nil || show(o.StopPrice) != want {
				t.Errorf("the stop is at %s, want %s (%v)", show(o.StopPrice), want, err)
			}
		}
		check(amount, "95")
		check(percent, "90")
		walk(e, 100, minute(0, 100, 120, 100, 119))
		check(amount, "115")
		check(percent, "108")
		walk(e, 119, minute(0, 119, 119, 116, 117))
		check(amount, "115")
		if err := e.writeSeen(); err != nil {
			t.Fatal(err)
		}
		if e, err = openOn(testOptions(t), d.Cut(journaltest.Dropped)); err != nil { // it was killed
			t.Fatal(err)
		}
		e.watchNeeded(t.Context())
		check(amount, "115")
		walk(e, 117, minute(0, 117, 117, 110, 112))
		if got := found(t, e, amount); got != "filled 115" {
			t.Errorf("after a fall to 110 the order is %s, want filled 115", got)
		}
		check(percent, "108")
		e.Close()
	})
}

// TestTimeInForce: an ioc or fok order that the market has not reached ends at once, a day
// order ends with the day, and a gtd order at its time, unless it was filled before that.
func TestTimeInForce(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		limited := func(price int64, tif book.TimeInForce) func(*book.OrderRequest) {
			return func(r *book.OrderRequest) {
				r.Type, r.Price, r.TimeInForce = book.Limit, exact.Decimal(price)*exact.One, tif
				if tif == book.GTD {
					r.ExpiresAt = time.Now().Add(90 * time.Second)
				}
			}
		}
		walk(e, 100, minute(0, 100, 100, 100, 100))
		for _, tif := range []book.TimeInForce{book.IOC, book.FOK} {
			if o := ask(t, e, limited(95, tif)); o.Status != book.StatusCancelled || !strings.Contains(o.Reason, "has not reached") {
				t.Errorf("%s that the market has not reached: %+v, want cancelled", tif, o)
			}
			if o := ask(t, e, limited(101, tif)); o.Status != book.StatusFilled {
				t.Errorf("%s that the market has reached: %+v, want filled", tif, o)
			}
		}
		day, gtd, early := ask(t, e, limited(90, book.Day)), ask(t, e, limited(90, book.GTD)).ID, ask(t, e, limited(98, book.GTD)).ID
		if want := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1); day.ExpiresAt == nil || !day.ExpiresAt.Equal(want) {
			t.Errorf("a day order ends at %v, want %s", day.ExpiresAt, want)
		}
		walk(e, 100, minute(0, 100, 100, 97, 97), minute(1, 97, 97, 97, 97))
		if got := found(t, e, early); got != "filled 98" {
			t.Errorf("the order that was reached in time is %s, want filled 98", got)
		}
		if o, _ := e.Order(gtd); o.Status != book.StatusCancelled || o.Reason != "expired" {
			t.Errorf("the order that was not reached in time: %+v, want expired", o)
		}
		time.Sleep(25 * time.Hour)
		if err := e.expireAll(); err != nil { // though no price came
			t.Fatal(err)
		}
		if o, _ := e.Order(day.ID); o.Status != book.StatusCancelled || o.Reason != "expired" {
			t.Errorf("the day order a day later: %+v, want expired", o)
		}
	})
}

// TestReduceOnly: an order that may only reduce fills what is left to reduce, and
// ends when the position is gone.
func TestReduceOnly(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		reducing := func(quantity, price int64) func(*book.OrderRequest) {
			return func(r *book.OrderRequest) {
				r.Side, r.Type, r.ReduceOnly = book.Sell, book.Limit, true
				r.Quantity, r.Price = exact.Decimal(quantity)*exact.One, exact.Decimal(price)*exact.One
			}
		}
		place(t, e, book.Buy, book.Market, "5", "")
		walk(e, 100, minute(0, 100, 100, 100, 100))
		first, second, third := ask(t, e, reducing(4, 105)).ID, ask(t, e, reducing(4, 106)).ID, ask(t, e, reducing(5, 120)).ID
		walk(e, 100, minute(0, 100, 110, 100, 108))
		if got := found(t, e, first); got != "filled 105" {
			t.Errorf("the first order is %s, want filled 105", got)
		}
		if o, _ := e.Order(second); o.Status != book.StatusCancelled || o.FilledQuantity != exact.One || !strings.Contains(o.Reason, "rest") {
			t.Errorf("the second order is %+v, want 1 filled and the rest cancelled", o)
		}
		if o, _ := e.Order(third); o.Status != book.StatusCancelled || o.Reason != "nothing is left to reduce" {
			t.Errorf("the third order is %+v, want cancelled", o)
		}
		if p := must(e.Positions(false)); len(p) != 0 {
			t.Errorf("positions are %+v, want none", p)
		}
	})
}

// TestSizes: an order for a value is of the quantity that it buys, and one that closes a
// position, or all positions, is refused if what is held has changed since it was shown.
func TestSizes(t *testing.T) {
	inBubble(t, func(o *Options) { o.Slippage = exact.One / 100 }, func(t *testing.T, e *Engine) {
		o := ask(t, e, func(r *book.OrderRequest) { r.Quantity, r.Notional = 0, 500*exact.One })
		if o.Quantity.String() != "4.95049504" || show(o.AveragePrice) != "101" { // 500 / 101, cut
			t.Errorf("a notional of 500: %+v, want 4.95049504 at 101", o)
		}
		if _, err := try(t, e, func(r *book.OrderRequest) { r.Quantity, r.All = 0, true }); code(err) != "bad_side" {
			t.Errorf("a buy that closes a long position: %v, want bad_side", err)
		}
		was, is := 4*exact.One, exact.Decimal(495049504)
		if _, err := try(t, e, func(r *book.OrderRequest) { r.Side, r.Quantity, r.All, r.Held = book.Sell, 0, true, &was }); code(err) != "position_changed" {
			t.Errorf("closing a position that was thought to be 4: %v, want position_changed", err)
		}
		if _, err := try(t, e, func(r *book.OrderRequest) { r.Held = &was }); code(err) != "position_changed" {
			t.Errorf("buying 1 with a position that was thought to be 4: %v, want position_changed", err)
		}
		if o := ask(t, e, func(r *book.OrderRequest) { r.Side, r.Quantity, r.All, r.Held = book.Sell, 0, true, &is }); o.FilledQuantity.String() != "4.95049504" || len(must(e.Positions(false))) != 0 {
			t.Errorf("closing the position: %+v, want 4.95049504 filled and nothing held", o)
		}
		place(t, e, book.Buy, book.Market, "2", "")
		if _, err := e.Place(t.Context(), book.OrderRequest{Symbol: "BBB", Side: book.Sell, Type: book.Market, Quantity: exact.One}); err != nil {
			t.Fatal(err)
		}
		// Closing what an earlier dry run showed: positions that changed or came since stay.
		previews, err := e.CloseAll(t.Context(), book.OrderRequest{Type: book.Market, All: true, DryRun: true}, nil)
		if err != nil || len(previews) != 2 {
			t.Fatalf("a dry run: %+v, %v; want 2 orders", previews, err)
		}
		place(t, e, book.Buy, book.Market, "1", "")
		stay, err := e.CloseAll(t.Context(), book.OrderRequest{Type: book.Market, All: true}, previews[:1])
		if err != nil || len(stay) != 2 || !strings.Contains(stay[0].Error, "position_changed") || !strings.Contains(stay[1].Error, "position_changed") || len(must(e.Positions(false))) != 2 {
			t.Errorf("after the positions changed: %+v, %v; want position_changed for both", stay, err)
		}
		closed, err := e.CloseAll(t.Context(), book.OrderRequest{Type: book.Market, All: true, ClientOrderID: "out"}, nil)
		if err != nil || len(closed) != 2 || len(must(e.Positions(false))) != 0 || closed[0].Side != book.Sell || closed[1].Side != book.Buy || closed[1].ClientOrderID != "out:BBB" {
			t.Errorf("closing everything: %+v, %v; want a sell, and a buy with the id out:BBB", closed, err)
		}
	})
}

// TestCloseAllOfDryRun: what the dry run refused to close stays, for the same reason, and the
// others are closed. As JSON the one is its symbol and the reason, the others are orders.
func TestCloseAllOfDryRun(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		for _, symbol := range []string{"AAA", "BBB"} {
			ask(t, e, func(r *book.OrderRequest) { r.Symbol = symbol })
		}
		previews, err := e.CloseAll(t.Context(), book.OrderRequest{Type: book.Market, All: true, DryRun: true}, nil)
		if err != nil || len(previews) != 2 {
			t.Fatalf("a dry run: %+v, %v; want 2 orders", previews, err)
		}
		previews[0].Error = "market_closed: the exchange is closed"
		closed, err := e.CloseAll(t.Context(), book.OrderRequest{Type: book.Market, All: true}, previews)
		if left := must(e.Positions(false)); err != nil || len(closed) != 2 || len(left) != 1 || left[0].Symbol != "AAA" {
			t.Fatalf("%+v, %v, with %+v left; want BBB closed", closed, err, left)
		}
		one, err := json.Marshal(closed[0])
		if want := `{"symbol":"AAA","error":"market_closed: the exchange is closed"}`; string(one) != want {
			t.Errorf("%s, %v, want %s", one, err, want)
		}
		one, err = json.Marshal(closed[1])
		if want, _ := json.Marshal(closed[1].Order); string(one) != string(want) || closed[1].Symbol != "BBB" {
			t.Errorf("%s, %v, want %s", one, err, want)
		}
	})
}

// TestCancelMany: all orders are cancelled, or those of one market.
func TestCancelMany(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		for _, symbol := range []string{"AAA", "BBB", "AAA"} {
			ask(t, e, func(r *book.OrderRequest) { r.Symbol, r.Type, r.Price = symbol, book.Limit, 90*exact.One })
		}
		if c, err := e.CancelOrders(book.Who{}, "aaa"); err != nil || len(c) != 2 || len(must(e.Orders(true))) != 1 {
			t.Errorf("those of AAA: %+v, %v; want 2, and 1 left", c, err)
		}
		if c, err := e.CancelOrders(book.Who{}, ""); err != nil || len(c) != 1 || c[0].Symbol != "BBB" || len(must(e.Orders(true))) != 0 {
			t.Errorf("all: %+v, %v; want the one of BBB, and none left", c, err)
		}
		if c, err := e.CancelOrders(book.Who{}, ""); err != nil || len(c) != 0 {
			t.Errorf("all, with none open: %+v, %v; want none", c, err)
		}
	})
}

// TestReplaces: the old order ends in the step in which the new one begins. With a smaller
// quantity the new order keeps the turn of the old one, also after a restart. With another
// price or a larger quantity it goes to the end.
func TestReplaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := journaltest.NewDisk()
		e, err := openOn(testOptions(t), d)
		if err != nil {
			t.Fatal(err)
		}
		limited := func(replaces string, quantity, price int64) book.Order {
			return ask(t, e, func(r *book.OrderRequest) {
				r.Type, r.Replaces, r.Quantity, r.Price = book.Limit, replaces, exact.Decimal(quantity)*exact.One, exact.Decimal(price)*exact.One
			})
		}
		a, b := limited("", 3, 95), limited("", 3, 95)
		smaller, larger := limited(a.ID, 2, 95), limited(b.ID, 4, 95)
		if got, _ := e.Order(a.ID); got.Status != book.StatusCancelled || got.Reason != "replaced by "+smaller.ID {
			t.Errorf("the old order is %+v, want cancelled, replaced by %s", got, smaller.ID)
		}
		if _, err := try(t, e, func(r *book.OrderRequest) { r.Replaces = a.ID }); code(err) != "order_cancelled" {
			t.Errorf("replacing it again: %v, want order_cancelled", err)
		}
		c := limited("", 1, 95)
		again := limited(smaller.ID, 1, 95)
		for range 2 {
			want := []string{again.ID, larger.ID, c.ID}
			ids := make([]string, 0)
			for _, o := range e.book.Open["AAA"] {
				ids = append(ids, o.ID)
			}
			if got := strings.Join(ids, " "); got != strings.Join(want, " ") {
				t.Errorf("open are %s, want %s", got, want)
			}
			e.Close()
			if e, err = openOn(testOptions(t), d); err != nil {
				t.Fatal(err)
			}
		}
		e.Close()
	})
}

// TestReplaceKeepsAll: what protects an order or ends it is not lost when another takes its
// place: a request that does not name it leaves it as it is, and one that names it changes it.
func TestReplaceKeepsAll(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		ask(t, e, func(r *book.OrderRequest) { r.Quantity = 5 * exact.One })
		for what, add := range map[string]func(*book.OrderRequest){
			"stop_loss, take_profit": func(r *book.OrderRequest) {
				r.StopLoss, r.TakeProfit = book.Exit{Price: 80 * exact.One}, book.Exit{Percent: 9 * exact.One}
			},
			"time_in_force day": func(r *book.OrderRequest) { r.TimeInForce = book.Day },
			"time_in_force gtd": func(r *book.OrderRequest) { r.TimeInForce, r.ExpiresAt = book.GTD, time.Now().Add(time.Hour) },
			"post_only":         func(r *book.OrderRequest) { r.PostOnly = true },
		} {
			limited := func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, 95*exact.One }
			old := ask(t, e, func(r *book.OrderRequest) { limited(r); add(r) })
			bare := func(r *book.OrderRequest) {
				limited(r)
				r.Replaces = old.ID
			}
			o := ask(t, e, bare)
			same := func(x, y *book.Exit) bool { return x == nil && y == nil || *x == *y }
			if o.TimeInForce != old.TimeInForce || o.PostOnly != old.PostOnly || !same(o.StopLoss, old.StopLoss) || !same(o.TakeProfit, old.TakeProfit) || (o.ExpiresAt == nil) != (old.ExpiresAt == nil) {
				t.Errorf("without %s: %+v, want all of %+v", what, o, old)
			}
			old = o
			if o, err := try(t, e, func(r *book.OrderRequest) { bare(r); add(r) }); err != nil || o.Status != book.StatusOpen {
				t.Errorf("with %s: %s, %v", what, o.Status, err)
			}
		}
	})
	inBubble(t, nil, func(t *testing.T, e *Engine) { // one of an oco, whose reduce_only it keeps
		old := ask(t, e, func(r *book.OrderRequest) {
			r.Type, r.Price, r.OCO.StopPrice, r.TimeInForce = book.Limit, 95*exact.One, 105*exact.One, book.Day
		})
		o := ask(t, e, func(r *book.OrderRequest) { r.Type, r.Price, r.Replaces = book.Limit, 94*exact.One, old.ID })
		if o.TimeInForce != book.Day || o.Role != book.RoleOCO {
			t.Errorf("one of an oco: %+v, want a day order that is one, too", o)
		}
	})
}

// TestChangeAgain: a change that is sent again under its client_order_id is answered with what it
// made, though the order that it changed is gone; with another change it is refused.
func TestChangeAgain(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		old := place(t, e, book.Buy, book.Limit, "2", "95").ID
		change := func(r book.OrderRequest) (book.Order, error) {
			r.Who, r.Replaces, r.ClientOrderID = anyone(), old, "change-1"
			return e.Place(t.Context(), r)
		}
		o, err := change(book.OrderRequest{Price: 96 * exact.One})
		if err != nil || o.Symbol != "AAA" || o.Quantity != 2*exact.One || show(o.Price) != "96" {
			t.Fatalf("%+v, %v, want a limit of 96 for 2", o, err)
		}
		if again, err := change(book.OrderRequest{Price: 96 * exact.One}); err != nil || again.ID != o.ID {
			t.Errorf("again: %+v, %v, want order %s", again, err, o.ID)
		}
		for name, r := range map[string]book.OrderRequest{
			"another price": {Price: 97 * exact.One}, "a quantity, too": {Price: 96 * exact.One, Quantity: exact.One}, "a quantity": {Quantity: 2 * exact.One}, "a risk": {Price: 96 * exact.One, Risk: book.Stake{Amount: 1}},
		} {
			if _, err := change(r); code(err) != "client_order_id_reused" {
				t.Errorf("%s: %v, want client_order_id_reused", name, err)
			}
		}
	})
}

// TestReplaceNeedsNotName: what an order cannot have it need not name: a market order and
// one for immediate execution do not wait, and what shrinks a position has no exits.
func TestReplaceNeedsNotName(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		day := func(r *book.OrderRequest) {
			r.Type, r.Price, r.TimeInForce, r.PostOnly = book.Limit, 95*exact.One, book.Day, true
		}
		for what, next := range map[string]func(*book.OrderRequest){
			"a market order": func(r *book.OrderRequest) {},
			"ioc":            func(r *book.OrderRequest) { r.Type, r.Price, r.TimeInForce = book.Limit, 101*exact.One, book.IOC },
		} {
			old := ask(t, e, day).ID
			if o, err := try(t, e, func(r *book.OrderRequest) { next(r); r.Replaces = old }); err != nil || o.Status != book.StatusFilled {
				t.Errorf("%s: %s, %v, want filled", what, o.Status, err)
			}
		}
		entry := ask(t, e, func(r *book.OrderRequest) {
			r.Type, r.Price, r.StopLoss = book.Limit, 95*exact.One, book.Exit{Percent: 3 * exact.One}
		}).ID
		oco := func(r *book.OrderRequest) {
			r.Type, r.Price, r.OCO.StopPrice, r.Replaces = book.Limit, 94*exact.One, 106*exact.One, entry
		}
		if o, err := try(t, e, oco); err != nil || o.Status != book.StatusOpen {
			t.Errorf("an oco: %s, %v, want open", o.Status, err)
		}
		old := ask(t, e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.Price, r.Quantity, r.StopLoss = book.Sell, book.Limit, 110*exact.One, 5*exact.One, book.Exit{Percent: 3 * exact.One}
		}).ID
		if o, err := try(t, e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.Price, r.Replaces = book.Sell, book.Limit, 111*exact.One, old
		}); err != nil || o.Status != book.StatusOpen {
			t.Errorf("what closes a position: %s, %v, want open", o.Status, err)
		}
	})
}

// TestOtherStopGoesToTheEnd: a stop_limit with another stop_price, and a trailing stop, do
// not keep the turn of the order that they replace.
func TestOtherStopGoesToTheEnd(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		turn := func(change func(*book.OrderRequest)) (string, uint64) {
			id := ask(t, e, func(r *book.OrderRequest) {
				r.Type, r.StopPrice, r.Price = book.StopLimit, 110*exact.One, 115*exact.One
				change(r)
			}).ID
			return id, e.book.Order(id).Turn
		}
		id, first := turn(func(*book.OrderRequest) {})
		id, same := turn(func(r *book.OrderRequest) { r.Replaces = id })
		id, other := turn(func(r *book.OrderRequest) { r.Replaces, r.StopPrice = id, 111*exact.One })
		if same != first || other == first {
			t.Errorf("the turn is %d; replaced by the same %d, want no change; with another stop_price %d, want a later one", first, same, other)
		}
		trails := func(r *book.OrderRequest) {
			r.Type, r.StopPrice, r.Price, r.TrailAmount = book.TrailingStop, 0, 0, exact.One
		}
		id, first = turn(trails)
		if _, next := turn(func(r *book.OrderRequest) { trails(r); r.Replaces = id }); next == first {
			t.Error("a trailing stop kept the turn of the order that it replaced")
		}
	})
}

// TestTrailThatEnds: a trailing stop that was cancelled or replaced, or has expired, is
// shown where it stood last.
func TestTrailThatEnds(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		trailing := func(change func(*book.OrderRequest)) string {
			return ask(t, e, func(r *book.OrderRequest) {
				r.Side, r.Type, r.TrailAmount = book.Sell, book.TrailingStop, 5*exact.One
				change(r)
			}).ID
		}
		cancelled, replaced := trailing(func(*book.OrderRequest) {}), trailing(func(*book.OrderRequest) {})
		over := trailing(func(r *book.OrderRequest) { r.TimeInForce, r.ExpiresAt = book.GTD, time.Now().Add(time.Minute) })
		price(e, "AAA", 110)
		if _, err := e.CancelOrder(book.Who{}, cancelled); err != nil {
			t.Fatal(err)
		}
		trailing(func(r *book.OrderRequest) { r.Replaces = replaced })
		time.Sleep(time.Hour)
		e.expireAll()
		for _, id := range []string{cancelled, replaced, over} {
			if o, _ := e.Order(id); o.Status != book.StatusCancelled || show(o.StopPrice) != "105" {
				t.Errorf("%s at %s, want cancelled at 105", o.Status, show(o.StopPrice))
			}
		}
	})
}

// TestCloseAllAgain: closing everything twice under one id returns the orders of the first
// time, whatever the length of the id and the characters of a symbol. Another request
// under that id, and one that makes no sense, are refused, even if nothing is held.
func TestCloseAllAgain(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		buy := func(symbol string) { ask(t, e, func(r *book.OrderRequest) { r.Symbol = symbol }) }
		all := book.OrderRequest{Side: book.Sell, Type: book.Market, All: true, TimeInForce: book.GTC, ClientOrderID: strings.Repeat("x", 48), Label: book.Label{Tag: "out"}}
		buy("AAA")
		buy("GC=F")
		first, err := e.CloseAll(t.Context(), all, nil)
		if err != nil || len(first) != 2 || first[0].Status != book.StatusFilled || first[1].Status != book.StatusFilled {
			t.Fatalf("closing all under a long id: %+v, %v; want 2 filled orders", first, err)
		}
		again, err := e.CloseAll(t.Context(), all, nil)
		if err != nil || len(again) != 2 || again[0].ID != first[0].ID || again[1].ID != first[1].ID || again[0].Error != "" {
			t.Errorf("closing all again: %+v, %v; want the orders of the first time", again, err)
		}
		buy("BBB")
		if more, err := e.CloseAll(t.Context(), all, nil); err != nil || len(more) != 3 || more[2].Symbol != "BBB" || more[2].Error == "" || len(must(e.Positions(false))) != 1 {
			t.Errorf("closing all again with a new position: %+v, %v; want an error for that, which stays", more, err)
		}
		all.TimeInForce = book.IOC
		if other, err := e.CloseAll(t.Context(), all, nil); code(err) != "client_order_id_reused" {
			t.Errorf("the same id with other arguments: %+v, %v; want client_order_id_reused", other, err)
		}
	})
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		for i, change := range []func(*book.OrderRequest){
			func(r *book.OrderRequest) { r.Price = exact.One },
			func(r *book.OrderRequest) { r.Quantity = exact.One },
			func(r *book.OrderRequest) { r.Replaces = "o-1" },
			func(r *book.OrderRequest) { r.StopLoss.Percent = exact.One },
			func(r *book.OrderRequest) { r.TimeInForce = "soon" },
			func(r *book.OrderRequest) { r.ClientOrderID = "not one" },
			func(r *book.OrderRequest) { r.TimeInForce, r.ExpiresAt = book.GTD, time.Now() },
		} {
			r := book.OrderRequest{Side: book.Sell, Type: book.Market, All: true}
			change(&r)
			if out, err := e.CloseAll(t.Context(), r, nil); err == nil {
				t.Errorf("request %d, with nothing held: %+v, want a refusal", i, out)
			}
		}
	})
}

// TestCloseAllGoesOn: what a call to close all could not close yet, the same call closes later: a
// position that was held then and has not changed since. One that was opened or changed since stays.
func TestCloseAllGoesOn(t *testing.T) {
	slow := func(o *Options) { o.Limits.OrdersPerSecond = 1 } // and two at once
	inBubble(t, slow, func(t *testing.T, e *Engine) {
		for _, symbol := range []string{"AAA", "BBB", "CCC", "DDD"} {
			ask(t, e, func(r *book.OrderRequest) { r.Symbol = symbol })
			time.Sleep(2 * time.Second)
		}
		all := book.OrderRequest{Type: book.Market, All: true, ClientOrderID: "out"}
		filled := func() (n int, left string) {
			t.Helper()
			out, err := e.CloseAll(t.Context(), all, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range out {
				if c.Error == "" && c.Status == book.StatusFilled {
					n++
				} else {
					left += c.Symbol + ": " + c.Error + "\n"
				}
			}
			return n, left
		}
		if n, left := filled(); n != 2 || strings.Count(left, "order_rate") != 2 {
			t.Fatalf("%d were closed; the others: %s", n, left)
		}
		time.Sleep(10 * time.Second)
		ask(t, e, func(r *book.OrderRequest) { r.Symbol = "DDD" })
		ask(t, e, func(r *book.OrderRequest) { r.Symbol = "EEE" })
		time.Sleep(10 * time.Second)
		for range 2 {
			n, left := filled()
			if n != 3 || strings.Count(left, "\n") != 2 || !strings.Contains(left, "DDD: client_order_id was used before") || !strings.Contains(left, "EEE: client_order_id was used before") {
				t.Errorf("%d were closed, want 3; the others: %s", n, left)
			}
		}
		if held := must(e.Positions(false)); len(held) != 2 || held[0].Quantity != 2*exact.One {
			t.Errorf("held: %+v", held)
		}
	})
}
