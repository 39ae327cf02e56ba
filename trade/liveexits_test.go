package trade

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/trade/book"
	"wick/trade/live/alpaca/alpacatest"
)

// exitAtBroker buys 10 and places a stop for all of them, which is an exit without saying so.
func exitAtBroker(t *testing.T, l *atBroker, v *alpacatest.Venue) (stop book.Order) {
	t.Helper()
	if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(10)}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	stop, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Stop, Quantity: shares(10), StopPrice: shares(90)})
	if err != nil || !stop.ReduceOnly {
		t.Fatalf("the stop is %+v, %v; want an exit", stop, err)
	}
	time.Sleep(time.Second)
	return stop
}

// resting returns the quantities of the orders that are open at the venue.
func resting(v *alpacatest.Venue) string {
	var open []string
	for _, o := range v.Orders() {
		if o.Status == "new" || o.Status == "accepted" || o.Status == "held" {
			open = append(open, o.Quantity.String())
		}
	}
	return strings.Join(open, ", ")
}

// TestLiveExitShrinks: 4 of 10 are sold while a stop for 10 rests at the broker, which would
// sell 4 too many; the stop is replaced by one for 6, also if wick was killed meanwhile.
func TestLiveExitShrinks(t *testing.T) {
	for _, crash := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			v := alpacatest.New()
			l := startLive(t, v)
			defer func() { l.stop() }()
			stop := exitAtBroker(t, l, v)
			if _, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, Quantity: shares(4)}); err != nil {
				t.Fatal(err)
			}
			if crash {
				l.crash()
			}
			time.Sleep(time.Minute)
			if got := resting(v); got != "6" {
				t.Errorf("crash %t: at the venue is %q, want a stop for 6", crash, got)
			}
			if o := l.order(stop.ID); o.Status != book.StatusCancelled {
				t.Errorf("the stop for 10 is %s", o.Status)
			}
			l.same("after the cut")
		})
	}
}

// TestLiveExitOfClosedPosition: the position is closed, and its stop is cancelled at the broker
// and told, since nobody asked for it. One that may open stays.
func TestLiveExitOfClosedPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer func() { l.stop() }()
		stop := exitAtBroker(t, l, v)
		if _, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, All: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if o := l.order(stop.ID); o.Status != book.StatusCancelled || o.Reason != "nothing is left to reduce" || resting(v) != "" {
			t.Errorf("the stop is %s: %q, and at the venue is %q; want it cancelled", o.Status, o.Reason, resting(v))
		}
		if got := toldNow(t, l.e); len(got) != 1 || !strings.HasPrefix(got[0], "order_cancelled Stop order "+stop.ID) {
			t.Errorf("told %q, want the end of the stop", got)
		}
		l.same("after the cancel")
	})
}

// TestLiveExitOfClosedPositionHalted: the exits of a position that is gone are cancelled while trading is
// halted, too, since cancels pass.
func TestLiveExitOfClosedPositionHalted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer func() { l.stop() }()
		stop := exitAtBroker(t, l, v)
		profit, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Limit, Quantity: shares(10), Price: shares(120)})
		if err != nil || !profit.ReduceOnly {
			t.Fatalf("%+v, %v; want a second exit", profit, err)
		}
		haltByHand(t, l.e)
		for _, step := range []struct {
			sold int64
			want string
		}{{4, "10"}, {6, ""}} {
			v.Fill(profit.ID, shares(step.sold), shares(120))
			time.Sleep(time.Minute)
			if got := resting(v); got != step.want {
				t.Errorf("halted, and %d are sold: at the venue is %q, want %q", step.sold, got, step.want)
			}
		}
		if o := l.order(stop.ID); o.ReasonCode != book.NothingToReduce {
			t.Errorf("the stop is %s: %q", o.Status, o.Reason)
		}
	})
}

// TestLiveLegsEnd: a position is closed by hand beside its bracket, at a broker that lets
// that happen; the legs stay for 10 while anything is held, and are cancelled once nothing is:
// one that was filled then would open a position of the other side.
func TestLiveLegsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer func() { l.stop() }()
		entry, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(99), Quantity: shares(10), StopLoss: book.Exit{Price: shares(90)}, TakeProfit: book.Exit{Price: shares(120)}})
		if err != nil {
			t.Fatal(err)
		}
		has := func(when string, status book.OrderStatus) {
			t.Helper()
			time.Sleep(time.Minute)
			for _, leg := range []string{"-sl", "-tp"} {
				if o := l.order(entry.ID + leg); o.Status != status || o.Quantity != shares(10) {
					t.Errorf("%s: %s is %s for %s, want %s for 10", when, o.ID, o.Status, o.Quantity, status)
				}
			}
		}
		v.Fill(entry.ID, shares(4), shares(98))
		has("4 are bought", book.StatusOpen)
		v.Fill(entry.ID, shares(6), shares(99))
		for _, sold := range []int64{4, 6} {
			if p, err := l.e.PlaceOrder(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Sell, Type: book.Market, Quantity: shares(sold)}); err != nil || len(p.Ended)+len(p.Left) > 0 {
				t.Errorf("selling %d: %+v, %v; want nothing said of the legs", sold, p, err)
			}
			has(fmt.Sprint(sold, " are sold"), map[int64]book.OrderStatus{4: book.StatusOpen, 6: book.StatusCancelled}[sold])
		}
		if o := l.order(entry.ID + "-sl"); o.ReasonCode != book.NothingToReduce {
			t.Errorf("the stop was cancelled since %s, want that there is nothing to reduce", o.Reason)
		}
		l.same("at the end")
	})
}

// TestLiveOCOEnds: the two orders of an oco are cancelled at the broker, too, once the position
// that they close is gone.
func TestLiveOCOEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer func() { l.stop() }()
		if _, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: shares(10)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		pair, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Limit, Price: shares(120), Quantity: shares(10), OCO: book.OCO{StopPrice: shares(90)}})
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			sold int64
			want book.OrderStatus
		}{{0, book.StatusOpen}, {4, book.StatusOpen}, {6, book.StatusCancelled}} {
			if step.sold > 0 {
				if _, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Market, Quantity: shares(step.sold)}); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Minute)
			for _, id := range []string{pair.ID, pair.ID + "-oco"} {
				if o := l.order(id); o.Status != step.want {
					t.Errorf("after selling %d more: %s is %s, want %s", step.sold, id, o.Status, step.want)
				}
			}
		}
		l.same("at the end")
	})
}
