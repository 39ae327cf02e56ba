package trade

import (
	"context"
	"errors"
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
	"wick/market"
	"wick/trade/book"
	"wick/trade/live"
	"wick/trade/live/alpaca"
	"wick/trade/live/alpaca/alpacatest"
)

// How long wick waits for a broker, as docs/live.md says.
const (
	sendWithin      = 30 * time.Second // an intent that is older is not sent
	restPeriod      = 45 * time.Second // between two reports when all is well
	unknownPatience = time.Minute      // a lost order may still arrive
	legsPatience    = time.Minute      // exits may be missing
	differPatience  = 3 * time.Minute  // orders in doubt may explain a difference
)

// atBroker is an engine whose orders go to a venue in memory.
type atBroker struct {
	t     *testing.T
	venue *alpacatest.Venue
	disk  *journaltest.Disk
	e     *Engine
	tap   *tapped
	end   context.CancelFunc
	done  chan struct{}
}

// startLive opens an engine on a new disk and waits until the account was read.
// It must be called in a bubble.
func startLive(t *testing.T, v *alpacatest.Venue, options ...func(*Options)) *atBroker {
	l := &atBroker{t: t, venue: v, disk: journaltest.NewDisk()}
	l.start(options...)
	time.Sleep(time.Second)
	return l
}

// start opens an engine on the disk as it is.
func (l *atBroker) start(options ...func(*Options)) {
	l.t.Helper()
	o := liveOptions(l.t, l.venue, options...)
	l.tap = &tapped{Broker: atVenue(&o).Broker}
	atVenue(&o).Broker = l.tap
	var err error
	if l.e, err = openOn(o, l.disk); err != nil {
		l.t.Fatal(err)
	}
	l.run()
}

func (l *atBroker) run() {
	ctx, end := context.WithCancel(l.t.Context())
	l.end, l.done = end, make(chan struct{})
	go func(e *Engine) {
		defer close(l.done)
		e.venue.Run(ctx)
	}(l.e)
}

// brokerOf returns a client of the venue.
func brokerOf(t *testing.T, v *alpacatest.Venue) live.Broker {
	t.Helper()
	keys, err := alpaca.ParseKeys("APCA_API_KEY_ID=" + v.Keys[0] + "\nAPCA_API_SECRET_KEY=" + v.Keys[1])
	if err != nil {
		t.Fatal(err)
	}
	client, err := alpaca.New(alpaca.Options{URL: alpaca.PaperURL, Paper: true, Keys: keys, Client: v.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// liveOptions are those of an engine at the venue, with prices of 100.
func liveOptions(t *testing.T, v *alpacatest.Venue, options ...func(*Options)) Options {
	t.Helper()
	o := testOptions(t)
	o.files = journal.FileOptions{MaxRecords: 25}
	o.Venue = &live.Options{Broker: brokerOf(t, v), Name: "alpaca-paper", Account: v.Number}
	for _, set := range options {
		set(&o)
	}
	return o
}

// atVenue returns what o says of its broker.
func atVenue(o *Options) *live.Options { return o.Venue.(*live.Options) }

// tapped is a broker whose stream a test can speak in the place of.
type tapped struct {
	live.Broker
	mu        sync.Mutex
	connected func()
	deliver   func(live.State)
}

func (b *tapped) Stream(ctx context.Context, connected func(), deliver func(live.State)) error {
	b.mu.Lock()
	b.connected, b.deliver = connected, deliver
	b.mu.Unlock()
	return b.Broker.Stream(ctx, connected, deliver)
}

// heard has the stream tell of an order.
func (l *atBroker) heard(s live.State) {
	l.tap.mu.Lock()
	deliver := l.tap.deliver
	l.tap.mu.Unlock()
	deliver(s)
}

// soon has the account read now, as after a connect of the stream.
func (l *atBroker) soon() {
	l.tap.mu.Lock()
	connected := l.tap.connected
	l.tap.mu.Unlock()
	connected()
}

// stop ends the engine in order.
func (l *atBroker) stop() {
	l.end()
	<-l.done
	if err := l.e.Close(); err != nil {
		l.t.Error(err)
	}
}

// crash drops the engine and everything that was not synced, and starts another.
func (l *atBroker) crash(options ...func(*Options)) {
	left := l.disk.Cut(journaltest.Dropped)
	l.end()
	<-l.done
	l.e.Close() // writes to a disk that nobody reads again
	l.disk = left
	l.start(options...)
}

// place places an order of some shares of AAA and returns it.
func (l *atBroker) place(r book.OrderRequest) (book.Order, error) {
	r.Who, r.Symbol = anyone(), "AAA"
	return l.e.Place(l.t.Context(), r)
}

// order returns an order as it is now.
func (l *atBroker) order(id string) book.Order {
	l.t.Helper()
	o, err := l.e.Order(id)
	if err != nil {
		l.t.Fatal(err)
	}
	return o
}

// same checks that the book is what the venue has: each order, and the positions.
func (l *atBroker) same(when string) {
	l.t.Helper()
	venue := map[string]alpacatest.Order{}
	for _, o := range l.venue.Orders() {
		venue[o.ID] = o
		if o.Filled > o.Quantity {
			l.t.Errorf("%s: the venue executed %s of %s of order %s", when, o.Filled, o.Quantity, o.ClientID)
		}
	}
	var sum exact.Decimal
	for _, o := range must(l.e.Orders(false)) {
		there, ok := venue[o.BrokerID]
		switch {
		case o.BrokerID == "" && o.Status == book.StatusRejected:
			for _, v := range venue {
				if v.ClientID == o.ID {
					l.t.Errorf("%s: order %s is rejected and the venue has it: %+v", when, o.ID, v)
				}
			}
		case !ok:
			l.t.Errorf("%s: the venue does not have %+v", when, o)
		case o.FilledQuantity != there.Filled || o.Status != wantStatus(there):
			l.t.Errorf("%s: order %s is %s with %s filled, and at the venue %s with %s", when, o.ID, o.Status, o.FilledQuantity, there.Status, there.Filled)
		case there.Filled > 0 && *o.AveragePrice != there.Average:
			l.t.Errorf("%s: order %s was filled at %s, and at the venue at %s", when, o.ID, o.AveragePrice, there.Average)
		}
		sum += o.Side.Sign(o.FilledQuantity)
	}
	if held := l.venue.Position("AAA"); sum != held {
		l.t.Errorf("%s: the book holds %s and the venue %s", when, sum, held)
	}
}

// wantStatus returns what the book says of an order of the venue.
func wantStatus(o alpacatest.Order) book.OrderStatus {
	switch {
	case o.Status == "filled":
		return book.StatusFilled
	case o.Status == "canceled" || o.Status == "expired" || o.Status == "replaced":
		return book.StatusCancelled
	case o.Status == "rejected":
		return book.StatusRejected
	case o.Filled > 0:
		return book.StatusPartiallyFilled
	}
	return book.StatusOpen
}

// TestLiveOrders: at a broker that does as it is told, a market order fills, a limit order fills in
// part and is cancelled, and a client_order_id used again sends nothing more.
func TestLiveOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: 10 * exact.One, ClientOrderID: "one"})
		if err != nil || o.Broker != "alpaca-paper" || o.Account != v.Number || o.BrokerID == "" {
			t.Fatalf("market order: %+v, %v, want it at the broker", o, err)
		}
		time.Sleep(time.Second)
		if o = l.order(o.ID); o.Status != book.StatusFilled || o.FilledQuantity != 10*exact.One || *o.AveragePrice != 100*exact.One {
			t.Errorf("after its fill: %+v, want 10 filled at 100", o)
		}
		if again, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: 10 * exact.One, ClientOrderID: "one"}); err != nil || again.ID != o.ID {
			t.Errorf("the same client_order_id again: %+v, %v", again, err)
		}
		rest, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Limit, Quantity: 4 * exact.One, Price: 110 * exact.One})
		if err != nil || rest.Status != book.StatusOpen || rest.Reason != "" {
			t.Fatalf("limit: %+v, %v, want it open", rest, err)
		}
		v.Fill(rest.ID, exact.One, 110*exact.One)
		time.Sleep(time.Second)
		if rest = l.order(rest.ID); rest.Status != book.StatusPartiallyFilled || rest.FilledQuantity != exact.One {
			t.Errorf("after a fill in part: %+v, want 1 filled", rest)
		}
		if rest, err := l.e.CancelOrder(anyone(), rest.ID); err != nil || rest.Status != book.StatusCancelled {
			t.Errorf("cancel: %+v, %v, want it cancelled", rest, err)
		}
		if p := must(l.e.Positions(false)); len(p) != 1 || p[0].Quantity != 9*exact.One || p[0].Broker != "alpaca-paper" {
			t.Errorf("positions: %+v, want one of 9", p)
		}
		if n := v.Busiest(); n > 30 {
			t.Errorf("%d requests in a minute, want 30 at most", n)
		}
		l.same("at the end")
	})
}

// TestLiveDay: an order for the day says when it ends, by the exchange's clock,
// and ends when the broker says so, not by wick's own clock.
func TestLiveDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, end := alpacatest.New(), time.Now().Add(3*time.Hour)
		v.Closes = end
		l := startLive(t, v)
		defer l.stop()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: exact.One, TimeInForce: book.Day})
		if err != nil || o.ExpiresAt == nil || !o.ExpiresAt.Equal(end) {
			t.Fatalf("a day order: %+v, %v, want its end by the clock of the exchange", o, err)
		}
		time.Sleep(4 * time.Hour)
		l.e.expireAll()
		if o = l.order(o.ID); o.Status != book.StatusOpen {
			t.Errorf("before the broker ended it: %+v, want it open", o)
		}
		l.venue.End(o.ID, "expired")
		time.Sleep(time.Second)
		if o = l.order(o.ID); o.Status != book.StatusCancelled || o.Reason != "at the broker: expired" {
			t.Errorf("after the broker ended it: %+v, want it cancelled with that reason", o)
		}
	})
}

// TestLiveBracket: the exits are the broker's, and the book follows them. Replacing
// changes an order at the broker.
func TestLiveBracket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		entry, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: 99 * exact.One, Quantity: 2 * exact.One, StopLoss: book.Exit{Percent: 3 * exact.One}, TakeProfit: book.Exit{Price: 120 * exact.One}})
		if err != nil || entry.Status != book.StatusOpen {
			t.Fatalf("entry: %+v, %v, want it open", entry, err)
		}
		if sl := l.order(entry.ID + "-sl"); *sl.StopPrice != 9603*exact.One/100 || sl.Role != book.RoleStopLoss || sl.Reason != "at the broker: held" {
			t.Errorf("stop_loss: %+v, want it at 96.03", sl) // three percent below 99
		}
		v.Fill(entry.ID, 2*exact.One, 99*exact.One)
		time.Sleep(time.Second)
		l.same("after the entry")
		profit := l.order(entry.ID + "-tp")
		moved, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Limit, Price: 115 * exact.One, Quantity: 2 * exact.One, Replaces: profit.ID})
		if err != nil || moved.Role != book.RoleTakeProfit {
			t.Fatalf("replaced take_profit: %+v, %v", moved, err)
		}
		time.Sleep(time.Second)
		l.same("after the replacement")
		v.Fill(moved.ID, 2*exact.One, 115*exact.One)
		time.Sleep(time.Second)
		if sl := l.order(entry.ID + "-sl"); sl.Status != book.StatusCancelled {
			t.Errorf("the stop_loss after the take_profit was filled: %+v, want it cancelled", sl)
		}
		l.same("at the end")

		l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: 2 * exact.One})
		time.Sleep(time.Second)
		pair, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Limit, Price: 120 * exact.One, Quantity: 2 * exact.One, OCO: book.OCO{StopPrice: 90 * exact.One}})
		if err != nil || pair.Role != book.RoleOCO {
			t.Fatalf("oco: %+v, %v", pair, err)
		}
		v.Fill(pair.ID, 2*exact.One, 120*exact.One)
		time.Sleep(time.Second)
		if stop := l.order(pair.ID + "-oco"); stop.Status != book.StatusCancelled {
			t.Errorf("the stop beside a limit that was filled: %+v, want it cancelled", stop)
		}
		l.same("after the pair")
	})
}

// TestLiveUnknown: an answer is lost; the order is never sent again; asking tells
// what became of it.
func TestLiveUnknown(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault alpacatest.Fault
		posts int
		want  book.OrderStatus
		after time.Duration
	}{
		{"taken, and the answer lost", alpacatest.Fault{Unread: true}, 1, book.StatusFilled, 10 * time.Second},
		{"never arrived", alpacatest.Fault{Lost: true}, 0, book.StatusRejected, 2 * time.Minute},
		{"arrives half a minute later", alpacatest.Fault{Late: 30 * time.Second}, 1, book.StatusFilled, time.Minute},
		{"a server error", alpacatest.Fault{Status: 503}, 0, book.StatusRejected, 2 * time.Minute},
		{"a page in place of an answer", alpacatest.Fault{HTML: true}, 0, book.StatusRejected, 2 * time.Minute},
		{"too many requests", alpacatest.Fault{Status: 429}, 0, book.StatusRejected, 0},
		{"forbidden", alpacatest.Fault{Status: 403}, 0, book.StatusRejected, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := alpacatest.New()
				l := startLive(t, v)
				defer l.stop()
				var sent atomic.Int64
				v.Set(func(v *alpacatest.Venue) {
					v.Faults = func(r *http.Request) alpacatest.Fault {
						if r.Method == "POST" {
							sent.Add(1)
							return c.fault
						}
						return alpacatest.Fault{}
					}
				})
				o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: exact.One})
				if err != nil {
					t.Fatal(err)
				}
				if told := o.BrokerID != ""; c.after > 0 && !told && (o.Status != book.StatusOpen || o.ReasonCode != book.AnswerLost) { // the stream may have told of it
					t.Errorf("at once: %+v, want it open with an unknown outcome", o)
				}
				time.Sleep(c.after)
				if o = l.order(o.ID); o.Status != c.want {
					t.Errorf("after %s: %+v, want %s", c.after, o, c.want)
				}
				if n := len(v.Orders()); n != c.posts || sent.Load() != 1 {
					t.Errorf("the venue has %d orders of %d requests, want %d of 1", n, sent.Load(), c.posts)
				}
				if s, _ := l.e.Venue(); len(s.Unknown) != 0 {
					t.Errorf("%v are still in doubt, want none", s.Unknown)
				}
				l.same("at the end")
			})
		})
	}
}

// TestLiveStart: no order is sent before the account was read; orders of others
// are shown and not touched; a position that is not the book's keeps it reducing
// until the owner accepts it.
func TestLiveStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		var down atomic.Bool
		down.Store(true)
		v.Faults = func(*http.Request) alpacatest.Fault {
			if down.Load() {
				return alpacatest.Fault{Status: 500}
			}
			return alpacatest.Fault{}
		}
		foreign := v.Foreign("AAA", "buy", exact.One, 50*exact.One)
		v.Adjust("AAA", 5*exact.One)
		l := startLive(t, v)
		defer l.stop()
		down.Store(false)
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: exact.One}); !book.IsRefusal(err, "broker_not_ready") {
			t.Errorf("before the account was read: %v, want broker_not_ready", err)
		}
		if got := l.e.Status().Trading; got != book.Halted {
			t.Errorf("before the account was read trading is %s, want halted", got)
		}
		time.Sleep(time.Minute)
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: exact.One}); !book.IsRefusal(err, "broker_differs") {
			t.Errorf("with a position that is not the book's: %v, want broker_differs", err)
		}
		status, _ := l.e.Venue()
		if status.State != "differs" || len(status.Differs()) != 1 || status.Differs()[0] != (book.Difference{Symbol: "AAA", Broker: 5 * exact.One}) || len(status.External) != 1 {
			t.Errorf("status: %+v, want a difference of 5 AAA and one external order", status)
		}
		orders, err := l.e.Find(OrderFilter{Status: book.StatusOpen})
		if err != nil || len(orders) != 1 || orders[0].ClientOrderID != foreign || !strings.HasPrefix(orders[0].ID, "external-") {
			t.Errorf("open orders: %+v, %v, want the external one", orders, err)
		}
		if one, err := l.e.Order(orders[0].ID); err != nil || one.ClientOrderID != foreign {
			t.Errorf("the external order by its id: %+v, %v", one, err)
		}
		if _, err := l.e.CancelOrder(anyone(), orders[0].ID); !book.IsRefusal(err, "unknown_order") || !strings.Contains(err.Error(), "can only be changed or cancelled at alpaca-paper itself") {
			t.Errorf("cancel of an external order: %v, want unknown_order and where it can be cancelled", err)
		}
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: exact.One, Replaces: orders[0].ID}); !book.IsRefusal(err, "unknown_order") || !strings.Contains(err.Error(), "can only be changed or cancelled at alpaca-paper itself") {
			t.Errorf("replacing an external order: %v, want unknown_order and where it can be changed", err)
		}
		l.e.CancelOrders(anyone(), "")
		if open := v.Open(); len(open) != 1 {
			t.Errorf("open at the venue: %v, want the external order alone", open)
		}
		if accepted, _, err := l.e.AcceptPositions(anyone()); err != nil || len(accepted) != 1 {
			t.Errorf("accepted %+v, %v, want one difference", accepted, err)
		}
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: exact.One}); err != nil {
			t.Errorf("an order after the owner accepted the difference: %v", err)
		}
		l.crash()
		time.Sleep(time.Minute)
		if status, _ := l.e.Venue(); status.State != "ready" {
			t.Errorf("after a restart: %+v, want ready", status)
		}
	})
}

// TestLiveAcceptEarly: as long as it is not known what differs, acceptance does not say that
// nothing does: before the account was read, and after one report with a difference.
func TestLiveAcceptEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		v.Set(func(v *alpacatest.Venue) {
			v.Faults = func(*http.Request) alpacatest.Fault { return alpacatest.Fault{Status: 500} }
		})
		l := startLive(t, v)
		defer l.stop()
		early := func(when string) {
			t.Helper()
			if differed, late, err := l.e.AcceptPositions(anyone()); !book.IsRefusal(err, "broker_not_ready") {
				t.Errorf("%s: accepted %v, %v, %v, want broker_not_ready", when, differed, late, err)
			}
		}
		early("before the account was read")
		v.Set(func(v *alpacatest.Venue) { v.Faults = nil })
		time.Sleep(time.Minute)
		if differed, late, err := l.e.AcceptPositions(anyone()); err != nil || len(differed)+len(late) != 0 {
			t.Errorf("of an account without positions: %v, %v, %v, want nothing", differed, late, err)
		}
		time.Sleep(time.Minute)
		v.Adjust("AAA", exact.One)
		l.soon()
		time.Sleep(time.Second)
		early("after one report with a difference")
	})
}

// TestLiveAcceptFails: positions whose acceptance could not be written down are not accepted,
// neither at once nor by the next report: after a restart they would differ again.
func TestLiveAcceptFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		v.Adjust("AAA", 5*exact.One)
		l := startLive(t, v)
		time.Sleep(2 * time.Minute)
		differs := func(when string) {
			t.Helper()
			if status, _ := l.e.Venue(); status.State != "differs" || len(status.Differs()) != 1 {
				t.Errorf("%s: %+v, want a difference", when, status)
			}
		}
		differs("before")
		l.disk.FailAt, l.disk.Forever = l.disk.Calls+1, true
		if accepted, _, err := l.e.AcceptPositions(anyone()); err == nil {
			t.Errorf("accepted %+v on a disk that fails", accepted)
		}
		differs("after the disk failed")
		time.Sleep(2 * time.Minute)
		differs("after the next reports")
		l.end()
		<-l.done
	})
}

// TestLiveIntentFails: an order whose intent could not be taken down is not sent, and no
// doubt about it is left behind: nothing would ever end it.
func TestLiveIntentFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		l.e.journal.Hold(journal.ErrStorage)
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: exact.One}); !errors.Is(err, journal.ErrStorage) {
			t.Errorf("an order without a journal: %v, want %v", err, journal.ErrStorage)
		}
		l.end()
		<-l.done
		if s, _ := l.e.Venue(); len(v.Open()) != 0 || len(s.Unknown) != 0 {
			t.Errorf("%v at the venue, and %v in doubt, want none", v.Open(), s.Unknown)
		}
	})
}

// TestLiveHalt: halted, no order is sent; what rests at the broker stays there, is
// filled if the market comes to it, and can be cancelled. The refusal says so.
func TestLiveHalt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		var rests [2]book.Order
		for i := range rests {
			var err error
			if rests[i], err = l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: exact.One}); err != nil {
				t.Fatal(err)
			}
		}
		haltByHand(t, l.e)
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: exact.One}); !book.IsRefusal(err, "trading_halted") || !strings.Contains(err.Error(), "rest at alpaca-paper stay there and can be filled") {
			t.Errorf("an order while halted: %v, want trading_halted", err)
		}
		if n := len(v.Open()); n != 2 {
			t.Errorf("%d orders are open at the venue, want 2", n)
		}
		v.Fill(rests[0].ID, exact.One, 90*exact.One)
		time.Sleep(time.Second)
		if o := l.order(rests[0].ID); o.Status != book.StatusFilled {
			t.Errorf("the order that the market reached while halted: %+v, want it filled", o)
		}
		if o, err := l.e.CancelOrder(anyone(), rests[1].ID); err != nil || o.Status != book.StatusCancelled {
			t.Errorf("the order that was cancelled while halted: %+v, %v", o, err)
		}
		l.same("at the end")
	})
}

// TestLiveCancelEverything: the owner has every order of the account cancelled while one of
// wick's is still on its way; it is cancelled as soon as it is there.
func TestLiveCancelEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, slowly("Submit", 5*time.Second))
		defer l.stop()
		v.Foreign("AAA", "buy", exact.One, 50*exact.One)
		answer := make(chan book.Order)
		go func() {
			o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: exact.One})
			if err != nil {
				t.Error(err)
			}
			answer <- o
		}()
		time.Sleep(time.Second)
		haltByHand(t, l.e)
		if err := l.e.CancelEverything(t.Context(), anyone()); err != nil || len(v.Open()) != 0 {
			t.Errorf("every order cancelled: %v, %v still open", err, v.Open())
		}
		if o := <-answer; o.Status != book.StatusCancelled || len(v.Open()) != 0 || len(v.Orders()) != 2 {
			t.Errorf("the order that was on its way: %+v, open at the venue: %v, want it cancelled", o, v.Open())
		}
		l.same("at the end")
	})
}

// TestLiveStartQuiet: a start that finds everything as it was tells the owner
// nothing. A difference that stays is told once, and so is a broker that cannot be
// read for minutes.
func TestLiveStartQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, told := alpacatest.New(), &list{}
		with := func(o *Options) { o.Outbox = told }
		l := startLive(t, v, with)
		defer func() { l.stop() }()
		again := func(meanwhile func(), want ...string) {
			t.Helper()
			l.stop()
			meanwhile()
			before := len(told.steps)
			l.start(with)
			time.Sleep(4 * time.Minute)
			synctest.Wait() // what was told is in the list
			got := slices.Clone(told.steps[before:])
			for i := range got {
				_, got[i], _ = strings.Cut(got[i], " ") // without the id
			}
			if !slices.Equal(got, want) {
				t.Errorf("told %q, want %q", got, want)
			}
		}
		nothing := func() {}
		again(nothing)
		l.crash(with) // at once
		again(nothing)
		again(func() { v.Adjust("AAA", exact.One) }, "reducing")
		again(nothing) // still so
		if _, _, err := l.e.AcceptPositions(anyone()); err != nil {
			t.Fatal(err)
		}
		again(nothing)
		again(func() {
			v.Set(func(v *alpacatest.Venue) {
				v.Faults = func(*http.Request) alpacatest.Fault { return alpacatest.Fault{Status: 500} }
			})
		}, "halted")
		again(func() { v.Set(func(v *alpacatest.Venue) { v.Faults = nil }) }, "active")
	})
}

// TestLiveDeadMan: when the stream is away for as long as the owner said, what
// rests is cancelled, and what is placed until it is back, and nothing of others. A market
// order does not rest.
func TestLiveDeadMan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, func(o *Options) { atVenue(o).DeadMan = 5 * time.Minute })
		defer l.stop()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: exact.One})
		if err != nil {
			t.Fatal(err)
		}
		foreign := v.Foreign("AAA", "buy", exact.One, 50*exact.One)
		time.Sleep(time.Hour)
		if o = l.order(o.ID); o.Status != book.StatusOpen {
			t.Errorf("while the stream is there: %+v, want it open", o)
		}
		v.Set(func(v *alpacatest.Venue) {
			v.Faults = func(r *http.Request) alpacatest.Fault {
				return alpacatest.Fault{Lost: r.URL.Path == "/v2/events/trades"}
			}
		})
		v.CutStreams()
		time.Sleep(4 * time.Minute)
		if o = l.order(o.ID); o.Status != book.StatusOpen {
			t.Errorf("four minutes after the stream ended: %+v, want it open", o)
		}
		time.Sleep(3 * time.Minute)
		if o = l.order(o.ID); o.Status != book.StatusCancelled || o.ReasonCode != book.DeadMan {
			t.Errorf("seven minutes after the stream ended: %+v, want it cancelled by the switch", o)
		}
		if o, err = l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: exact.One}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Minute)
		if o = l.order(o.ID); o.Status != book.StatusCancelled || o.ReasonCode != book.DeadMan {
			t.Errorf("an order that was placed while the stream was away: %+v, want it cancelled by the switch", o)
		}
		v.Set(func(v *alpacatest.Venue) { v.Hold = true })
		if o, err = l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: exact.One}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Minute)
		if o = l.order(o.ID); o.Status != book.StatusOpen {
			t.Errorf("a market order that is not filled yet: %+v, want it open", o)
		}
		v.Fill(o.ID, exact.One, 100*exact.One)
		v.Set(func(v *alpacatest.Venue) { v.Faults = nil })
		time.Sleep(2 * time.Minute)
		if o, err = l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: exact.One}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if o, err := l.e.CancelOrder(anyone(), o.ID); err != nil || o.Status != book.StatusCancelled || o.Reason != "" {
			t.Errorf("cancelled by a client once the stream is back: %+v, %v, want no reason", o, err)
		}
		if open := v.Open(); len(open) != 1 || open[0] != foreign {
			t.Errorf("open at the venue: %v, want the external order alone", open)
		}
	})
}

// TestLiveRefusalsWaitForDisk: as on paper, who would replace an order whose intent is still
// being written is told that it is not at the broker yet only when the intent is on disk.
func TestLiveRefusalsWaitForDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLive(t, alpacatest.New())
		r := book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: exact.One}
		a, err := l.e.venue.Prepare(t.Context(), r.Symbol)
		if err == nil {
			err = l.e.ensure(t.Context(), r.Symbol)
		}
		if err != nil {
			t.Fatal(err)
		}
		var o book.Placed
		seq, _, err := l.e.locked(func(*book.State) (err error) {
			o, _, err = l.e.accept(r, book.Inquiry{Answered: true}, a)
			return err
		})
		if err != nil || l.e.Applied() >= seq {
			t.Fatalf("record %d is to be written and %d are: %v", seq, l.e.Applied(), err)
		}
		r.Replaces = o.ID
		if _, err := l.place(r); !book.IsRefusal(err, "broker_rule") || l.e.Applied() < seq {
			t.Errorf("got %v with %d records written, want broker_rule with %d", err, l.e.Applied(), seq)
		}
		l.stop()
	})
}

// TestLiveWithoutPrice: as on paper, nothing is sent while the source tells no price, even
// if the last one is seconds old: the limits would be judged by a price that the market may
// have left.
func TestLiveWithoutPrice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var silent error
		l := startLive(t, alpacatest.New(), func(o *Options) {
			o.Feed = quoting{quote: func() (market.Quote, error) {
				return market.Quote{Symbol: "AAA", Price: 100, At: time.Now().UnixMilli(), Source: "test"}, silent
			}}
		})
		buy := book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: exact.One}
		if o, err := l.place(buy); err != nil {
			t.Fatalf("with a price: %+v, %v", o, err)
		}
		silent = errors.New("test answered 503")
		if o, err := l.place(buy); !book.IsRefusal(err, "no_price") || !strings.Contains(err.Error(), "503") || len(l.venue.Orders()) != 1 {
			t.Errorf("without one: %+v, %v, %d at the venue", o, err, len(l.venue.Orders()))
		}
		l.stop()
	})
}

// TestLiveDailyLoss: an account that has lost as much as it may since the close of
// the day before takes only orders that shrink a position. One that cannot be read
// for some minutes takes none.
func TestLiveDailyLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, func(o *Options) { o.Limits.DailyLoss = 50 * exact.One })
		defer l.stop()
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: 2 * exact.One}); err != nil {
			t.Fatal(err)
		}
		v.Equity(950*exact.One, 1000*exact.One)
		time.Sleep(time.Minute)
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: exact.One}); !book.IsRefusal(err, "max_daily_loss") {
			t.Errorf("after a loss of 50: %v, want max_daily_loss", err)
		}
		if _, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, Quantity: exact.One}); err != nil {
			t.Errorf("closing after a loss: %v", err)
		}
		v.Set(func(v *alpacatest.Venue) {
			v.Faults = func(r *http.Request) alpacatest.Fault { return alpacatest.Fault{Status: 503} }
		})
		time.Sleep(2 * time.Minute) // the last report is up to 45 seconds older
		if status, _ := l.e.Venue(); status.State == "closed" {
			t.Errorf("two minutes after the last report: %+v, want it open", status)
		}
		time.Sleep(time.Minute + 10*time.Second)
		if status, _ := l.e.Venue(); status.State != "closed" || !strings.Contains(status.Closed, "cannot be read") {
			t.Errorf("three minutes after it: %+v, want closed", status)
		}
	})
}

// TestLiveDailyLossAfterOutage: a broker that could not be read for a while, or positions
// that differ, do not end what the loss of the day has begun, even if the account has
// recovered since. The owner is told of the difference all the same, once.
func TestLiveDailyLossAfterOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, told := alpacatest.New(), &list{}
		l := startLive(t, v, func(o *Options) { o.Limits.DailyLoss, o.Outbox = 50*exact.One, told })
		defer l.stop()
		refused := func(when string) {
			t.Helper()
			if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: exact.One}); !book.IsRefusal(err, "max_daily_loss") {
				t.Errorf("%s: got %v, want max_daily_loss", when, err)
			}
		}
		outage := func(meanwhile func()) {
			t.Helper()
			v.Set(func(v *alpacatest.Venue) {
				v.Faults = func(r *http.Request) alpacatest.Fault { return alpacatest.Fault{Status: 503} }
			})
			meanwhile()
			time.Sleep(5 * time.Minute)
			if status, _ := l.e.Venue(); status.State != "closed" || l.e.Status().Trading != book.Halted {
				t.Fatalf("while nothing can be read: %+v, trading is %s, want closed and halted", status, l.e.Status().Trading)
			}
			v.Set(func(v *alpacatest.Venue) { v.Faults = nil })
		}
		// differs waits until the difference is told and accepts it.
		differs := func(before int, want ...string) {
			t.Helper()
			time.Sleep(4 * time.Minute)
			synctest.Wait() // what was told is in the list
			got := slices.Clone(told.steps[before:])
			for i := range got {
				_, got[i], _ = strings.Cut(got[i], " ") // without the id
			}
			if !slices.Equal(got, want) {
				t.Errorf("told %q, want %q", got, want)
			}
			if _, _, err := l.e.AcceptPositions(anyone()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Minute)
			refused("after the owner accepted a difference")
		}
		v.Equity(950*exact.One, 1000*exact.One)
		time.Sleep(time.Minute)
		refused("after a loss of 50")
		v.Equity(1000*exact.One, 1000*exact.One)
		time.Sleep(time.Minute)
		refused("after the account has recovered")
		outage(func() {})
		time.Sleep(2 * time.Minute)
		refused("after the outage")
		before := len(told.steps)
		v.Adjust("AAA", exact.One)
		differs(before, "reducing")
		before = len(told.steps)
		outage(func() { v.Adjust("AAA", exact.One) })
		differs(before, "halted", "reducing")
	})
}

// TestLiveRefused: what a broker elsewhere cannot do is refused, and nothing is sent.
func TestLiveRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, func(o *Options) { o.Limits.OrderNotional = 1_000_000 * exact.One })
		defer l.stop()
		for code, r := range map[string]book.OrderRequest{
			"post_only":     {Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: exact.One, PostOnly: true},
			"gtd":           {Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: exact.One, TimeInForce: book.GTD, ExpiresAt: time.Now().Add(time.Hour)},
			"steps of":      {Side: book.Buy, Type: book.Limit, Price: 90*exact.One + 1, Quantity: exact.One},
			"can spend":     {Side: book.Buy, Type: book.Limit, Price: 99 * exact.One, Quantity: 1060 * exact.One},
			"worth 108000":  {Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: 900 * exact.One, OCO: book.OCO{StopPrice: 120 * exact.One}},
			"of what is h":  {Side: book.Sell, Type: book.Market, Quantity: exact.One / 2, TimeInForce: book.Day},
			"the least is ": {Side: book.Buy, Type: book.Limit, Price: 99 * exact.One, Notional: 10 * exact.One},
			"stop_passed":   {Side: book.Sell, Type: book.Limit, Price: 120 * exact.One, Quantity: exact.One, OCO: book.OCO{StopPrice: 101 * exact.One}},
			"a stop of 600": {Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: exact.One, OCO: book.OCO{StopPrice: 600 * exact.One}},
		} {
			if _, err := l.place(r); err == nil || !strings.Contains(err.Error(), code) {
				t.Errorf("an order that must be refused with %q: %v", code, err)
			}
		}
		dry, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: exact.One, DryRun: true})
		if err != nil || dry.ID != "" || dry.Account != v.Number || dry.AveragePrice == nil {
			t.Errorf("dry run: %+v, %v", dry, err)
		}
		if n := len(v.Orders()); n != 0 {
			t.Errorf("%d orders were sent, want none", n)
		}
	})
}

// TestLiveStamp: a directory belongs to one broker and account.
func TestLiveStamp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		l.stop()
		for name, change := range map[string]func(*Options){
			"paper":           func(o *Options) { o.Venue = nil },
			"another account": func(o *Options) { atVenue(o).Account = "X" },
			"another broker":  func(o *Options) { atVenue(o).Name = "alpaca" },
		} {
			if _, err := openOn(liveOptions(t, v, change), l.disk); !errors.Is(err, ErrStamp) {
				t.Errorf("%s: %v, want ErrStamp", name, err)
			}
		}
		l.start(func(o *Options) { atVenue(o).Account = "" }) // the broker does not answer
		time.Sleep(time.Second)
		v.Set(func(v *alpacatest.Venue) { v.Number = "X" }) // other keys in the same file
		time.Sleep(time.Minute)
		if status, _ := l.e.Venue(); status.State != "closed" || !strings.Contains(status.Closed, "account X") {
			t.Errorf("with keys of another account: %+v, want closed", status)
		}
		l.stop()
		paper := journaltest.NewDisk()
		e, err := openOn(testOptions(t), paper)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Place(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One}); err != nil {
			t.Fatal(err)
		}
		e.Close()
		if _, err := openOn(liveOptions(t, v), paper); !errors.Is(err, ErrStamp) {
			t.Errorf("a broker on a directory with paper orders: %v, want ErrStamp", err)
		}
		if _, err := openOn(liveOptions(t, v, func(o *Options) { atVenue(o).Account = "" }), journaltest.NewDisk()); err == nil {
			t.Error("a new directory was opened for an account that nobody named")
		}
	})
}

// TestLiveLate: a request arrives long after it was given up, which no venue should let
// happen, and is executed; the book has what the broker has, and says that something is
// wrong until the owner has looked at it.
func TestLiveLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		v.Set(func(v *alpacatest.Venue) {
			v.Faults = func(r *http.Request) alpacatest.Fault {
				if r.Method == "POST" {
					return alpacatest.Fault{Late: 5 * time.Minute}
				}
				return alpacatest.Fault{}
			}
		})
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: exact.One})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Minute)
		if o = l.order(o.ID); o.Status != book.StatusRejected {
			t.Errorf("after four minutes: %+v, want it rejected", o)
		}
		time.Sleep(4 * time.Minute)
		if status, _ := l.e.Venue(); status.State != "differs" || l.e.Status().Trading != book.Reducing {
			t.Errorf("after it was executed: %+v, trading is %s, want differs and reducing", status, l.e.Status().Trading)
		}
		l.same("after it was executed")
		if _, _, err := l.e.AcceptPositions(anyone()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if status, _ := l.e.Venue(); status.State != "ready" || l.e.Status().Trading != book.Active {
			t.Errorf("after the owner accepted it: %+v, trading is %s, want ready and active", status, l.e.Status().Trading)
		}
	})
}

// TestLiveCancelTooLate: an order is filled while its cancel is on the way. The
// broker refuses the cancel, and the answer says what became of the order.
func TestLiveCancelTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: 2 * exact.One})
		if err != nil {
			t.Fatal(err)
		}
		v.Set(func(v *alpacatest.Venue) {
			v.Faults = func(r *http.Request) alpacatest.Fault {
				if r.Method == "DELETE" {
					v.Fill(o.ID, 2*exact.One, 90*exact.One)
				}
				return alpacatest.Fault{}
			}
		})
		if _, err := l.e.CancelOrder(anyone(), o.ID); !book.IsRefusal(err, "order_filled") && !book.IsRefusal(err, "broker_rule") {
			t.Errorf("the cancel of a filled order: %v, want order_filled or broker_rule", err)
		}
		time.Sleep(10 * time.Second)
		if o = l.order(o.ID); o.Status != book.StatusFilled {
			t.Errorf("after the cancel: %+v, want it filled", o)
		}
		if _, err := l.e.CancelOrder(anyone(), o.ID); !book.IsRefusal(err, "order_filled") {
			t.Errorf("a second cancel: %v, want order_filled", err)
		}
		l.same("at the end")
	})
}

// TestLiveOtherAccount: nothing is learnt of the orders of this book from another
// account, which knows none of them.
func TestLiveOtherAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		v.Set(func(v *alpacatest.Venue) {
			v.Faults = func(r *http.Request) alpacatest.Fault { return alpacatest.Fault{Lost: r.Method == "POST"} }
		})
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: exact.One})
		if err != nil || !o.Unknown() {
			t.Fatalf("the order whose answer is lost: %+v, %v", o, err)
		}
		l.venue = alpacatest.New()
		l.venue.Number = "PA3SOMEBODYELSE"
		l.crash(func(o *Options) { atVenue(o).Account = "" }) // which could not be asked for at the start
		defer func() { l.stop() }()
		time.Sleep(5 * time.Minute)
		if o = l.order(o.ID); !o.Unknown() {
			t.Errorf("after reports of another account: %+v, want its outcome still unknown", o)
		}
		if s, _ := l.e.Venue(); s.State != "closed" || !strings.Contains(s.Closed, "PA3SOMEBODYELSE") {
			t.Errorf("status: %+v, want closed", s)
		}
	})
}

// slow is a broker whose requests are held up for a while before they are sent.
type slow struct {
	live.Broker
	by time.Duration
}

func (s slow) Submit(ctx context.Context, o live.Order) (live.State, error) {
	time.Sleep(s.by)
	return s.Broker.Submit(ctx, o)
}

// TestLiveSlow: an order is not given up while it is being sent, also if that takes
// ten minutes: an order that was given up and then sent would be executed and not counted. An
// order that could not be written down in time is not sent at all.
func TestLiveSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, func(o *Options) { atVenue(o).Broker = slow{atVenue(o).Broker, 10 * time.Minute} })
		defer l.stop()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: exact.One})
		if err != nil || o.BrokerID == "" {
			t.Errorf("an order that was held up: %+v, %v, want it at the broker", o, err)
		}
		time.Sleep(time.Second)
		l.same("at the end")

		a, err := l.e.venue.Prepare(t.Context(), "AAA")
		if err != nil {
			t.Fatal(err)
		}
		var p book.Placed
		if err := l.e.Do(func(*book.State) (err error) {
			p, _, err = l.e.accept(book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One}, book.Inquiry{Answered: true}, a)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(sendWithin) // the disk takes that long
		if o, err := a.Submit(t.Context(), p); err != nil || o.Status != book.StatusRejected || !strings.Contains(o.Reason, "nothing was sent") || len(v.Orders()) != 1 {
			t.Errorf("after the disk took too long: %+v, %v, %d orders at the venue, want it rejected and only the first sent", o, err, len(v.Orders()))
		}
	})
}

// TestLiveBust: the exchange takes back a fill; what the book has counted stays in
// it; the position differs, which is seen although the order is in doubt, and the
// order can end.
func TestLiveBust(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: 2 * exact.One})
		if err != nil {
			t.Fatal(err)
		}
		v.Fill(o.ID, exact.One, 90*exact.One)
		time.Sleep(time.Second)
		v.Bust(o.ID)
		time.Sleep(5 * time.Minute)
		if s, _ := l.e.Venue(); s.State != "differs" || l.e.Status().Trading != book.Reducing {
			t.Errorf("after the fill was taken back: %+v, trading is %s, want differs and reducing", s, l.e.Status().Trading)
		}
		v.End(o.ID, "canceled")
		time.Sleep(time.Minute)
		if o = l.order(o.ID); o.Status != book.StatusCancelled || o.FilledQuantity != exact.One || !strings.Contains(o.Reason, "took back 1 of 1") {
			t.Errorf("after the order ended: %+v, want it cancelled with 1 filled", o)
		}
		if _, _, err := l.e.AcceptPositions(anyone()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if s, _ := l.e.Venue(); s.State != "ready" {
			t.Errorf("after the owner accepted it: %+v, want ready", s)
		}
	})
}

// TestLiveManyFills: an order that waits for long in an account with thousands of
// fills costs no more requests than another, and its own fill is found.
func TestLiveManyFills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: 90 * exact.One, Quantity: exact.One})
		if err != nil {
			t.Fatal(err)
		}
		orders := 41
		if testing.Short() {
			orders = 11
		}
		for range orders {
			foreign := v.Foreign("BBB", "buy", 100*exact.One, 10*exact.One)
			for range 100 {
				v.Fill(foreign, exact.One, 10*exact.One)
			}
		}
		time.Sleep(10 * time.Minute)
		if s, _ := l.e.Venue(); s.State != "differs" || v.Busiest() > 60 { // BBB is held, and not by this book
			t.Errorf("%+v, %d requests in a minute, want differs and 60 at most", s, v.Busiest())
		}
		v.Drop(1)
		v.Fill(o.ID, exact.One, 89*exact.One)
		time.Sleep(50 * time.Second)
		if o = l.order(o.ID); o.Status != book.StatusFilled || *o.AveragePrice != 89*exact.One {
			t.Errorf("after its fill: %+v, want it filled at 89", o)
		}
	})
}

// TestLiveSameID: somebody else's order has the id of one of ours that never
// arrived; ours stays in doubt until the broker has said so twice, a minute after the request
// was given up, and the other is not taken for it.
func TestLiveSameID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		v.Set(func(v *alpacatest.Venue) {
			v.Faults = func(r *http.Request) alpacatest.Fault { return alpacatest.Fault{Lost: r.Method == "POST"} }
		})
		o, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Limit, Price: 110 * exact.One, Quantity: exact.One})
		if err != nil || !o.Unknown() {
			t.Fatalf("the order whose answer is lost: %+v, %v", o, err)
		}
		v.ForeignAs(o.ID, "AAA", "buy", 2*exact.One, 90*exact.One)
		time.Sleep(30 * time.Second)
		if o = l.order(o.ID); !o.Unknown() || o.Reason != "outcome unknown: alpaca-paper has another order by its id (buy 2 AAA); it is being asked" {
			t.Errorf("our order at once: %s, %q, want it in doubt", o.Status, o.Reason)
		}
		time.Sleep(time.Minute)
		if o = l.order(o.ID); o.Status != book.StatusRejected || !strings.Contains(o.Reason, "id of another order") {
			t.Errorf("our order: %+v, want it rejected because of the other", o)
		}
		if s, _ := l.e.Venue(); len(s.External) != 1 || s.State != "ready" {
			t.Errorf("status: %+v, want ready with one external order", s)
		}
	})
}

// mistaken is a broker that changes what is said of an order, in the answer to a submit or in
// the stream.
type mistaken struct {
	live.Broker
	change           func(*live.State)
	answers, streams bool
}

func (m mistaken) Submit(ctx context.Context, o live.Order) (live.State, error) {
	s, err := m.Broker.Submit(ctx, o)
	if m.answers {
		m.change(&s)
	}
	return s, err
}

func (m mistaken) Stream(ctx context.Context, connected func(), deliver func(live.State)) error {
	return m.Broker.Stream(ctx, connected, func(s live.State) {
		if m.streams {
			m.change(&s)
		}
		deliver(s)
	})
}

// TestLiveMistaken: the answer to an order, or an event, names another symbol, side or
// quantity, and the order was executed all the same; it is never said that it was not: its
// outcome is unknown until the broker, asked by our id, says what became of it.
func TestLiveMistaken(t *testing.T) {
	for name, change := range map[string]func(*live.State){
		"symbol":   func(s *live.State) { s.Symbol = "MSFT" },
		"side":     func(s *live.State) { s.Side = "sell" },
		"quantity": func(s *live.State) { s.Quantity = 300 * exact.One },
	} {
		for _, where := range []string{"answer", "stream", "both"} {
			t.Run(name+" in "+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					v := alpacatest.New()
					l := startLive(t, v, func(o *Options) {
						atVenue(o).Broker = mistaken{atVenue(o).Broker, change, where != "stream", where != "answer"}
					})
					defer l.stop()
					if where == "stream" { // which is all that is known of it at first
						answering(v, "POST", alpacatest.Fault{Unread: true})
					}
					o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: 3 * exact.One})
					if err != nil || o.Status == book.StatusRejected {
						t.Errorf("at once: %s, %q, %v, want it not rejected", o.Status, o.Reason, err)
					}
					time.Sleep(3 * time.Second)
					if o = l.order(o.ID); o.Status != book.StatusFilled || o.FilledQuantity != 3*exact.One {
						t.Errorf("after it was asked for: %s with %s, %q, want 3 filled", o.Status, o.FilledQuantity, o.Reason)
					}
					l.same("at the end")
				})
			})
		}
	}
}
