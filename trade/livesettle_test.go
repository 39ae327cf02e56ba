package trade

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/trade/book"
	"wick/trade/live"
	"wick/trade/live/alpaca/alpacatest"
)

// TestLiveStaleResting: the account has held less than the book for a while when a resting
// order is filled during a report. Closing all of the position then sells what the account
// holds, and not what a report told that was half old.
func TestLiveStaleResting(t *testing.T) {
	for _, wait := range []time.Duration{2 * time.Minute, 10 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			v := alpacatest.New()
			l := startWithTen(t, v, slowly("Report", 300*time.Millisecond))
			defer l.stop()
			rest, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Limit, Price: shares(110), Quantity: shares(2)})
			if err != nil {
				t.Fatal(err)
			}
			v.Adjust("AAA", -shares(5))
			time.Sleep(wait)
			l.soon()
			time.Sleep(100 * time.Millisecond)
			v.Fill(rest.ID, shares(2), shares(110))
			time.Sleep(20 * time.Second)
			if o, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, All: true}); err != nil || o.Quantity != shares(3) {
				t.Errorf("after %s: %s of %s, %v, want 3", wait, o.Status, o.Quantity, err)
			}
			time.Sleep(time.Second)
			if left := v.Position("AAA"); left != 0 {
				t.Errorf("after %s the account holds %s", wait, left)
			}
		})
	}
}

// forgets is a broker that has lost every order.
type forgets struct{ live.Broker }

func (b forgets) Lookup(context.Context, live.Order) (live.State, error) {
	return live.State{}, live.ErrUnknown
}

func (b forgets) Report(ctx context.Context) (live.Report, error) {
	r, err := b.Broker.Report(ctx)
	r.Open = nil
	return r, err
}

// TestLiveNeverSame: a position that is another at every report differs after a while, also
// while an order is in doubt, and trading does not stay closed by it.
func TestLiveNeverSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startWithTen(t, v)
		defer func() { l.stop() }()
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		l.crash(func(o *Options) { atVenue(o).Broker = forgets{atVenue(o).Broker} })
		for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
			v.Adjust("BBB", shares(1))
		}
		if s, _ := l.e.Venue(); s.State != "differs" || len(s.Differs()) != 1 || s.Differs()[0].Symbol != "BBB" {
			t.Errorf("ten minutes after a start: %+v, want that BBB differs", s)
		}
	})
}

// TestLiveSweptLost: the owner has every order cancelled while one is on its way whose
// answer is then lost; it is cancelled once it is found at the broker.
func TestLiveSweptLost(t *testing.T) {
	for _, late := range []time.Duration{35 * time.Second, 50 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			v := alpacatest.New()
			l := startLive(t, v)
			defer l.stop()
			answering(v, "POST", alpacatest.Fault{Late: late})
			go l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)})
			time.Sleep(time.Second)
			haltByHand(t, l.e)
			if err := l.e.CancelEverything(t.Context(), anyone()); err != nil {
				t.Error(err)
			}
			time.Sleep(5 * time.Minute)
			if len(v.Orders()) != 1 || len(v.Open()) != 0 {
				t.Errorf("%s late: of %d orders %v are open at the venue, want none of one", late, len(v.Orders()), v.Open())
			}
		})
	}
}

// TestLiveSweepSparesOthers: what the owner's cancel of every order did not reach, because
// the broker refused it, is not cancelled later: that is not known to be wanted any more.
// Nor is a stop whose answer was lost.
func TestLiveSweepSparesOthers(t *testing.T) {
	for _, late := range []time.Duration{0, 35 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			v := alpacatest.New()
			l := startWithTen(t, v)
			defer l.stop()
			answering(v, http.MethodPost, alpacatest.Fault{Late: late})
			stop, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Stop, StopPrice: shares(80), Quantity: shares(10)})
			if err != nil {
				t.Fatal(err)
			}
			answering(v, http.MethodDelete, alpacatest.Fault{Status: 500})
			if err := l.e.CancelEverything(t.Context(), anyone()); err == nil {
				t.Error("a cancel that the broker does not do has not failed")
			}
			v.Set(func(v *alpacatest.Venue) { v.Faults = nil })
			time.Sleep(10 * time.Minute)
			if got := l.order(stop.ID); got.Status != book.StatusOpen || len(v.Open()) != 1 {
				t.Errorf("%s late: the stop is %s, open at the venue: %v", late, got.Status, v.Open())
			}
		})
	}
}

// TestLiveSweptLate: an order that was given up arrives after the owner had every order
// cancelled; it is cancelled, too.
func TestLiveSweptLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		answering(v, http.MethodPost, alpacatest.Fault{Late: 5 * time.Minute})
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Minute)
		if got := l.order(o.ID); got.Status != book.StatusRejected {
			t.Fatalf("the order is %s, want it given up", got.Status)
		}
		haltByHand(t, l.e)
		if err := l.e.CancelEverything(t.Context(), anyone()); err != nil {
			t.Error(err)
		}
		time.Sleep(10 * time.Minute)
		if len(v.Orders()) != 1 || len(v.Open()) != 0 {
			t.Errorf("of %d orders %v are open, want none of one", len(v.Orders()), v.Open())
		}
	})
}

// TestLiveSweptIsFilled: an order that was on its way when the owner had every order
// cancelled is filled as it arrives; its stop loss stays.
func TestLiveSweptIsFilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, slowly("Submit", 5*time.Second))
		defer l.stop()
		placed := make(chan error)
		go func() {
			_, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(2), StopLoss: book.Exit{Price: shares(70)}})
			placed <- err
		}()
		time.Sleep(time.Second)
		haltByHand(t, l.e)
		if err := errors.Join(l.e.CancelEverything(t.Context(), anyone()), <-placed); err != nil {
			t.Error(err)
		}
		time.Sleep(3 * time.Minute)
		if held := v.Position("AAA"); held != shares(2) || len(v.Open()) != 1 {
			t.Errorf("the account holds %s, and %v are open, want 2 and their stop", held, v.Open())
		}
	})
}

// TestLiveSweptInPart: if an order that was on its way when the owner had every order cancelled
// is filled in part as it arrives, its rest is cancelled, and the stop loss of the entry with it,
// as when any entry is cancelled at this broker: after the answer to the order, or before it, by
// what the stream tells.
func TestLiveSweptInPart(t *testing.T) {
	for _, late := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			v := alpacatest.New()
			l := startLive(t, v, slowly("Submit", 5*time.Second))
			defer l.stop()
			// Not by Fill once the order is there: it may be swept before that.
			v.Set(func(v *alpacatest.Venue) { v.Part = shares(1) })
			answering(v, http.MethodPost, alpacatest.Fault{Done: func() {
				if time.Sleep(late); late > 0 && len(v.Open()) != 0 {
					t.Errorf("%v are open %s after the stream told of them", v.Open(), late)
				}
			}})
			placed := make(chan error)
			go func() {
				_, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(2), StopLoss: book.Exit{Price: shares(70)}})
				placed <- err
			}()
			time.Sleep(time.Second)
			haltByHand(t, l.e)
			if err := errors.Join(l.e.CancelEverything(t.Context(), anyone()), <-placed); err != nil {
				t.Error(err)
			}
			time.Sleep(3 * time.Minute)
			if held := v.Position("AAA"); held != shares(1) || len(v.Open()) != 0 {
				t.Errorf("answered after %s: the account holds %s, and %v are open, want 1 and none", late, held, v.Open())
			}
			l.same("at the end")
		})
	}
}

// TestLiveAcceptSpellings: what the account lacks leaves the book also if the book has it
// under two spellings.
func TestLiveAcceptSpellings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		buyTwoSpellings(t, l)
		time.Sleep(time.Minute)
		v.Adjust("BRK.B", -shares(3))
		time.Sleep(2 * time.Minute)
		if _, _, err := l.e.AcceptPositions(anyone()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		held := l.e.book.Holdings["BRK.B"].Quantity + l.e.book.Holdings["BRK-B"].Quantity
		if s, _ := l.e.Venue(); held != shares(1) || s.State != "ready" {
			t.Errorf("the book holds %s, want 1; %+v", held, s)
		}
	})
}

// TestLiveAcceptInDoubt: while it is not known what came of a sale, what the account lacks
// by it is not accepted: it would count twice.
func TestLiveAcceptInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startWithTen(t, v)
		defer l.stop()
		v.Set(func(v *alpacatest.Venue) {
			v.Faults = func(r *http.Request) alpacatest.Fault {
				switch {
				case r.Method == http.MethodPost:
					return alpacatest.Fault{Unread: true}
				case strings.Contains(r.URL.Path, "by_client_order_id"):
					return alpacatest.Fault{Status: 500}
				}
				return alpacatest.Fault{}
			}
		})
		v.Drop(5)
		if _, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, All: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		if accepted, _, err := l.e.AcceptPositions(anyone()); !book.IsRefusal(err, "outcome_unknown") {
			t.Errorf("accepted %+v, %v, want outcome_unknown", accepted, err)
		}
		v.Adjust("BBB", shares(3)) // can be accepted meanwhile
		time.Sleep(5 * time.Minute)
		if accepted, _, err := l.e.AcceptPositions(anyone()); err != nil || len(accepted) != 1 || accepted[0].Symbol != "BBB" {
			t.Errorf("accepted %+v, %v, want BBB", accepted, err)
		}
		v.Set(func(v *alpacatest.Venue) { v.Faults = nil })
		v.Drop(0)
		time.Sleep(5 * time.Minute)
		s, _ := l.e.Venue()
		if held := l.e.book.Holdings["AAA"].Quantity; held != 0 || v.Position("AAA") != 0 || s.State != "ready" {
			t.Errorf("the book holds %s and the account %s; %+v", held, v.Position("AAA"), s)
		}
	})
}

// bareFor is a broker that names no legs until a time.
type bareFor struct {
	bare
	until time.Time
}

func (b bareFor) Lookup(ctx context.Context, o live.Order) (live.State, error) {
	if time.Now().After(b.until) {
		return b.Broker.Lookup(ctx, o)
	}
	return b.bare.Lookup(ctx, o)
}

func (b bareFor) Report(ctx context.Context) (live.Report, error) {
	if time.Now().After(b.until) {
		return b.Broker.Report(ctx)
	}
	return b.bare.Report(ctx)
}

// TestLiveLegsLater: exits that come later than they are waited for are listed, and the
// order no longer says to look for them.
func TestLiveLegsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, func(o *Options) {
			atVenue(o).Broker = bareFor{bare{atVenue(o).Broker}, time.Now().Add(2 * time.Minute)}
		})
		defer l.stop()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(2), StopLoss: book.Exit{Price: shares(70)}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		if entry, exit := l.order(o.ID), l.e.book.Order(o.ID+"-sl"); entry.Reason != "" || exit == nil || exit.Status != book.StatusOpen {
			t.Errorf("%s %q, its exit %+v", entry.Status, entry.Reason, exit)
		}
	})
}

// TestLiveSweepAfterSome: the broker cancels some orders and would not cancel another; what
// is on its way is swept all the same, as soon as the stream tells of it.
func TestLiveSweepAfterSome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		v.Foreign("AAA", "buy", shares(1), shares(50))
		answering(v, http.MethodPost, alpacatest.Fault{Late: 5 * time.Minute})
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Minute)
		haltByHand(t, l.e)
		v.Set(func(v *alpacatest.Venue) { v.Stuck = true })
		if err := l.e.CancelEverything(t.Context(), anyone()); err == nil || !strings.Contains(err.Error(), "would not cancel 1 of") {
			t.Errorf("one order could not be cancelled: %v", err)
		}
		v.Set(func(v *alpacatest.Venue) { v.Stuck = false })
		for len(v.Orders()) < 2 {
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Second)
		if open := v.Open(); len(open) != 1 {
			t.Errorf("a second after the order has come %v are open, want somebody else's alone", open)
		}
	})
}

// cancelHangs is a broker that does not answer when it is asked to cancel an order.
type cancelHangs struct {
	live.Broker
	on *atomic.Bool
}

func (b cancelHangs) Cancel(ctx context.Context, id string) error {
	if !b.on.Load() {
		return b.Broker.Cancel(ctx, id)
	}
	<-ctx.Done()
	return ctx.Err()
}

// TestLiveSweepHoldsNobodyUp: an order does not wait for others that are to be swept and
// cannot be cancelled.
func TestLiveSweepHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		var on atomic.Bool
		l := startLive(t, v, slowly("Submit", 5*time.Second), func(o *Options) { atVenue(o).Broker = cancelHangs{atVenue(o).Broker, &on} })
		defer l.stop()
		for range 3 {
			go l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)})
		}
		time.Sleep(time.Second)
		haltByHand(t, l.e)
		if err := l.e.CancelEverything(t.Context(), anyone()); err != nil {
			t.Fatal(err)
		}
		on.Store(true)
		time.Sleep(2 * time.Minute)
		if err := l.e.SetHalt(false); err != nil {
			t.Fatal(err)
		}
		at := time.Now()
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(80), Quantity: shares(1)}); err != nil || time.Since(at) > 6*time.Second {
			t.Errorf("%v after %s, want the 5 s that the broker takes", err, time.Since(at))
		}
	})
}

// TestLiveAcceptOthers: to accept what differs in one symbol does not forget what is known of
// another: the account holds less of it than the book, so that to close all of the book's would
// open a short position. First the difference cannot be accepted, then it is not settled yet.
func TestLiveAcceptOthers(t *testing.T) {
	for _, doubt := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			v := alpacatest.New()
			l := startWithTen(t, v, slowly("Report", 300*time.Millisecond))
			defer l.stop()
			if doubt {
				v.Set(func(v *alpacatest.Venue) {
					v.Faults = func(r *http.Request) alpacatest.Fault {
						if strings.Contains(r.URL.Path, "by_client_order_id") {
							return alpacatest.Fault{Status: 500}
						}
						return alpacatest.Fault{Lost: r.Method == http.MethodPost}
					}
				})
				if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1)}); err != nil {
					t.Fatal(err)
				}
				v.Adjust("AAA", -shares(5)) // sold elsewhere
			}
			v.Adjust("BBB", shares(3))
			time.Sleep(10 * time.Minute)
			if !doubt {
				v.Adjust("AAA", -shares(5))
				l.soon()
				time.Sleep(time.Second)
			}
			if got, _, err := l.e.AcceptPositions(anyone()); err != nil || len(got) != 1 || got[0].Symbol != "BBB" {
				t.Errorf("accepted: %v, %v, want BBB alone", got, err)
			}
			v.Set(func(v *alpacatest.Venue) { v.Faults = nil })
			l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, All: true}) // refused or cut
			time.Sleep(time.Minute)
			if left := v.Position("AAA"); left < 0 {
				t.Errorf("in doubt %v: the account is short by %s", doubt, left)
			}
		})
	}
}

// TestLiveCancelGroup: all orders of one group are cancelled although the end of one ends the
// others while their cancels are on the way, which is no error.
func TestLiveCancelGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, slowly("Cancel", 100*time.Millisecond))
		defer l.stop()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(1), StopLoss: book.Exit{Price: shares(80)}, TakeProfit: book.Exit{Price: shares(120)}})
		if err != nil {
			t.Fatal(err)
		}
		for _, when := range []string{"before its entry", "after"} {
			if when == "after" {
				if o, err = l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(89), Quantity: shares(1), StopLoss: book.Exit{Price: shares(80)}, TakeProfit: book.Exit{Price: shares(120)}}); err != nil {
					t.Fatal(err)
				}
				v.Fill(o.ID, shares(1), shares(89))
			}
			time.Sleep(time.Second)
			if _, err := l.e.CancelOrders(anyone(), ""); err != nil || len(v.Open()) != 0 {
				t.Errorf("%s: %v, %d are open, want none", when, err, len(v.Open()))
			}
			// Who asked for the end of a leg the broker does not say: it may have been the broker itself.
			if leg, x, err := l.e.Outlook(o.ID + "-sl"); err != nil || leg.Status != book.StatusCancelled || x.Ended.Code != book.CancelledThere {
				t.Errorf("%s: the stop is %s, ended by %+v, %v; want %s", when, leg.Status, x.Ended, err, book.CancelledThere)
			}
		}
		l.same("at the end")
	})
}

// unpriced is a broker that does not tell until a time at which price an order was filled.
type unpriced struct {
	live.Broker
	until time.Time
}

func (b unpriced) bare(s live.State) live.State {
	if time.Now().Before(b.until) {
		s.Average = 0
	}
	return s
}

func (b unpriced) Lookup(ctx context.Context, o live.Order) (live.State, error) {
	s, err := b.Broker.Lookup(ctx, o)
	return b.bare(s), err
}

func (b unpriced) Report(ctx context.Context) (live.Report, error) {
	r, err := b.Broker.Report(ctx)
	for i := range r.Open {
		r.Open[i] = b.bare(r.Open[i])
	}
	return r, err
}

func (b unpriced) Stream(ctx context.Context, connected func(), deliver func(live.State)) error {
	return b.Broker.Stream(ctx, connected, func(s live.State) { deliver(b.bare(s)) })
}

// TestLiveAcceptUnpriced: as long as the broker does not tell what was paid for a fill, the
// book does not count it, so the account differs by it. The owner cannot accept that: the fill
// would count twice once its price is known.
func TestLiveAcceptUnpriced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, func(o *Options) { atVenue(o).Broker = unpriced{atVenue(o).Broker, time.Now().Add(20 * time.Minute)} })
		defer l.stop()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(4)})
		if err != nil {
			t.Fatal(err)
		}
		v.Fill(o.ID, shares(2), shares(90))
		time.Sleep(10 * time.Minute)
		if accepted, _, err := l.e.AcceptPositions(anyone()); !book.IsRefusal(err, "outcome_unknown") {
			t.Errorf("accepted %+v, %v, want outcome_unknown", accepted, err)
		}
		time.Sleep(20 * time.Minute)
		s, _ := l.e.Venue()
		if held := l.e.book.Holdings["AAA"].Quantity; held != shares(2) || l.e.book.Venue.Base["AAA"] != 0 || s.State != "ready" {
			t.Errorf("the book holds %s beside %s and the account %s; %+v", held, l.e.book.Venue.Base["AAA"], v.Position("AAA"), s)
		}
	})
}
