package trade

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/trade/book"
	"wick/trade/live"
	"wick/trade/live/alpaca/alpacatest"
)

// Tests of what closes a position while the account, the newest report of it and the book
// do not say the same.

// startWithTen is startLive with ten shares in the book and the account, all settled.
func startWithTen(t *testing.T, v *alpacatest.Venue, options ...func(*Options)) *atBroker {
	t.Helper()
	l := startLive(t, v, options...)
	if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(10)}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Minute)
	return l
}

// TestLiveFillHidesNothing: five of ten shares were sold elsewhere, and a resting buy of five
// is filled, which only a report tells; the account's number lies between those of the book
// before and after, and still differs.
func TestLiveFillHidesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startWithTen(t, v)
		defer l.stop()
		o, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(90), Quantity: shares(5)})
		if err != nil {
			t.Fatal(err)
		}
		v.Adjust("AAA", -shares(5))
		time.Sleep(2 * time.Minute)
		v.Drop(1)
		v.Fill(o.ID, shares(5), shares(90))
		for range 100 {
			time.Sleep(time.Second)
			if l.order(o.ID).Status == book.StatusFilled {
				break
			}
		}
		if s, _ := l.e.Venue(); s.State != "differs" || l.e.Status().Trading != book.Reducing {
			t.Errorf("after the fill: %+v, trading is %s, want differs and reducing", s, l.e.Status().Trading)
		}
		if o, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, All: true}); err != nil || o.Quantity != shares(10) {
			t.Errorf("all of it: %s of %s, %v, want 10 sold", o.Status, o.Quantity, err)
		}
		time.Sleep(time.Second)
		if held := v.Position("AAA"); held != 0 {
			t.Errorf("the account holds %s, want nothing", held)
		}
	})
}

// TestLiveFillDuringReportHidesNothing: five of ten shares were sold elsewhere, and the other
// five are sold while a report is on its way that still has them; it says five, as the book
// does then, and the difference stays.
func TestLiveFillDuringReportHidesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startWithTen(t, v, slowly("Report", 300*time.Millisecond))
		defer l.stop()
		v.Adjust("AAA", -shares(5))
		time.Sleep(2 * time.Minute)
		l.soon()
		time.Sleep(100 * time.Millisecond)
		if o, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, All: true}); err != nil || o.Quantity != shares(5) {
			t.Fatalf("all of it: %s of %s, %v, want 5 sold", o.Status, o.Quantity, err)
		}
		for range 20 {
			time.Sleep(100 * time.Millisecond)
			if s, _ := l.e.Venue(); s.State != "differs" {
				t.Fatalf("after the sale: %+v, want differs: the account holds %s", s, v.Position("AAA"))
			}
		}
	})
}

// TestLiveHeldOfAll: who was shown that all is five, because the account has no more of the
// ten in the book, does not get ten sold: not when the account has them again, and not by
// giving the book's number.
func TestLiveHeldOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startWithTen(t, v)
		defer l.stop()
		closing := func(held int64) (book.Order, error) {
			shown := shares(held)
			return l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, All: true, Held: &shown})
		}
		v.Adjust("AAA", -shares(5))
		time.Sleep(2 * time.Minute)
		if o, err := closing(10); !book.IsRefusal(err, "position_changed") {
			t.Errorf("all of what was shown as 10 when it is 5: %s of %s, %v, want position_changed", o.Status, o.Quantity, err)
		}
		v.Adjust("AAA", shares(5))
		time.Sleep(time.Minute)
		if o, err := closing(5); !book.IsRefusal(err, "position_changed") {
			t.Errorf("all of what was shown as 5 when it is 10: %s of %s, %v, want position_changed", o.Status, o.Quantity, err)
		}
	})
}

// sellFour sells four shares. They are filled, which the newest report of the account shows
// and no event tells.
func (l *atBroker) sellFour(during *between) book.Order {
	l.t.Helper()
	l.venue.Set(func(v *alpacatest.Venue) { v.Hold = true })
	o, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, Quantity: shares(4), ReduceOnly: true})
	if err != nil {
		l.t.Fatal(err)
	}
	time.Sleep(time.Second)
	l.venue.Drop(1)
	during.next(func() { l.venue.Fill(o.ID, shares(4), shares(100)) })
	l.soon()
	time.Sleep(time.Second)
	return o
}

// TestLiveAllAfterReport: a report has a sale of four of ten shares before the book; all is
// never less than what is held because of that: it is refused until another report has come,
// which is as soon as the book has the fill.
func TestLiveAllAfterReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		during := &between{}
		l := startWithTen(t, v, slowly("Report", 300*time.Millisecond), func(o *Options) { during.Broker, atVenue(o).Broker = atVenue(o).Broker, during })
		defer l.stop()
		o := l.sellFour(during)
		refused := func(when string) {
			t.Helper()
			if o, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, All: true, DryRun: true}); !book.IsRefusal(err, "reduce_only") {
				t.Errorf("%s: all of it is %s, %v, want a refusal", when, o.Quantity, err)
			}
		}
		refused("before the fill")
		l.heard(live.State{ID: o.BrokerID, ClientID: o.ID, Symbol: "AAA", Side: "sell", Type: "market", Status: live.Filled, Word: "filled", Quantity: shares(4), Filled: shares(4), Average: shares(100)})
		refused("after it")
		time.Sleep(time.Second)
		if o, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, All: true, DryRun: true}); err != nil || o.Quantity != shares(6) {
			t.Errorf("a second later: all of it is %s, %v, want 6", o.Quantity, err)
		}
	})
}

// TestLiveAdvice: reduce_only is not advised where it would be refused: for shares that the
// account has and the book has not.
func TestLiveAdvice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, func(o *Options) { o.Limits.OrderNotional = shares(100) })
		defer l.stop()
		v.Adjust("AAA", shares(5))
		time.Sleep(2 * time.Minute)
		selling := book.OrderRequest{Side: book.Sell, Type: book.Market, Quantity: shares(5)}
		if _, err := l.place(selling); !book.IsRefusal(err, "max_order_notional") || strings.Contains(err.Error(), "reduce_only") {
			t.Errorf("a sale over the limit: %v, want max_order_notional without a word of reduce_only", err)
		}
		selling.ReduceOnly = true
		if _, err := l.place(selling); !book.IsRefusal(err, "reduce_only") {
			t.Errorf("the same with reduce_only: %v, want it refused", err)
		}
	})
}

// TestLiveOtherKeepsChanging: five of ten shares were sold elsewhere, and somebody else trades
// another symbol all the time, so that no two reports are the same; what differs is settled
// symbol by symbol: the five count, and the other five can be closed. What keeps changing
// differs too, after a while, also for a process that has just begun.
func TestLiveOtherKeepsChanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startWithTen(t, v)
		defer func() { l.stop() }()
		changing := func(during time.Duration) {
			for end := time.Now().Add(during); time.Now().Before(end); time.Sleep(time.Second) {
				v.Adjust("BBB", shares(1))
			}
		}
		v.Adjust("AAA", -shares(5))
		changing(2 * time.Minute)
		five := book.Difference{Symbol: "AAA", Book: shares(10), Broker: shares(5)}
		if s, _ := l.e.Venue(); !slices.Equal(s.Differs(), []book.Difference{five}) || l.e.Status().Trading != book.Reducing {
			t.Errorf("after two minutes: %+v, trading is %s, want %+v and reducing", s, l.e.Status().Trading, five)
		}
		if o, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, All: true}); err != nil || o.Quantity != shares(5) {
			t.Errorf("all of it: %s of %s, %v, want 5 sold", o.Status, o.Quantity, err)
		}
		changing(2 * time.Minute)
		l.crash()
		changing(differPatience + time.Minute)
		if s, _ := l.e.Venue(); s.State != "differs" || len(s.Differs()) != 2 || s.Differs()[1].Symbol != "BBB" {
			t.Errorf("four minutes after a restart: %+v, want both symbols to differ", s)
		}
	})
}

// buyTwoSpellings buys two shares of one company under each of two spellings.
func buyTwoSpellings(t *testing.T, l *atBroker) {
	t.Helper()
	for _, symbol := range []string{"BRK.B", "BRK-B"} {
		if _, err := l.e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: symbol, Side: book.Buy, Type: book.Market, Quantity: shares(2)}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLiveTwoSpellings: the book has the shares of one company under two spellings, as data of
// different sources name them, and the account has both under a third. That is no difference.
func TestLiveTwoSpellings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		buyTwoSpellings(t, l)
		for range 20 { // a map is walked in another order each time
			time.Sleep(time.Minute)
			if s, _ := l.e.Venue(); s.State != "ready" {
				t.Fatalf("%+v, want ready", s)
			}
		}
	})
}
