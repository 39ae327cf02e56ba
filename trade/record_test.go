package trade

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/book"
)

// crowded returns the directory of an engine that has as many subscribers to fills as there may be.
func crowded(t *testing.T) (disk *journaltest.Disk) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		disk = journaltest.NewDisk()
		e, err := openOn(testOptions(t), disk)
		if err != nil {
			t.Fatal(err)
		}
		for i := range maxSubscriptions {
			if _, err := e.Subscribe(from(fmt.Sprint("caller-", i)), Filter{AlertTypes: []string{book.OrderAlerts}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	})
	return disk
}

// TestFillEndsAllOthers: one fill ends every other order that may be open, and is told to
// every subscriber there may be: exits of positions that are closed by hand, reduce_only stops
// when a stop for the whole position is reached, trailing stops that have moved. All of it is
// one record, which a crash after it keeps.
func TestFillEndsAllOthers(t *testing.T) {
	stop := func(quantity, at exact.Decimal) func(*book.OrderRequest) {
		return func(r *book.OrderRequest) {
			r.Side, r.Type, r.Quantity, r.StopPrice, r.ReduceOnly = book.Sell, book.Stop, quantity, at, true
		}
	}
	subscribed := crowded(t)
	for name, c := range map[string]struct {
		fill  func(t *testing.T, e *Engine, i int)
		close func(t *testing.T, e *Engine) (id string)
	}{
		"exits of entries": {
			func(t *testing.T, e *Engine, i int) { ask(t, e, bracket(t, "5%", "9%")) },
			func(t *testing.T, e *Engine) string {
				return ask(t, e, func(r *book.OrderRequest) { r.Side, r.Quantity, r.All = book.Sell, 0, true }).ID
			},
		},
		"stops": {
			func(t *testing.T, e *Engine, i int) {
				if i == 0 {
					place(t, e, book.Buy, book.Market, "250", "")
					ask(t, e, stop(250*exact.One, 97*exact.One))
				}
				ask(t, e, stop(exact.One, 90*exact.One))
			},
			func(t *testing.T, e *Engine) string {
				walk(e, 100, minute(0, 100, 100, 96, 96))
				return must(e.Orders(false))[1].ID
			},
		},
		"trailing stops": {
			func(t *testing.T, e *Engine, i int) {
				if i == 0 {
					place(t, e, book.Buy, book.Market, "250", "")
					ask(t, e, stop(250*exact.One, 97*exact.One))
				}
				ask(t, e, func(r *book.OrderRequest) {
					r.Side, r.Type, r.TrailPercent, r.ReduceOnly = book.Sell, book.TrailingStop, dec(t, "33.33333333"), true
				})
			},
			func(t *testing.T, e *Engine) string {
				walk(e, 100, minute(0, 100, 101.12345678, 100, 101))
				walk(e, 101, minute(0, 101, 101, 96, 96))
				return must(e.Orders(false))[1].ID
			},
		},
		"an order that waited for as long a rule as there may be": {
			func(t *testing.T, e *Engine, i int) {
				if i == 0 {
					place(t, e, book.Buy, book.Market, "250", "")
					ask(t, e, func(r *book.OrderRequest) {
						r.Side, r.Quantity, r.All = book.Sell, 0, true
						r.When = &book.When{Rule: strings.Repeat("close<0or ", 23) + strings.Repeat(" ", 160) + "close<0"}
						r.ClientOrderID, r.Note = strings.Repeat("c", 48), strings.Repeat("😀", book.MaxNote)
					})
				}
				ask(t, e, stop(exact.One, 90*exact.One))
			},
			func(t *testing.T, e *Engine) string {
				id := must(e.Orders(false))[1].ID
				if err := e.Do(func(s *book.State) error { return e.book.Becomes(s.Order(id), book.Trigger{}, now()) }); err != nil {
					t.Fatal(err)
				}
				e.act(t.Context(), id)
				return id
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, disk := testOptions(t), subscribed.Cut(journaltest.Dropped)
				o.Limits.OpenPerSymbol = book.MaxOpenPerSymbol
				o.Limits.OrderNotional, o.Limits.PositionNotional = 1_000_000*exact.One, 1_000_000*exact.One
				e, err := openOn(o, disk)
				if err != nil {
					t.Fatal(err)
				}
				if all, _, _ := e.hub.Stats(); all != maxSubscriptions {
					t.Fatalf("%d subscribers are there, want %d", all, maxSubscriptions)
				}
				walk(e, 100, minute(0, 100, 100, 100, 100))
				for i := 0; len(e.book.OpenOf("AAA")) < book.MaxOpenPerSymbol; i++ {
					c.fill(t, e, i)
				}
				id := c.close(t, e)
				if e, err = openOn(o, disk.Cut(journaltest.Dropped)); err != nil {
					t.Fatal(err)
				}
				if got := found(t, e, id); !strings.HasPrefix(got, "filled") {
					t.Errorf("the order that closes the position is %s", got)
				}
				if open, held := len(must(e.Orders(true))), len(must(e.Positions(false))); open != 0 || held != 0 {
					t.Errorf("%d orders and %d positions are open, want none", open, held)
				}
				ended := 0
				for _, o := range must(e.Orders(false)) {
					if o.Status == book.StatusCancelled && o.Reason == "nothing is left to reduce" {
						ended++
					}
					if o.Type == book.TrailingStop && (o.StopPrice == nil || o.StopPrice.String() != "67.41563785") { // 101.12345678 less a third of it, rounded down
						t.Fatalf("a trailing stop stood at %s", show(o.StopPrice))
					}
				}
				if want := book.MaxOpenPerSymbol; ended < want-1 {
					t.Errorf("%d orders say that nothing is left to reduce, want %d or one less", ended, want)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestManyAtOnce: as many orders as may be open in all, of several symbols, are cancelled at
// once, expire at once, and move their stops at once; each is on disk after a crash.
func TestManyAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*book.OrderRequest)
		all    func(t *testing.T, e *Engine)
		want   string
	}{
		"cancel all": {func(*book.OrderRequest) {}, func(t *testing.T, e *Engine) {
			if list, err := e.CancelOrders(book.Who{}, ""); err != nil || len(list) != 1000 {
				t.Errorf("%d orders are cancelled, %v", len(list), err)
			}
		}, "cancelled"},
		"expire": {func(r *book.OrderRequest) { r.TimeInForce = book.Day }, func(t *testing.T, e *Engine) {
			time.Sleep(25 * time.Hour)
			if err := e.expireAll(); err != nil {
				t.Error(err)
			}
		}, "cancelled"},
		"halt": {func(*book.OrderRequest) {}, func(t *testing.T, e *Engine) {
			haltByHand(t, e)
			if list, err := e.CancelOrders(book.Who{}, ""); err != nil || len(list) != 1000 {
				t.Errorf("%d orders are cancelled under HALT, %v", len(list), err)
			}
		}, "cancelled"},
		"trail": {func(r *book.OrderRequest) {
			r.Type, r.Price, r.TrailPercent = book.TrailingStop, 0, exact.One/3
		}, func(t *testing.T, e *Engine) {
			time.Sleep(time.Second)
			for _, symbol := range []string{"AAA", "BBB", "CCC", "DDD"} {
				e.deliver(t.Context(), market.Update{Symbol: symbol, Source: "test", Price: 99.12345678, High: 100, Low: 99.12345678, From: 100, At: time.Now().UnixMilli()})
			}
			if err := e.tidy(); err != nil {
				t.Error(err)
			}
		}, "open"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, disk := testOptions(t), journaltest.NewDisk()
				o.Limits.OpenPerSymbol = 250
				e, err := openOn(o, disk)
				if err != nil {
					t.Fatal(err)
				}
				for i := range 1000 {
					ask(t, e, func(r *book.OrderRequest) {
						r.Symbol, r.Type, r.Price = []string{"AAA", "BBB", "CCC", "DDD"}[i%4], book.Limit, 90*exact.One
						c.change(r)
					})
				}
				c.all(t, e)
				if e, err = openOn(o, disk.Cut(journaltest.Dropped)); err != nil {
					t.Fatal(err)
				}
				for _, o := range must(e.Orders(false)) {
					if string(o.Status) != c.want || o.Type == book.TrailingStop && o.StopPrice.String() != "99.4538683" { // 99.12345678 and a third of a percent of it, rounded up
						t.Fatalf("an order is %+v, want %s", o, c.want)
					}
				}
				e.Close()
			})
		})
	}
}

// TestRecordsFit: the largest event that a fill can make fits into a record, with ids of
// thirteen digits: at a thousand records a second these last for three hundred years.
func TestRecordsFit(t *testing.T) {
	const epoch, seq = "0123abcd", "9999999999999"
	long := func(n int) string { return strings.Repeat("&", n) } // six bytes each in JSON
	price := exact.Decimal(1<<63 - 1)
	at := now()
	rule := strings.Repeat("a>b ", 100)
	exit := &book.Exit{ATR: price, Distance: price, Tick: price}
	o := &book.Order{ID: "o-" + epoch + "-" + seq, ClientOrderID: strings.Repeat("x", 64), Symbol: strings.Repeat("X", 64), Side: book.Sell, Type: book.StopLimit, Quantity: price, Price: &price,
		FilledQuantity: price, AveragePrice: &price, Fee: price, Status: book.StatusFilled, CreatedAt: at, UpdatedAt: at, Reason: long(200), PriceAt: &at, Source: long(64), Synthetic: true,
		StopPrice: &price, TriggeredAt: &at, ExpiresAt: &at, Asked: long(600), Turn: 1<<64 - 1, By: &book.Who{Name: long(100), Client: long(100), ID: long(8)},
		Label: book.Label{Tag: strings.Repeat("ü", 32), Note: long(book.MaxNote)}, When: &book.When{Rule: rule, Interval: market.Hour4, Worst: price, From: &at, Bar: &at, ActedAt: &at},
		Sizing: &book.Sizing{Percent: price, Of: "equity", Amount: price, Risk: price, Distance: price, Slippage: price, Fees: exact.Product(price, price), Entry: price, Stop: price}, StopLoss: exit, TakeProfit: exit}
	ev := &book.Event{At: at, Order: o, Holding: &book.Holding{}, Notification: book.EndNotification(o, slices.Repeat([]*book.Order{{ID: o.ID + "-oco"}}, book.MaxOpenPerSymbol), at)}
	for range maxSubscriptions {
		ev.To = append(ev.To, "s-"+epoch+"-"+seq)
	}
	for range book.MaxOpenPerSymbol {
		ev.Ends = append(ev.Ends, book.Cancellation{ID: o.ID + "-oco", Code: book.OtherEnded, Stop: price})
	}
	if _, err := journal.NewRecord(byte(book.KindFilled), ev); err != nil {
		t.Error(err)
	}
}

// TestOpenLimitCountsExits: an entry counts as many open orders as its exits will be, also one
// that is filled at once, so that no symbol has more open orders than its limit.
func TestOpenLimitCountsExits(t *testing.T) {
	inBubble(t, func(o *Options) { o.Limits.OpenPerSymbol = 4 }, func(t *testing.T, e *Engine) {
		ask(t, e, bracket(t, "5%", "9%"))
		rests := ask(t, e, func(r *book.OrderRequest) { bracket(t, "5%", "9%")(r); r.Type, r.Price = book.Limit, 90*exact.One })
		for name, change := range map[string]func(*book.OrderRequest){
			"an entry that is filled": bracket(t, "5%", "9%"),
			"one with a stop alone":   func(r *book.OrderRequest) { r.StopLoss = book.Exit{Percent: exact.One} },
			"a limit":                 func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, 90*exact.One },
		} {
			if _, err := try(t, e, change); !book.IsRefusal(err, "max_open_orders_symbol") || !strings.Contains(err.Error(), "4 orders of AAA may be open") || !strings.Contains(err.Error(), "and 4 are") {
				t.Errorf("%s: %v, want it refused", name, err)
			}
		}
		ask(t, e, func(*book.OrderRequest) {}) // opens nothing that waits
		ask(t, e, func(r *book.OrderRequest) {
			bracket(t, "5%", "9%")(r)
			r.Type, r.Price, r.Replaces = book.Limit, 89*exact.One, rests.ID
		})
	})
}

// TestUnwrittenFill: a fill that cannot be written down is logged and leaves the engine
// degraded, instead of a stop that is open for ever and says nothing.
func TestUnwrittenFill(t *testing.T) {
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(t)
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		e, err := openOn(o, journaltest.NewDisk())
		if err != nil {
			t.Fatal(err)
		}
		walk(e, 100, minute(0, 100, 100, 100, 100))
		place(t, e, book.Buy, book.Market, "1", "")
		id := ask(t, e, func(r *book.OrderRequest) { r.Side, r.Type, r.StopPrice = book.Sell, book.Stop, 97*exact.One }).ID
		e.mu.Lock()
		e.book.Order(id).Asked = strings.Repeat("x", 1<<17) // no request can have as much
		e.mu.Unlock()
		walk(e, 100, minute(0, 100, 100, 96, 96))
		if broken, _ := e.Broken(); !errors.Is(broken, journal.ErrStorage) || !strings.Contains(log.String(), id) {
			t.Errorf("broken: %v, log:\n%s", broken, log.String())
		}
		if s := e.Status(); s.Journal != "broken" {
			t.Errorf("health: %+v", s)
		}
		e.Close()
	})
}
