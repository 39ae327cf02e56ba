package trade

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/market"
	"wick/trade/book"
)

// still is a market whose newest price keeps its time until the next trade, like a file
// that is rewritten with each trade. Its bars are minutes.
type still struct {
	mu   sync.Mutex
	bars []market.Bar
	at   time.Time // of the last trade
}

// trade extends the current minute by extremes and ends it at a price.
func (s *still) trade(price, high, low float64) {
	s.late(0, price, high, low)
}

// late is like trade, for something that was traded a while ago, in the last minute that
// the market has or in a later one, and is told only now.
func (s *still) late(ago time.Duration, price, high, low float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = time.Now().Add(-ago)
	minute := market.Minute1.Start(s.at.Unix())
	if n := len(s.bars); n == 0 || s.bars[n-1].Time != minute {
		s.bars = append(s.bars, market.Bar{Time: minute, Open: price, High: price, Low: price, Volume: 1})
	}
	b := &s.bars[len(s.bars)-1]
	b.High, b.Low, b.Close = max(b.High, high), min(b.Low, low), price
}

func (s *still) Bars(_ context.Context, q market.Query) (*market.Series, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	out := &market.Series{Symbol: q.Symbol, Interval: q.Interval, Source: "test", AsOf: now.UnixMilli(), PriceAt: s.at.UnixMilli()}
	for _, b := range s.bars[max(0, len(s.bars)-q.Limit):] {
		out.Append(b)
	}
	end := q.Interval.Next(s.bars[len(s.bars)-1].Time)
	if out.Forming = now.Unix() < end; !out.Forming {
		out.PriceAt = end * 1000
	}
	return out, nil
}

// newStill starts a process on a market that has been at a price since the start of a
// minute.
func newStill(t *testing.T, price float64) (*process, *still) {
	s, p := new(still), newProcess(t, time.Minute)
	s.trade(price, price, price)
	p.change = func(o *Options) {
		o.Source, o.Feed, o.Intervals = s, market.NewFeed(s, nil), []market.Interval{market.Minute1}
	}
	p.start()
	return p, s
}

// TestAlertOfStillMarket: nothing is traded when alerts are set, nor for a while after;
// then the price goes up and down and comes back between two polls of the market, in the
// same minute; alerts fire on what it reached after they were set, and on nothing before.
func TestAlertOfStillMarket(t *testing.T) {
	const above, below = `{"price_above":103}`, `{"price_below":97}`
	for _, c := range []struct {
		name  string
		price float64 // at the start
		does  func(p *process, s *still)
		want  string
	}{
		{"reached after them", 100, func(p *process, s *still) {
			p.alert(above, "")
			p.alert(below, "")
			time.Sleep(2500 * time.Millisecond)
			s.trade(100.2, 105, 95)
		}, "price_above 105 now false, price_below 95 now false"},
		{"reached before them", 100, func(p *process, s *still) {
			s.trade(100.2, 105, 95)
			p.alert(above, "")
			p.alert(below, "")
			time.Sleep(2500 * time.Millisecond)
			s.trade(100.3, 100.3, 100.2)
		}, ""},
		{"before a look and less far after it", 100, func(p *process, s *still) {
			s.trade(100.2, 105, 95)
			time.Sleep(2500 * time.Millisecond)
			p.alert(above, "")
			p.alert(below, "")
			time.Sleep(2500 * time.Millisecond)
			s.trade(100.3, 105, 95)
		}, ""},
		{"there already, and left", 105, func(p *process, s *still) {
			p.alert(above, "")
			time.Sleep(2500 * time.Millisecond)
			s.trade(100, 105, 100)
		}, ""},
		{"there already, and further before it left", 105, func(p *process, s *still) {
			p.alert(above, "")
			time.Sleep(2500 * time.Millisecond)
			s.trade(100, 106, 100)
		}, "price_above 106 now false"},
		{"in the minute before them, which is told late", 100, func(p *process, s *still) {
			time.Sleep(62 * time.Second)
			p.alert(above, "")
			p.alert(below, "")
			time.Sleep(2500 * time.Millisecond)
			s.late(62*time.Second, 100, 105, 95)
			s.trade(100.2, 100.2, 100.2)
		}, ""},
		{"before them, which is told late", 100, func(p *process, s *still) {
			time.Sleep(5 * time.Second)
			p.alert(above, "")
			p.alert(below, "")
			time.Sleep(2500 * time.Millisecond)
			s.late(5*time.Second, 100.2, 105, 95)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, s := newStill(t, c.price)
				c.does(p, s)
				time.Sleep(2500 * time.Millisecond)
				got := p.lines()
				slices.Sort(got)
				if strings.Join(got, ", ") != c.want {
					t.Errorf("told %q, want %q", got, c.want)
				}
				p.stop()
			})
		})
	}
}

// TestOrderComesBehindWhatWasPassed: the market leaves 100, where it was seen, and an order
// comes before the next look at it; what waited on the way to the price that it is judged by is
// filled first, and at its own price.
func TestOrderComesBehindWhatWasPassed(t *testing.T) {
	for _, c := range []struct {
		name     string
		rests    func(*book.OrderRequest) // beside 10 that are held
		at       float64
		then     func(*book.OrderRequest)
		want     string // what waited, and what came then
		position string
	}{
		{"a stop, and more is bought", stopping(book.Sell, 95), 90, func(r *book.OrderRequest) {}, "filled 95, filled 90", "long 10 at 90"},
		{"a stop, and all is sold", stopping(book.Sell, 95), 90, func(r *book.OrderRequest) { r.Side = book.Sell }, "filled 95, filled 90", "short 10 at 90"},
		{"a limit, and more is bought", limiting(book.Sell, 105), 110, func(r *book.OrderRequest) {}, "filled 105, filled 110", "long 10 at 110"},
		{"an entry, and a limit is asked for", limiting(book.Buy, 95), 90, limiting(book.Buy, 80), "filled 95, open", "long 20 at 97.5"},
		{"not reached", stopping(book.Sell, 95), 96, func(r *book.OrderRequest) {}, "open, filled 96", "long 20 at 98"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := new(still), newProcess(t, time.Minute)
				s.trade(100, 100, 100)
				p.change = func(o *Options) {
					o.Source, o.Feed, o.Intervals, o.Slippage, o.FeeRate, o.Account.Short = s, market.NewFeed(s, nil), []market.Interval{market.Minute1}, 0, 0, true
				}
				p.start()
				ask(t, p.e, of(10, func(*book.OrderRequest) {}))
				rests := ask(t, p.e, of(10, c.rests)).ID
				time.Sleep(1500 * time.Millisecond)
				s.trade(c.at, max(100, c.at), min(100, c.at))
				then := ask(t, p.e, of(10, c.then)).ID
				time.Sleep(2500 * time.Millisecond)
				if got := found(t, p.e, rests) + ", " + found(t, p.e, then); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
				h := must(p.e.Positions(true))[0]
				if got := fmt.Sprint(h.Side, " ", h.Quantity, " at ", h.EntryPrice); got != c.position {
					t.Errorf("%s, want %s", got, c.position)
				}
				p.stop()
			})
		})
	}
}

// TestMinuteAfterStillMarket: the price is 105, and nothing more is traded until its
// minute ends. Meanwhile an alert at 103 is set. Then it turns out that the minute ended
// lower and the next one began with a trade at 105. That trade fires the alert, although
// the price was the same before the alert was set.
func TestMinuteAfterStillMarket(t *testing.T) {
	u := market.Update{Symbol: "AAA", Price: 100, High: 105, Low: 100, From: 105, At: 90_000, Since: 60_000, Path: []market.Bar{
		{Time: 0, Open: 105, High: 105, Low: 101, Close: 101},
		{Time: 60, Open: 105, High: 105, Low: 100, Close: 100},
	}}
	x, _ := book.NewTick(u)
	x.Begin(10_000, book.Quote{Price: 105 * exact.One, At: 10_000}, book.Time{})
	a := &book.Alert{CreatedAt: book.Time{Time: time.UnixMilli(30_000)}, Condition: book.Condition{Type: book.PriceAbove, Threshold: 103 * exact.One}}
	if met := x.Meets(a); len(met) != 1 || met[0].Value != "105" || met[0].At != 90_000 {
		t.Errorf("met by %+v, want by 105 at 90000", met)
	}
}

// TestMessageOfExtreme: a message says that the price is at a value only if it still is.
// If an alert fires on a high or low between two updates, the message says what was
// reached and where the price is now.
func TestMessageOfExtreme(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := newStill(t, 100)
		p.alert(`{"price_above":103}`, "")
		p.alert(`{"price_below":97}`, "")
		p.alert(`{"price_above":100.2}`, "")
		time.Sleep(2500 * time.Millisecond)
		s.trade(100.2, 105, 95)
		time.Sleep(2500 * time.Millisecond)
		p.stop()
		var got []string
		for _, n := range p.told {
			got = append(got, n.Message)
		}
		want := []string{"AAA reached 105, at or above 103, and is at 100.2.", "AAA reached 95, at or below 97, and is at 100.2.", "AAA is at 100.2, at or above 100.2."}
		if !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

// TestRestartOfStillMarket: at 101 stops of every kind wait at 98, some of them since an entry
// that the market has filled, on symbols that were noted long before or never; nothing more is
// traded; then the process ends, or runs on; within the same minute the price moves beyond the
// stops, while a process runs or before it runs again: they all are filled at 98, as the way
// from the last price to the next one passes them.
func TestRestartOfStillMarket(t *testing.T) {
	for _, c := range []struct {
		name  string
		end   func(*process) // nil if the process runs on
		moves bool           // while the process is down
	}{
		{"not ended", nil, false},
		{"stopped", (*process).stop, false},
		{"killed", (*process).kill, false},
		{"stopped, and moved meanwhile", (*process).stop, true},
		{"killed, and moved meanwhile", (*process).kill, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, s := newStill(t, 100)
				on := func(symbol string, change func(*book.OrderRequest)) string {
					t.Helper()
					return ask(t, p.e, func(r *book.OrderRequest) { r.Symbol = symbol; change(r) }).ID
				}
				on("GGG", limiting(book.Buy, 90)) // it is noted from here on
				entry := on("DDD", func(r *book.OrderRequest) { stopping(book.Buy, 101)(r); r.StopLoss.Price = 98 * exact.One })
				time.Sleep(2 * time.Second)
				s.trade(101, 101, 100)
				time.Sleep(2 * time.Second)
				stops := map[string]string{
					"an exit of an order": on("AAA", func(r *book.OrderRequest) { r.StopLoss.Price = 98 * exact.One }) + "-sl",
					"an exit of before":   entry + "-sl",
					"a stop":              on("BBB", stopping(book.Sell, 98)),
					"one more":            on("GGG", stopping(book.Sell, 98)),
					"trailing": on("CCC", func(r *book.OrderRequest) {
						r.Side, r.Type, r.TrailAmount = book.Sell, book.TrailingStop, 3*exact.One
					}),
					"oco": on("EEE", func(r *book.OrderRequest) { limiting(book.Sell, 110)(r); r.OCO.StopPrice = 98 * exact.One }) + "-oco",
					"stop_limit": on("FFF", func(r *book.OrderRequest) {
						r.Side, r.Type, r.StopPrice, r.Price = book.Sell, book.StopLimit, 98*exact.One, 97*exact.One
					}),
				}
				time.Sleep(4 * time.Second)
				if c.end != nil {
					c.end(p)
				}
				if c.moves {
					s.trade(96, 101, 96)
				}
				if c.end != nil {
					p.start()
				}
				if !c.moves {
					s.trade(96, 101, 96)
				}
				time.Sleep(2500 * time.Millisecond)
				for name, id := range stops {
					if got := found(t, p.e, id); got != "filled 98" {
						t.Errorf("%s is %s, want filled 98", name, got)
					}
				}
				p.stop()
			})
		})
	}
}

// TestOpenAfterRestart: a limit that sells at 105 waits at 101, and the process runs on, or is
// killed and runs again, seconds before the minute is over; the next minute opens at 110 while
// it runs: the limit is given the open.
func TestOpenAfterRestart(t *testing.T) {
	for _, killed := range []bool{false, true} {
		for _, after := range []time.Duration{20 * time.Millisecond, 600 * time.Millisecond, 3 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				p, s := newStill(t, 100)
				s.trade(101, 101, 100)
				time.Sleep(2 * time.Second)
				id := ask(t, p.e, limiting(book.Sell, 105)).ID
				next := time.Now().Truncate(time.Minute).Add(time.Minute)
				time.Sleep(time.Until(next.Add(-4 * time.Second)))
				if killed {
					p.kill()
					p.start()
				}
				time.Sleep(time.Until(next.Add(after)))
				s.trade(110, 110, 110)
				time.Sleep(4 * time.Second)
				if got := found(t, p.e, id); got != "filled 110" {
					t.Errorf("killed %v, opened %s after the minute: %s, want filled 110", killed, after, got)
				}
				p.stop()
			})
		}
	}
}

// TestSetOffOverKill: how far the market was judged is on disk with the price of 100 at which
// a minute ended. The next minute opens at 92 and sets off a stop_limit of 95 whose limit is
// 94, and the process is killed. The 100 came before that: the limit waits on for 94.
func TestSetOffOverKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := newStill(t, 100)
		id := ask(t, p.e, func(r *book.OrderRequest) {
			r.Side, r.Type, r.StopPrice, r.Price = book.Sell, book.StopLimit, 95*exact.One, 94*exact.One
		}).ID
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute + 2500*time.Millisecond)))
		if err := p.e.writeSeen(); err != nil {
			t.Fatal(err)
		}
		noted := p.noted().At
		s.trade(92, 93, 91)
		time.Sleep(2500 * time.Millisecond)
		if o, err := p.e.Order(id); err != nil || o.TriggeredAt == nil || o.TriggeredAt.UnixMilli() != noted+1 {
			t.Fatalf("%+v, %v: not set off right after the noted price, which has the millisecond of the open", o, err)
		}
		p.kill()
		p.start()
		if got := found(t, p.e, id); got != "open" {
			t.Errorf("after the start it is %s, want open", got)
		}
		s.trade(93, 95, 92)
		time.Sleep(2500 * time.Millisecond)
		if got := found(t, p.e, id); got != "filled 94" {
			t.Errorf("when the market came back it is %s, want filled 94", got)
		}
		p.stop()
	})
}

// TestDipAfterBracket: an entry is filled at once, and its stop waits; the process is
// killed before it has written again how far the market was judged; a dip during the
// downtime sets the stop off, like one that was placed by itself.
func TestDipAfterBracket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, 10*time.Minute, 100, 80, 100)
		p.start()
		entry := ask(t, p.e, func(r *book.OrderRequest) { r.StopLoss.Price = 95 * exact.One })
		p.kill()
		time.Sleep(2*time.Hour + 10*time.Minute)
		p.start()
		if got := found(t, p.e, entry.ID+"-sl"); got != "filled 80" { // the minute of the dip began there
			t.Errorf("the stop is %s, want filled 80", got)
		}
		p.stop()
	})
}

// TestReachedOnStillMarket: the last trade was ten minutes ago and reached what alerts wait
// for, on a symbol that was watched before and on one that was not; a poll that finds the
// same price is no news: no alert fires, before a restart or after it, until something is
// traded. Then each fires once.
func TestReachedOnStillMarket(t *testing.T) {
	for name, end := range map[string]func(*process){"stopped": (*process).stop, "killed": (*process).kill} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := new(still), newProcess(t, time.Minute)
				s.trade(10, 10, 10)
				time.Sleep(10 * time.Minute)
				p.change = func(o *Options) {
					o.Source, o.Feed, o.Intervals = s, market.NewFeed(s, nil), []market.Interval{market.Minute1}
				}
				p.start()
				set := func(symbol, threshold string, repeat book.Repeat) {
					r := book.AlertRequest{Symbol: symbol, Note: symbol + threshold + string(repeat), Repeat: repeat}
					if err := json.Unmarshal([]byte(`{"price_above":`+threshold+`}`), &r.Condition); err != nil {
						t.Fatal(err)
					}
					if _, err := p.e.SetAlert(t.Context(), r); err != nil {
						t.Fatal(err)
					}
				}
				for _, repeat := range book.Repeats() {
					set("AAA", "5", repeat) // watched from the start
					set("BBB", "5", repeat)
				}
				time.Sleep(45 * time.Second)
				set("BBB", "6", book.Once)
				time.Sleep(45 * time.Second)
				end(p)
				time.Sleep(5 * time.Minute)
				p.start()
				time.Sleep(20 * time.Second)
				if got := p.lines(); len(got) != 0 {
					t.Errorf("told %q before anything was traded", got)
				}
				s.trade(10, 10, 10)
				time.Sleep(5 * time.Second)
				end(p)
				p.start()
				p.stop()
				var got []string
				for _, n := range p.told {
					got = append(got, n.Note+" "+n.Message)
				}
				slices.Sort(got)
				var want []string
				for _, alert := range []string{"AAA5each_bar", "AAA5each_time", "AAA5once", "BBB5each_bar", "BBB5each_time", "BBB5once", "BBB6once"} {
					want = append(want, alert+" "+alert[:3]+" is at 10, at or above "+alert[3:4]+".")
				}
				if !slices.Equal(got, want) {
					t.Errorf("told %q, want %q", got, want)
				}
			})
		})
	}
}

// TestReachedBeforeAlert: how far the market was judged is on disk with a price of 100; the
// market goes to 98, and then alerts below 99 are set; after a restart that finds 98 still,
// none of them fires: that trade came before them. The next one fires each of them once.
func TestReachedBeforeAlert(t *testing.T) {
	for name, end := range map[string]func(*process){"stopped": (*process).stop, "killed": (*process).kill} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, s := newStill(t, 100)
				p.alert(`{"price_above":150}`, "") // the symbol is noted from here on
				s.trade(98, 98, 98)
				time.Sleep(2500 * time.Millisecond)
				repeating(t, p.e, `{"price_below":99}`, book.AlertRequest{})
				repeating(t, p.e, `{"price_below":99}`, book.AlertRequest{Repeat: book.EachTime})
				time.Sleep(2500 * time.Millisecond)
				end(p)
				p.start()
				if got := p.lines(); len(got) != 0 {
					t.Errorf("told %q before anything was traded", got)
				}
				s.trade(98, 98, 98)
				time.Sleep(2500 * time.Millisecond)
				if got, want := p.lines(), slices.Repeat([]string{"price_below 98 now false"}, 2); !slices.Equal(got, want) {
					t.Errorf("told %q after a trade, want %q", got, want)
				}
				p.stop()
			})
		})
	}
}

// lagging is a still market whose bars of three minutes close two seconds after the price of
// their end is told, as those from a cache do. So the feed tells them without a new price.
type lagging struct{ *still }

func (s lagging) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	out, err := s.still.Bars(ctx, market.Query{Symbol: q.Symbol, Interval: market.Minute1, Limit: 100})
	if err != nil || q.Interval == market.Minute1 {
		return out.Tail(q.Limit), err
	}
	all := &market.Series{Symbol: q.Symbol, Interval: q.Interval, Source: out.Source, AsOf: out.AsOf, PriceAt: out.PriceAt}
	for i := range out.Time {
		b := out.Bar(i)
		b.Time = q.Interval.Start(b.Time)
		if n := all.Len(); n > 0 && all.Time[n-1] == b.Time {
			all.High[n-1], all.Low[n-1], all.Close[n-1] = max(all.High[n-1], b.High), min(all.Low[n-1], b.Low), b.Close
			continue
		}
		all.Append(b)
	}
	all.Forming = time.Now().Add(-2*time.Second).Unix() < q.Interval.Next(all.Time[all.Len()-1])
	return all.Tail(q.Limit), nil
}

// TestBarClosesAfterExpiry: alerts expire, and then the price goes beyond their threshold.
// Later a longer bar closes, with no new price. That is not a new look at the market: none
// of them fires, however it repeats.
func TestBarClosesAfterExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := lagging{new(still)}, newProcess(t, 0)
		s.trade(100, 100, 100)
		p.change = func(o *Options) {
			o.Source, o.Feed, o.Intervals = s, market.NewFeed(s, nil), []market.Interval{market.Minute1, "3m"}
		}
		p.start()
		for _, repeat := range book.Repeats() {
			repeating(t, p.e, `{"price_above":105}`, book.AlertRequest{Repeat: repeat, Interval: "1m", ExpiresAt: time.Now().Add(20 * time.Second)})
		}
		time.Sleep(25 * time.Second)
		s.trade(106, 106, 106)
		time.Sleep(3 * time.Minute)
		if got := p.lines(); len(got) != 0 {
			t.Errorf("told %q after they had expired", got)
		}
		p.stop()
	})
}

// TestBarClosesWithoutPrice: an update that tells only of a bar that closed fills no order
// that was held while the market was at its price: it waits for the next price.
func TestBarClosesWithoutPrice(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		held := place(t, e, book.Buy, book.Limit, "1", "95").ID
		time.Sleep(time.Minute)
		haltByHand(t, e)
		at := time.Now()
		tellClosed(e, at.Add(-time.Second), at, 94, 94, minute(0, 94, 94, 94, 94))
		if err := e.SetHalt(false); err != nil {
			t.Fatal(err)
		}
		tellClosed(e, at, at, 94, 94)
		if got := found(t, e, held); got != "open" {
			t.Errorf("held at its price, and no new price came: %s, want open", got)
		}
		time.Sleep(time.Second)
		tellClosed(e, at, time.Now(), 94, 94, minute(0, 94, 94, 94, 94))
		if got := found(t, e, held); got != "filled 95" {
			t.Errorf("with a new price it is %s, want filled 95", got)
		}
	})
}

// TestBarClosesAfterOrder: an order that came after the last price is not taken for an
// older one because a bar closes. A low of the minute in which it came does not fill it.
func TestBarClosesAfterOrder(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		e.ensure(t.Context(), "AAA")
		time.Sleep(time.Minute)
		at := time.Now()
		path := minute(0, 100, 100, 90, 100)
		tellClosed(e, at.Add(-time.Second), at, 100, 100, minute(-1, 100, 100, 100, 100))
		time.Sleep(30 * time.Second)
		late := place(t, e, book.Buy, book.Limit, "1", "95").ID
		tellClosed(e, at, at, 100, 100)
		time.Sleep(30 * time.Second)
		tellClosed(e, at, time.Now(), 100, 90, path)
		if got := found(t, e, late); got != "open" {
			t.Errorf("a low of the minute in which the order came has filled it: %s, want open", got)
		}
	})
}

// tellClosed hands the engine an update with the path, if there is one, and with a bar
// that closed.
func tellClosed(e *Engine, since, at time.Time, price, low float64, path ...market.Bar) {
	e.deliver(context.Background(), market.Update{Symbol: "AAA", Source: "test", From: price, Price: price, High: price, Low: low,
		At: at.UnixMilli(), Since: since.UnixMilli(), Path: path, Step: market.Minute1,
		Closed: []market.ClosedBar{{Interval: market.Hour1, Bar: market.Bar{Time: at.Unix(), Open: 100, High: 100, Low: 100, Close: 100}}}})
}
