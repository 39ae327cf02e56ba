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

// stakes says what is held of each symbol and what of it no stop guards, at a price of 100 each.
func (l *atBroker) stakes() (all string) {
	l.t.Helper()
	p, _, err := l.e.Portfolio(l.t.Context(), nil)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, s := range p.Positions {
		all += fmt.Sprintf("%s %s unprotected %s; ", s.Symbol, s.Quantity, s.Unprotected)
	}
	return all
}

// TestLiveRiskOfBracket: the exits of a bracket are at the broker, and wait there until all of the entry
// is filled: until then they guard nothing of the part that is. A halt, which keeps stops of the paper
// broker from being filled, keeps none from that which rests there.
func TestLiveRiskOfBracket(t *testing.T) {
	for _, ended := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			v := alpacatest.New()
			l := startLive(t, v)
			defer l.stop()
			entry, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(99), Quantity: shares(10), StopLoss: book.Exit{Price: shares(90)}, TakeProfit: book.Exit{Price: shares(120)}})
			if err != nil {
				t.Fatal(err)
			}
			is := func(when, want string) {
				t.Helper()
				time.Sleep(2 * time.Second)
				if got := l.stakes(); got != want {
					t.Errorf("%s: %swant %s", when, got, want)
				}
			}
			v.Fill(entry.ID, shares(4), shares(99))
			is("4 of 10 are bought", "AAA 4 unprotected 400; ")
			waits := func() book.Code {
				_, x, err := l.e.Outlook(entry.ID + "-sl")
				if err != nil {
					t.Fatal(err)
				}
				return x.Waits.Code
			}
			if got := waits(); got != book.WaitsEntry {
				t.Errorf("the stop %s", got)
			}
			if ended {
				v.End(entry.ID, "canceled")
				is("the rest is cancelled, and the exits with it", "AAA 4 unprotected 400; ")
				return
			}
			v.Fill(entry.ID, shares(6), shares(99))
			is("all are bought", "AAA 10 unprotected 0; ")
			if got := waits(); got != "waits_for_fall" {
				t.Errorf("the stop then %s", got)
			}
			if err := l.e.SetHalt(true); err != nil {
				t.Fatal(err)
			}
			is("the stop rests at the broker during a halt", "AAA 10 unprotected 0; ")
		})
	}
}

// TestLiveRiskInDoubt: a stop whose answer was lost may be at the broker or not, so it guards nothing
// until that is known.
func TestLiveRiskInDoubt(t *testing.T) {
	for _, c := range []struct {
		fault alpacatest.Fault
		then  string
	}{{alpacatest.Fault{Status: 500}, "AAA 10 unprotected 1000; "}, {alpacatest.Fault{Late: 30 * time.Second}, "AAA 10 unprotected 0; "}} {
		synctest.Test(t, func(t *testing.T) {
			v := alpacatest.New()
			l := startWithTen(t, v)
			defer l.stop()
			answering(v, "POST", c.fault)
			if _, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Stop, Quantity: shares(10), StopPrice: shares(90)}); err != nil {
				t.Fatal(err)
			}
			if got := l.stakes(); got != "AAA 10 unprotected 1000; " {
				t.Errorf("in doubt: %s", got)
			}
			time.Sleep(3 * time.Minute)
			if got := l.stakes(); got != c.then {
				t.Errorf("after three minutes: %swant %s", got, c.then)
			}
		})
	}
}

// TestLiveRiskSuspended: a stop that the broker suspends is not executed, so it guards nothing and says
// so, until the broker works it again; also after a restart.
func TestLiveRiskSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startWithTen(t, v)
		defer l.stop()
		stop, err := l.place(book.OrderRequest{Side: book.Sell, Type: book.Stop, Quantity: shares(10), StopPrice: shares(90)})
		if err != nil {
			t.Fatal(err)
		}
		is := func(when, want string, waits book.Code) {
			t.Helper()
			time.Sleep(2 * time.Second)
			if got := l.stakes(); got != want {
				t.Errorf("%s: %swant %s", when, got, want)
			}
			if _, x, err := l.e.Outlook(stop.ID); err != nil || x.Waits == nil || x.Waits.Code != waits {
				t.Errorf("%s: it waits for %+v, %v; want %s", when, x.Waits, err, waits)
			}
		}
		is("placed", "AAA 10 unprotected 0; ", book.WaitsFall)
		v.End(stop.ID, "suspended")
		is("suspended", "AAA 10 unprotected 1000; ", "suspended")
		l.crash()
		is("suspended, after a restart", "AAA 10 unprotected 1000; ", "suspended")
		v.End(stop.ID, "new")
		is("worked again", "AAA 10 unprotected 0; ", book.WaitsFall)
	})
}

// TestLiveRiskIsOfNow: what is held is known by the fills at once, and by a report up to a minute later.
// Shares that the book has under two spellings are in the account once.
func TestLiveRiskIsOfNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startWithTen(t, v)
		defer l.stop()
		time.Sleep(2 * time.Minute)
		more, err := l.place(book.OrderRequest{Side: book.Buy, Type: book.Limit, Price: shares(99), Quantity: shares(5)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		v.Fill(more.ID, shares(5), shares(99))
		time.Sleep(time.Second)
		if got := l.stakes(); got != "AAA 15 unprotected 1500; " {
			t.Errorf("after a fill: %s", got)
		}
		v.Adjust("AAA", -shares(12))
		time.Sleep(2 * time.Minute)
		if got := l.stakes(); got != "AAA 3 unprotected 300; " {
			t.Errorf("12 were sold elsewhere: %s", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		l := startLive(t, v)
		defer l.stop()
		buyTwoSpellings(t, l)
		time.Sleep(2 * time.Minute)
		if got := l.stakes(); got != "BRK-B 2 unprotected 200; BRK.B 2 unprotected 200; " {
			t.Errorf("two spellings: %s", got)
		}
		v.Adjust("BRK.B", shares(3))
		time.Sleep(2 * time.Minute)
		if got := l.stakes(); got != "BRK-B 5 unprotected 500; BRK.B 2 unprotected 200; " {
			t.Errorf("two spellings and three more shares: %s", got)
		}
	})
}

// TestLiveLostStopIsTold: that a broker ended the rest of a stop is told also if nobody has subscribed to
// orders. Of a stop for 10 it fills 4, which leaves 6 without one, and nobody asked for that. What the client
// itself cancelled, and the last fill of all, is not.
func TestLiveLostStopIsTold(t *testing.T) {
	for end, want := range map[string]string{
		"rejected": "Stop order ORDER: sell 4 of AAA filled at 90. It was for 10 in all; the rest was rejected: at the broker: rejected." + book.Invented,
		"expired":  "Stop order ORDER: sell 4 of AAA filled at 90. It was for 10 in all; the rest was cancelled: at the broker: expired." + book.Invented,
		"asked":    "", "filled": "",
	} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := alpacatest.New()
				l := startLive(t, v)
				defer l.stop()
				stop := exitAtBroker(t, l, v)
				v.Fill(stop.ID, shares(4), shares(90))
				time.Sleep(time.Second)
				switch end {
				case "asked":
					if _, err := l.e.CancelOrder(anyone(), stop.ID); err != nil {
						t.Fatal(err)
					}
				case "filled":
					v.Fill(stop.ID, shares(6), shares(90))
				default:
					v.End(stop.ID, end)
				}
				time.Sleep(time.Minute)
				want := strings.Replace(want, "ORDER", stop.ID, 1)
				if got := strings.Join(heardOf(t, l.e), "; "); got != want {
					t.Errorf("heard %q, want %q", got, want)
				}
				if got := l.stakes(); end != "filled" && got != "AAA 6 unprotected 600; " {
					t.Errorf("afterwards %s", got)
				}
			})
		})
	}
}
