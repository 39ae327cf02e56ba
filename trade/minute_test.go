package trade

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/book"
)

// TestStopWithinMinuteOfEntry: an entry with a stop_loss, and the minute in which it is
// filled; the stop is filled too if the way of the minute passes the entry first: of a limit it
// always does, because its price lies between the open and the stop; of a stop it does if the
// minute opened past it, or ends beyond the stop. Whether the other extreme of such a minute
// came before the entry or after it is not known: then it counts, against the trader, unless it
// is the price that the minute began at.
func TestStopWithinMinuteOfEntry(t *testing.T) {
	entry := func(side book.Side, typ book.OrderType, at, loss, profit float64) func(*book.OrderRequest) {
		return func(r *book.OrderRequest) {
			r.Side, r.Type = side, typ
			if typ == book.Limit {
				r.Price = exactly(at)
			} else {
				r.StopPrice = exactly(at)
			}
			r.StopLoss.Price = exactly(loss)
			if profit != 0 {
				r.TakeProfit.Price = exactly(profit)
			}
		}
	}
	for _, c := range []struct {
		name                   string
		ask                    func(*book.OrderRequest)
		open, high, low, close float64 // of the minute, after one at 100
		want                   string  // the entry, its stop and its target
	}{
		{"a limit, and through the stop", entry(book.Buy, book.Limit, 95, 93, 0), 96, 96, 90, 94, "filled 95, filled 93"},
		{"a limit, and not to the stop", entry(book.Buy, book.Limit, 95, 93, 0), 96, 96, 94, 94, "filled 95, open"},
		{"opened past the limit", entry(book.Buy, book.Limit, 95, 93, 0), 94, 96, 90, 96, "filled 94, filled 93"},
		{"opened past the limit and the stop", entry(book.Buy, book.Limit, 95, 93, 0), 92, 96, 90, 96, "filled 92, filled 92"},
		{"a sold limit", entry(book.Sell, book.Limit, 105, 107, 0), 104, 110, 104, 106, "filled 105, filled 107"},
		{"a stop, which came first is not known", entry(book.Buy, book.Stop, 105, 103, 0), 104, 106, 102, 106, "filled 105, filled 103"},
		{"a stop, and the low is the open", entry(book.Buy, book.Stop, 105, 103, 0), 101, 106, 101, 106, "filled 105, open"},
		{"a stop, and ends beyond the other", entry(book.Buy, book.Stop, 105, 103, 0), 101, 106, 101, 102, "filled 105, filled 103"},
		{"opened past a stop", entry(book.Buy, book.Stop, 105, 103, 0), 106, 107, 102, 107, "filled 106, filled 103"},
		{"a sold stop, not known", entry(book.Sell, book.Stop, 95, 97, 0), 96, 98, 94, 94, "filled 95, filled 97"},
		// Whether the high of 98 came before the entry is not known: the target waits.
		{"a target", entry(book.Buy, book.Limit, 95, 90, 97), 96, 98, 94, 96, "filled 95, open, open"},
		{"opened past the limit, and then the target", entry(book.Buy, book.Limit, 95, 90, 97), 94, 98, 94, 96, "filled 94, cancelled, filled 97"},
		{"opened past the limit, and both", entry(book.Buy, book.Limit, 95, 90, 97), 94, 98, 89, 96, "filled 94, filled 90, cancelled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, e *Engine) {
				e.ensure(t.Context(), "AAA")
				walk(e, 100, minute(0, 100, 100, 100, 100))
				id := ask(t, e, c.ask).ID
				walk(e, 100, minute(0, 100, 100, 100, 100), minute(1, c.open, c.high, c.low, c.close))
				got := found(t, e, id) + ", " + found(t, e, id+"-sl")
				if _, err := e.Order(id + "-tp"); err == nil {
					got += ", " + found(t, e, id+"-tp")
				}
				if got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
				if o, _ := e.Order(id + "-sl"); strings.HasSuffix(o.Reason, book.Codes[book.EntryFirst].Says) != strings.Contains(c.name, "not known") {
					t.Errorf("the reason of the stop is %q", o.Reason)
				}
			})
		})
	}
}

// TestExitTakesItsPlace: nothing is held at 100; a buy limit of 95 has a stop_loss of 91, and
// beside it something waits at 93; a fall to 90 passes 95, 93 and 91 in that order, so what
// waits at 93 is judged before the stop_loss, and what it leaves decides. The same the other
// way round, and for an entry by a stop, which the market comes back to its stop_loss from.
func TestExitTakesItsPlace(t *testing.T) {
	for _, c := range []struct {
		name        string
		entry       func(*book.OrderRequest)
		loss        float64
		beside      func(*book.OrderRequest)
		high, low   float64 // of the minute, from 100; it closes at the extreme
		want        string  // the stop_loss and what is beside it
		held, gains string
	}{
		{"a stop before the stop_loss", limiting(book.Buy, 95), 91, stopping(book.Sell, 93), 100, 90, "cancelled, filled 93", "0", "-10"},
		{"a stop after it", limiting(book.Buy, 95), 93, stopping(book.Sell, 91), 100, 90, "filled 93, filled 91", "-5", "-10"},
		{"a limit before it", limiting(book.Buy, 95), 91, limiting(book.Buy, 93), 100, 90, "filled 91, filled 93", "5", "-15"},
		{"at one price the older", limiting(book.Buy, 95), 93, stopping(book.Sell, 93), 100, 90, "cancelled, filled 93", "0", "-10"},
		{"a rise", limiting(book.Sell, 105), 109, stopping(book.Buy, 107), 110, 100, "cancelled, filled 107", "0", "-10"},
		{"a rise, and a stop after it", limiting(book.Sell, 105), 107, stopping(book.Buy, 109), 110, 100, "filled 107, filled 109", "5", "-10"},
		{"an entry by a stop", stopping(book.Buy, 105), 91, stopping(book.Sell, 93), 106, 90, "cancelled, filled 93", "0", "-60"},
		{"a sold entry by a stop", stopping(book.Sell, 95), 109, stopping(book.Buy, 107), 110, 94, "cancelled, filled 107", "0", "-60"},
	} {
		for _, way := range []string{"a minute", "one price", "the open"} {
			if way != "a minute" && c.high > 100 && c.low < 100 {
				continue // one price goes one way
			}
			t.Run(c.name+", "+way, func(t *testing.T) {
				inBubble(t, func(o *Options) { o.Slippage, o.FeeRate = 0, 0 }, func(t *testing.T, e *Engine) {
					e.ensure(t.Context(), "AAA")
					walk(e, 100, minute(0, 100, 100, 100, 100))
					id := ask(t, e, of(5, func(r *book.OrderRequest) { c.entry(r); r.StopLoss.Price = exactly(c.loss) })).ID
					beside := ask(t, e, of(5, c.beside)).ID
					walk(e, 100, minute(0, 100, 100, 100, 100))
					last := c.low
					if c.low == 100 {
						last = c.high
					}
					want, held, gains := c.want, c.held, c.gains
					switch way {
					case "a minute":
						walk(e, 100, minute(0, 100, c.high, c.low, last))
					case "one price":
						time.Sleep(time.Second)
						e.deliver(t.Context(), market.Update{Symbol: "AAA", Source: "test", From: 100, Price: last, High: c.high, Low: c.low, At: time.Now().UnixMilli()})
					case "the open": // everything is filled there
						walk(e, 100, minute(0, 100, 100, 100, 100), minute(1, last, last, last, last))
						want, gains = regexp.MustCompile(`filled \d+`).ReplaceAllString(want, fmt.Sprint("filled ", last)), "0"
					}
					if got := found(t, e, id+"-sl") + ", " + found(t, e, beside); got != want {
						t.Errorf("the stop_loss and what is beside it are %s, want %s", got, want)
					}
					p := must(e.Positions(true))[0]
					if p.Quantity.String() != strings.TrimPrefix(held, "-") || p.RealizedPnL.String() != gains {
						t.Errorf("%s %s are held, realized %s; want %s, %s", p.Side, p.Quantity, p.RealizedPnL, held, gains)
					}
				})
			})
		}
	}
}

// TestPassedWithSpread: bid and ask are one percent from the price; the ask reaches a buy limit
// of 97 when the price is 96.0396, so a fall passes a stop of 97 before, though that is younger,
// and a stop_loss of 96.5 is behind the price when its entry is filled. The same the other way
// round.
func TestPassedWithSpread(t *testing.T) {
	for _, c := range []struct {
		side     book.Side // of the limit
		at, end  float64
		loss     float64 // of the limit, if it is the first order
		position string
		out      string // at what the stop_loss is filled
	}{
		{book.Buy, 97, 90, 0, "long 5 at 97", ""},
		{book.Sell, 103, 110, 0, "short 5 at 103", ""},
		{book.Buy, 97, 90, 96.5, "flat 0 at 0", "95.07920792"},
		{book.Sell, 103, 110, 103.5, "flat 0 at 0", "105.0808081"},
	} {
		t.Run(fmt.Sprint(c.side, " ", c.loss), func(t *testing.T) {
			inBubble(t, func(o *Options) { spread(o); o.Slippage, o.FeeRate, o.Account.Short = 0, 0, true }, func(t *testing.T, e *Engine) {
				e.ensure(t.Context(), "AAA")
				walk(e, 100, minute(0, 100, 100, 100, 100))
				id := ask(t, e, of(5, func(r *book.OrderRequest) {
					r.Side, r.Type, r.Price, r.StopLoss.Price = c.side, book.Limit, exactly(c.at), exactly(c.loss)
				})).ID
				if c.loss == 0 {
					ask(t, e, of(10, func(r *book.OrderRequest) { r.Side = c.side }))
					ask(t, e, of(10, func(r *book.OrderRequest) { stopping(c.side.Other(), int64(c.at))(r) }))
				}
				walk(e, 100, minute(0, 100, 100, 100, 100))
				walk(e, 100, minute(0, 100, max(100, c.end), min(100, c.end), c.end))
				p := must(e.Positions(true))[0]
				if got := fmt.Sprint(p.Side, " ", p.Quantity, " at ", p.EntryPrice); got != c.position {
					t.Errorf("%s, want %s", got, c.position)
				}
				if c.out != "" {
					if got := found(t, e, id+"-sl"); got != "filled "+c.out {
						t.Errorf("the stop_loss is %s, want filled %s", got, c.out)
					}
				}
			})
		})
	}
}

// exactly returns a price of a test in exact numbers.
func exactly(x float64) exact.Decimal {
	d, _ := exact.FromFloat(x)
	return d
}

// TestStopWithinMinuteOfEntryOverRestart: the same if the minute was traded while wick was
// down, and if it is killed after it. After a downtime a limit is given its own price and a
// stop the open.
func TestStopWithinMinuteOfEntryOverRestart(t *testing.T) {
	for _, c := range []struct {
		open float64
		down bool
		want string
	}{{96, false, "filled 95, filled 93"}, {96, true, "filled 95, filled 93"}, {92, true, "filled 95, filled 92"}} {
		t.Run(fmt.Sprint(c.open, " down ", c.down), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, disk := testOptions(t), journaltest.NewDisk()
				e, err := openOn(o, disk)
				if err != nil {
					t.Fatal(err)
				}
				restart := func() {
					t.Helper()
					if e, err = openOn(o, disk.Cut(journaltest.Dropped)); err != nil {
						t.Fatal(err)
					}
					e.ensure(t.Context(), "AAA")
				}
				e.ensure(t.Context(), "AAA")
				walk(e, 100, minute(0, 100, 100, 100, 100))
				id := ask(t, e, func(r *book.OrderRequest) { limiting(book.Buy, 95)(r); r.StopLoss.Price = 93 * exact.One }).ID
				if err := e.writeSeen(); err != nil {
					t.Fatal(err)
				}
				bars := []market.Bar{minute(0, 100, 100, 100, 100), minute(1, c.open, 96, 90, 94)}
				if c.down {
					restart()
					e.began = book.Time{Time: time.Now().Add(2 * time.Minute)} // when they are over
				}
				walk(e, 100, bars...)
				if !c.down {
					restart()
				}
				time.Sleep(time.Minute)
				price(e, "AAA", 94)
				if got := found(t, e, id) + ", " + found(t, e, id+"-sl"); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
				e.Close()
			})
		})
	}
}

// TestOpenIsJudgedFirst: 2 are held at 100 with a stop at 95 and a target at 105, as one group
// and as two exits; a minute that opens beyond one of them fills it at its open, whatever the
// rest of the minute reaches; within a minute the stop counts. A backtest leaves at the same
// prices (TestBacktestFills of package indicators).
func TestOpenIsJudgedFirst(t *testing.T) {
	for _, c := range []struct {
		name                   string
		open, high, low, close float64
		want                   string // the target and the stop
	}{
		{"opens beyond the target, then reaches the stop", 106, 107, 94, 96, "filled 106, cancelled"},
		{"opens beyond the stop, then reaches the target", 94, 106, 93, 100, "cancelled, filled 94"},
		{"opens at the target", 105, 105, 94, 96, "filled 105, cancelled"},
		{"reaches both within", 100, 106, 94, 96, "cancelled, filled 95"},
	} {
		for _, grouped := range []bool{true, false} {
			t.Run(fmt.Sprint(c.name, " grouped ", grouped), func(t *testing.T) {
				inBubble(t, nil, func(t *testing.T, e *Engine) {
					place(t, e, book.Buy, book.Market, "2", "")
					walk(e, 100, minute(0, 100, 100, 100, 100))
					var target, stop string
					if grouped {
						target = ask(t, e, of(2, func(r *book.OrderRequest) { limiting(book.Sell, 105)(r); r.OCO.StopPrice = 95 * exact.One })).ID
						stop = target + "-oco"
					} else {
						stop = ask(t, e, of(2, stopping(book.Sell, 95))).ID
						target = ask(t, e, of(2, limiting(book.Sell, 105))).ID
					}
					walk(e, 100, minute(0, 100, 100, 100, 100), minute(1, c.open, c.high, c.low, c.close))
					if got := found(t, e, target) + ", " + found(t, e, stop); got != c.want {
						t.Errorf("target and stop are %s, want %s", got, c.want)
					}
				})
			})
		}
	}
}
