package trade

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/book"
	"wick/trade/live/alpaca/alpacatest"
)

// closes is a tape of minutes that close at 100 and then, from the next on, as given. Each opens
// where the one before closed.
func closes(after ...float64) tape {
	const before = 600
	s := &market.Series{Interval: market.Minute1}
	start, last := time.Now().Unix()-60*before, 100.0
	for i := range before + len(after) + 20 {
		c := last
		if k := i - before; k >= 0 && k < len(after) {
			c = after[k]
		}
		s.Append(market.Bar{Time: start + 60*int64(i), Open: last, High: max(last, c), Low: min(last, c), Close: c, Volume: 1})
		last = c
	}
	return tape{s}
}

// played is a paper engine on closes.
type played struct {
	tape
	t    *testing.T
	o    Options
	disk *journaltest.Disk
	e    *Engine
}

func play(t *testing.T, set func(*Options), after ...float64) *played {
	p := &played{tape: closes(after...), t: t, o: testOptions(t), disk: journaltest.NewDisk()}
	p.o.Source, p.o.Intervals = p.tape, []market.Interval{market.Minute1}
	if set != nil {
		set(&p.o)
	}
	p.open()
	return p
}

func (p *played) open() {
	p.t.Helper()
	var err error
	if p.e, err = openOn(p.o, p.disk); err != nil {
		p.t.Fatal(err)
	}
	p.e.watchNeeded(p.t.Context())
}

// down kills the process and lets n bars pass before the next one starts, which hears of all of them
// when the bar after them has closed, unless that is left to the caller.
func (p *played) down(n int) {
	p.t.Helper()
	p.e.journal.Close()
	time.Sleep(time.Duration(n) * time.Minute)
	p.open()
	u := market.Update{Symbol: "AAA", At: time.Now().UnixMilli(), Synthetic: true}
	for i, start := range p.all.Time {
		if age := time.Now().Unix() - start; age >= 60 && age < 60*int64(n+1) {
			b := p.all.Bar(i)
			u.Closed = append(u.Closed, market.ClosedBar{Interval: market.Minute1, Bar: b})
			u.Price, u.High, u.Low = b.Close, b.Close, b.Close
		}
	}
	p.e.deliver(context.Background(), u)
}

// buy10 is 10 at the market once the close is above 105.
func buy10(set ...func(*book.OrderRequest)) book.OrderRequest {
	r := book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: shares(10), When: &book.When{Rule: "close > 105"}}
	for _, f := range set {
		f(&r)
	}
	return r
}

func (p *played) place(r book.OrderRequest) book.Order {
	p.t.Helper()
	o, err := p.e.Place(context.Background(), r)
	if err != nil {
		p.t.Fatal(err)
	}
	return o
}

// is checks how an order stands: its status, what it was filled at and the minute since the first whose
// bar it came by, and words of its reason.
func (p *played) is(id, status, average, bar, reason string) book.Order {
	p.t.Helper()
	o, err := p.e.Order(id)
	if err != nil {
		p.t.Fatal(err)
	}
	at, by := "", ""
	if o.AveragePrice != nil {
		at = o.AveragePrice.String()
	}
	if o.When.Bar != nil {
		by = o.When.Bar.Format("15:04")
		if o.When.Late {
			by += " late"
		}
	}
	if string(o.Status) != status || at != average || by != bar || !strings.Contains(o.Reason, reason) || reason == "" && o.Reason != "" {
		p.t.Errorf("it is %s at %q by the bar of %q: %q; want %s at %q by %q: %q", o.Status, at, by, o.Reason, status, average, bar, reason)
	}
	return o
}

// TestWhen: what becomes of an order that waits until the close is above 105. The first minute that
// is played begins at 00:00.
func TestWhen(t *testing.T) {
	for _, c := range []struct {
		name   string
		closes []float64
		set    func(*Options)
		order  func(*book.OrderRequest)
		do     func(*played, book.Order)

		status, average, bar, reason string
	}{
		{"waits", []float64{104, 105}, nil, nil, func(p *played, _ book.Order) { p.bars(2) },
			"open", "", "", "waits until close > 105 on a closed bar of 1m"},
		{"comes on the bar on which it becomes true, at the price of now", []float64{104, 106, 107}, nil, nil, func(p *played, _ book.Order) { p.bars(2) },
			"filled", "106", "00:01", ""},
		{"comes once", []float64{106, 104, 107}, nil, nil, func(p *played, _ book.Order) { p.bars(3) },
			"filled", "106", "00:00", ""},
		{"a limit rests from then on", []float64{106, 105}, nil, func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, shares(103) }, func(p *played, _ book.Order) { p.bars(2) },
			"open", "", "00:00", ""},
		{"a limit that the market passed before it came", []float64{99, 106, 103}, nil, func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, shares(104) }, func(p *played, _ book.Order) { p.bars(3) },
			"filled", "104", "00:01", ""},
		{"true while wick was down: on the first bar that closes after, late", []float64{104, 106, 107, 108, 109}, nil, nil, func(p *played, o book.Order) {
			p.bars(1)
			p.down(2)
			p.is(o.ID, "open", "", "00:01 late", "it comes when the next bar of 1m closes")
			p.bars(1)
		}, "filled", "108", "00:01 late", ""},
		{"true and untrue while wick was down", []float64{104, 106, 100, 101}, nil, nil, func(p *played, o book.Order) {
			p.bars(1)
			p.down(2)
			p.bars(1)
		}, "filled", "101", "00:01 late", ""},
		{"down twice", []float64{104, 106, 107, 108, 109}, nil, nil, func(p *played, o book.Order) {
			p.bars(1)
			p.down(1)
			p.down(1)
			p.is(o.ID, "open", "", "00:01 late", "it comes when")
			p.bars(1)
		}, "filled", "108", "00:01 late", ""},
		{"late: skip", []float64{104, 106, 107}, nil, func(r *book.OrderRequest) { r.When.Skip = true }, func(p *played, _ book.Order) {
			p.bars(1)
			p.down(1)
			p.bars(1)
		}, "cancelled", "", "", "its rule became true on the bar of 2000-01-01T00:01:00Z, and wick was not watching then"},
		{"late: skip, and in time", []float64{104, 104, 106}, nil, func(r *book.OrderRequest) { r.When.Skip = true }, func(p *played, _ book.Order) {
			p.bars(1)
			p.down(1)
			p.bars(1)
		}, "filled", "106", "00:02", ""},
		{"killed between the rule and the order", []float64{104, 106, 107}, nil, nil, func(p *played, o book.Order) {
			p.bars(1)
			p.becomes(o.ID, "00:01")
			p.down(1)
			p.bars(1)
		}, "filled", "107", "00:01 late", ""},
		{"killed between the two, late: skip", []float64{104, 106, 107}, nil, func(r *book.OrderRequest) { r.When.Skip = true }, func(p *played, o book.Order) {
			p.bars(1)
			p.becomes(o.ID, "00:01")
			p.down(1)
			p.bars(1)
		}, "cancelled", "", "00:01", "wick was not watching then or ended before the order came"},
		{"the worst price, not reached", []float64{106}, nil, func(r *book.OrderRequest) { r.Price = shares(106) }, func(p *played, _ book.Order) { p.bars(1) },
			"filled", "106", "00:00", ""},
		{"the worst price, passed by a gap", []float64{107}, nil, func(r *book.OrderRequest) { r.Price = shares(106) }, func(p *played, _ book.Order) { p.bars(1) },
			"rejected", "", "00:00", "the market was at 107, and the worst price that it may have is 106"},
		{"the band of the price in its place", []float64{100, 151}, nil, nil, func(p *played, _ book.Order) { p.bars(2) },
			"rejected", "", "00:01", "the market was at 151, and the worst price that it may have is 150"},
		{"reserves nothing, and is refused for it", []float64{106}, func(o *Options) { o.Account.Cash = shares(1100) }, nil, func(p *played, _ book.Order) {
			if other := p.place(book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: shares(10)}); other.Status != book.StatusFilled {
				p.t.Errorf("another order is %+v", other)
			}
			p.bars(1)
		}, "rejected", "", "00:00", "buying"},
		{"an exit of what is held then", []float64{106, 107}, nil, func(r *book.OrderRequest) { r.Side, r.Quantity, r.All = book.Sell, 0, true }, func(p *played, _ book.Order) {
			p.place(book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: shares(4)})
			p.bars(1)
		}, "filled", "106", "00:00", ""},
		{"an exit of nothing", []float64{106}, nil, func(r *book.OrderRequest) { r.Side, r.Quantity, r.All = book.Sell, 0, true }, func(p *played, _ book.Order) { p.bars(1) },
			"rejected", "", "00:00", "no position"},
		{"a stop at breakeven, where it is then", []float64{100, 106}, nil, func(r *book.OrderRequest) {
			r.Side, r.Type, r.Quantity, r.All, r.Breakeven = book.Sell, book.Stop, 0, true, true
		}, func(p *played, o book.Order) {
			p.place(book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: shares(4)})
			p.bars(2)
			if o := must(p.e.Order(o.ID)); o.StopPrice == nil || *o.StopPrice != shares(100) {
				p.t.Errorf("it stands at %s", o.StopPrice)
			}
		}, "open", "", "00:01", ""},
		{"a stop at breakeven, and nothing is held then", []float64{106}, nil, func(r *book.OrderRequest) {
			r.Side, r.Type, r.Quantity, r.All, r.Breakeven = book.Sell, book.Stop, 0, true, true
		}, func(p *played, _ book.Order) { p.bars(1) }, "rejected", "", "00:00", "no position"},
		{"trading is halted then", []float64{106}, nil, nil, func(p *played, _ book.Order) {
			p.halt()
			p.bars(1)
		}, "rejected", "", "00:00", "halted"},
		{"its time is over", []float64{104, 106}, nil, func(r *book.OrderRequest) { r.TimeInForce, r.ExpiresAt = book.GTD, time.Now().Add(90*time.Second) }, func(p *played, _ book.Order) {
			p.bars(1)
			time.Sleep(40 * time.Second)
			if err := p.e.expireAll(); err != nil {
				p.t.Fatal(err)
			}
			p.bars(1)
		}, "cancelled", "", "", "expired"},
		{"cancelled by its id", []float64{106}, nil, nil, func(p *played, o book.Order) {
			if c, err := p.e.CancelOrder(book.Who{}, o.ID); err != nil || c.Status != book.StatusCancelled {
				p.t.Errorf("cancel: %+v, %v", c, err)
			}
			p.bars(1)
		}, "cancelled", "", "", "cancelled by"},
		{"cancelled with its symbol", []float64{106}, nil, nil, func(p *played, _ book.Order) {
			if c, err := p.e.CancelOrders(book.Who{}, "AAA"); err != nil || len(c) != 1 {
				p.t.Errorf("cancel: %+v, %v", c, err)
			}
			p.bars(1)
		}, "cancelled", "", "", "cancelled by"},
		{"cancelled with everything", []float64{106}, nil, nil, func(p *played, _ book.Order) {
			if err := p.e.CancelEverything(p.t.Context(), book.Who{Name: "owner"}); err != nil {
				p.t.Error(err)
			}
			p.bars(1)
		}, "cancelled", "", "", "cancelled by owner"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := play(t, c.set, c.closes...)
				defer func() { p.e.Close() }()
				r := buy10()
				r.ClientOrderID = "mine"
				if c.order != nil {
					c.order(&r)
				}
				time.Sleep(time.Second)
				o := p.place(r)
				if o.Status != book.StatusOpen || o.FilledQuantity != 0 {
					t.Fatalf("placed: %+v", o)
				}
				if err := p.e.Close(); err != nil { // it survives a restart from the snapshot and, below, from the records
					t.Fatal(err)
				}
				p.open()
				c.do(p, o)
				after := p.is(o.ID, c.status, c.average, c.bar, c.reason)
				if again := p.place(r); again.ID != o.ID || !after.CreatedAt.Equal(o.CreatedAt.Time) || again.Status != after.Status {
					t.Errorf("a retry gets %+v, and it is %+v", again, after)
				}
				if n := len(must(p.e.Orders(true))); (n > 0) != (c.status == "open") {
					t.Errorf("%d open orders", n)
				}
			})
		})
	}
}

func (p *played) bars(n int) {
	for range n {
		p.playBar(p.e)
	}
}

func (p *played) halt() {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.o.Dir, haltName), nil, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// becomes takes the step that the rule of an order became true on a bar, and nothing that follows.
func (p *played) becomes(id, bar string) {
	p.t.Helper()
	start, _ := time.Parse("2006-01-02 15:04", "2000-01-01 "+bar)
	if err := p.e.Do(func(s *book.State) error {
		return p.e.book.Becomes(s.Order(id), book.Trigger{Bar: start.Unix()}, now())
	}); err != nil {
		p.t.Fatal(err)
	}
}

// TestWhenTrueAlready: a rule that is true when the order is placed must become true again, unless the
// order says now.
func TestWhenTrueAlready(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, nil, 106, 104, 107)
		defer p.e.Close()
		p.place(book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Limit, Price: shares(50), Quantity: shares(1)}) // it is watched
		p.bars(1)
		waits := p.place(buy10())
		now := p.place(buy10(func(r *book.OrderRequest) { r.When.Now = true }))
		p.is(now.ID, "filled", "106", "00:00", "")
		p.is(waits.ID, "open", "", "", "waits until")
		p.bars(1)
		later := p.place(buy10(func(r *book.OrderRequest) { r.When.Now = true }))
		p.is(later.ID, "open", "", "", "waits until")
		p.bars(1)
		p.is(waits.ID, "filled", "107", "00:02", "")
		p.is(later.ID, "filled", "107", "00:02", "")
	})
}

// TestWhenDryRun: a dry run says what the order waits for, and what would become of it now.
func TestWhenDryRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, nil)
		defer p.e.Close()
		for _, c := range []struct {
			says string
			set  func(*book.OrderRequest)
		}{
			{"dry run: no order was made; it would wait until close > 105 on a closed bar of 1m, and come then as if it were placed then; now it would be filled at 100", func(*book.OrderRequest) {}},
			{"now it would be open", func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, shares(90) }},
			{"now it would be refused: stop_passed", func(r *book.OrderRequest) { r.Type, r.StopPrice = book.Stop, shares(95) }},
		} {
			o, err := p.e.Place(t.Context(), buy10(c.set, func(r *book.OrderRequest) { r.DryRun = true }))
			if err != nil || o.ID != "" || !strings.Contains(o.Reason, c.says) || o.When == nil || o.When.Request != nil {
				t.Errorf("got %+v, %v; want %q", o, err, c.says)
			}
		}
		if n := len(must(p.e.Orders(false))); n != 0 {
			t.Errorf("%d orders were made", n)
		}
	})
}

// TestWhenRefused: what could never be right is refused when it is placed, and so is one too many.
func TestWhenRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, func(o *Options) {
			o.Limits.OpenPerSymbol = 3
			o.Rules.Grid = func(string) (book.Grid, bool) { return book.Grid{Tick: exact.One, Lot: exact.One}, true }
		})
		defer p.e.Close()
		first := p.place(buy10())
		for code, set := range map[book.Code]func(*book.OrderRequest){
			"bad_when":      func(r *book.OrderRequest) { r.When.Rule = " " },
			"bad_replaces":  func(r *book.OrderRequest) { r.When, r.Replaces = nil, first.ID },
			"bad_indicator": func(r *book.OrderRequest) { r.When.Rule = "close >" },
			"bad_interval":  func(r *book.OrderRequest) { r.When.Interval = "7m" },
			"off_tick":      func(r *book.OrderRequest) { r.Type, r.Price = book.Limit, exact.One/2 },
			"off_lot":       func(r *book.OrderRequest) { r.Quantity = exact.One / 2 },
			"bad_quantity":  func(r *book.OrderRequest) { r.Quantity = 0 },
			"max_open_orders_symbol": func(r *book.OrderRequest) {
				r.StopLoss, r.TakeProfit = book.Exit{Percent: exact.One}, book.Exit{Percent: exact.One}
				p.place(buy10())
			},
		} {
			if o, err := p.e.Place(t.Context(), buy10(set)); !book.IsRefusal(err, code) {
				t.Errorf("%s: %+v, %v", code, o, err)
			}
		}
		p.halt()
		if _, err := p.e.Place(t.Context(), buy10()); !book.IsRefusal(err, "trading_halted") {
			t.Errorf("while trading is halted: %v", err)
		}
	})
}

// TestWhenLeftOpen: what closes a position names an order that waits for its rule, which stays.
func TestWhenLeftOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, nil)
		defer p.e.Close()
		buy := buy10()
		buy.When = nil
		p.place(buy)
		waits := p.place(buy10(func(r *book.OrderRequest) { r.Side, r.Quantity, r.All = book.Sell, 0, true }))
		buy.Side = book.Sell
		if got, err := p.e.PlaceOrder(t.Context(), buy); err != nil || !slices.Equal(got.Left, []string{waits.ID}) {
			t.Errorf("left open %v, %v; want %s", got.Left, err, waits.ID)
		}
	})
}

// TestWhenBracket: the exits of an entry begin when it has come, and a position that closes ends them.
func TestWhenBracket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, nil, 106, 103)
		defer p.e.Close()
		// While it waits its stop_loss would be above the market.
		o := p.place(buy10(func(r *book.OrderRequest) { r.StopLoss = book.Exit{Price: shares(104)} }))
		p.bars(1)
		p.is(o.ID, "filled", "106", "00:00", "")
		p.bars(1)
		if sl, err := p.e.Order(o.ID + "-sl"); err != nil || sl.Status != book.StatusFilled || *sl.AveragePrice != shares(103) {
			t.Errorf("the stop_loss is %+v, %v; want it filled at 103", sl, err)
		}
	})
}

// TestWhenAtBroker: an order that waits is not at the broker, and once its rule is true it is sent once,
// also if wick is killed before or after that.
func TestWhenAtBroker(t *testing.T) {
	for _, crash := range []string{"never", "waiting", "between", "after"} {
		t.Run(crash, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := alpacatest.New()
				tape := closes(104, 106, 107)
				set := func(o *Options) { o.Source, o.Intervals = tape, []market.Interval{market.Minute1} }
				l := startLive(t, v, set)
				defer func() { l.stop() }()
				again := func() {
					l.crash(set)
					l.e.watchNeeded(t.Context())
					time.Sleep(time.Second)
				}
				r := buy10()
				gone := buy10()
				r.When.Rule, gone.When.Rule = "close > 105", "close > 105"
				o, err := l.place(r)
				if err != nil {
					t.Fatal(err)
				}
				cancelled, err := l.place(gone)
				if err != nil {
					t.Fatal(err)
				}
				if c, err := l.e.CancelOrder(book.Who{}, cancelled.ID); err != nil || c.Status != book.StatusCancelled {
					t.Errorf("cancelled: %+v, %v", c, err)
				}
				if _, err := l.place(buy10(func(r *book.OrderRequest) { r.Type, r.Price, r.PostOnly = book.Limit, shares(90), true })); !book.IsRefusal(err, "broker_rule") {
					t.Errorf("what the broker does not know: %v", err)
				}
				if crash == "waiting" {
					again()
				}
				tape.playBar(l.e)
				if got := l.order(o.ID); len(v.Orders()) != 0 || got.Status != book.StatusOpen || got.Account != "" {
					t.Errorf("before its rule is true it is %+v, and the venue has %+v", got, v.Orders())
				}
				late := false
				if crash == "between" {
					if err := l.e.Do(func(s *book.State) error {
						return l.e.book.Becomes(s.Order(o.ID), book.Trigger{Bar: time.Now().Unix() / 60 * 60}, now())
					}); err != nil {
						t.Fatal(err)
					}
					late = true
					again()
				}
				tape.playBar(l.e)
				if crash == "after" {
					again()
				}
				tape.playBar(l.e)
				time.Sleep(time.Minute)
				got := l.order(o.ID)
				if got.Status != book.StatusFilled || got.When.Late != late || got.Account == "" || len(v.Orders()) != 1 || v.Position("AAA") != shares(10) {
					t.Errorf("it is %+v %+v, and the venue has %+v", got, got.When, v.Orders())
				}
				if c := l.order(cancelled.ID); c.Status != book.StatusCancelled {
					t.Errorf("the one that was cancelled is %s", c.Status)
				}
			})
		})
	}
}

// TestWhenDay: an order for a day that waits does not come once its day is over, on paper or at a
// broker, also if the last bar of the day is the one that makes its rule true.
func TestWhenDay(t *testing.T) {
	day := buy10(func(r *book.OrderRequest) { r.Type, r.Price, r.TimeInForce = book.Limit, shares(103), book.Day })
	bubble := func(name string, f func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(24*time.Hour - 2*time.Minute)
				f(t)
			})
		})
	}
	bubble("paper", func(t *testing.T) {
		p := play(t, nil, 104, 106)
		defer func() { p.e.Close() }()
		o := p.place(day)
		p.bars(1)
		u := market.Update{Symbol: "AAA", Price: 106, High: 106, Low: 104, From: 104, At: time.Now().UnixMilli(), Synthetic: true}
		p.e.deliver(t.Context(), u)
		time.Sleep(time.Minute) // the day is over, and nothing was traded since
		u.Low, u.From, u.Closed = 106, 106, []market.ClosedBar{{Interval: market.Minute1, Bar: p.all.Bar(601)}}
		p.e.deliver(t.Context(), u)
		p.is(o.ID, "cancelled", "", "23:59", "expired")
	})
	bubble("broker", func(t *testing.T) {
		v, tape := alpacatest.New(), closes(104, 106)
		v.Closes = time.Now().Add(2 * time.Minute)
		l := startLive(t, v, func(o *Options) { o.Source, o.Intervals = tape, []market.Interval{market.Minute1} })
		defer func() { l.stop() }()
		o, err := l.place(day)
		if err != nil || !o.ExpiresAt.Equal(v.Closes) {
			t.Fatalf("placed: %+v, %v, want its end by the clock of the exchange", o, err)
		}
		tape.playBar(l.e)
		tape.playBar(l.e)
		if o = l.order(o.ID); o.Status != book.StatusCancelled || o.ReasonCode != book.Expired || len(v.Orders()) != 0 {
			t.Errorf("it is %+v %+v, and the venue has %+v", o, o.When, v.Orders())
		}
	})
}

// TestWhenRetriedLater: a retry is the same order though the owner names other intervals since, the first
// of which is that of a rule without one.
func TestWhenRetriedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, nil)
		defer func() { p.e.Close() }()
		r := buy10(func(r *book.OrderRequest) { r.ClientOrderID = "mine" })
		o := p.place(r)
		if err := p.e.Close(); err != nil {
			t.Fatal(err)
		}
		p.o.Intervals = []market.Interval{market.Minute5}
		p.open()
		if again := p.place(r); again.ID != o.ID || again.When.Interval != market.Minute1 {
			t.Errorf("the retry gets %+v %+v", again, again.When)
		}
	})
}
