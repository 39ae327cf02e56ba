package trade

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/trade/book"
)

// An account in which 10 are bought at 100, without fees.
func protectedAccount(short bool) func(*Options) {
	return func(o *Options) {
		o.Account = book.AccountRules{Cash: 10_000 * exact.One, Short: short, Stablecoins: true}
	}
}

// of returns a change of a request to a quantity, on top of another change.
func of(quantity int64, change func(*book.OrderRequest)) func(*book.OrderRequest) {
	return func(r *book.OrderRequest) {
		change(r)
		r.Quantity = exact.Decimal(quantity) * exact.One
	}
}

// limiting returns the change to a limit order.
func limiting(side book.Side, at int64) func(*book.OrderRequest) {
	return func(r *book.OrderRequest) { r.Side, r.Type, r.Price = side, book.Limit, exact.Decimal(at)*exact.One }
}

// reached says what became of an order: its status, what was filled of it, and at which
// average price.
func reached(t *testing.T, e *Engine, id string) string {
	t.Helper()
	o, err := e.Order(id)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %s at %s", o.Status, o.FilledQuantity, show(o.AveragePrice))
}

// holds is the position in AAA, negative when short.
func holds(t *testing.T, e *Engine) string {
	t.Helper()
	for _, p := range must(e.Positions(false)) {
		if p.Symbol == "AAA" && p.Side == "short" {
			return "-" + p.Quantity.String()
		} else if p.Symbol == "AAA" {
			return p.Quantity.String()
		}
	}
	return "0"
}

// TestStopAfterPartialExit: 10 are bought, a stop for all of them waits at 97, and a limit
// takes the profit of 4 at 101; at 96.5 the stop sells the 6 that are left, whichever kind of
// stop it is, whether the account may be short or not, and over a restart; nothing is short after it. The
// account said before how much that would lose: at 99.5 it is 6 times 2.5.
func TestStopAfterPartialExit(t *testing.T) {
	stops := map[string]func(*book.OrderRequest){
		"stop":          stopping(book.Sell, 97),
		"stop_limit":    func(r *book.OrderRequest) { stopping(book.Sell, 97)(r); r.Type, r.Price = book.StopLimit, 90*exact.One },
		"trailing_stop": func(r *book.OrderRequest) { r.Side, r.Type, r.TrailAmount = book.Sell, book.TrailingStop, 4*exact.One },
		"oco": func(r *book.OrderRequest) {
			limiting(book.Sell, 120)(r)
			r.OCO = book.OCO{StopPrice: 97 * exact.One}
		},
	}
	for name, stop := range stops {
		for _, short := range []bool{false, true} {
			for _, restart := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s short %t restart %t", name, short, restart), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						o, disk := testOptions(t), journaltest.NewDisk()
						protectedAccount(short)(&o)
						e, err := openOn(o, disk)
						if err != nil {
							t.Fatal(err)
						}
						place(t, e, book.Buy, book.Market, "10", "")
						id := ask(t, e, of(10, stop)).ID
						profit := ask(t, e, of(4, func(r *book.OrderRequest) { limiting(book.Sell, 101)(r); r.ReduceOnly = true })).ID
						if name == "oco" {
							id += "-oco"
						}
						walk(e, 100, minute(0, 100, 101, 99.5, 99.5))
						if got := reached(t, e, profit); got != "filled 4 at 101" {
							t.Fatalf("the limit is %s", got)
						}
						if restart {
							if err := e.Close(); err != nil {
								t.Fatal(err)
							}
							if e, err = openOn(o, disk.Cut(journaltest.Kept)); err != nil {
								t.Fatal(err)
							}
							e.ensure(t.Context(), "AAA")
							walk(e, 99.5, minute(0, 99.5, 99.5, 99.5, 99.5))
						}
						if a := statement(t, e); a.Risk.String() != "15" || a.Unprotected.String() != "0" {
							t.Errorf("risk_to_stops %s, unprotected %s, want 15 and 0", a.Risk, a.Unprotected)
						}
						walk(e, 99.5, minute(0, 99.5, 99.5, 96.5, 96.5))
						if got := reached(t, e, id); got != "cancelled 6 at 97" || holds(t, e) != "0" {
							t.Errorf("the stop is %s and %s are held; want 6 sold at 97 and nothing held", got, holds(t, e))
						}
						if err := e.Close(); err != nil {
							t.Error(err)
						}
					})
				})
			}
		}
	}
}

// TestStopOfShortAfterPartialExit: the same for a short position, which a stop that buys
// protects.
func TestStopOfShortAfterPartialExit(t *testing.T) {
	inBubble(t, protectedAccount(true), func(t *testing.T, e *Engine) {
		place(t, e, book.Sell, book.Market, "10", "")
		id := ask(t, e, of(10, stopping(book.Buy, 103))).ID
		ask(t, e, of(4, limiting(book.Buy, 99)))
		walk(e, 100, minute(0, 100, 100.5, 99, 100.5))
		if a := statement(t, e); a.Risk.String() != "15" || a.Unprotected.String() != "0" {
			t.Errorf("risk_to_stops %s, unprotected %s, want 15 and 0", a.Risk, a.Unprotected)
		}
		walk(e, 100.5, minute(0, 100.5, 104, 100.5, 104))
		if got := reached(t, e, id); got != "cancelled 6 at 103" || holds(t, e) != "0" {
			t.Errorf("the stop is %s and %s are held; want 6 bought at 103 and nothing held", got, holds(t, e))
		}
	})
}

// TestStopThatMayTurn: a stop that says may_open is no exit. It turns the position
// around if the account may be short; if not, or if the account cannot pay for the new
// position, it still closes what is held, and its reason says why no more.
func TestStopThatMayTurn(t *testing.T) {
	turning := func(r *book.OrderRequest) { stopping(book.Sell, 97)(r); r.MayOpen = true }
	for _, c := range []struct {
		short            bool
		cash             int64
		order, hold, why string
	}{
		{true, 10_000, "filled 10 at 97", "-4", ""},
		{false, 10_000, "cancelled 6 at 97", "0", "no_short"},
	} {
		inBubble(t, func(o *Options) {
			protectedAccount(c.short)(o)
			o.Account.Cash = exact.Decimal(c.cash) * exact.One
		}, func(t *testing.T, e *Engine) {
			place(t, e, book.Buy, book.Market, "10", "")
			id := ask(t, e, of(10, turning)).ID
			ask(t, e, of(4, limiting(book.Sell, 101)))
			walk(e, 100, minute(0, 100, 101, 100, 100))
			walk(e, 100, minute(0, 100, 100, 96, 96))
			o, _ := e.Order(id)
			if got := reached(t, e, id); got != c.order || holds(t, e) != c.hold || !strings.Contains(o.Reason, c.why) {
				t.Errorf("short %t: the stop is %s (%s) and %s are held, want %s and %s", c.short, got, o.Reason, holds(t, e), c.order, c.hold)
			}
		})
	}
	// 19 of 20 sold leave 1, and to turn that into 29 short at 97 would take 2813 of 2000.
	inBubble(t, func(o *Options) {
		protectedAccount(true)(o)
		o.Account.Cash, o.Account.Leverage = 2_000*exact.One, exact.One
	}, func(t *testing.T, e *Engine) {
		place(t, e, book.Buy, book.Market, "20", "")
		id := ask(t, e, of(30, turning)).ID
		place(t, e, book.Sell, book.Market, "19", "")
		walk(e, 100, minute(0, 100, 100, 96, 96))
		if o, _ := e.Order(id); reached(t, e, id) != "cancelled 1 at 97" || !strings.Contains(o.Reason, "buying_power") || holds(t, e) != "0" {
			t.Errorf("the stop is %s (%s) and %s are held; want 1 sold, and why no more", reached(t, e, id), o.Reason, holds(t, e))
		}
	})
}

// TestExitLargerThanPosition: a stop or a limit for more than is held could be an exit or
// turn the position around; it is refused with both ways to say it.
func TestExitLargerThanPosition(t *testing.T) {
	inBubble(t, protectedAccount(true), func(t *testing.T, e *Engine) {
		place(t, e, book.Buy, book.Market, "10", "")
		for name, change := range map[string]func(*book.OrderRequest){"stop": stopping(book.Sell, 97), "limit": limiting(book.Sell, 103)} {
			_, err := try(t, e, of(15, change))
			if code(err) != "reduce_only" || !strings.Contains(err.Error(), "at most 10") || !strings.Contains(err.Error(), "may_open") {
				t.Errorf("%s: %v", name, err)
			}
			if o, err := try(t, e, of(15, func(r *book.OrderRequest) { change(r); r.MayOpen = true })); err != nil || o.ReduceOnly {
				t.Errorf("%s with may_open: %+v, %v", name, o, err)
			}
			if o, err := try(t, e, of(10, change)); err != nil || !o.ReduceOnly {
				t.Errorf("%s for all that is held: %+v, %v", name, o, err)
			}
		}
	})
}

// TestReplaceExit: what replaces an exit is one without saying so, may be as large as that was
// while the position has shrunk, and sells no more than is held.
func TestReplaceExit(t *testing.T) {
	inBubble(t, protectedAccount(true), func(t *testing.T, e *Engine) {
		place(t, e, book.Buy, book.Market, "10", "")
		old := ask(t, e, of(10, stopping(book.Sell, 97))).ID
		place(t, e, book.Sell, book.Market, "4", "")
		id := ask(t, e, of(10, func(r *book.OrderRequest) { stopping(book.Sell, 98)(r); r.Replaces = old })).ID
		walk(e, 100, minute(0, 100, 100, 96, 96))
		if got := reached(t, e, id); got != "cancelled 6 at 98" || holds(t, e) != "0" {
			t.Errorf("the stop is %s and %s are held; want 6 sold at 98", got, holds(t, e))
		}
	})
}

// TestHaltedStopsDoNotProtect: while trading is halted no stop is filled, and the account
// counts none. Under reducing those that shrink the position are.
func TestHaltedStopsDoNotProtect(t *testing.T) {
	inBubble(t, protectedAccount(true), func(t *testing.T, e *Engine) {
		place(t, e, book.Buy, book.Market, "10", "")
		ask(t, e, of(10, stopping(book.Sell, 97)))
		for _, c := range []struct{ state, risk, unprotected string }{{"halted", "0", "1000"}, {"reducing", "30", "0"}, {"active", "30", "0"}} {
			trading(t, e, book.TradingState(c.state))
			if a := statement(t, e); a.Risk.String() != c.risk || a.Unprotected.String() != c.unprotected {
				t.Errorf("%s: risk_to_stops %s, unprotected %s, want %s and %s", c.state, a.Risk, a.Unprotected, c.risk, c.unprotected)
			}
		}
	})
}

// TestReducingCountsStopsInTurn: 10 are held, and two stops of 6 may open; under reducing the
// first leaves 4, and the second closes them: what it has more is cancelled.
func TestReducingCountsStopsInTurn(t *testing.T) {
	inBubble(t, protectedAccount(true), func(t *testing.T, e *Engine) {
		place(t, e, book.Buy, book.Market, "10", "")
		for _, price := range []int64{97, 96} {
			ask(t, e, of(6, func(r *book.OrderRequest) { stopping(book.Sell, price)(r); r.MayOpen = true }))
		}
		for _, c := range []struct{ state, risk, unprotected string }{{"active", "34", "0"}, {"reducing", "34", "0"}} {
			trading(t, e, book.TradingState(c.state))
			if a := statement(t, e); a.Risk.String() != c.risk || a.Unprotected.String() != c.unprotected {
				t.Errorf("%s: risk_to_stops %s, unprotected %s, want %s and %s", c.state, a.Risk, a.Unprotected, c.risk, c.unprotected)
			}
		}
		walk(e, 100, minute(0, 100, 100, 95, 95))
		if got := holds(t, e); got != "0" {
			t.Errorf("after both stops %s are held, want 0", got)
		}
	})
}

// TestRiskBeyondStop: the market went through a stop under a halt; once that is over the stop
// takes the price of the market, so there is nothing more to lose, and nothing to win.
func TestRiskBeyondStop(t *testing.T) {
	for _, side := range []book.Side{book.Buy, book.Sell} {
		inBubble(t, protectedAccount(true), func(t *testing.T, e *Engine) {
			place(t, e, side, book.Market, "10", "")
			stop, end := int64(97), 80.0
			if side == book.Sell {
				stop, end = 103, 120
			}
			ask(t, e, of(10, stopping(side.Other(), stop)))
			trading(t, e, book.Halted)
			walk(e, 100, minute(0, 100, max(end, 100), min(end, 100), end))
			trading(t, e, book.Active)
			if a := statement(t, e); a.Risk.String() != "0" || a.Unprotected.String() != "0" {
				t.Errorf("%s: risk_to_stops %s, unprotected %s, want 0 and 0", side, a.Risk, a.Unprotected)
			}
		})
	}
}

// TestStopPastItsTime: a stop guards its position until its time is over and no longer, though it
// ends only with the next price.
func TestStopPastItsTime(t *testing.T) {
	inBubble(t, protectedAccount(true), func(t *testing.T, e *Engine) {
		place(t, e, book.Buy, book.Market, "10", "")
		ask(t, e, of(10, func(r *book.OrderRequest) {
			stopping(book.Sell, 97)(r)
			r.TimeInForce, r.ExpiresAt = book.GTD, time.Now().Add(10*time.Second)
		}))
		for _, want := range []string{"30 0", "0 1000"} {
			if a := statement(t, e); a.Risk.String()+" "+a.Unprotected.String() != want {
				t.Errorf("risk_to_stops and unprotected %s %s, want %s", a.Risk, a.Unprotected, want)
			}
			time.Sleep(10 * time.Second)
		}
	})
}

// trading sets the trading state, as the file HALT does.
func trading(t *testing.T, e *Engine, to book.TradingState) {
	t.Helper()
	err := e.Do(func(*book.State) error { return e.book.Propose(book.KindTrading, &book.Event{At: now(), Trading: to}) })
	if err != nil {
		t.Fatal(err)
	}
}

// told returns the notifications in the polling queue, each as its type, the order's id and
// its message.
func toldNow(t *testing.T, e *Engine) (texts []string) {
	t.Helper()
	list, _, err := e.Notifications("", false, Page{Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		var m struct {
			Type, Message string
			Order         book.Order
		}
		text, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		unmarshal(t, text, &m)
		texts = append(texts, m.Type+" "+m.Message)
	}
	return texts
}

// TestEndsAreTold: an order that ends without a fill and without anybody having asked for it
// is in the polling queue, also if nobody subscribed, in that of who subscribed to orders, and
// goes to the outbox: one that the limits reject when the market reaches it, and a stop whose
// time is over.
func TestEndsAreTold(t *testing.T) {
	day := func(r *book.OrderRequest) {
		stopping(book.Sell, 90)(r)
		r.TimeInForce, r.ExpiresAt = book.GTD, time.Now().Add(3*time.Minute)
	}
	for _, c := range []struct {
		name string
		play func(t *testing.T, e *Engine) string // returns the id of the order that ends
		want string                               // in the notification, with the id for %s
	}{
		{"rejected", func(t *testing.T, e *Engine) string {
			id := ask(t, e, of(2, limiting(book.Sell, 400))).ID // worth 3600 with the 7 below, then
			ask(t, e, of(7, limiting(book.Sell, 110)))
			for _, at := range []float64{120, 200, 400} {
				walk(e, 100, minute(0, at, at, at, at))
				if at < 400 {
					toldNow(t, e)
				}
			}
			return id
		}, "order_rejected Limit order %s: sell 2 of AAA was rejected: max_position_notional: "},
		{"expired", func(t *testing.T, e *Engine) string {
			place(t, e, book.Buy, book.Market, "10", "")
			id := ask(t, e, of(10, day)).ID
			walk(e, 100, minute(0, 100, 100, 99, 99), minute(1, 99, 99, 99, 99), minute(2, 99, 99, 99, 99), minute(3, 99, 99, 99, 99))
			return id
		}, "order_cancelled Stop order %s: sell 10 of AAA was cancelled: expired."},
	} {
		for _, subscribed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s subscribed %t", c.name, subscribed), func(t *testing.T) {
				box := &steps{}
				inBubble(t, func(o *Options) { o.Outbox, o.Limits.PositionNotional = box, 1000*exact.One }, func(t *testing.T, e *Engine) {
					if subscribed {
						if _, err := e.Subscribe(from("me"), Filter{AlertTypes: []string{"order"}}); err != nil {
							t.Fatal(err)
						}
					}
					id := c.play(t, e)
					want := fmt.Sprintf(c.want, id)
					if got := toldNow(t, e); len(got) != 1 || !strings.HasPrefix(got[0], want) {
						t.Errorf("the queue has %q, want one that begins with %q", got, want)
					}
					if _, n, _ := e.hub.Status("me"); subscribed && n == 0 {
						t.Error("nothing is pushed to who subscribed to orders")
					}
					if !box.ended(id) {
						t.Error("the outbox was not told")
					}
				})
			})
		}
	}
}

// steps is an outbox that keeps the orders that ended.
type steps struct{ orders []string }

func (s *steps) Apply(step book.Step) error {
	if step.Order != nil {
		s.orders = append(s.orders, step.Order.ID)
	}
	return nil
}

func (*steps) Snapshot() ([]byte, error) { return []byte(`null`), nil }

func (*steps) Restore([]byte) error { return nil }

func (s *steps) ended(id string) bool {
	for _, o := range s.orders {
		if o == id {
			return true
		}
	}
	return false
}

// TestFillTellsWhatEnded: the notification of a fill names the exits that end with it.
func TestFillTellsWhatEnded(t *testing.T) {
	inBubble(t, protectedAccount(true), func(t *testing.T, e *Engine) {
		if _, err := e.Subscribe(from("me"), Filter{AlertTypes: []string{"order"}}); err != nil {
			t.Fatal(err)
		}
		place(t, e, book.Buy, book.Market, "10", "")
		stop := ask(t, e, of(10, stopping(book.Sell, 97))).ID
		profit := ask(t, e, of(10, limiting(book.Sell, 101))).ID
		walk(e, 100, minute(0, 100, 101, 100, 101))
		if got := reached(t, e, stop); got != "cancelled 0 at null" {
			t.Errorf("the stop of a position that is gone is %s", got)
		}
		want := fmt.Sprintf("order_filled Limit order %s: sell 10 of AAA filled at 101. With it ended: %s.", profit, stop)
		if got := toldNow(t, e); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

// TestClosingByHand: closing a position ends its exits in the same record, and the answer
// names them, also of a dry run and of symbol all. What does not end with it, because it said
// may_open or is on the other side, is named too. A part that is sold ends nothing.
func TestClosingByHand(t *testing.T) {
	for _, way := range []string{"quantity", "all", "every position", "dry run"} {
		t.Run(way, func(t *testing.T) {
			inBubble(t, protectedAccount(true), func(t *testing.T, e *Engine) {
				place(t, e, book.Buy, book.Market, "10", "")
				stop := ask(t, e, of(10, stopping(book.Sell, 97))).ID
				profit := ask(t, e, of(5, limiting(book.Sell, 105))).ID
				stays := ask(t, e, of(10, func(r *book.OrderRequest) { stopping(book.Sell, 95)(r); r.MayOpen = true })).ID
				entry := ask(t, e, limiting(book.Buy, 90)).ID
				r := book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Sell, Type: book.Market, Quantity: 4 * exact.One}
				part, err := e.PlaceOrder(t.Context(), r)
				if err != nil || len(part.Ended)+len(part.Left) != 0 {
					t.Fatalf("4 of 10 are sold: %+v, %v", part, err)
				}
				r.Quantity = 6 * exact.One
				var got book.Placed
				switch way {
				case "every position":
					var closed []Closed
					if closed, err = e.CloseAll(t.Context(), book.OrderRequest{Type: book.Market, All: true}, nil); len(closed) == 1 {
						got = closed[0].Placed
					}
				case "all":
					r.Quantity, r.All = 0, true
					got, err = e.PlaceOrder(t.Context(), r)
				default:
					r.DryRun = way == "dry run"
					got, err = e.PlaceOrder(t.Context(), r)
				}
				if err != nil || fmt.Sprint(got.Ended) != fmt.Sprint([]string{stop, profit}) || fmt.Sprint(got.Left) != fmt.Sprint([]string{stays, entry}) {
					t.Errorf("ended %v and left %v, %v; want %v and %v", got.Ended, got.Left, err, []string{stop, profit}, []string{stays, entry})
				}
				want := "cancelled cancelled open open"
				if way == "dry run" {
					want = "open open open open"
				}
				if got := strings.Join([]string{found(t, e, stop), found(t, e, profit), found(t, e, stays), found(t, e, entry)}, " "); got != want {
					t.Errorf("stop, profit, the stop that may open and the entry are %s, want %s", got, want)
				}
			})
		})
	}
}

// TestTurningByHand: an order that turns the position around ends its exits, and the answer
// names them. Others stay, with the new position.
func TestTurningByHand(t *testing.T) {
	inBubble(t, protectedAccount(true), func(t *testing.T, e *Engine) {
		entry := ask(t, e, of(10, func(r *book.OrderRequest) { r.StopLoss.Price, r.TakeProfit.Price = 97*exact.One, 105*exact.One })).ID
		ask(t, e, limiting(book.Buy, 90))
		got, err := e.PlaceOrder(t.Context(), book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Sell, Type: book.Market, Quantity: 25 * exact.One, MayOpen: true})
		if want := []string{entry + "-sl", entry + "-tp"}; err != nil || !slices.Equal(got.Ended, want) || got.Left != nil {
			t.Errorf("ended %v and left %v, %v; want %v and none", got.Ended, got.Left, err, want)
		}
	})
}

// TestCancelNamesTheOther: what is cancelled with an order that excludes it is in the answer.
func TestCancelNamesTheOther(t *testing.T) {
	inBubble(t, protectedAccount(true), func(t *testing.T, e *Engine) {
		entry := ask(t, e, of(10, func(r *book.OrderRequest) { r.StopLoss.Price, r.TakeProfit.Price = 97*exact.One, 105*exact.One })).ID
		got, err := e.CancelOrder(anyone(), entry+"-tp")
		if want := []string{entry + "-sl"}; err != nil || !slices.Equal(got.Ended, want) {
			t.Errorf("with the take_profit ended %v, %v; want %v", got.Ended, err, want)
		}
	})
}

// TestMarketBesideExits: a market order that only closes is taken beside exits that rest for
// the same position, though the account may not be short, also while only orders that shrink a
// position are taken. So is one for a part. One for more is refused.
func TestMarketBesideExits(t *testing.T) {
	for _, to := range []book.TradingState{book.Active, book.Reducing} {
		inBubble(t, protectedAccount(false), func(t *testing.T, e *Engine) {
			place(t, e, book.Buy, book.Market, "10", "")
			ask(t, e, of(10, stopping(book.Sell, 97)))
			ask(t, e, of(10, limiting(book.Sell, 105)))
			if err := e.Do(func(*book.State) error { return e.book.Propose(book.KindTrading, &book.Event{At: now(), Trading: to}) }); err != nil {
				t.Fatal(err)
			}
			sell := func(quantity int64) error {
				r := book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Sell, Type: book.Market, Quantity: exact.Decimal(quantity) * exact.One}
				_, _, err := e.accept(r, book.Inquiry{Answered: true}, e.venue.(book.Arrival))
				return err
			}
			if err := sell(11); err == nil {
				t.Errorf("%s: 11 of 10 are sold", to)
			}
			for _, quantity := range []int64{4, 6} {
				if err := sell(quantity); err != nil {
					t.Errorf("%s: %d are not sold: %v", to, quantity, err)
				}
			}
			if holds(t, e) != "0" {
				t.Errorf("%s: %s are held", to, holds(t, e))
			}
		})
	}
}

// TestReplacedByNothing: an ioc that the market has not reached ends at once, and with it the
// stop that it replaces. The answer names the stop: the position is without it now.
func TestReplacedByNothing(t *testing.T) {
	inBubble(t, protectedAccount(true), func(t *testing.T, e *Engine) {
		place(t, e, book.Buy, book.Market, "10", "")
		stop := ask(t, e, of(10, stopping(book.Sell, 97))).ID
		got, err := e.PlaceOrder(t.Context(), book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Sell, Type: book.Limit, Quantity: 10 * exact.One, Price: 105 * exact.One, TimeInForce: book.IOC, Replaces: stop})
		if want := []string{stop}; err != nil || got.Status != book.StatusCancelled || !slices.Equal(got.Ended, want) {
			t.Errorf("%s, ended %v, %v; want %v ended", got.Status, got.Ended, err, want)
		}
		// What takes the place of another order is told by its replaces.
		stop = ask(t, e, of(10, stopping(book.Sell, 97))).ID
		got, err = e.PlaceOrder(t.Context(), book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Sell, Type: book.Stop, Quantity: 10 * exact.One, StopPrice: 98 * exact.One, Replaces: stop})
		if err != nil || got.Ended != nil {
			t.Errorf("ended %v, %v; want none", got.Ended, err)
		}
	})
}
