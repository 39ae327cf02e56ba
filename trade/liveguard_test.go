package trade

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/trade/book"
	"wick/trade/live"
	"wick/trade/live/alpaca/alpacatest"
)

// TestLiveListedWrong: the list of open orders says something else of the id of an order whose
// answer was lost. The order is asked for by its id before it is given up.
func TestLiveListedWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, misreporting)
		defer l.stop()
		answering(v, http.MethodPost, alpacatest.Fault{Unread: true})
		v.CutStreams()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(3)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		if o = l.order(o.ID); o.Status != book.StatusOpen || o.BrokerID == "" {
			t.Errorf("the order is %s (%s), and %d are open at the venue", o.Status, o.Reason, len(v.Open()))
		}
	})
}

// misreporting makes a broker whose reports have other quantities than there are.
func misreporting(o *Options) { atVenue(o).Broker = misreported{atVenue(o).Broker} }

type misreported struct{ live.Broker }

func (m misreported) Report(ctx context.Context) (live.Report, error) {
	r, err := m.Broker.Report(ctx)
	r.Open = slices.Clone(r.Open)
	for i := range r.Open {
		r.Open[i].Quantity *= 100
	}
	return r, err
}

// TestLiveClosesAfterSweep: right after many cancels a position can be closed.
func TestLiveClosesAfterSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(2)}); err != nil {
			t.Fatal(err)
		}
		for range 88 {
			time.Sleep(time.Second)
			if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if _, err := l.e.CancelOrders(anyone(), ""); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if _, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, Quantity: shares(2), ReduceOnly: true}); err != nil || time.Since(begin) > 5*time.Second {
			t.Errorf("the closing: %v after %s", err, time.Since(begin))
		}
		if held := v.Position("AAA"); held != 0 || v.Busiest() > 200 {
			t.Errorf("the account holds %s; %d requests in a minute", held, v.Busiest())
		}
	})
}

// TestLiveRepetitionAfterLegs: the broker confirms an entry seconds later, and its exits come
// into the book with the time of the entry. They do not hide an order that came between, of
// which a repetition is refused.
func TestLiveRepetitionAfterLegs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		posts := new(atomic.Int64)
		v.Set(func(v *alpacatest.Venue) {
			v.Hold = true
			v.Faults = func(r *http.Request) alpacatest.Fault {
				if r.URL.Path == "/v2/events/trades" {
					return alpacatest.Fault{Lost: true}
				}
				if r.Method == http.MethodPost && posts.Add(1) == 1 {
					return alpacatest.Fault{Done: func() { time.Sleep(8 * time.Second) }}
				}
				return alpacatest.Fault{}
			}
		})
		v.CutStreams()
		go l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(2), StopLoss: book.Exit{Price: shares(70)}, TakeProfit: book.Exit{Price: shares(140)}})
		time.Sleep(6 * time.Second)
		again := book.OrderRequest{Who: book.Who{Client: "one"}, Symbol: "AAA", Side: book.Buy, Type: book.Limit, Price: shares(80), Quantity: shares(1)}
		if _, err := l.e.Place(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2500 * time.Millisecond)
		if _, err := l.e.Place(t.Context(), again); !book.IsRefusal(err, "duplicate_order") {
			t.Errorf("the repetition: %v, want duplicate_order", err)
		}
	})
}

// deaf is a broker that answers no cancel.
type deaf struct{ live.Broker }

func (d deaf) Cancel(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestLiveSweepStops: a sweep whose cancels hang ends within the time of one call, and says that
// it has left some.
func TestLiveSweepStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, func(o *Options) { atVenue(o).Broker = deaf{atVenue(o).Broker} })
		defer l.stop()
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(2), StopLoss: book.Exit{Price: shares(70)}, TakeProfit: book.Exit{Price: shares(140)}}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		open := len(must(l.e.Orders(true)))
		begin := time.Now()
		_, err := l.e.CancelOrders(anyone(), "")
		if took := time.Since(begin); !book.IsRefusal(err, "cancel_unfinished") || took > 40*time.Second || open != 5 {
			t.Errorf("%d orders: %v after %s, want cancel_unfinished within 40 s", open, err, took)
		}
	})
}
