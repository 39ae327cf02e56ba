package trade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/internal/journal/journaltest"
	"wick/trade/book"
	"wick/trade/live"
	"wick/trade/live/alpaca/alpacatest"
)

// delayed is a broker to which requests take a while, by the name of the method: before
// they are sent, and a cancel and a report until the answer is here.
type delayed struct {
	live.Broker
	by map[string]time.Duration
}

func (d delayed) Rules(ctx context.Context, symbol string) (live.Rules, error) {
	time.Sleep(d.by["Rules"])
	return d.Broker.Rules(ctx, symbol)
}

func (d delayed) Submit(ctx context.Context, o live.Order) (live.State, error) {
	time.Sleep(d.by["Submit"])
	return d.Broker.Submit(ctx, o)
}

func (d delayed) Cancel(ctx context.Context, id string) error {
	err := d.Broker.Cancel(ctx, id)
	time.Sleep(d.by["Cancel"])
	return err
}

func (d delayed) Report(ctx context.Context) (live.Report, error) {
	r, err := d.Broker.Report(ctx)
	time.Sleep(d.by["Report"])
	return r, err
}

// slowly has an engine reach its broker through a delayed one.
func slowly(method string, by time.Duration) func(*Options) {
	return func(o *Options) { atVenue(o).Broker = delayed{atVenue(o).Broker, map[string]time.Duration{method: by}} }
}

// answering has the venue answer requests of one method in a way of its own.
func answering(v *alpacatest.Venue, method string, with alpacatest.Fault) {
	v.Set(func(v *alpacatest.Venue) {
		v.Faults = func(r *http.Request) alpacatest.Fault {
			if r.Method == method {
				return with
			}
			return alpacatest.Fault{}
		}
	})
}

// shares returns a whole number of shares, or a price in whole units.
func shares(n int64) exact.Decimal { return exact.Decimal(n) * exact.One }

// heardOf returns the messages that wait for the subscriber to orders.
func heardOf(t *testing.T, e *Engine) (messages []string) {
	t.Helper()
	n, _, err := e.Notifications("", false, Page{Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range n {
		messages = append(messages, one.Message)
	}
	return messages
}

// TestLivePartIsTold: subscribers hear of the filled part of an order whose rest is
// cancelled or expires, once, and nothing of one that ends without a fill or whose fills the
// broker took back.
func TestLivePartIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		if _, err := l.e.Subscribe(from("orders"), Filter{AlertTypes: []string{book.OrderAlerts}}); err != nil {
			t.Fatal(err)
		}
		var want []string
		const takenBack = 3
		for i, filled := range []int64{1, 0, 2, 4} {
			o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(6)})
			if err != nil {
				t.Fatal(err)
			}
			if filled != 0 {
				v.Fill(o.ID, shares(filled), shares(90))
				time.Sleep(time.Second)
			}
			why := ""
			if i >= 2 {
				why = ": at the broker: expired"
			}
			switch {
			case i == takenBack:
			case filled == 0:
				want = append(want, fmt.Sprintf("Limit order %s: buy 6 of AAA was cancelled.%s", o.ID, book.Invented))
			default:
				want = append(want, fmt.Sprintf("Limit order %s: buy %d of AAA filled at 90. It was for 6 in all; the rest was cancelled%s.%s", o.ID, filled, why, book.Invented))
			}
			if i == takenBack {
				v.Bust(o.ID)
			}
			if i >= 2 {
				v.End(o.ID, "expired")
			} else if _, err := l.e.CancelOrder(anyone(), o.ID); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Minute)
			if o = l.order(o.ID); o.Status != book.StatusCancelled {
				t.Errorf("order %d is %s", i, o.Status)
			}
		}
		if got := heardOf(t, l.e); !slices.Equal(got, want) {
			t.Errorf("subscribers heard %q, want %q", got, want)
		}
	})
}

// TestLiveTotals: what an order has filled in all and at which average is the broker's,
// whichever events the stream leaves out and whatever was corrected before. The position is
// worth what was paid in all, and subscribers hear of the order once, at its end.
func TestLiveTotals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		if _, err := l.e.Subscribe(from("orders"), Filter{AlertTypes: []string{book.OrderAlerts}}); err != nil {
			t.Fatal(err)
		}
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(6)})
		if err != nil {
			t.Fatal(err)
		}
		has := func(when string, status book.OrderStatus, filled int64, average, reason string) {
			t.Helper()
			time.Sleep(2 * restPeriod)
			if o = l.order(o.ID); o.Status != status || o.FilledQuantity != shares(filled) || o.AveragePrice.String() != average || o.Reason != reason {
				t.Errorf("%s: %s with %s filled at %s, %q, want %s with %d at %s, %q", when, o.Status, o.FilledQuantity, o.AveragePrice, o.Reason, status, filled, average, reason)
			}
		}
		v.Drop(2)
		v.Fill(o.ID, shares(1), shares(90))
		v.Fill(o.ID, shares(1), shares(90))
		has("two that were missed", book.StatusPartiallyFilled, 2, "90", "")
		v.Fill(o.ID, shares(1), shares(84))
		has("one that was told", book.StatusPartiallyFilled, 3, "88", "") // (180 + 84) / 3
		v.Correct(o.ID, shares(78))
		has("its price corrected", book.StatusPartiallyFilled, 3, "88", "at the broker: its average price was corrected to 86") // (180 + 78) / 3
		v.Fill(o.ID, shares(2), shares(81))
		has("two more", book.StatusPartiallyFilled, 5, "84", "") // (258 + 162) / 5
		if p := must(l.e.Positions(false)); len(p) != 1 || p[0].Quantity != shares(5) || p[0].EntryPrice != shares(84) {
			t.Errorf("positions: %+v, want 5 at 84", p)
		}
		if got := heardOf(t, l.e); len(got) != 0 {
			t.Errorf("subscribers heard %q before all was filled", got)
		}
		v.Fill(o.ID, shares(1), shares(90))
		has("at the end", book.StatusFilled, 6, "85", "") // (420 + 90) / 6
		if got, want := heardOf(t, l.e), []string{"Limit order " + o.ID + ": buy 6 of AAA filled at 85." + book.Invented}; !slices.Equal(got, want) {
			t.Errorf("subscribers heard %q, want %q", got, want)
		}
		l.same("at the end")
	})
}

// TestLiveFilledWithLess: the broker says that an order is filled with less than was
// ordered. Nothing more will come, so the order has ended, and subscribers hear of it.
func TestLiveFilledWithLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		if _, err := l.e.Subscribe(from("orders"), Filter{AlertTypes: []string{book.OrderAlerts}}); err != nil {
			t.Fatal(err)
		}
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(2)})
		if err != nil {
			t.Fatal(err)
		}
		v.Fill(o.ID, shares(1), shares(89))
		v.End(o.ID, "filled")
		time.Sleep(time.Second)
		if o = l.order(o.ID); o.Status != book.StatusFilled || o.FilledQuantity != shares(1) || o.Reason != "" {
			t.Errorf("the order: %+v, want it filled with 1", o)
		}
		if got, want := heardOf(t, l.e), []string{"Limit order " + o.ID + ": buy 1 of AAA filled at 89. It was for 2 in all." + book.Invented}; !slices.Equal(got, want) {
			t.Errorf("subscribers heard %q, want %q", got, want)
		}
		l.same("at the end")
	})
}

// TestLiveReduceOnlyTwice: reduce_only never turns a position around, also while an order
// that closes it is at the broker and its fill is not known yet.
func TestLiveReduceOnlyTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(10)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		v.Set(func(v *alpacatest.Venue) { v.Hold = true })
		if _, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, Quantity: shares(4), ReduceOnly: true}); err != nil {
			t.Fatal(err)
		}
		for _, r := range []book.OrderRequest{
			{Side: book.Sell, Type: book.Market, All: true},
			{Side: book.Sell, Type: book.Market, Quantity: shares(7), ReduceOnly: true},
		} {
			if _, err := l.place(r); !book.IsRefusal(err, "reduce_only") || !strings.Contains(err.Error(), "at most 6") {
				t.Errorf("more than is left beside an order under way: %v, want a refusal that says at most 6", err)
			}
		}
		if _, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, Quantity: shares(6), ReduceOnly: true}); err != nil {
			t.Errorf("the rest of the position: %v", err)
		}
		if _, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, All: true}); !book.IsRefusal(err, "reduce_only") {
			t.Errorf("beside orders that close all of it: %v, want reduce_only", err)
		}
		for _, id := range v.Open() {
			v.Fill(id, shares(10), shares(100))
		}
		time.Sleep(time.Second)
		if held := v.Position("AAA"); held != 0 {
			t.Errorf("the account holds %s, want nothing", held)
		}
		l.same("at the end")
	})
}

// TestLiveBustOfFilled: the exchange takes back or corrects fills of orders that have ended;
// the book keeps what it counted, and each order says so. An older event says nothing. The
// outbox hears of each change that the order had ended before.
func TestLiveBustOfFilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, box := alpacatest.New(), &list{}
		l := startLive(t, v, func(o *Options) { o.Outbox = box })
		defer func() { l.stop() }()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(3)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		// says has the stream tell of the order and checks its reason then.
		says := func(when string, status live.Status, filled int64, average exact.Decimal, want string) {
			t.Helper()
			for range 2 {
				l.heard(live.State{ID: o.BrokerID, ClientID: o.ID, Symbol: "AAA", Side: "buy", Type: "market",
					Status: status, Word: string(status), Quantity: shares(3), Filled: shares(filled), Average: average})
			}
			if o = l.order(o.ID); o.Reason != want || o.Status != book.StatusFilled || o.FilledQuantity != shares(3) || *o.AveragePrice != shares(100) {
				t.Errorf("%s: %s with %s at %s, %q, want it filled with 3 at 100, %q", when, o.Status, o.FilledQuantity, o.AveragePrice, o.Reason, want)
			}
		}
		says("an event from before the fill", live.Open, 0, 0, "")
		says("the same again", live.Filled, 3, shares(100), "")
		says("an average that is rounded", live.Filled, 3, shares(100)-exact.One/200, "")
		says("an event without an average", live.Filled, 3, 0, "")
		says("another price", live.Filled, 3, shares(98), "at the broker: its average price was corrected to 98")
		before := l.e.Applied()
		says("the same again", live.Filled, 3, shares(98), "at the broker: its average price was corrected to 98")
		if l.e.Applied() != before {
			t.Errorf("%d records for what was known", l.e.Applied()-before)
		}
		says("two taken back", live.Filled, 1, shares(98), "at the broker: filled; it took back 2 of 3 that were filled")
		says("all taken back", live.Cancelled, 0, 0, "at the broker: cancelled; it took back 3 of 3 that were filled")
		var told []string
		for _, step := range box.steps {
			_, what, _ := strings.Cut(step, " ")
			told = append(told, strings.TrimPrefix(what, o.ID+" "))
		}
		if got, want := strings.Join(told, ", "), "filled by , filled again by , filled again by , filled again by "; got != want {
			t.Errorf("the outbox was told %q, want %q", got, want)
		}
		l.crash()
		time.Sleep(time.Second)
		if o = l.order(o.ID); o.Reason != "at the broker: cancelled; it took back 3 of 3 that were filled" {
			t.Errorf("after a restart: %q", o.Reason)
		}
		if p := must(l.e.Positions(false)); len(p) != 1 || p[0].Quantity != shares(3) {
			t.Errorf("positions: %+v, want the 3 that were counted", p)
		}
	})
}

// TestLiveExitBelowStep: an exit whose price is less than the broker's step of prices
// cannot be sent. The entry is refused: without the exit nothing would protect it.
func TestLiveExitBelowStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, func(o *Options) { o.Source = flat(0.0002) })
		defer l.stop()
		// Sixty percent below 0.0002 is 0.00008, and steps are of 0.0001.
		_, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: exact.One / 5000, Quantity: shares(1), StopLoss: book.Exit{Percent: shares(60)}})
		if !book.IsRefusal(err, "bad_exit") || len(v.Orders()) != 0 {
			t.Errorf("got %v and %d orders at the venue, want bad_exit and none", err, len(v.Orders()))
		}
	})
}

// TestLiveSingleExit: an entry with one exit, and an oco whose stop is a stop_limit, are
// orders that belong together at the broker too.
func TestLiveSingleExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		entry, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(2), StopLoss: book.Exit{Price: shares(95)}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if sl := l.order(entry.ID + "-sl"); sl.Role != book.RoleStopLoss || *sl.StopPrice != shares(95) || sl.Quantity != shares(2) || sl.Status != book.StatusOpen {
			t.Errorf("stop_loss: %+v, want a stop of 2 at 95", sl)
		}
		l.same("after the entry")
		pair, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Limit, Price: shares(120), Quantity: shares(2), OCO: book.OCO{StopPrice: shares(91), Price: shares(90)}})
		if err != nil {
			t.Fatal(err)
		}
		stop := l.order(pair.ID + "-oco")
		if stop.Type != book.StopLimit || *stop.StopPrice != shares(91) || *stop.Price != shares(90) || stop.Role != book.RoleOCO || stop.Group != pair.ID {
			t.Errorf("the stop of the oco: %+v, want a stop_limit at 91 and 90", stop)
		}
		cancelled, err := l.e.CancelOrders(anyone(), "")
		if err != nil || len(v.Open()) != 0 {
			t.Errorf("all cancelled: %+v, %v; open at the venue: %v", cancelled, err, v.Open())
		}
		time.Sleep(time.Second)
		l.same("at the end")
	})
}

// bare is a broker that names no orders beside others.
type bare struct{ live.Broker }

func (b bare) Submit(ctx context.Context, o live.Order) (live.State, error) {
	s, err := b.Broker.Submit(ctx, o)
	s.Legs = nil
	return s, err
}

func (b bare) Lookup(ctx context.Context, o live.Order) (live.State, error) {
	s, err := b.Broker.Lookup(ctx, o)
	s.Legs = nil
	return s, err
}

func (b bare) Report(ctx context.Context) (live.Report, error) {
	r, err := b.Broker.Report(ctx)
	for i := range r.Open {
		r.Open[i].Legs = nil
	}
	return r, err
}

// TestLiveNoLegs: the broker does not name the exits of an order; they are waited for, since
// nobody would ask for them once the order has ended, but not for ever: after a minute the
// order is what it is at the broker, and says that its exits are not known.
func TestLiveNoLegs(t *testing.T) {
	for _, kind := range []book.OrderType{book.Market, book.Limit} {
		synctest.Test(t, func(t *testing.T) {
			v := alpacatest.New()
			l := startLive(t, v, func(o *Options) { atVenue(o).Broker = bare{atVenue(o).Broker} })
			defer l.stop()
			r := book.OrderRequest{Side: book.Buy, Type: kind, Quantity: shares(2), StopLoss: book.Exit{Price: shares(70)}}
			if kind == book.Limit {
				r.Price = shares(90)
			}
			o, err := l.place(r)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(legsPatience / 2)
			if o = l.order(o.ID); !o.Unknown() {
				t.Errorf("%s after half a minute: %s, %q, want an unknown outcome", kind, o.Status, o.Reason)
			}
			time.Sleep(legsPatience/2 + restPeriod)
			want := book.StatusFilled
			if kind == book.Limit {
				if o = l.order(o.ID); o.Status != book.StatusOpen || o.BrokerID == "" || o.ReasonCode != book.NoLegs {
					t.Errorf("a limit after two minutes: %+v, want it open at the broker and without exits", o)
				}
				if _, err = l.e.CancelOrder(anyone(), o.ID); err != nil {
					t.Errorf("cancel: %v", err)
				}
				want = book.StatusCancelled
			}
			if o = l.order(o.ID); o.Status != want || o.ReasonCode != book.NoLegs {
				t.Errorf("%s at the end: %s, %q, want %s without exits", kind, o.Status, o.Reason, want)
			}
			if s, _ := l.e.Venue(); s.State != "ready" || len(s.Unknown) != 0 {
				t.Errorf("status: %+v, want ready and nothing unknown", s)
			}
			l.same("at the end")
		})
	}
}

// TestLiveCancelAll: all orders are cancelled, although one is filled while its cancel is on
// the way, which is no error. One that the broker does not cancel is an error, and does not
// keep the others from being cancelled.
func TestLiveCancelAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, slowly("Cancel", time.Second))
		defer l.stop()
		var orders [4]book.Order
		for i := range orders {
			r := book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)}
			if i == 2 {
				r.StopLoss, r.TakeProfit = book.Exit{Price: shares(80)}, book.Exit{Price: shares(120)}
			}
			var err error
			if orders[i], err = l.place(r); err != nil {
				t.Fatal(err)
			}
		}
		at := func(i int) string { return "/v2/orders/" + orders[i].BrokerID }
		v.Set(func(v *alpacatest.Venue) {
			v.Faults = func(r *http.Request) alpacatest.Fault {
				switch {
				case r.Method == "DELETE" && r.URL.Path == at(0):
					return alpacatest.Fault{Status: 422}
				case r.Method == "DELETE" && r.URL.Path == at(1):
					v.Fill(orders[1].ID, shares(1), shares(90))
				}
				return alpacatest.Fault{}
			}
		})
		cancelled, err := l.e.CancelOrders(anyone(), "")
		if !book.IsRefusal(err, "broker_rule") {
			t.Errorf("got %v, want the refusal of the broker", err)
		}
		for i, want := range []book.OrderStatus{book.StatusOpen, book.StatusFilled, book.StatusCancelled, book.StatusCancelled} {
			listed := slices.ContainsFunc(cancelled, func(o book.Order) bool { return o.ID == orders[i].ID })
			if o := l.order(orders[i].ID); o.Status != want || listed != (want == book.StatusCancelled) {
				t.Errorf("order %d is %s, listed as cancelled %t, want %s", i, o.Status, listed, want)
			}
		}
		v.Set(func(v *alpacatest.Venue) { v.Faults = nil })
		if cancelled, err := l.e.CancelOrders(anyone(), ""); err != nil || len(cancelled) != 1 || cancelled[0].ID != orders[0].ID {
			t.Errorf("again: %+v, %v, want the one that was left", cancelled, err)
		}
		if _, err := l.e.CancelOrder(anyone(), orders[1].ID); !book.IsRefusal(err, "order_filled") {
			t.Errorf("the cancel of a filled order: %v, want order_filled", err)
		}
		l.same("at the end")
	})
}

// TestLiveCancelMany: every one of many orders is cancelled within the time that a call has,
// and within the broker's rate, if the stream tells what became of each. Without the stream
// each has to be asked for: the call ends in time and says what is left, and the next one goes
// on.
func TestLiveCancelMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, slowly("Cancel", 200*time.Millisecond))
		defer l.stop()
		const many = 88
		fill := func() {
			for i := range many {
				if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1), ClientOrderID: fmt.Sprint(l.e.Applied(), "-", i)}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			}
			time.Sleep(time.Minute)
		}
		fill()
		begin := time.Now()
		cancelled, err := l.e.CancelOrders(anyone(), "")
		if took := time.Since(begin); err != nil || len(cancelled) != many || took > 15*time.Second {
			t.Errorf("%d cancelled after %s, %v, want %d within 15 s", len(cancelled), took, err, many)
		}
		time.Sleep(time.Minute)
		fill()
		v.Set(func(v *alpacatest.Venue) {
			v.Faults = func(r *http.Request) alpacatest.Fault {
				return alpacatest.Fault{Lost: r.URL.Path == "/v2/events/trades"}
			}
		})
		v.CutStreams()
		time.Sleep(time.Second)
		begin = time.Now()
		_, err = l.e.CancelOrders(anyone(), "")
		if took := time.Since(begin); !book.IsRefusal(err, "cancel_unfinished") || !strings.Contains(err.Error(), "of 88 open orders were not asked") || took > 30*time.Second {
			t.Errorf("without the stream: %v after %s, want it to say what is left within 30 s", err, took)
		}
		for range 10 {
			time.Sleep(20 * time.Second)
			_, err = l.e.CancelOrders(anyone(), "")
		}
		if err != nil || len(v.Open()) != 0 {
			t.Errorf("again and again: %v, %d are open, want none", err, len(v.Open()))
		}
		if n := v.Busiest(); n > 200 {
			t.Errorf("%d requests in a minute, want 200 at most", n)
		}
		l.same("at the end")
	})
}

// TestLiveCancelFilled: an order is filled while its cancel is on the way, and the stream
// tells it before the cancel is answered: the refusal says that the order is filled.
func TestLiveCancelFilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, slowly("Cancel", time.Second))
		defer l.stop()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)})
		if err != nil {
			t.Fatal(err)
		}
		v.Set(func(v *alpacatest.Venue) {
			v.Faults = func(r *http.Request) alpacatest.Fault {
				if r.Method == "DELETE" {
					v.Fill(o.ID, shares(1), shares(90))
				}
				return alpacatest.Fault{}
			}
		})
		if after, err := l.e.CancelOrder(anyone(), o.ID); !book.IsRefusal(err, "order_filled") || after.Status != book.StatusFilled {
			t.Errorf("got %+v, %v, want order_filled", after, err)
		}
	})
}

// paused is a broker to which nothing is sent, as during the pause after a 429.
type paused struct {
	live.Broker
	on *atomic.Bool
}

var errPaused = &live.Refused{Text: "too many requests; nothing was sent"}

func (p paused) Cancel(ctx context.Context, id string) error {
	if p.on.Load() {
		return errPaused
	}
	return p.Broker.Cancel(ctx, id)
}

func (p paused) Lookup(ctx context.Context, o live.Order) (live.State, error) {
	if p.on.Load() {
		return live.State{}, errPaused
	}
	return p.Broker.Lookup(ctx, o)
}

// TestLiveCancelNotSent: the refusal of a cancel that was not sent says that, and not that
// its outcome is unknown.
func TestLiveCancelNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, on := alpacatest.New(), new(atomic.Bool)
		l := startLive(t, v, func(o *Options) { atVenue(o).Broker = paused{atVenue(o).Broker, on} })
		defer l.stop()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)})
		if err != nil {
			t.Fatal(err)
		}
		on.Store(true)
		if _, err := l.e.CancelOrder(anyone(), o.ID); !book.IsRefusal(err, "broker_rule") || !strings.Contains(err.Error(), "was refused: too many requests; nothing was sent") {
			t.Errorf("during the pause: %v, want a refusal that says that nothing was sent", err)
		}
		on.Store(false)
		if o, err := l.e.CancelOrder(anyone(), o.ID); err != nil || o.Status != book.StatusCancelled {
			t.Errorf("after it: %+v, %v, want it cancelled", o, err)
		}
	})
}

// TestLiveCancelOfAnother: an order never arrived, and somebody else's order has its id; to
// cancel ours does not touch the other, and says that ours is in doubt.
func TestLiveCancelOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		answering(v, "POST", alpacatest.Fault{Lost: true})
		o, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Limit, Price: shares(110), Quantity: shares(1)})
		if err != nil || !o.Unknown() {
			t.Fatalf("the order whose answer is lost: %+v, %v", o, err)
		}
		foreign := v.ForeignAs(o.ID, "AAA", "buy", shares(2), shares(90))
		if _, err := l.e.CancelOrder(anyone(), o.ID); !book.IsRefusal(err, "outcome_unknown") || !strings.Contains(err.Error(), "another order by its id") {
			t.Errorf("the cancel of an order that is not there: %v, want outcome_unknown", err)
		}
		if open := v.Open(); !slices.Equal(open, []string{foreign}) {
			t.Errorf("open at the venue: %v, want the order of the other alone", open)
		}
	})
}

// TestLiveSameIDLate: the account is read while an order is being sent that the broker then
// refuses. In that report somebody else's order has its id, which is not taken for ours.
func TestLiveSameIDLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, func(o *Options) {
			atVenue(o).Broker = delayed{atVenue(o).Broker, map[string]time.Duration{"Submit": 10 * time.Second, "Report": 20 * time.Second}}
		})
		defer l.stop()
		time.Sleep(25 * time.Second) // until the first report is here
		answering(v, "POST", alpacatest.Fault{Status: 403})
		done := make(chan book.Order)
		go func() {
			o, _ := l.place(book.OrderRequest{Side: book.Sell, Type: book.Limit, Price: shares(110), Quantity: shares(1)})
			done <- o
		}()
		time.Sleep(time.Second)
		v.Drop(2) // of the stream, which would tell of the other order at once
		id := must(l.e.Orders(true))[0].ID
		v.ForeignAs(id, "AAA", "buy", shares(2), shares(90))
		l.soon()
		if o := <-done; o.Status != book.StatusRejected || !strings.Contains(o.Reason, "Alpaca refused it") {
			t.Errorf("our order: %+v, want it rejected by the broker", o)
		}
		time.Sleep(2 * time.Minute)
		if s, _ := l.e.Venue(); s.State != "ready" || len(s.External) != 1 {
			t.Errorf("status: %+v, want ready with one external order", s)
		}
	})
}

// TestLiveSameRequestTwice: a request comes again while the first one asks for prices. One
// order is sent, and both are told of it; with other arguments the second is refused.
func TestLiveSameRequestTwice(t *testing.T) {
	for name, other := range map[string]exact.Decimal{"the same": shares(1), "another quantity": shares(2)} {
		synctest.Test(t, func(t *testing.T) {
			v := alpacatest.New()
			l := startLive(t, v, slowly("Rules", time.Second))
			defer l.stop()
			who := anyone()
			ask := func(quantity exact.Decimal) (book.Order, error) {
				return l.e.Place(t.Context(), book.OrderRequest{Who: who, Symbol: "AAA", Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: quantity, ClientOrderID: "one"})
			}
			type answer struct {
				book.Order
				err error
			}
			first := make(chan answer)
			go func() {
				o, err := ask(shares(1))
				first <- answer{o, err}
			}()
			time.Sleep(time.Second / 2)
			o, err := ask(other)
			one := <-first
			switch {
			case one.err != nil || len(v.Orders()) != 1:
				t.Errorf("%s: %v and %d orders at the venue, want one", name, one.err, len(v.Orders()))
			case other == shares(1) && (err != nil || o.ID != one.ID):
				t.Errorf("%s: %+v, %v, want order %s", name, o, err, one.ID)
			case other != shares(1) && !book.IsRefusal(err, "client_order_id_reused"):
				t.Errorf("%s: %+v, %v, want client_order_id_reused", name, o, err)
			}
		})
	}
}

// TestLiveDuplicateInDoubt: as long as it is not known what became of an order, an equal one
// of the same client without a client_order_id is refused, also after a restart.
func TestLiveDuplicateInDoubt(t *testing.T) {
	for _, id := range []string{"", "mine"} {
		t.Run("id "+id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := alpacatest.New()
				l := startLive(t, v)
				defer func() { l.stop() }()
				r := book.OrderRequest{Who: book.Who{ID: "a"}, Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: shares(1), ClientOrderID: id}
				answering(v, "POST", alpacatest.Fault{Lost: true})
				o, err := l.e.Place(t.Context(), r)
				if err != nil || !o.Unknown() {
					t.Fatalf("the order whose answer is lost: %+v, %v", o, err)
				}
				v.Set(func(v *alpacatest.Venue) { v.Faults = nil })
				r.ClientOrderID = ""
				// refused places the equal order and wants a refusal that names the first.
				refused := func(when string) {
					t.Helper()
					if _, err := l.e.Place(t.Context(), r); !book.IsRefusal(err, "duplicate_order") || !strings.Contains(err.Error(), o.ID) {
						t.Errorf("%s: %v, want duplicate_order that names %s", when, err, o.ID)
					}
				}
				refused("at once")
				time.Sleep(30 * time.Second)
				refused("half a minute later")
				l.crash()
				time.Sleep(10 * time.Second)
				refused("after a restart")
				if len(v.Orders()) != 0 {
					t.Errorf("%d orders at the venue, want none", len(v.Orders()))
				}
				other := r
				other.Who.ID = "b"
				if _, err := l.e.Place(t.Context(), other); err != nil {
					t.Errorf("of another client: %v", err)
				}
				r.ClientOrderID = "meant"
				if _, err := l.e.Place(t.Context(), r); err != nil {
					t.Errorf("with an id of its own: %v", err)
				}
				time.Sleep(2 * time.Minute)
				if o = l.order(o.ID); o.Status != book.StatusRejected {
					t.Errorf("the first: %+v, want it given up", o)
				}
				r.ClientOrderID = ""
				if _, err := l.e.Place(t.Context(), r); err != nil {
					t.Errorf("after the first was given up: %v", err)
				}
			})
		})
	}
}

// TestLiveInterrupted: a process ends after the intent to send an order was written; the next
// one does not say that the order is being sent, also while the broker cannot be asked.
func TestLiveInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer func() { l.stop() }()
		a, err := l.e.venue.Prepare(t.Context(), "AAA")
		if err != nil {
			t.Fatal(err)
		}
		if err := l.e.ensure(t.Context(), "AAA"); err != nil {
			t.Fatal(err)
		}
		var o book.Placed
		if err := l.e.Do(func(*book.State) (err error) {
			o, _, err = l.e.accept(book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: shares(1)}, book.Inquiry{Answered: true}, a)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if o := l.order(o.ID); o.ReasonCode != book.Sending {
			t.Errorf("while it is sent: %q", o.Reason)
		}
		v.Set(func(v *alpacatest.Venue) {
			v.Faults = func(*http.Request) alpacatest.Fault { return alpacatest.Fault{Lost: true} }
		})
		l.crash()
		time.Sleep(time.Second)
		if o := l.order(o.ID); o.Status != book.StatusOpen || o.Reason != "outcome unknown: it is being sent, or wick ended meanwhile; the broker is asked then" {
			t.Errorf("after a restart: %s, %q, want it in doubt, and that wick may have ended", o.Status, o.Reason)
		}
		v.Set(func(v *alpacatest.Venue) { v.Faults = nil })
		time.Sleep(3 * time.Minute)
		if o := l.order(o.ID); o.Status != book.StatusRejected || len(v.Orders()) != 0 {
			t.Errorf("once the broker can be asked: %+v, want it given up", o)
		}
	})
}

// TestLiveDiskFails: an order whose intent does not reach the disk is not sent. If what the
// broker answered does not reach it, the client is told of the failure and not of an
// order; after a restart the book has what the broker has.
func TestLiveDiskFails(t *testing.T) {
	r := book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)}
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		l.disk.FailAt, l.disk.Forever = l.disk.Calls+1, true
		if o, err := l.place(r); !errors.Is(err, journal.ErrStorage) || len(v.Orders()) != 0 {
			t.Errorf("got %+v, %v and %d orders at the venue, want %v and none", o, err, len(v.Orders()), journal.ErrStorage)
		}
		l.end()
		<-l.done
	})
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		v.Deaf = true
		l := startLive(t, v)
		answering(v, "POST", alpacatest.Fault{Done: func() { l.disk.FailAt, l.disk.Forever = l.disk.Calls+1, true }})
		v.Drop(1)
		if o, err := l.place(r); !errors.Is(err, journal.ErrStorage) || len(v.Orders()) != 1 {
			t.Errorf("got %+v, %v and %d orders at the venue, want %v and one", o, err, len(v.Orders()), journal.ErrStorage)
		}
		v.Set(func(v *alpacatest.Venue) { v.Faults = nil })
		l.end()
		<-l.done
		l.e.Close()
		l.disk = l.disk.Cut(journaltest.Dropped)
		l.start()
		defer l.stop()
		time.Sleep(time.Second)
		l.same("after the restart")
		if open := must(l.e.Orders(true)); len(open) != 1 || open[0].BrokerID == "" {
			t.Errorf("open orders: %+v, want the one that was sent", open)
		}
	})
}

// TestLiveRefusedBeside: what the broker cannot do with a position or with an order that
// waits is refused, and nothing is sent.
func TestLiveRefusedBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(2)}); err != nil {
			t.Fatal(err)
		}
		rests, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		for text, r := range map[string]book.OrderRequest{
			"knows no reduce_only for orders that wait": {Side: book.Sell, Type: book.Limit, Price: shares(110), Quantity: shares(1), ReduceOnly: true},
			"not its side or type":                      {Side: book.Buy, Type: book.Stop, StopPrice: shares(110), Quantity: shares(1), Replaces: rests.ID},
			"its side or type: cancel it":               {Side: book.Sell, Type: book.Limit, Price: shares(110), Quantity: shares(1), Replaces: rests.ID},
		} {
			if _, err := l.place(r); !book.IsRefusal(err, "broker_rule") || !strings.Contains(err.Error(), text) {
				t.Errorf("got %v, want broker_rule with %q", err, text)
			}
		}
		if n := len(v.Orders()); n != 2 {
			t.Errorf("%d orders at the venue, want the first two", n)
		}
		day, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(89), Quantity: shares(1), TimeInForce: book.Day})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if o, err := l.place(book.OrderRequest{Price: shares(88), Replaces: day.ID}); err != nil || o.TimeInForce != book.Day || o.Quantity != shares(1) {
			t.Errorf("a day order with another price: %+v, %v, want one for the day", o, err)
		}
		oco, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Limit, Price: shares(110), Quantity: shares(1), OCO: book.OCO{StopPrice: shares(90)}, TimeInForce: book.Day})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if o, err := l.place(book.OrderRequest{StopPrice: shares(91), Replaces: oco.ID + "-oco"}); err != nil || o.TimeInForce != book.Day || o.Role != book.RoleOCO {
			t.Errorf("the stop beside it: %+v, %v, want one for the day", o, err)
		}
	})
}

// TestLiveBlocked: while the broker has blocked the account, no order is sent, and trading
// is halted with the reason. It goes on when the account is active again.
func TestLiveBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		buy := book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(1)}
		if _, err := l.place(buy); err != nil {
			t.Fatal(err)
		}
		waits := buy // for its rule: the owner has not halted anything here either
		waits.When = &book.When{Rule: "close > 1"}
		v.Set(func(v *alpacatest.Venue) { v.Status = "ACCOUNT_CLOSED" })
		time.Sleep(time.Minute)
		if s, _ := l.e.Venue(); s.State != "closed" || s.Closed != "the account is ACCOUNT_CLOSED" || l.e.Status().Trading != book.Halted {
			t.Errorf("status: %+v, trading is %s, want closed and halted", s, l.e.Status().Trading)
		}
		for _, r := range []book.OrderRequest{buy, waits, {Side: book.Sell, Type: book.Market, All: true}} {
			if _, err := l.place(r); !book.IsRefusal(err, "broker_not_ready") || !strings.Contains(err.Error(), "the account is ACCOUNT_CLOSED") {
				t.Errorf("an order of a blocked account: %v, want broker_not_ready", err)
			}
		}
		v.Set(func(v *alpacatest.Venue) { v.Status = "" })
		time.Sleep(time.Minute)
		if _, err := l.place(buy); err != nil || len(v.Orders()) != 2 {
			t.Errorf("after it was active again: %v, %d orders at the venue, want 2", err, len(v.Orders()))
		}
	})
}

// TestLiveLateWaits: an order that was given up turns up and waits at the broker, as the
// stream or only a report tells; it is open again, and says why; the owner is told, and until
// he has looked at it only orders that shrink a position are sent. It can be cancelled.
func TestLiveLateWaits(t *testing.T) {
	for _, missed := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			v, told := alpacatest.New(), &whys{}
			l := startLive(t, v, func(o *Options) { o.Outbox = told })
			defer func() { l.stop() }()
			if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(2)}); err != nil {
				t.Fatal(err)
			}
			answering(v, "POST", alpacatest.Fault{Late: 5 * time.Minute})
			late, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1), ClientOrderID: "late"})
			if err != nil {
				t.Fatal(err)
			}
			v.Set(func(v *alpacatest.Venue) { v.Faults = nil })
			time.Sleep(4 * time.Minute)
			if o := l.order(late.ID); o.Status != book.StatusRejected {
				t.Fatalf("after four minutes: %+v, want it given up", o)
			}
			v.Drop(missed)
			time.Sleep(2 * time.Minute)
			isOpen := func(when string) {
				t.Helper()
				if o := l.order(late.ID); o.Status != book.StatusOpen || o.BrokerID == "" || o.ReasonCode != book.TurnedUp {
					t.Errorf("%s: %+v, want it open at the broker with a reason", when, o)
				}
			}
			isOpen("after it turned up")
			synctest.Wait() // what was told is in the list
			if want := []string{"reducing: the broker has an order that this book had given up"}; !slices.Equal(told.why, want) {
				t.Errorf("the owner is told %q, want %q", told.why, want)
			}
			if s, _ := l.e.Venue(); s.State != "differs" || !slices.Equal(sorted(s.Late), []string{late.ID}) || len(s.External) != 0 {
				t.Errorf("status: %+v, want it to name the order", s)
			}
			if o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1), ClientOrderID: "late"}); err != nil || o.ID != late.ID {
				t.Errorf("the same request again: %+v, %v, want the same order", o, err)
			}
			if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(1)}); !book.IsRefusal(err, "broker_differs") || !strings.Contains(err.Error(), "has an order that this book had given up") {
				t.Errorf("a purchase beside it: %v, want broker_differs", err)
			}
			if _, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, Quantity: shares(1)}); err != nil {
				t.Errorf("an order that shrinks the position: %v", err)
			}
			if differed, found, err := l.e.AcceptPositions(anyone()); err != nil || len(differed) != 0 || !slices.Equal(found, []string{late.ID}) {
				t.Fatalf("accepted: %v, %v, %v, want the order alone", differed, found, err)
			}
			time.Sleep(2 * time.Minute)
			if s, _ := l.e.Venue(); s.State != "ready" || len(s.Late) != 0 {
				t.Errorf("after the owner accepted it: %+v, want ready", s)
			}
			l.crash()
			time.Sleep(time.Minute)
			isOpen("after a restart")
			if cancelled, err := l.e.CancelOrders(anyone(), ""); err != nil || len(cancelled) != 1 || len(v.Open()) != 0 {
				t.Errorf("all cancelled: %+v, %v; open at the venue: %v", cancelled, err, v.Open())
			}
			l.same("at the end")
		})
	}
}

// TestLiveLateFor: an order that turns up within eight hours of being given up is open again.
// Later it stays rejected, and the owner is told of it all the same.
func TestLiveLateFor(t *testing.T) {
	for after, want := range map[time.Duration]book.OrderStatus{
		7*time.Hour + 55*time.Minute: book.StatusOpen,
		8*time.Hour + 5*time.Minute:  book.StatusRejected,
	} {
		synctest.Test(t, func(t *testing.T) {
			v := alpacatest.New()
			l := startLive(t, v)
			defer l.stop()
			answering(v, "POST", alpacatest.Fault{Late: after})
			late, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)})
			if err != nil {
				t.Fatal(err)
			}
			v.Set(func(v *alpacatest.Venue) { v.Faults = nil })
			time.Sleep(after + time.Minute)
			if o := l.order(late.ID); o.Status != want {
				t.Errorf("%s after it was sent: %s, %q, want %s", after, o.Status, o.Reason, want)
			}
			if s, _ := l.e.Venue(); s.State != "differs" || !slices.Equal(sorted(s.Late), []string{late.ID}) {
				t.Errorf("%s after it was sent: %+v, want it to name the order", after, s)
			}
		})
	}
}

// TestLiveLateReason: an order that was given up and turned up says so, whatever word the
// broker has for it, and also once something of it was filled.
func TestLiveLateReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		answering(v, "POST", alpacatest.Fault{Late: 5 * time.Minute})
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(4)})
		if err != nil {
			t.Fatal(err)
		}
		v.Set(func(v *alpacatest.Venue) { v.Faults = nil })
		time.Sleep(4 * time.Minute)
		v.Drop(2) // that it is there, and its fill
		time.Sleep(61 * time.Second)
		v.Fill(o.ID, shares(2), shares(90))
		says := func(when string, filled int64) {
			t.Helper()
			if o = l.order(o.ID); o.FilledQuantity != shares(filled) || o.ReasonCode != book.TurnedUp {
				t.Errorf("%s: %s with %s, %q, want %d and %q", when, o.Status, o.FilledQuantity, o.Reason, filled, book.TurnedUp)
			}
		}
		time.Sleep(50 * time.Second)
		says("once its fill was read", 2)
		before := l.e.Applied()
		time.Sleep(2 * time.Minute)
		if l.e.Applied() != before {
			t.Errorf("%d records for what was known", l.e.Applied()-before)
		}
		l.heard(live.State{ID: o.BrokerID, ClientID: o.ID, Symbol: "AAA", Side: "buy", Type: "limit",
			Status: live.Open, Word: "pending_cancel", Quantity: shares(4), Filled: shares(2), Average: shares(90)})
		says("after another word", 2)
	})
}

// TestLiveKept: what a broker says may change an order for hours after it ended, so that it
// leaves memory only after that.
func TestLiveKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLive(t, alpacatest.New(), func(o *Options) { o.kept, o.files.MaxRecords = 1, 4 })
		defer l.stop()
		ended := func() {
			t.Helper()
			for range 4 {
				o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)})
				if err == nil {
					_, err = l.e.CancelOrder(anyone(), o.ID)
				}
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Second)
			}
		}
		ended()
		if n := len(must(l.e.Orders(false))); n != 4 {
			t.Errorf("%d orders in memory, want 4", n)
		}
		time.Sleep(book.LateWithin + time.Hour)
		ended()
		if n := len(must(l.e.Orders(false))); n != 5 { // the four newest and the one that is kept in any case
			t.Errorf("%d orders in memory nine hours later, want 5", n)
		}
	})
}

// whys is an outbox that keeps why the trading state changed.
type whys struct {
	list
	why []string
}

func (w *whys) Apply(s book.Step) error {
	if s.Trading != "" {
		w.why = append(w.why, string(s.Trading)+": "+s.Why)
	}
	return w.list.Apply(s)
}

// TestLiveWhyActive: trading goes on because the owner accepted a difference, or because he
// removed the file HALT. The two are told apart.
func TestLiveWhyActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, told := alpacatest.New(), &whys{}
		l := startLive(t, v, func(o *Options) { o.Outbox = told })
		defer l.stop()
		v.Adjust("AAA", shares(1))
		time.Sleep(2 * time.Minute)
		if _, _, err := l.e.AcceptPositions(anyone()); err != nil {
			t.Fatal(err)
		}
		haltByHand(t, l.e)
		if err := l.e.SetHalt(false); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // what was told is in the list
		want := []string{"reducing: the broker's positions differ", "active: nothing restricts it any more", "halted: owner, by the file HALT", "active: owner, by the file HALT"}
		if !slices.Equal(told.why, want) {
			t.Errorf("told %q, want %q", told.why, want)
		}
	})
}

// TestLiveAcceptedGone: shares that the owner held before, and that were accepted, are sold
// elsewhere. That is a difference again, although neither the book nor the broker lists
// the symbol.
func TestLiveAcceptedGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		for _, by := range []int64{5, -5} {
			v.Adjust("BBB", shares(by))
			time.Sleep(2 * time.Minute)
			want := []book.Difference{{Symbol: "BBB", Broker: v.Position("BBB")}}
			if s, _ := l.e.Venue(); s.State != "differs" || !slices.Equal(s.Differs(), want) {
				t.Errorf("after a change by %d: %+v, want %+v", by, s, want)
			}
			if _, _, err := l.e.AcceptPositions(anyone()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			if s, _ := l.e.Venue(); s.State != "ready" {
				t.Errorf("after it was accepted: %+v, want ready", s)
			}
		}
	})
}

// late is a broker that does not find an order, and whose stream tells of it meanwhile.
type late struct {
	live.Broker
	meanwhile func(o live.Order)
}

func (l late) Lookup(ctx context.Context, o live.Order) (live.State, error) {
	l.meanwhile(o)
	return live.State{}, live.ErrUnknown
}

// TestLiveToldMeanwhile: the broker does not find an order for the second time, which would
// end it, while its stream says that the order is there. The order stays.
func TestLiveToldMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		var sent time.Time
		var asked atomic.Int64 // how often after the request cannot arrive any more
		l := startLive(t, v, func(o *Options) {
			atVenue(o).Broker = late{atVenue(o).Broker, func(o live.Order) {
				if time.Since(sent) < unknownPatience || asked.Add(1) != 2 {
					return
				}
				v.ForeignAs(o.ClientID, "AAA", o.Side, o.Quantity, o.Limit)
				time.Sleep(time.Second) // the stream tells of it
			}}
		})
		defer l.stop()
		answering(v, "POST", alpacatest.Fault{Lost: true})
		sent = time.Now()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)})
		if err != nil || !o.Unknown() {
			t.Fatalf("the order whose answer is lost: %+v, %v", o, err)
		}
		time.Sleep(5 * time.Minute)
		if o = l.order(o.ID); o.Status != book.StatusOpen || o.BrokerID == "" || asked.Load() != 2 {
			t.Errorf("after %d times: %+v, want it open at the broker", asked.Load(), o)
		}
		if s, _ := l.e.Venue(); s.State != "ready" || len(s.Unknown) != 0 {
			t.Errorf("status: %+v, want ready and nothing unknown", s)
		}
	})
}

// TestLiveExternalStop: a stop that somebody else placed is listed with its price.
func TestLiveExternalStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLive(t, alpacatest.New())
		defer l.stop()
		other := brokerOf(t, l.venue)
		if _, err := other.Submit(t.Context(), live.Order{ClientID: "by-hand", Symbol: "AAA", Side: "buy", Type: "stop", TimeInForce: "gtc", Quantity: shares(1), Stop: shares(120)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		orders, err := l.e.Find(OrderFilter{Status: book.StatusOpen})
		if err != nil || len(orders) != 1 || orders[0].ClientOrderID != "by-hand" || orders[0].StopPrice == nil || *orders[0].StopPrice != shares(120) || orders[0].Price != nil {
			t.Errorf("open orders: %+v, %v, want the external stop at 120", orders, err)
		}
	})
}

// odd is a broker whose account has an order of somebody else without a quantity.
type odd struct{ live.Broker }

func (o odd) Report(ctx context.Context) (live.Report, error) {
	r, err := o.Broker.Report(ctx)
	r.Open = append(r.Open, live.State{ID: "x", ClientID: "by-hand", Symbol: "SHIB/USD", Side: "buy", Type: "market", Status: live.Open, Word: "new"})
	return r, err
}

// TestLiveExternalOdd: an order of somebody else whose quantity is not known does not seem to
// be for nothing, and is found by its symbol.
func TestLiveExternalOdd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLive(t, alpacatest.New(), func(o *Options) { atVenue(o).Broker = odd{atVenue(o).Broker} })
		defer l.stop()
		for _, symbol := range []string{"", "SHIB-USD"} { // the broker has a spelling of its own
			orders, err := l.e.Find(OrderFilter{Symbol: symbol})
			if err != nil || len(orders) != 1 || !strings.HasSuffix(orders[0].Reason, "; its quantity is not known: it is for a sum of money") {
				t.Errorf("open orders of %q: %+v, %v, want one that says that its quantity is not known", symbol, orders, err)
			}
		}
		if orders, err := l.e.Find(OrderFilter{Symbol: "AAA"}); err != nil || len(orders) != 0 {
			t.Errorf("open orders of AAA: %+v, %v, want none", orders, err)
		}
	})
}

// TestLiveMovedStop: somebody moves the stop of a bracket in the broker's own app; the
// broker ends wick's stop as replaced, and the new one, a leg of the same entry, is listed
// as not placed by wick, so that nobody takes the position for unprotected.
func TestLiveMovedStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		entry, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(99), Quantity: shares(2), StopLoss: book.Exit{Price: shares(95)}, TakeProfit: book.Exit{Price: shares(120)}})
		if err != nil {
			t.Fatal(err)
		}
		v.Fill(entry.ID, shares(2), shares(99))
		time.Sleep(time.Second)
		other := brokerOf(t, v)
		stop := l.order(entry.ID + "-sl")
		if _, err := other.Submit(t.Context(), live.Order{ClientID: "by-hand", Symbol: "AAA", Side: "sell", Type: "stop", TimeInForce: "gtc", Quantity: shares(2), Stop: shares(97), Replaces: stop.BrokerID}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		var open []string // the external one, and the take profit that is still there
		orders, err := l.e.Find(OrderFilter{Status: book.StatusOpen})
		for _, o := range orders {
			open = append(open, cmp.Or(o.ClientOrderID, o.ID))
		}
		if slices.Sort(open); err != nil || !slices.Equal(open, []string{"by-hand", entry.ID + "-tp"}) {
			t.Errorf("open orders: %v, %v, want the moved stop and the take profit", open, err)
		}
		if s, _ := l.e.Venue(); len(s.External) != 1 || s.State != "ready" {
			t.Errorf("status: %+v, want ready and one external order", s)
		}
	})
}

// TestLiveExternalBracket: of somebody else's bracket those orders are listed that are open:
// all three, and once the entry was filled its exits alone.
func TestLiveExternalBracket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		other := brokerOf(t, v)
		if _, err := other.Submit(t.Context(), live.Order{ClientID: "by-hand", Symbol: "AAA", Side: "buy", Type: "limit", TimeInForce: "gtc", Quantity: shares(1), Limit: shares(90), StopLoss: shares(80), TakeProfit: shares(120)}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []int{3, 2} {
			time.Sleep(time.Minute)
			if s, _ := l.e.Venue(); len(s.External) != want {
				t.Errorf("%d external orders, want %d", len(s.External), want)
			}
			v.Fill("by-hand", shares(1), shares(90))
		}
	})
}

// TestLiveSoldElsewhere: shares that wick bought are sold in the broker's own app; what closes
// a position is judged by what the account holds, and never opens one. Once the owner has
// accepted the difference, the book does not have what the account lacks either.
func TestLiveSoldElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer func() { l.stop() }()
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(10)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		// at checks what the positions say: of the book, and of the account.
		at := func(when string, book, account int64) {
			t.Helper()
			p := must(l.e.Positions(false))
			if len(p) != 1 || p[0].Quantity != shares(book) || p[0].AtBroker == nil || p[0].AtBroker.Quantity != shares(account) {
				t.Errorf("%s: positions %+v, want %d by the book and %d at the broker", when, p, book, account)
			}
		}
		closing := []book.OrderRequest{
			{Side: book.Sell, Type: book.Market, All: true},
			{Side: book.Sell, Type: book.Market, Quantity: shares(10), ReduceOnly: true},
			{Side: book.Sell, Type: book.Market, Quantity: shares(7), ReduceOnly: true},
		}
		refused := func(when, most string) {
			t.Helper()
			for _, r := range closing {
				if o, err := l.place(r); !book.IsRefusal(err, "reduce_only") || !strings.Contains(err.Error(), "at most "+most) {
					t.Errorf("%s: %s of %s gives %s, %v, want a refusal that says at most %s", when, r.Side, r.Quantity, o.Status, err, most)
				}
			}
		}
		v.Adjust("AAA", -shares(10))
		time.Sleep(2 * time.Minute)
		at("after all were sold", 10, 0)
		refused("after all were sold", "0")
		if _, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, Quantity: shares(1)}); !book.IsRefusal(err, "broker_differs") {
			t.Errorf("a sell that would open a short: %v, want broker_differs", err)
		}
		accepts := func() {
			t.Helper()
			if _, _, err := l.e.AcceptPositions(anyone()); err != nil {
				t.Fatal(err)
			}
		}
		accepts()
		for range 2 { // at once, and after further reports
			if p := must(l.e.Positions(false)); len(p) != 0 {
				t.Errorf("once it was accepted: positions %+v, want none", p)
			}
			if o, err := l.place(closing[0]); !book.IsRefusal(err, "no_position") {
				t.Errorf("once it was accepted: all of it gives %s, %v, want no_position", o.Status, err)
			}
			time.Sleep(2 * time.Minute)
		}

		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(10)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		v.Adjust("AAA", -shares(6))
		time.Sleep(2 * time.Minute)
		at("after six of ten more were sold", 10, 4)
		closing = closing[1:]
		refused("after six of ten more were sold", "4")
		accepts()
		at("once that was accepted", 4, 4)
		l.crash()
		time.Sleep(time.Minute)
		at("after a restart", 4, 4)
		if s, _ := l.e.Venue(); s.State != "ready" {
			t.Errorf("after a restart: %+v, want ready", s)
		}
		if p := must(l.e.Positions(false)); p[0].EntryPrice != shares(100) || p[0].RealizedPnL != (exact.Money{}) {
			t.Errorf("positions %+v, want an entry at 100 and nothing realized", p)
		}
		if o, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, All: true}); err != nil || o.Quantity != shares(4) {
			t.Errorf("all of it: %+v, %v, want 4 sold", o, err)
		}
		time.Sleep(time.Second)
		if held := v.Position("AAA"); held != 0 {
			t.Errorf("the account holds %s, want nothing", held)
		}
	})
}

// TestLiveAcceptTurned: wick's ten shares were sold elsewhere, and five more than those; the
// book has none of them any more once that was accepted, and the account's short is listed.
func TestLiveAcceptTurned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startWithTen(t, v)
		defer l.stop()
		v.Adjust("AAA", -shares(15))
		time.Sleep(2 * time.Minute)
		if _, _, err := l.e.AcceptPositions(anyone()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if p := must(l.e.Positions(false)); len(p) != 1 || p[0].Quantity != 0 || p[0].AtBroker == nil || p[0].AtBroker.Quantity != -shares(5) {
			t.Errorf("positions %+v, want none by the book and -5 at the broker", p)
		}
		if s, _ := l.e.Venue(); s.State != "ready" {
			t.Errorf("status: %+v, want ready", s)
		}
	})
}

// TestLiveFillDuringReport: shares are bought while a report is on its way that does not have
// them. That is no difference, and they can be sold at once.
func TestLiveFillDuringReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, slowly("Report", 2*time.Second))
		defer l.stop()
		time.Sleep(time.Minute)
		l.soon()
		time.Sleep(time.Second)
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(2)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if o, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, All: true}); err != nil || o.Quantity != shares(2) {
			t.Errorf("all of it: %s of %s, %v, want 2 sold", o.Status, o.Quantity, err)
		}
	})
}

// between is a broker at which something happens once while a report is read: after its open
// orders and before its positions.
type between struct {
	live.Broker
	mu sync.Mutex
	do func()
}

func (b *between) next(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.do = do
}

func (b *between) Report(ctx context.Context) (live.Report, error) {
	b.mu.Lock()
	do := b.do
	b.do = nil
	b.mu.Unlock()
	r, err := b.Broker.Report(ctx)
	if do == nil || err != nil {
		return r, err
	}
	do()
	later, err := b.Broker.Report(ctx)
	later.Open = r.Open
	return later, err
}

// TestLiveReportBeforeFill: a report has shares whose fill the book learns of after it. They
// do not count twice: a sale of more than the account holds is held to the limits.
func TestLiveReportBeforeFill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		during := &between{}
		l := startLive(t, v, func(o *Options) {
			o.Limits.PositionNotional, during.Broker, atVenue(o).Broker = shares(850), atVenue(o).Broker, during
		})
		defer l.stop()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(9)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		v.Drop(1)
		during.next(func() { v.Fill(o.ID, shares(9), shares(90)) })
		l.soon()
		time.Sleep(time.Second)
		l.heard(live.State{ID: o.BrokerID, ClientID: o.ID, Symbol: "AAA", Side: "buy", Type: "limit", Status: live.Filled, Word: "filled", Quantity: shares(9), Filled: shares(9), Average: shares(90)})
		if o, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, Quantity: shares(18), DryRun: true}); !book.IsRefusal(err, "max_position_notional") {
			t.Errorf("a sale of 18 where 9 are held: %s, %v, want max_position_notional", o.Status, err)
		}
		if o, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, All: true, DryRun: true}); err != nil || o.Quantity != shares(9) {
			t.Errorf("all of it: %+v, %v, want 9", o, err)
		}
	})
}

// TestLiveShortElsewhere: the account is short by what somebody else sold; it is listed,
// also once it was accepted, and an order that shrinks it is sent.
func TestLiveShortElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		v.Adjust("AAA", -shares(10))
		time.Sleep(2 * time.Minute)
		listed := func(when string, quantity int64) {
			t.Helper()
			if p := must(l.e.Positions(false)); len(p) != 1 || p[0].Symbol != "AAA" || p[0].AtBroker == nil || p[0].AtBroker.Quantity != shares(quantity) {
				t.Errorf("%s: positions %+v, want %d at the broker", when, p, quantity)
			}
		}
		listed("at first", -10)
		if closed, err := l.e.CloseAll(t.Context(), book.OrderRequest{Who: anyone(), Type: book.Market, All: true}, nil); err != nil || len(closed) != 0 {
			t.Errorf("closing all of the book: %+v, %v, want nothing", closed, err)
		}
		if _, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, Quantity: shares(1)}); !book.IsRefusal(err, "broker_differs") {
			t.Errorf("a sell that grows the short: %v, want broker_differs", err)
		}
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(11)}); !book.IsRefusal(err, "broker_differs") {
			t.Errorf("a buy that turns it around: %v, want broker_differs", err)
		}
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(1)}); err != nil {
			t.Errorf("a buy that shrinks it: %v", err)
		}
		time.Sleep(time.Second) // what is not known to be filled cannot be accepted
		if _, _, err := l.e.AcceptPositions(anyone()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		listed("once it was accepted", -9)
	})
}

// TestLiveSizes: at a broker a percentage is of its buying power or of the position, a risk is of its
// equity, a quantity is whole shares but where it takes parts of one, and no fee counts.
func TestLiveSizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New() // 100,000 to spend
		l := startLive(t, v)
		defer l.stop()
		for want, r := range map[string]book.OrderRequest{
			"111": {Side: book.Buy, Type: book.Limit, Price: shares(90), Share: shares(10)},                                                             // of 111.1
			"50":  {Side: book.Buy, Type: book.Limit, Price: shares(99), Risk: book.Stake{Amount: shares(254)}, StopLoss: book.Exit{Price: shares(94)}}, // of 50.8
			"200": {Side: book.Buy, Type: book.Limit, Price: shares(99), Risk: book.Stake{Percent: exact.One}, StopLoss: book.Exit{Price: shares(94)}},  // 1 % of 100,000
			"1.5": {Side: book.Buy, Type: book.Market, TimeInForce: book.Day, Notional: shares(150)},                                                    // parts of a share
			"2":   {Side: book.Buy, Type: book.Limit, Price: shares(95), Notional: shares(280)},                                                         // of 2.9
		} {
			r.DryRun = true
			if o, err := l.place(r); err != nil || o.Quantity.String() != want {
				t.Errorf("%+v: %s, %v, want %s", r, o.Quantity, err, want)
			}
		}
		v.Price("AAA", shares(90))
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(10)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if o, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, TimeInForce: book.Day, Share: shares(25), DryRun: true}); err != nil || o.Quantity.String() != "2.5" {
			t.Errorf("a quarter of the position: %+v, %v, want 2.5", o, err)
		}
		o, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Stop, Share: shares(25), Breakeven: true})
		if err != nil || o.Quantity.String() != "2" || show(o.StopPrice) != "90" {
			t.Errorf("a quarter in whole shares, at what was paid: %+v, %v, want a stop of 90 for 2", o, err)
		}
		time.Sleep(time.Second)
		if o, err = l.place(book.OrderRequest{Replaces: o.ID, StopPrice: shares(95)}); err != nil || o.Quantity.String() != "2" || show(o.StopPrice) != "95" || o.Side != book.Sell {
			t.Errorf("changed at the broker: %+v, %v, want a stop of 95 for 2", o, err)
		}
	})
}
