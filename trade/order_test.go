package trade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/book"
	"wick/trade/live/alpaca/alpacatest"
)

func code(err error) string {
	var r *book.Refusal
	if errors.As(err, &r) {
		return string(r.Code)
	}
	return ""
}

// inBubble runs f with an engine on a disk in memory and a clock that the test moves.
func inBubble(t *testing.T, change func(*Options), f func(t *testing.T, e *Engine)) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t)
		if change != nil {
			change(&o)
		}
		e, err := openOn(o, journaltest.NewDisk())
		if err != nil {
			t.Fatal(err)
		}
		f(t, e)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

func place(t *testing.T, e *Engine, side book.Side, typ book.OrderType, quantity, limit string) book.Order {
	t.Helper()
	r := book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: side, Type: typ, Quantity: dec(t, quantity)}
	if limit != "" {
		r.Price = dec(t, limit)
	}
	o, err := e.Place(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func show(d *exact.Decimal) string {
	if d == nil {
		return "null"
	}
	return d.String()
}

// TestFillOnArrival: price 100, slippage 0.1 %, fee 0.2 %. Expected
// prices by hand: 100*1.001 = 100.1, and fees are the value times 0.002.
func TestFillOnArrival(t *testing.T) {
	inBubble(t, func(o *Options) { o.Slippage, o.FeeRate = 100000, 200000 }, func(t *testing.T, e *Engine) {
		for _, c := range []struct {
			side         book.Side
			typ          book.OrderType
			limit        string
			status       book.OrderStatus
			average, fee string
		}{
			{book.Buy, book.Market, "", book.StatusFilled, "100.1", "0.2002"},
			{book.Sell, book.Market, "", book.StatusFilled, "99.9", "0.1998"},
			{book.Buy, book.Limit, "105", book.StatusFilled, "100.1", "0.2002"}, // better than its limit
			{book.Buy, book.Limit, "100.05", book.StatusFilled, "100.05", "0.2001"},
			{book.Buy, book.Limit, "100", book.StatusFilled, "100", "0.2"}, // equal counts as reached
			{book.Buy, book.Limit, "99.99", book.StatusOpen, "null", "0"},
			{book.Sell, book.Limit, "95", book.StatusFilled, "99.9", "0.1998"},
			{book.Sell, book.Limit, "99.95", book.StatusFilled, "99.95", "0.1999"},
			{book.Sell, book.Limit, "100.01", book.StatusOpen, "null", "0"},
		} {
			o := place(t, e, c.side, c.typ, "1", c.limit)
			if o.Status != c.status || show(o.AveragePrice) != c.average || o.Fee.String() != c.fee || o.Broker != "paper" {
				t.Errorf("%s %s %s: %s at %s, fee %s; want %+v", c.side, c.typ, c.limit, o.Status, show(o.AveragePrice), o.Fee, c)
			}
		}
	})
}

// TestSlippageRounding rounds the slipped price against the trader: a third of
// 0.00000001 more is a whole one more.
func TestSlippageRounding(t *testing.T) {
	inBubble(t, func(o *Options) { o.Source, o.Slippage = flat(0.00000010), 3333333 }, func(t *testing.T, e *Engine) {
		if o := place(t, e, book.Buy, book.Market, "1", ""); show(o.AveragePrice) != "0.00000011" {
			t.Errorf("bought at %s, want 0.00000011", show(o.AveragePrice))
		}
		if o := place(t, e, book.Sell, book.Market, "1", ""); show(o.AveragePrice) != "0.00000009" {
			t.Errorf("sold at %s, want 0.00000009", show(o.AveragePrice))
		}
	})
}

// TestResting follows the rules for resting limits, one case each.
func TestResting(t *testing.T) {
	update := func(price, high, low float64) func(e *Engine) {
		return func(e *Engine) {
			time.Sleep(time.Minute)
			e.deliver(context.Background(), market.Update{Symbol: "AAA", Price: price, High: high, Low: low, At: time.Now().UnixMilli()})
		}
	}
	for _, c := range []struct {
		name  string
		side  book.Side
		limit string
		told  []func(e *Engine)
		want  string
	}{
		{"not reached", book.Buy, "90", []func(*Engine){update(100, 100, 100), update(95, 101, 91)}, "null"},
		{"reached by the price", book.Buy, "90", []func(*Engine){update(85, 85, 85)}, "90"},
		{"touched on the way, filled at the limit", book.Buy, "90", []func(*Engine){update(100, 100, 100), update(95, 101, 90)}, "90"},
		{"sell touched on the way", book.Sell, "110", []func(*Engine){update(100, 100, 100), update(105, 110, 99)}, "110"},
		{"beyond the limit at once", book.Buy, "90", []func(*Engine){update(100, 100, 100), update(85, 88, 80)}, "90"},
		{"lows from before the order are the past", book.Buy, "90", []func(*Engine){update(100, 100, 80)}, "null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, e *Engine) {
				o := place(t, e, c.side, book.Limit, "1", c.limit)
				for _, tell := range c.told {
					tell(e)
				}
				if got := show(must(e.Orders(false))[0].AveragePrice); got != c.want {
					t.Errorf("order %s filled at %s, want %s", o.ID, got, c.want)
				}
			})
		})
	}
}

// TestRestingOrder: orders that one way reaches are filled as it passes them, the older first
// of two at the same price.
func TestRestingOrder(t *testing.T) {
	box := &list{}
	inBubble(t, func(o *Options) { o.Outbox = box }, func(t *testing.T, e *Engine) {
		third, first, second := place(t, e, book.Buy, book.Limit, "1", "90"), place(t, e, book.Buy, book.Limit, "1", "95"), place(t, e, book.Buy, book.Limit, "1", "95")
		price(e, "AAA", 80)
		for i, want := range []book.Order{first, second, third} {
			if len(box.steps) != 3 || !strings.Contains(box.steps[i], want.ID+" filled") {
				t.Errorf("filled %q, want %s as number %d", box.steps, want.ID, i+1)
			}
		}
	})
}

// TestStopsByReach: a fall passes 96 before 94, whichever stop is older; the position has 10, so
// the first stop that is reached sells all, at 96, and the loss is the 40 that the account had
// called the risk.
func TestStopsByReach(t *testing.T) {
	for _, minute := range []bool{false, true} {
		inBubble(t, func(o *Options) { o.Slippage, o.FeeRate = 0, 0 }, func(t *testing.T, e *Engine) {
			place(t, e, book.Buy, book.Market, "10", "")
			stop := func(at string) book.Order {
				o, err := e.Place(context.Background(), book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Sell, Type: book.Stop, Quantity: dec(t, "10"), StopPrice: dec(t, at)})
				if err != nil {
					t.Fatal(err)
				}
				return o
			}
			far, near := stop("94"), stop("96")
			price(e, "AAA", 100)
			time.Sleep(2 * time.Minute)
			at := time.Now()
			update := market.Update{Symbol: "AAA", From: 100, Price: 91, High: 100, Low: 90, At: at.UnixMilli()}
			if minute {
				start := at.Truncate(time.Minute).Unix() - 60
				update.Path = []market.Bar{{Time: start - 60, Open: 100, High: 100, Low: 100, Close: 100}, {Time: start, Open: 100, High: 100, Low: 90, Close: 91}}
			}
			e.deliver(context.Background(), update)
			for _, o := range must(e.Orders(false)) {
				switch {
				case o.ID == near.ID && (o.Status != book.StatusFilled || show(o.AveragePrice) != "96"):
					t.Errorf("the stop at 96 is %s at %s, want filled at 96", o.Status, show(o.AveragePrice))
				case o.ID == far.ID && o.Status != book.StatusCancelled:
					t.Errorf("the stop at 94 is %s, want cancelled with the position", o.Status)
				}
			}
		})
	}
}

// TestRails: one refusal for each limit. Without them a typing error of a model, a loop or
// a stranger with a token could do unbounded harm.
func TestRails(t *testing.T) {
	buy := book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One}
	with := func(change func(*book.OrderRequest)) book.OrderRequest {
		r := buy
		change(&r)
		return r
	}
	limit := func(side book.Side, price exact.Decimal) book.OrderRequest {
		return with(func(r *book.OrderRequest) { r.Side, r.Type, r.Price = side, book.Limit, price })
	}
	for _, c := range []struct {
		want    string
		request book.OrderRequest
		before  func(o *Options)
		prepare func(e *Engine)
	}{
		{want: "bad_symbol", request: with(func(r *book.OrderRequest) { r.Symbol = "../x" })},
		{want: "bad_side", request: with(func(r *book.OrderRequest) { r.Side = "long" })},
		{want: "bad_type", request: with(func(r *book.OrderRequest) { r.Type = "iceberg" })},
		{want: "bad_quantity", request: with(func(r *book.OrderRequest) { r.Quantity = 0 })},
		{want: "bad_quantity", request: with(func(r *book.OrderRequest) { r.Quantity = -exact.One })},
		{want: "bad_price", request: limit(book.Buy, -exact.One)},
		{want: "price_required", request: limit(book.Buy, 0)},
		{want: "price_not_allowed", request: with(func(r *book.OrderRequest) { r.Price = exact.One })},
		{want: "bad_client_order_id", request: with(func(r *book.OrderRequest) { r.ClientOrderID = "a b" })},
		{want: "bad_client_order_id", request: with(func(r *book.OrderRequest) { r.ClientOrderID = strings.Repeat("a", 49) })},
		{want: "max_order_notional", request: with(func(r *book.OrderRequest) { r.Quantity = 1001 * exact.One })},
		{want: "max_order_notional", request: with(func(r *book.OrderRequest) { r.Quantity = 1 << 62 })},
		{want: "max_position_notional", request: buy, before: func(o *Options) { o.Limits.PositionNotional = 150 * exact.One }, prepare: func(e *Engine) { place(t, e, book.Buy, book.Market, "1", "") }},
		{want: "max_position_notional", request: buy, before: func(o *Options) { o.Limits.PositionNotional = 150 * exact.One }, prepare: func(e *Engine) { place(t, e, book.Buy, book.Limit, "1", "99") }},
		{want: "price_collar", request: limit(book.Buy, 151*exact.One)},
		{want: "price_collar", request: limit(book.Buy, 19*exact.One)},
		{want: "price_collar", request: limit(book.Sell, 49*exact.One)},
		{want: "price_collar", request: limit(book.Sell, 501*exact.One)},
		{want: "max_open_orders_symbol", request: limit(book.Buy, 99*exact.One), before: func(o *Options) { o.Limits.OpenPerSymbol = 1 }, prepare: func(e *Engine) { place(t, e, book.Buy, book.Limit, "1", "98") }},
		{want: "max_open_orders", request: limit(book.Buy, 99*exact.One), before: func(o *Options) { o.Limits.Open = 1 }, prepare: func(e *Engine) { place(t, e, book.Buy, book.Limit, "1", "98") }},
		{want: "duplicate_order", request: buy, prepare: func(e *Engine) { e.Place(t.Context(), buy) }},
		{want: "max_symbols", request: with(func(r *book.OrderRequest) { r.Symbol = "BBB" }), before: func(o *Options) { o.Limits.Symbols = 1 }, prepare: func(e *Engine) { place(t, e, book.Buy, book.Market, "1", "") }},
		{want: "stale_price", request: buy, before: func(o *Options) { o.Source = real{flat(100)} }, prepare: func(e *Engine) {
			e.ensure(t.Context(), "AAA")
			time.Sleep(time.Minute + time.Millisecond)
		}},
	} {
		t.Run(c.want, func(t *testing.T) {
			inBubble(t, c.before, func(t *testing.T, e *Engine) {
				if c.prepare != nil {
					c.prepare(e)
				}
				before := encoded(t, e.book.State)
				_, err := e.Place(t.Context(), c.request)
				if code(err) != c.want {
					t.Errorf("%+v: %v", c.request, err)
				}
				c.request.DryRun = true
				if _, err := e.Place(t.Context(), c.request); code(err) != c.want {
					t.Errorf("dry run of %+v: %v", c.request, err)
				}
				if encoded(t, e.book.State) != before {
					t.Error("a refused order changed something")
				}
			})
		})
	}
}

// real marks a source's bars as those of a real market.
type real struct{ market.Source }

func (s real) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	series, err := s.Source.Bars(ctx, q)
	series.Synthetic = false
	return series, err
}

// TestSourceFails: if the source fails, an order is refused. No price is made up for it.
func TestSourceFails(t *testing.T) {
	inBubble(t, func(o *Options) { o.Source = failing{} }, func(t *testing.T, e *Engine) {
		if _, err := e.Place(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One}); err == nil || !strings.Contains(err.Error(), "503") {
			t.Errorf("order without a price: %v", err)
		}
	})
}

type failing struct{}

func (failing) Bars(context.Context, market.Query) (*market.Series, error) {
	return nil, errors.New("source answered 503")
}

func TestOrderRate(t *testing.T) {
	inBubble(t, func(o *Options) { o.Limits.OrdersPerSecond = 0 }, func(t *testing.T, e *Engine) {
		buy := func() book.OrderRequest {
			return book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: 1e6}
		}
		burst := func() (n int) {
			for {
				if _, err := e.Place(t.Context(), buy()); err != nil {
					if code(err) != "order_rate" || !strings.Contains(err.Error(), "more than 10 orders a second, after 20 at once; wait a second") {
						t.Error(err)
					}
					return n
				}
				n++
			}
		}
		if n := burst(); n != 20 {
			t.Errorf("%d orders at once, want the burst of 20", n)
		}
		time.Sleep(time.Second)
		if n := burst(); n != 10 {
			t.Errorf("%d orders after a second, want 10", n)
		}
	})
}

// TestDuplicates: an equal order within five seconds, whether or not the first has an id, is
// refused unless it has an id itself.
func TestDuplicates(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		r := book.OrderRequest{Who: book.Who{ID: "a"}, Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One}
		try := func(want string) {
			t.Helper()
			if _, err := e.Place(t.Context(), r); code(err) != want {
				t.Errorf("%+v: %v, want %q", r, err, want)
			}
		}
		try("")
		try("duplicate_order")
		r.ClientOrderID = "meant"
		try("")
		r.ClientOrderID, r.Who.ID = "", "b"
		try("")
		r.Who.ID = "a"
		time.Sleep(5*time.Second - time.Millisecond)
		try("duplicate_order")
		time.Sleep(time.Millisecond)
		try("")
		time.Sleep(5 * time.Second)
		r.ClientOrderID = "too"
		try("")
		r.ClientOrderID = ""
		try("duplicate_order") // that the first one has an id does not make this one another
	})
}

// TestClientOrderID: one id gives one order, however many callers ask for it at once, and
// however often.
func TestClientOrderID(t *testing.T) {
	e := openTest(t, testOptions(t))
	defer e.Close()
	r := book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One, ClientOrderID: "x"}
	ids := make([]string, 32)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			o, err := e.Place(context.Background(), r)
			if err != nil {
				t.Error(err)
			}
			ids[i] = o.ID
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] || id == "" {
			t.Fatalf("one client_order_id gave the orders %v, want one", ids)
		}
	}
	if len(must(e.Orders(false))) != 1 {
		t.Errorf("orders are %+v, want one", must(e.Orders(false)))
	}
	r.Quantity++
	if _, err := e.Place(t.Context(), r); code(err) != "client_order_id_reused" || !strings.Contains(err.Error(), ids[0]) {
		t.Errorf("the id with other arguments: %v", err)
	}
}

// TestRefusalsWaitForDisk: a refusal whose reason is an order that is still being written
// waits for it. Otherwise a crash could lose that order after somebody was told that it is
// there, or bring one back that was said to be gone.
func TestRefusalsWaitForDisk(t *testing.T) {
	first := book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Limit, Quantity: exact.One, Price: 90 * exact.One}
	named, other := first, first
	named.ClientOrderID, other.ClientOrderID = "x", "x"
	other.Quantity++
	for _, c := range []struct {
		want     string
		ask      book.OrderRequest // what is being written
		then     book.OrderRequest
		replaces bool // then replaces the order, which is being cancelled
	}{
		{want: "client_order_id_reused", ask: named, then: other},
		{want: "duplicate_order", ask: first, then: first},
		{want: "order_cancelled", ask: named, then: first, replaces: true},
	} {
		t.Run(c.want, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, e *Engine) {
				if err := e.ensure(t.Context(), "AAA"); err != nil {
					t.Fatal(err)
				}
				seq, _, err := e.locked(func(*book.State) error {
					o, _, err := e.accept(c.ask, book.Inquiry{Answered: true}, e.venue.(book.Arrival))
					if err == nil && c.replaces {
						c.then.Replaces = o.ID
						_, err = e.book.Cancel(&o.Order, book.Who{}, book.Reason{}, now())
					}
					return err
				})
				if err != nil || e.Applied() >= seq {
					t.Fatalf("%s: record %d is to be written and %d are: %v", c.want, seq, e.Applied(), err)
				}
				if _, err := e.Place(t.Context(), c.then); code(err) != c.want || e.Applied() < seq {
					t.Errorf("got %v with %d records written, want %s with %d", err, e.Applied(), c.want, seq)
				}
			})
		})
	}
}

func TestCancelOrder(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		resting, filled := place(t, e, book.Buy, book.Limit, "1", "90"), place(t, e, book.Buy, book.Market, "1", "")
		if o, err := e.CancelOrder(book.Who{}, resting.ID); err != nil || o.Status != book.StatusCancelled {
			t.Errorf("cancel: %+v, %v", o, err)
		}
		for id, want := range map[string]string{resting.ID: "order_cancelled", filled.ID: "order_filled", "o-1": "unknown_order"} {
			if _, err := e.CancelOrder(book.Who{}, id); code(err) != want {
				t.Errorf("cancel of %s: %v, want %s", id, err, want)
			}
		}
		named, err := e.Place(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Limit, Quantity: exact.One, Price: 70 * exact.One, ClientOrderID: "mine"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.CancelOrder(book.Who{}, "mine"); !book.IsRefusal(err, "unknown_order") || !strings.Contains(err.Error(), named.ID) {
			t.Errorf("cancel by client_order_id: %v, want the order_id in the refusal", err)
		}
		price(e, "AAA", 80)
		if o := must(e.Orders(false))[0]; o.Status != book.StatusCancelled {
			t.Errorf("a cancelled order became %s", o.Status)
		}
	})
}

// TestHalt: the file HALT halts trading at once and after a restart. Orders can still be
// cancelled.
func TestHalt(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	halt := filepath.Join(o.Dir, "HALT")
	long := place(t, e, book.Buy, book.Market, "2", "")
	resting := place(t, e, book.Buy, book.Limit, "1", "90")
	try := func(side book.Side, quantity, want string) {
		t.Helper()
		if _, err := e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: side, Type: book.Market, Quantity: dec(t, quantity)}); code(err) != want {
			t.Errorf("%s %s: %v, want %q", side, quantity, err, want)
		}
	}
	os.WriteFile(halt, []byte("reducing\n"), 0o600)
	try(book.Buy, "1", "trading_reducing")
	try(book.Sell, "2.5", "trading_reducing")
	try(book.Sell, "0.5", "")
	os.WriteFile(halt, nil, 0o600)
	try(book.Sell, "0.5", "trading_halted")
	if e.Status().Trading != book.Halted {
		t.Errorf("status %+v", e.Status())
	}
	e.Close()
	e = openTest(t, o)
	try(book.Sell, "0.5", "trading_halted")
	if _, err := e.CancelOrder(book.Who{}, resting.ID); err != nil {
		t.Errorf("cancel while halted: %v", err)
	}
	os.Remove(halt)
	try(book.Sell, "0.5", "")
	if p := must(e.Positions(false)); len(p) != 1 || p[0].Quantity != long.Quantity-exact.One {
		t.Errorf("positions %+v", p)
	}
	e.Close()
}

// TestShapes holds the JSON of orders and positions to the contract's names.
func TestShapes(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		o := place(t, e, book.Buy, book.Limit, "1.50", "90")
		place(t, e, book.Sell, book.Market, "2", "")
		text, _ := json.Marshal(o)
		want := `{"order_id":"` + o.ID + `","client_order_id":"","symbol":"AAA","side":"buy","type":"limit","quantity":1.5,"price":90,` +
			`"status":"open","filled_quantity":0,"average_price":null,"fee":0,"broker":"paper",` +
			`"created_at":"2000-01-01T00:00:00.000Z","updated_at":"2000-01-01T00:00:00.000Z","reason":"","synthetic":true}`
		if string(text) != want {
			t.Errorf("order\n%s\nwant\n%s", text, want)
		}
		text, _ = json.Marshal(must(e.Positions(false)))
		want = `[{"symbol":"AAA","side":"short","quantity":2,"entry_price":100,"current_price":100,"unrealized_pnl":0,"realized_pnl":0,"fees":0,"broker":"paper",` +
			`"price_at":"2000-01-01T00:00:00.000Z","source":"test","synthetic":true}]`
		if string(text) != want {
			t.Errorf("positions\n%s\nwant\n%s", text, want)
		}
		dry, err := e.Place(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One, DryRun: true})
		if err != nil || dry.ID != "" || dry.Status != book.StatusFilled || !strings.Contains(dry.Reason, "dry run") || len(must(e.Orders(false))) != 2 {
			t.Errorf("dry run: %+v, %v", dry, err)
		}
	})
}

// TestCloseBeyondLargestOrder: several orders may make a position larger than the largest
// order. One order closes it, on paper and at a broker elsewhere. An order that opens a
// position, or waits and may open one later, is held to the limit.
func TestCloseBeyondLargestOrder(t *testing.T) {
	small := func(o *Options) { o.Limits.OrderNotional = 1000 * exact.One }
	closes := func(t *testing.T, place func(book.OrderRequest) (book.Order, error)) {
		t.Helper()
		for _, id := range []string{"first", "second"} {
			if _, err := place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: 8 * exact.One, ClientOrderID: id}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		for name, r := range map[string]book.OrderRequest{
			"turns it around": {Side: book.Sell, Type: book.Market, Quantity: 17 * exact.One},
			"grows it":        {Side: book.Buy, Type: book.Market, Quantity: 11 * exact.One},
			"waits":           {Side: book.Sell, Type: book.Limit, Quantity: 16 * exact.One, Price: 110 * exact.One, MayOpen: true}, // until the position may be gone
		} {
			if _, err := place(r); code(err) != "max_order_notional" {
				t.Errorf("what %s: %v", name, err)
			}
		}
		if o, err := place(book.OrderRequest{Side: book.Sell, Type: book.Market, All: true}); err != nil || o.Quantity != 16*exact.One {
			t.Errorf("closing 16 worth 1,600: %+v, %v", o, err)
		}
	}
	inBubble(t, small, func(t *testing.T, e *Engine) {
		place := func(r book.OrderRequest) (book.Order, error) {
			r.Symbol = "AAA"
			return e.Place(t.Context(), r)
		}
		closes(t, place)
		closes(t, func(r book.OrderRequest) (book.Order, error) { // once more, by an order that waits
			if r.All {
				r = book.OrderRequest{Side: book.Sell, Type: book.Limit, Quantity: 16 * exact.One, Price: 110 * exact.One, ReduceOnly: true}
			}
			if r.ClientOrderID != "" {
				r.ClientOrderID += "-again"
			}
			return place(r)
		})
	})
	synctest.Test(t, func(t *testing.T) {
		l := startLive(t, alpacatest.New(), small)
		defer l.stop()
		closes(t, l.place)
		time.Sleep(time.Second)
		if p := must(l.e.Positions(false)); len(p) != 0 {
			t.Errorf("positions: %+v", p)
		}
	})
}

// TestRefusalOrder: a price that must be a typing error is refused before its consequences,
// the value of the order and its exits, and before refusals that end by themselves: the
// error is called by its name. The market is at 100, and a buy may stand from 20 to 150.
func TestRefusalOrder(t *testing.T) {
	limit := func(side book.Side, price exact.Decimal) func(*book.OrderRequest) {
		return func(r *book.OrderRequest) {
			r.Side, r.Type, r.Price, r.Quantity = side, book.Limit, price, 100*exact.One
		}
	}
	requests := []struct {
		name   string
		change func(*book.OrderRequest)
		want   string
	}{
		{"a value over the limit", limit(book.Buy, 10000*exact.One), "price_collar: a buy limit of 10000 "},
		{"a value over the limit, by the stop beside it", func(r *book.OrderRequest) {
			limit(book.Buy, 90*exact.One)(r)
			r.OCO = book.OCO{StopPrice: 10000 * exact.One}
		}, "price_collar: a stop of 10000 "},
		{"a stop that has passed", func(r *book.OrderRequest) { r.Type, r.StopPrice, r.Quantity = book.Stop, 99*exact.One, 2000*exact.One }, "stop_passed: "},
		{"a value that buys nothing", func(r *book.OrderRequest) { limit(book.Buy, 1e9*exact.One)(r); r.Quantity, r.Notional = 0, exact.One }, "price_collar: "},
		{"an exit far from it", func(r *book.OrderRequest) {
			limit(book.Sell, 10000*exact.One)(r)
			r.TakeProfit = book.Exit{Price: 95 * exact.One}
		}, "price_collar: "},
		{"a price off the grid", limit(book.Buy, dec(t, "19.995")), "; the nearest are 19.99 and 20 "},
		{"a quantity off the grid", func(r *book.OrderRequest) { limit(book.Buy, 90*exact.One)(r); r.Quantity = dec(t, "1111.15") }, "; the nearest are 1111.1 and 1111.2 "},
	}
	for _, open := range []int{2, 1} { // of which there is one
		set := func(o *Options) {
			o.Grid = func(string) (book.Grid, bool) { return book.Grid{Tick: exact.One / 100, Lot: exact.One / 10}, true }
			o.Limits.OrderNotional, o.Limits.OpenPerSymbol = 100000*exact.One, open
		}
		t.Run(fmt.Sprint(open, " may be open"), func(t *testing.T) {
			inBubble(t, set, func(t *testing.T, e *Engine) {
				place(t, e, book.Buy, book.Limit, "1", "50")
				for _, c := range requests {
					if _, err := try(t, e, c.change); err == nil || !strings.Contains(err.Error(), c.want) {
						t.Errorf("%s: %v, want %s", c.name, err, c.want)
					}
				}
			})
		})
	}
}
