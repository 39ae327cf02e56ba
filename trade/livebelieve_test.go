package trade

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/broker"
	"wick/broker/alpaca/alpacatest"
	"wick/exact"
)

// says returns a state of o by the broker, and the fills that were told with it. Each fill is
// a quantity and a price.
func (o *Order) says(status broker.Status, word string, filled, average exact.Decimal, fills ...[2]exact.Decimal) (broker.State, []broker.Fill) {
	s := broker.State{ID: o.BrokerID, ClientID: o.ID, Symbol: "AAA", Side: string(o.Side), Type: "limit", Status: status, Word: word, Quantity: o.Quantity, Filled: filled, Average: average}
	var told []broker.Fill
	total := exact.Decimal(0)
	for i, f := range fills {
		total += f[0]
		told = append(told, broker.Fill{OrderID: o.BrokerID, Execution: fmt.Sprint("e", i), Quantity: f[0], Price: f[1], Total: total, At: time.Now()})
	}
	return s, told
}

// buyLimit starts an engine and buys with a limit.
func buyLimit(t *testing.T, v *alpacatest.Venue, quantity int64, price exact.Decimal, options ...func(*Options)) (*atBroker, Order) {
	t.Helper()
	l := startLive(t, v, options...)
	o, err := l.place(OrderRequest{Side: Buy, Type: Limit, Price: price, Quantity: shares(quantity)})
	if err != nil {
		t.Fatal(err)
	}
	return l, o
}

// TestLiveBelievePrefix: a state that is older than the fills that come with it is compared
// with those that it has. Those after them are believed by the limit, and if those that it
// has are not believed nothing is.
func TestLiveBelievePrefix(t *testing.T) {
	at := func(quantity, price int64) [2]exact.Decimal { return [2]exact.Decimal{shares(quantity), shares(price)} }
	for _, c := range []struct {
		name          string
		kind          OrderType
		state         int64 // how much the state has, at 44
		fills         [][2]exact.Decimal
		filled, price int64
		sure          bool
	}{
		{"wrong within", Limit, 6, [][2]exact.Decimal{at(4, 44), at(2, 500_000), at(2, 44)}, 0, 0, false},
		{"wrong within, of a market order", Market, 6, [][2]exact.Decimal{at(4, 44), at(2, 500_000), at(2, 44)}, 0, 0, false},
		{"too good within", Limit, 6, [][2]exact.Decimal{at(4, 44), at(2, 1), at(2, 44)}, 0, 0, false},
		{"wrong after", Limit, 6, [][2]exact.Decimal{at(4, 44), at(2, 44), at(2, 500_000)}, 6, 44, false},
		{"right", Limit, 6, [][2]exact.Decimal{at(4, 43), at(2, 46), at(2, 44)}, 8, 44, false},
		{"no such part", Limit, 5, [][2]exact.Decimal{at(4, 44), at(2, 44), at(2, 500_000)}, 6, 44, false},
		{"all of it", Limit, 8, [][2]exact.Decimal{at(4, 44), at(2, 44), at(2, 44)}, 8, 44, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := alpacatest.New()
				v.Hold = true
				l := startLive(t, v)
				defer l.stop()
				r := OrderRequest{Side: Buy, Type: c.kind, Quantity: shares(9)}
				if c.kind == Limit {
					r.Price = shares(46)
				}
				o, err := l.place(r)
				if err != nil {
					t.Fatal(err)
				}
				state, fills := o.says(broker.Open, "partially_filled", shares(c.state), shares(44), c.fills...)
				sure := l.e.learnAnswer(o.ID, state, fills)
				if o = l.order(o.ID); sure != c.sure || o.FilledQuantity != shares(c.filled) || c.filled > 0 && *o.AveragePrice != shares(c.price) {
					t.Errorf("%s at %s, sure %t, %q, want %d at %d, %t", o.FilledQuantity, o.AveragePrice, sure, o.Reason, c.filled, c.price, c.sure)
				}
				state, fills = o.says(broker.Open, "partially_filled", shares(8), shares(44), at(4, 44), at(2, 44), at(2, 44))
				if l.e.learnAnswer(o.ID, state, fills); l.order(o.ID).AveragePrice.String() != "44" || l.order(o.ID).Reason != "" {
					t.Errorf("told right: %+v, want 44 without a reason", l.order(o.ID))
				}
			})
		})
	}
}

// mistoldFirst is a broker that tells a wrong price of fills with a total of 4.
type mistoldFirst struct{ Broker }

func (m mistoldFirst) Fills(ctx context.Context, since time.Time) ([]broker.Fill, error) {
	fills, err := m.Broker.Fills(ctx, since)
	for i := range fills {
		if fills[i].Total == shares(4) {
			fills[i].Price = shares(500_000)
		}
	}
	return fills, err
}

// TestLiveBelieveWhich: of several fills that contradict the average the one that is furthest
// from it is told.
func TestLiveBelieveWhich(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l, o := buyLimit(t, v, 6, shares(45), func(o *Options) { o.Venue.Broker = mistoldFirst{o.Venue.Broker} })
		defer l.stop()
		time.Sleep(time.Second)
		v.Drop(2)
		v.Fill(o.ID, shares(4), shares(44))
		v.Fill(o.ID, shares(2), shares(44))
		time.Sleep(5 * fillPatience)
		want := "at the broker: a fill was told at 500000, against an average price of 44 in all; it counts at 44"
		if o = l.order(o.ID); o.Status != StatusFilled || o.Reason != want {
			t.Errorf("%s, %q, want it filled, %q", o.Status, o.Reason, want)
		}
		l.same("at the end")
	})
}

// TestLiveBelieveSmall: of a price below a dollar an average is not off by a cent.
func TestLiveBelieveSmall(t *testing.T) {
	micro := exact.One / 1_000_000
	for _, c := range []struct {
		average, told exact.Decimal
		believed      bool
	}{
		{1000 * micro, 9000 * micro, false},
		{1000 * micro, 1010 * micro, false}, // a hundredth
		{1000 * micro, 1009 * micro, true},
		{100 * micro, 100*micro + micro/2, true}, // rounded to six decimals
		{20 * micro, 20*micro + micro/2, true},
		{20 * micro, 21 * micro, false},
		{107_703 * micro, 107_703*micro + 33, true},
		{44 * exact.One, 44*exact.One + 9999*micro, true},
		{44 * exact.One, 44*exact.One + 10_000*micro, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, o := buyLimit(t, alpacatest.New(), 3, shares(50))
			defer l.stop()
			state, fills := o.says(broker.Open, "partially_filled", shares(1), c.average, [2]exact.Decimal{shares(1), c.told})
			l.e.learnAnswer(o.ID, state, fills)
			if o = l.order(o.ID); (o.FilledQuantity == shares(1)) != c.believed {
				t.Errorf("told at %s with an average of %s: %s filled", c.told, c.average, o.FilledQuantity)
			}
			after := Order{FilledQuantity: shares(1), AveragePrice: &c.told, Side: Buy, Price: &c.average}
			if got := after.corrected(state); got == c.believed {
				t.Errorf("from %s to %s: corrected is %t", c.told, c.average, got)
			}
			if got := after.worseThanLimit(c.told); got == c.believed {
				t.Errorf("bought at %s with a limit of %s: worse is %t", c.told, c.average, got)
			}
		})
	}
}

func firstOf(s broker.State, _ []broker.Fill) broker.State { return s }

// TestLiveBelieveEnds: that a fill was told at a price that cannot be right stays in the
// reason, whatever the end of the order is called and whatever is said of it after.
func TestLiveBelieveEnds(t *testing.T) {
	const note = "a fill was told at 500000, against an average price of 44 in all; it counts at 44"
	for _, c := range []struct{ word, want string }{
		{"canceled", "at the broker: " + note},
		{"expired", "at the broker: expired; " + note},
		{"done_for_day", "at the broker: done_for_day; " + note},
	} {
		t.Run(c.word, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := alpacatest.New()
				l, o := buyLimit(t, v, 3, shares(45), func(o *Options) { o.Venue.Broker = mistold{o.Venue.Broker, shares(500_000), true} })
				defer l.stop()
				v.Fill(o.ID, shares(2), shares(44))
				time.Sleep(3 * fillPatience)
				if o = l.order(o.ID); o.FilledQuantity != shares(2) || o.Reason != "at the broker: "+note {
					t.Fatalf("%s filled, %q", o.FilledQuantity, o.Reason)
				}
				hears := func(when string, filled, average exact.Decimal, want string) {
					t.Helper()
					for range 2 {
						l.e.learnAnswer(o.ID, firstOf(o.says(broker.Cancelled, c.word, filled, average)), nil)
					}
					if got := l.order(o.ID); got.Status != StatusCancelled || got.Reason != want {
						t.Errorf("%s: %s, %q, want it cancelled, %q", when, got.Status, got.Reason, want)
					}
				}
				hears("at its end", shares(2), shares(44), c.want)
				hears("corrected", shares(2), shares(43), c.want+"; its average price was corrected to 43")
				hears("corrected again", shares(2), shares(42), c.want+"; its average price was corrected to 42")
				hears("taken back", shares(1), shares(44), "at the broker: "+c.word+"; it took back 1 of 2 that were filled; "+note)
				hears("given back", shares(2), shares(42), c.want+"; its average price was corrected to 42")
			})
		})
	}
}

// TestLiveBelieveRefilled: the exchange takes a fill back, and another takes its place. No
// price was corrected, and none is said to be.
func TestLiveBelieveRefilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l, o := buyLimit(t, v, 4, shares(90))
		defer l.stop()
		has := func(when, want string) {
			t.Helper()
			for _, wait := range []time.Duration{time.Second, 2 * restPeriod} {
				time.Sleep(wait)
				if o = l.order(o.ID); o.Reason != want {
					t.Errorf("%s: %s with %s at %s, %q, want %q", when, o.Status, o.FilledQuantity, o.AveragePrice, o.Reason, want)
				}
			}
		}
		v.Fill(o.ID, shares(2), shares(90))
		time.Sleep(time.Second)
		v.Bust(o.ID)
		time.Sleep(time.Second)
		v.Fill(o.ID, shares(2), shares(40))
		has("after another fill", "at the broker: its average price is now 40")
		v.Fill(o.ID, shares(1), shares(40))
		// 3 at 40 are less than what the first two paid: the third is counted at the average.
		note := "at the broker: a fill was told at 40, against an average price of 40 in all; it counts at 40"
		has("after one more", note+"; its average price is now 40")
		v.End(o.ID, "expired")
		has("at the end", "at the broker: expired; "+strings.TrimPrefix(note, brokerSays)+"; its average price is now 40")
	})
}

// TestLiveBelieveSameFill: the fill that is known, told by the stream and by a report, is no
// other, and one that was worked out is told later.
func TestLiveBelieveSameFill(t *testing.T) {
	f := broker.Fill{OrderID: "b", Execution: "20261118093000000::e1", Total: shares(2)}
	for _, c := range []struct {
		known string
		want  bool
	}{{"e1", false}, {"20261118093000000::e1", false}, {"", false}, {"e2", true}} {
		o := Order{BrokerID: "b", FilledQuantity: shares(2), Execution: c.known}
		if got := o.refilled([]broker.Fill{f}); got != c.want {
			t.Errorf("%q is known: another fill is %t", c.known, got)
		}
		o.FilledQuantity = shares(3)
		if o.refilled([]broker.Fill{f}) {
			t.Errorf("%q is known with more: a fill before it counts as another", c.known)
		}
	}
}

// TestLiveBelieveCorrectedDown: after a correction that no price of the next fill can make up
// for, the order says what its average is at the broker, also once it is filled.
func TestLiveBelieveCorrectedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, log := alpacatest.New(), new(strings.Builder)
		l, o := buyLimit(t, v, 102, shares(42), func(o *Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
		defer l.stop()
		v.Fill(o.ID, shares(100), shares(42))
		time.Sleep(time.Second)
		v.Correct(o.ID, 415*exact.One/10)
		time.Sleep(time.Second)
		for i, want := range []string{
			"at the broker: a fill was told at 42, against an average price of 41.5049505 in all; it counts at 41.5049505; its average price was corrected to 41.5049505",
			"at the broker: a fill was told at 42, against an average price of 41.50980392 in all; it counts at 41.50980392; its average price was corrected to 41.50980392",
		} {
			v.Fill(o.ID, shares(1), shares(42))
			time.Sleep(time.Second)
			if o = l.order(o.ID); o.FilledQuantity != shares(int64(101+i)) || o.AveragePrice.String()[:5] != "41.99" || o.Reason != want {
				t.Errorf("%s with %s at %s, %q, want %d and %q", o.Status, o.FilledQuantity, o.AveragePrice, o.Reason, 101+i, want)
			}
		}
		synctest.Wait()
		if n := strings.Count(log.String(), "corrected what was filled"); o.Status != StatusFilled || n != 3 {
			t.Errorf("%s, the log tells of it %d times, want it filled and three:\n%s", o.Status, n, log)
		}
	})
}

// TestBelieveNoting: of several notes only the newest is kept, so that a reason does not grow
// with the fills.
func TestBelieveNoting(t *testing.T) {
	for _, c := range []struct{ reason, want string }{
		{"", "at the broker: a fill was told at 9"},
		{readingFills, "at the broker: a fill was told at 9"},
		{lateReason, lateReason + "; a fill was told at 9"},
		{bareReason, bareReason + "; a fill was told at 9"},
		{"at the broker: its average price was corrected to 3", "at the broker: a fill was told at 9"},
	} {
		o := Order{Reason: c.reason}
		for _, price := range []string{"7; it counts at 1", "8", "9"} {
			o.Reason = o.noting(toldAt + price)
			if o.Reason = o.noting(""); price == "9" && o.Reason != c.want {
				t.Errorf("%q became %q, want %q", c.reason, o.Reason, c.want)
			}
			o.Reason = also(o.Reason, correctedTo+"4")
		}
	}
}

// TestBelieveNext: a fill waits for one before it that is missing, and those of other orders
// and those that are known do not count.
func TestBelieveNext(t *testing.T) {
	o := Order{FilledQuantity: shares(2)}
	fill := func(id string, quantity, total int64) broker.Fill {
		return broker.Fill{OrderID: id, Quantity: shares(quantity), Total: shares(total)}
	}
	for _, c := range []struct {
		fills []broker.Fill
		want  int
	}{
		{nil, 0},
		{[]broker.Fill{fill("b", 2, 2), fill("b", 1, 3), fill("c", 1, 4), fill("b", 1, 4)}, 2},
		{[]broker.Fill{fill("b", 1, 4)}, 0},
		{[]broker.Fill{fill("b", 1, 3), fill("b", 1, 5), fill("b", 1, 6)}, 1},
		{[]broker.Fill{fill("b", 2, 3)}, 0}, // one that is known was taken back
	} {
		if got := o.next(broker.State{ID: "b"}, c.fills); len(got) != c.want {
			t.Errorf("%+v: %d follow, want %d", c.fills, len(got), c.want)
		}
	}
}

// TestLiveBelieveBare: an order whose exits are not named says so, and of a fill that it was
// told wrong: it is learnt of all the same, and once the exits are named only the first is gone.
func TestLiveBelieveBare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v, func(o *Options) {
			o.Venue.Broker = mistold{bareFor{bare{o.Venue.Broker}, time.Now().Add(20 * time.Minute)}, shares(500_000), true}
		})
		defer l.stop()
		o, err := l.place(OrderRequest{Side: Buy, Type: Limit, Price: shares(90), Quantity: shares(3), StopLoss: Exit{Price: shares(70)}})
		if err != nil {
			t.Fatal(err)
		}
		note := "a fill was told at 500000, against an average price of 90 in all; it counts at 90"
		time.Sleep(5 * time.Minute)
		for filled := int64(1); filled < 3; filled++ {
			v.Drop(1) // the stream would name the exits
			v.Fill(o.ID, shares(1), shares(90))
			time.Sleep(5 * time.Minute)
			if o = l.order(o.ID); o.FilledQuantity != shares(filled) || o.Reason != bareReason+"; "+note {
				t.Errorf("%s filled, %q, want %d and both told", o.FilledQuantity, o.Reason, filled)
			}
		}
		time.Sleep(20 * time.Minute)
		if exit := l.e.ahead.order(o.ID + "-sl"); exit == nil || l.order(o.ID).Reason != "at the broker: "+note {
			t.Errorf("once its exits are named: %q, %+v, want the fill told", l.order(o.ID).Reason, exit)
		}
	})
}

// atOnce is a broker that counts how many cancels it is asked for at once.
type atOnce struct {
	Broker
	now, most *atomic.Int64
}

func (b atOnce) Cancel(ctx context.Context, id string) error {
	b.most.Store(max(b.most.Load(), b.now.Add(1)))
	defer b.now.Add(-1)
	time.Sleep(100 * time.Millisecond)
	return b.Broker.Cancel(ctx, id)
}

// TestLiveCancelGroup: orders of one group are cancelled one after the other, because the end
// of one ends the others. One whose end the stream has not told yet is asked for, too.
func TestLiveCancelGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		count := atOnce{nil, new(atomic.Int64), new(atomic.Int64)}
		l := startLive(t, v, func(o *Options) { count.Broker, o.Venue.Broker = o.Venue.Broker, &count })
		defer l.stop()
		o, err := l.place(OrderRequest{Side: Buy, Type: Limit, Price: shares(90), Quantity: shares(1), StopLoss: Exit{Price: shares(80)}, TakeProfit: Exit{Price: shares(120)}})
		if err != nil {
			t.Fatal(err)
		}
		for _, when := range []string{"before its entry", "after"} {
			if when == "after" {
				if o, err = l.place(OrderRequest{Side: Buy, Type: Limit, Price: shares(89), Quantity: shares(1), StopLoss: Exit{Price: shares(80)}, TakeProfit: Exit{Price: shares(120)}}); err != nil {
					t.Fatal(err)
				}
				v.Fill(o.ID, shares(1), shares(89))
			}
			time.Sleep(time.Second)
			count.most.Store(0)
			if _, err := l.e.CancelOrders(anyone(), ""); err != nil || count.most.Load() != 1 || len(v.Open()) != 0 {
				t.Errorf("%s: %v, %d cancels at once, %d are open, want one and none", when, err, count.most.Load(), len(v.Open()))
			}
		}
		l.same("at the end")
	})
}
