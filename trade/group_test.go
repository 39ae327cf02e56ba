package trade

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/book"
)

// bracket returns the change to an entry with both exits.
func bracket(t *testing.T, stop, profit string) func(*book.OrderRequest) {
	t.Helper()
	read := func(text string) book.Exit {
		x, err := book.ParseExit(text)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	return func(r *book.OrderRequest) { r.StopLoss, r.TakeProfit = read(stop), read(profit) }
}

// TestBracket: an entry at 100 with a stop of 3 % and a profit of 6 %, as 97 and
// 106; one of the two is filled and the other ends with it; of both within one
// step the stop counts, and says so.
func TestBracket(t *testing.T) {
	for _, c := range []struct {
		name         string
		path         []market.Bar
		stop, profit string
	}{
		{"neither", []market.Bar{{Open: 100, High: 105, Low: 98, Close: 99}}, "open", "open"},
		{"the stop", []market.Bar{{Open: 100, High: 100, Low: 96, Close: 96}}, "filled 97", "cancelled"},
		{"the profit", []market.Bar{{Open: 100, High: 107, Low: 99, Close: 99}}, "cancelled", "filled 106"},
		{"both", []market.Bar{{Open: 100, High: 107, Low: 96, Close: 99}}, "filled 97", "cancelled"},
		{"a gap below", []market.Bar{{Open: 100, High: 100, Low: 100, Close: 100}, {Open: 90, High: 107, Low: 90, Close: 99}}, "filled 90", "cancelled"},
		{"a gap above", []market.Bar{{Open: 100, High: 100, Low: 100, Close: 100}, {Open: 110, High: 110, Low: 99, Close: 99}}, "cancelled", "filled 110"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, e *Engine) {
				e.ensure(t.Context(), "AAA")
				walk(e, 100, minute(0, 100, 100, 100, 100))
				id := ask(t, e, bracket(t, "3%", "6%")).ID
				for i := range c.path {
					c.path[i].Time = minute(i, 0, 0, 0, 0).Time
				}
				walk(e, 100, c.path...)
				if got := found(t, e, id+"-sl"); got != c.stop {
					t.Errorf("the stop is %s, want %s", got, c.stop)
				}
				if got := found(t, e, id+"-tp"); got != c.profit {
					t.Errorf("the take_profit is %s, want %s", got, c.profit)
				}
				o, _ := e.Order(id + "-sl")
				if got := strings.Contains(o.Reason, "which came first is not known"); got != (c.name == "both") {
					t.Errorf("the reason of the stop is %q: it must say that nobody knows which came first exactly if both were reached after the open", o.Reason)
				}
				if n := len(must(e.Positions(false))); (n == 0) != (c.name != "neither") {
					t.Errorf("%d positions are open", n)
				}
			})
		})
	}
}

// TestBothReachedAndCut: a stop that could close only what was left of the position, in
// a step that reached both exits, says both: why its rest was cancelled, and that nobody
// knows which of the two came first.
func TestBothReachedAndCut(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		e.ensure(t.Context(), "AAA")
		walk(e, 100, minute(0, 100, 100, 100, 100))
		id := ask(t, e, func(r *book.OrderRequest) { bracket(t, "97", "106")(r); r.Quantity = 2 * exact.One }).ID
		ask(t, e, func(r *book.OrderRequest) { r.Side, r.Quantity = book.Sell, exact.One })
		walk(e, 100, minute(0, 100, 107, 96, 99))
		o, _ := e.Order(id + "-sl")
		want := "the rest would not have reduced the position; the market reached this stop and the limit beside it within one step, and which came first is not known: the stop counts"
		if o.Status != book.StatusCancelled || o.FilledQuantity != exact.One || o.Reason != want {
			t.Errorf("the stop is %s with %v filled: %q, want cancelled with 1 filled: %q", o.Status, o.FilledQuantity, o.Reason, want)
		}
	})
}

// TestBothReachedSaidOn: a stop_limit that is set off in the same step in which the limit
// beside it is reached, and waits on because the ask is beyond its own limit, says so until
// its end.
func TestBothReachedSaidOn(t *testing.T) {
	const both = "the market reached this stop and the limit beside it within one step, and which came first is not known: the stop counts"
	for cancel, want := range map[string]string{
		"":     "filled 10: " + both,
		"-oco": "cancelled 0: " + both,
		"ID":   "cancelled 0: cancelled with ID; " + both,
	} {
		inBubble(t, spread, func(t *testing.T, e *Engine) {
			e.ensure(t.Context(), "AAA")
			walk(e, 100, minute(0, 100, 100, 100, 100))
			owner := anyone()
			id := ask(t, e, func(r *book.OrderRequest) {
				r.Who, r.Quantity, r.Type, r.Price, r.OCO = owner, 10*exact.One, book.Limit, 98*exact.One, book.OCO{StopPrice: 102 * exact.One, Price: 102 * exact.One}
			}).ID
			check := func(want string) {
				t.Helper()
				o, err := e.Order(id + "-oco")
				if got := fmt.Sprint(o.Status, " ", o.FilledQuantity, ": ", strings.ReplaceAll(o.Reason, id, "ID")); got != want || err != nil {
					t.Errorf("the stop is %s, want %s (%v)", got, want, err)
				}
			}
			walk(e, 100, minute(1, 100, 100, 100, 100), minute(2, 100, 103, 97, 103))
			check("open 0: " + both)
			switch cancel {
			case "":
				walk(e, 103, minute(3, 103, 103, 100, 100))
			case "ID":
				e.CancelOrder(owner, id)
			default:
				e.CancelOrder(owner, id+cancel)
			}
			check(want)
		})
	}
}

// spread is an engine whose ask is one percent above the price.
func spread(o *Options) { o.HalfSpread = exact.One / 100 }

// TestBracketLives: the exits of a resting entry begin with its fill, survive a
// crash, end together when one is cancelled or the position is closed, and one
// can be moved without the other.
func TestBracketLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := journaltest.NewDisk()
		e, err := openOn(testOptions(t), d)
		if err != nil {
			t.Fatal(err)
		}
		walk(e, 100, minute(0, 100, 100, 100, 100))
		entry := func() string {
			return ask(t, e, func(r *book.OrderRequest) { bracket(t, "90", "110")(r); r.Type, r.Price = book.Limit, 95*exact.One }).ID
		}
		first := entry()
		if n := len(must(e.Orders(true))); n != 1 {
			t.Errorf("%d orders before the entry is filled, want 1", n)
		}
		walk(e, 100, minute(0, 100, 100, 94, 96))
		if e, err = openOn(testOptions(t), d.Cut(journaltest.Dropped)); err != nil {
			t.Fatal(err)
		}
		e.watchNeeded(t.Context())
		if got := found(t, e, first+"-sl") + " " + found(t, e, first+"-tp"); got != "open open" {
			t.Fatalf("after a crash the exits are %s, want both open", got)
		}
		moved := ask(t, e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.StopPrice, r.Replaces = book.Sell, book.Stop, 93*exact.One, first+"-sl"
		})
		if moved.Group != first || moved.Role != book.RoleStopLoss || !moved.ReduceOnly || found(t, e, first+"-tp") != "open" {
			t.Errorf("the stop was moved to %+v, and the take_profit is %s, want open", moved, found(t, e, first+"-tp"))
		}
		walk(e, 96, minute(0, 96, 96, 92, 94))
		if got := found(t, e, moved.ID) + " " + found(t, e, first+"-tp"); got != "filled 93 cancelled" {
			t.Errorf("after a fall to 92 the exits are %s, want filled 93 cancelled", got)
		}
		second := ask(t, e, bracket(t, "10%", "10%")).ID
		if _, err := e.CancelOrder(book.Who{}, second+"-tp"); err != nil || found(t, e, second+"-sl") != "cancelled" {
			t.Errorf("one exit was cancelled, the other is %s (%v), want cancelled", found(t, e, second+"-sl"), err)
		}
		third := ask(t, e, bracket(t, "10%", "10%")).ID
		ask(t, e, func(r *book.OrderRequest) { r.Side, r.Quantity, r.All = book.Sell, 0, true })
		if got := found(t, e, third+"-sl") + " " + found(t, e, third+"-tp"); got != "cancelled cancelled" {
			t.Errorf("the position is closed and the exits are %s, want both cancelled", got)
		}
		e.Close()
	})
}

// TestMovedStopCounts: a stop that took the place of another counts before the
// older limit beside it, when a minute reaches both.
func TestMovedStopCounts(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		e.ensure(t.Context(), "AAA")
		walk(e, 100, minute(0, 100, 100, 100, 100))
		id := ask(t, e, bracket(t, "3%", "6%")).ID
		moved := ask(t, e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.StopPrice, r.Replaces = book.Sell, book.Stop, 98*exact.One, id+"-sl"
		})
		walk(e, 100, minute(0, 100, 107, 97, 99))
		if got := found(t, e, moved.ID) + " " + found(t, e, id+"-tp"); got != "filled 98 cancelled" {
			t.Errorf("the moved stop and the take_profit are %s, want filled 98 cancelled", got)
		}
	})
}

// TestStopLimitSetOffCounts: a minute opens beyond a stop_limit and falls to the
// limit beside it. The stop was first, and on the way down its limit. If the minute sets it
// off later and the ask is beyond its limit, it counts too, because nobody knows the way: the
// limit is left alone, and the stop_limit is filled by the next price.
func TestStopLimitSetOffCounts(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		e.ensure(t.Context(), "AAA")
		walk(e, 100, minute(0, 100, 100, 100, 100))
		id := ask(t, e, func(r *book.OrderRequest) {
			r.Type, r.Price, r.OCO = book.Limit, 95*exact.One, book.OCO{StopPrice: 105 * exact.One, Price: 106 * exact.One}
		}).ID
		walk(e, 100, minute(0, 100, 100, 100, 100), minute(1, 110, 110, 94, 94))
		if got := found(t, e, id) + ", " + found(t, e, id+"-oco"); got != "cancelled, filled 106" {
			t.Errorf("after the minute from 110 to 94: %s, want cancelled, filled 106", got)
		}
	})
	inBubble(t, spread, func(t *testing.T, e *Engine) {
		e.ensure(t.Context(), "AAA")
		walk(e, 100, minute(0, 100, 100, 100, 100))
		id := ask(t, e, func(r *book.OrderRequest) {
			r.Type, r.Price, r.OCO = book.Limit, 95*exact.One, book.OCO{StopPrice: 105 * exact.One, Price: 106 * exact.One}
		}).ID
		walk(e, 100, minute(0, 100, 100, 100, 100), minute(1, 100, 110, 93, 94)) // the ask at the stop is 106.05
		if got := found(t, e, id) + ", " + found(t, e, id+"-oco"); got != "open, open" {
			t.Errorf("after the minute from 110 to 94: %s, want both open", got)
		}
		if o, err := e.Order(id + "-oco"); err != nil || !strings.Contains(o.Reason, "the stop counts") {
			t.Errorf("after that minute the reason of the stop is %q, want that it counts (%v)", o.Reason, err)
		}
		walk(e, 94, minute(0, 94, 94, 94, 94))
		if got := found(t, e, id) + ", " + found(t, e, id+"-oco"); got != "cancelled, filled 106" {
			t.Errorf("at the next price: %s, want cancelled, filled 106", got)
		}
	})
}

// TestOCO: of a limit above the market and a stop below it, for one quantity, the one that is
// reached is filled and the other is cancelled.
func TestOCO(t *testing.T) {
	for _, c := range []struct {
		to   float64
		want string
	}{{96, "open open"}, {94, "cancelled filled 95"}, {111, "filled 110 cancelled"}} {
		inBubble(t, nil, func(t *testing.T, e *Engine) {
			place(t, e, book.Buy, book.Market, "1", "")
			walk(e, 100, minute(0, 100, 100, 100, 100))
			id := ask(t, e, func(r *book.OrderRequest) {
				r.Side, r.Type, r.Price, r.OCO = book.Sell, book.Limit, 110*exact.One, book.OCO{StopPrice: 95 * exact.One}
			}).ID
			walk(e, 100, minute(0, 100, max(100, c.to), min(100, c.to), c.to))
			if got := found(t, e, id) + " " + found(t, e, id+"-oco"); got != c.want {
				t.Errorf("the market goes to %v: %s, want %s", c.to, got, c.want)
			}
		})
	}
}

// TestExitRefused: exits on the wrong side, and those of orders that open nothing.
func TestExitRefused(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		for i, change := range []func(*book.OrderRequest){
			bracket(t, "101", "110"), bracket(t, "90", "99"), bracket(t, "100", "110"),
			func(r *book.OrderRequest) { bracket(t, "3%", "6%")(r); r.Quantity, r.All = 0, true },
			func(r *book.OrderRequest) { bracket(t, "95", "110")(r); r.Side = book.Sell },
		} {
			if o, err := try(t, e, change); code(err) != "bad_exit" {
				t.Errorf("order %d: %+v, %v, want bad_exit", i, o, err)
			}
		}
		if _, err := try(t, e, func(r *book.OrderRequest) { r.OCO.StopPrice = 95 * exact.One }); code(err) != "bad_oco" {
			t.Errorf("a market order with oco: %v, want bad_oco", err)
		}
		if _, err := try(t, e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.Price, r.OCO.StopPrice = book.Sell, book.Limit, 110*exact.One, 105*exact.One
		}); code(err) != "stop_passed" {
			t.Errorf("a stop above the market beside a sell limit: %v, want stop_passed", err)
		}
		for _, text := range []string{"", "x", "-3%", "100%", "atr", "3 percent"} {
			if x, err := book.ParseExit(text); err == nil {
				t.Errorf("exit %q is read as %+v, want an error", text, x)
			}
		}
	})
}

// TestExitsOfReducing: an order that only reduces a position has nothing to
// protect, so its exits are refused; one that turns it around has them for what
// it opened; one that rested and only closed says that it has none.
func TestExitsOfReducing(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		place(t, e, book.Sell, book.Market, "2", "")
		for _, quantity := range []exact.Decimal{exact.One, 2 * exact.One} {
			if o, err := try(t, e, func(r *book.OrderRequest) { bracket(t, "3%", "6%")(r); r.Quantity = quantity }); code(err) != "bad_exit" {
				t.Errorf("a buy of %s with exits that only reduces: %+v, %v, want bad_exit", quantity, o, err)
			}
		}
		turned := ask(t, e, func(r *book.OrderRequest) { bracket(t, "3%", "6%")(r); r.Quantity = 5 * exact.One })
		for _, leg := range must(e.Group(turned.ID)) {
			if leg.Quantity != 3*exact.One {
				t.Errorf("%s is for %s, want 3", leg.ID, leg.Quantity)
			}
		}
		rests := ask(t, e, func(r *book.OrderRequest) {
			bracket(t, "94", "97")(r)
			r.Side, r.Type, r.Price, r.StopLoss = book.Sell, book.Limit, 102*exact.One, book.Exit{Price: 110 * exact.One}
			r.Quantity = 4 * exact.One
		})
		place(t, e, book.Buy, book.Market, "3", "")
		walk(e, 100, minute(0, 100, 103, 100, 103))
		if o, _ := e.Order(rests.ID); o.Status != book.StatusFilled || !strings.Contains(o.Reason, "only closed") || len(must(e.Group(rests.ID))) != 0 {
			t.Errorf("an entry that only closed: %+v, with the exits %+v, want none and a reason", o, must(e.Group(rests.ID)))
		}
	})
}

// TestOCOAtOnce: a limit that would fill at once takes no stop beside it, and of
// two that expire both say so.
func TestOCOAtOnce(t *testing.T) {
	inBubble(t, func(o *Options) { o.Limits.OpenPerSymbol = 3 }, func(t *testing.T, e *Engine) {
		oco := func(limit int64) func(*book.OrderRequest) {
			return func(r *book.OrderRequest) {
				r.Side, r.Type, r.Price, r.OCO = book.Sell, book.Limit, exact.Decimal(limit)*exact.One, book.OCO{StopPrice: 95 * exact.One}
				r.TimeInForce, r.ExpiresAt = book.GTD, time.Now().Add(time.Hour)
			}
		}
		if o, err := try(t, e, oco(99)); code(err) != "bad_oco" || len(must(e.Orders(false))) != 0 {
			t.Errorf("an oco whose limit fills at once: %+v, %v, want bad_oco", o, err)
		}
		id := ask(t, e, oco(110)).ID
		if _, err := try(t, e, oco(110)); code(err) != "max_open_orders_symbol" {
			t.Errorf("a second oco where three orders may be open: %v, want max_open_orders_symbol", err)
		}
		ask(t, e, func(r *book.OrderRequest) { oco(111)(r); r.OCO = book.OCO{} })
		time.Sleep(2 * time.Hour)
		e.expireAll()
		for _, id := range []string{id, id + "-oco"} {
			if o, _ := e.Order(id); o.Status != book.StatusCancelled || o.Reason != "expired" {
				t.Errorf("%s is %s with the reason %q, want cancelled and expired", id, o.Status, o.Reason)
			}
		}
	})
}

// TestCutIsFound: an exit that was larger than the position is cancelled after a fill in
// part, and is found among the filled orders and among the cancelled ones.
func TestCutIsFound(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		id := ask(t, e, func(r *book.OrderRequest) { bracket(t, "3%", "6%")(r); r.Quantity = 2 * exact.One }).ID + "-sl"
		place(t, e, book.Sell, book.Market, "1", "")
		walk(e, 100, minute(0, 100, 100, 96, 96))
		for _, status := range []book.OrderStatus{book.StatusFilled, book.StatusCancelled} {
			orders, err := e.Find(OrderFilter{Status: status})
			i := slices.IndexFunc(orders, func(o book.Order) bool { return o.ID == id })
			if err != nil || i < 0 || orders[i].FilledQuantity != exact.One || orders[i].Status != book.StatusCancelled {
				t.Errorf("the orders found as %s: %+v, %v, want the exit among them, with 1 filled", status, orders, err)
			}
		}
	})
}

// TestFinePercent: exits and trailing stops keep every digit of a percentage.
func TestFinePercent(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		id := ask(t, e, bracket(t, "3.00000099%", "6.00000001%")).ID
		stop, _ := e.Order(id + "-sl")
		profit, _ := e.Order(id + "-tp")
		if got := fmt.Sprint(show(stop.StopPrice), " ", show(profit.Price)); got != "96.99999901 106.00000001" {
			t.Errorf("the exits are at %s, want 96.99999901 106.00000001", got)
		}
		trails := ask(t, e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.TrailPercent = book.Sell, book.TrailingStop, 3*exact.One+1
		})
		if got := show(trails.StopPrice); got != "96.99999999" {
			t.Errorf("the trailing stop is at %s, want 96.99999999", got)
		}
	})
}

// TestExitWithoutRange: a distance in average true ranges needs a range. Bars that do not
// move have none, and neither have fewer bars than the range is of.
func TestExitWithoutRange(t *testing.T) {
	for name, source := range map[string]market.Source{"bars that do not move": flat(100), "three bars": few{tall{flat(100)}}} {
		inBubble(t, func(o *Options) { o.Source = source }, func(t *testing.T, e *Engine) {
			if err := tryExit(t, e, book.Buy, "2atr", ""); code(err) != "no_data" || !strings.Contains(err.Error(), "give stop_loss as a price or in percent") {
				t.Errorf("%s: %v, want no_data", name, err)
			}
		})
	}
}

// few is a source with three bars.
type few struct{ tall }

func (s few) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	q.Limit = min(q.Limit, 3)
	return s.tall.Bars(ctx, q)
}

// TestExitBelowTick: a percentage that leaves no price on the tick of the market is refused
// as it was written.
func TestExitBelowTick(t *testing.T) {
	grid := func(string) (book.Grid, bool) { return book.Grid{Tick: exact.One / 100}, true }
	inBubble(t, func(o *Options) { o.Source, o.Grid = flat(0.01), grid }, func(t *testing.T, e *Engine) {
		err, want := tryExit(t, e, book.Buy, "50%", ""), "a stop_loss of 50% does not go with an entry at 0.01: the distance is not smaller than the price"
		if code(err) != "bad_exit" || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	})
}

// TestExitWithoutPrice: a buy of at most 90 is filled at 50, where the market opens. There is
// no price 80 below that, so no stop_loss begins; the take_profit stands 4 above.
func TestExitWithoutPrice(t *testing.T) {
	inBubble(t, func(o *Options) { o.Source = tall{flat(100)} }, func(t *testing.T, e *Engine) {
		entry := ask(t, e, func(r *book.OrderRequest) { bracket(t, "20atr", "1atr")(r); r.Type, r.Price = book.Limit, 90*exact.One })
		walk(e, 100, minute(0, 100, 100, 100, 100))
		walk(e, 100, minute(0, 100, 100, 100, 100), minute(1, 50, 51, 50, 51))
		legs := must(e.Group(entry.ID))
		if got := found(t, e, entry.ID); got != "filled 50" || len(legs) != 1 || legs[0].Role != book.RoleTakeProfit || show(legs[0].Price) != "54" {
			t.Errorf("the entry is %s with the exits %+v, want filled 50 and a take_profit at 54", got, legs)
		}
	})
}

// Group returns the open orders that belong to the order called id, without that one: its
// exits, or the stop beside it.
func (e *Engine) Group(id string) (members []book.Order, err error) {
	err = e.View(func(s *book.State) {
		if o := s.Order(id); o != nil {
			members = e.book.Beside(o)
		}
	})
	return members, err
}

// TestPlacedBeside: what comes back from placing an order names its exits, also to a retry, so
// that nothing is read for the reply after the order is on disk: a failure then would look as
// if it had not been placed.
func TestPlacedBeside(t *testing.T) {
	inBubble(t, func(o *Options) { o.Source = flat(100) }, func(t *testing.T, e *Engine) {
		walk(e, 100, minute(0, 100, 100, 100, 100))
		r := book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One, ClientOrderID: "one",
			StopLoss: book.Exit{Price: 90 * exact.One}, TakeProfit: book.Exit{Price: 120 * exact.One}}
		for _, when := range []string{"placed", "again"} {
			p, err := e.PlaceOrder(t.Context(), r)
			if err != nil || len(p.Beside) != 2 || p.Beside[0].Role != book.RoleStopLoss || p.Beside[1].Role != book.RoleTakeProfit {
				t.Errorf("%s: %v, with the exits %+v; want a stop_loss and a take_profit", when, err, p.Beside)
			}
		}
	})
}

// TestReplaceElsewhere: an order of another market cannot be replaced.
func TestReplaceElsewhere(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		old := ask(t, e, func(r *book.OrderRequest) { r.Symbol, r.Type, r.Price = "BBB", book.Limit, 90*exact.One })
		_, err := try(t, e, func(r *book.OrderRequest) { r.Type, r.Price, r.Replaces = book.Limit, 91*exact.One, old.ID })
		if code(err) != "bad_replaces" || !strings.Contains(err.Error(), "is of BBB, not of AAA") || found(t, e, old.ID) != "open" {
			t.Errorf("%v, and the order is %s, want bad_replaces and open", err, found(t, e, old.ID))
		}
	})
}

// TestExitByRange: the average true range of bars that are 4 high is 4. A distance
// that leaves no price is refused as that.
func TestExitByRange(t *testing.T) {
	inBubble(t, func(o *Options) { o.Source = tall{flat(100)} }, func(t *testing.T, e *Engine) {
		id := ask(t, e, bracket(t, "2atr", "3 ATR")).ID
		stop, _ := e.Order(id + "-sl")
		profit, _ := e.Order(id + "-tp")
		if got := fmt.Sprint(show(stop.StopPrice), " ", show(profit.Price)); got != "92 112" {
			t.Errorf("the exits are at %s, want 92 112", got)
		}
		for _, text := range []string{"25atr", "80atr", "90000000000atr"} {
			err, want := tryExit(t, e, book.Buy, text, ""), "a stop_loss of "+text+" does not go with an entry at 100: the distance is not smaller than the price"
			if code(err) != "bad_exit" || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	})
}

// tall is a source whose bars go from 98 to 102.
type tall struct{ flat }

func (s tall) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	series, err := s.flat.Bars(ctx, q)
	for i := range series.Len() {
		series.High[i], series.Low[i] = 102, 98
	}
	return series, err
}
