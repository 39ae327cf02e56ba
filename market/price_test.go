package market

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/market/markettest"
)

// tape is a market given by its trades: one price each second since begin. It
// makes bars of them that are true at the instant it is asked. Bend, if set,
// changes an answer.
type tape struct {
	begin  time.Time
	trades []float64
	bend   func(s *Series)
	fail   func() error
}

func (p *tape) Bars(_ context.Context, q Query) (*Series, error) {
	if p.fail != nil {
		if err := p.fail(); err != nil {
			return nil, err
		}
	}
	now := time.Now()
	s := &Series{Symbol: q.Symbol, Interval: q.Interval, Source: "tape", AsOf: now.UnixMilli(), PriceAt: now.UnixMilli(), Forming: true}
	last := min(int(now.Sub(p.begin)/time.Second), len(p.trades)-1)
	first := q.Interval.Start(p.begin.Unix()+int64(last)) - int64(q.Limit-1)*q.Interval.Seconds() // of the bars asked for
	for i := max(0, int(first-p.begin.Unix())); i <= last; i++ {
		v := p.trades[i]
		start := q.Interval.Start(p.begin.Unix() + int64(i))
		n := s.Len()
		if n == 0 || s.Time[n-1] != start {
			s.Append(Bar{start, v, v, v, v, 1})
			continue
		}
		s.High[n-1], s.Low[n-1], s.Close[n-1] = max(s.High[n-1], v), min(s.Low[n-1], v), v
		s.Volume[n-1]++
	}
	s = s.Tail(q.Limit)
	s.Grow(0)
	if p.bend != nil {
		p.bend(s)
	}
	return s, nil
}

// ramp is n trades from one price to another.
func ramp(from, to float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Round((from+(to-from)*float64(i)/float64(n-1))*100) / 100
	}
	return out
}

// A price is taken only if it can be right; a jump needs a second poll.
func TestFeedTakesPlausiblePrices(t *testing.T) {
	t.Parallel()
	last := func(s *Series) *float64 { return &s.Close[s.Len()-1] }
	set := func(price float64) func(s *Series) {
		return func(s *Series) {
			n := s.Len() - 1
			*last(s), s.High[n], s.Low[n] = price, max(s.High[n], price), min(s.Low[n], price)
		}
	}
	for _, c := range []struct {
		name string
		bend func(s *Series) // while it lasts
		for_ time.Duration   // counted from the tenth second
		want []float64       // the prices told other than 100
	}{
		{"sound", nil, 0, nil},
		{"a replica ten minutes behind", func(s *Series) { set(120)(s); s.PriceAt -= 600_000 }, time.Minute, nil},
		{"a row in the future", func(s *Series) { set(120)(s); s.PriceAt += 600_000 }, time.Minute, nil},
		{"a minute ahead of our clock", func(s *Series) { set(120)(s); s.PriceAt += 60_000 }, 3 * time.Second, []float64{120, 120, 120}},
		{"one print at ten times the price", set(1000), time.Second, nil},
		{"one print at a tenth of it", set(10), time.Second, nil},
		{"a jump that is confirmed", set(1000), 4 * time.Second, []float64{1000, 1000, 1000}},
		{"a jump within the band", set(199), 2 * time.Second, []float64{199, 199}},
		{"zero, for long", set(0), time.Minute, nil},
		{"negative, for long", set(-5), time.Minute, nil},
		{"not a number", set(math.NaN()), time.Minute, nil},
		{"a high at ten times the price, once", func(s *Series) { s.High[s.Len()-1] = 1000 }, time.Second, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := &tape{begin: time.Now().Add(-time.Minute), trades: ramp(100, 100, 400)}
				start := time.Now()
				p.bend = func(s *Series) {
					if d := time.Since(start); c.bend != nil && d >= 10*time.Second && d < 10*time.Second+c.for_ {
						c.bend(s)
					}
				}
				f, l := NewFeed(p, nil), &listener{}
				f.Watch("A", Minute1)
				run(t, f, l, 200*time.Second)
				var got []float64
				for _, u := range l.updates["A"] {
					if u.Price != 100 && len(u.Path) > 0 {
						got = append(got, u.Price)
					}
					if want := slices.Max(append(c.want, 199)); u.High > want || u.Low < 100 && c.want == nil || u.Source != "tape" || u.At > time.Now().UnixMilli() {
						t.Errorf("update %+v", u)
					}
				}
				if !slices.Equal(got, c.want) || len(l.updates["A"]) < 100 || len(l.closed("A", Minute1)) != 4 && c.bend == nil {
					t.Errorf("prices besides 100: %v, want %v; %d updates", got, c.want, len(l.updates["A"]))
				}
			})
		})
	}
}

// TestFeedNamesTheDoubt: what is outside of the band is what the log names: a high or a low
// that came and went within one poll, and not the price, which is where it was.
func TestFeedNamesTheDoubt(t *testing.T) {
	f := NewFeed(&tape{}, nil)
	for _, c := range []struct {
		price, high, low float64
		want             string
	}{
		{1000, 1000, 100, "price 1000 is too far from the last one, 100; the next poll decides"},
		{100, 1000, 100, "a high of 1000 is too far from the last price, 100; the next poll decides"},
		{110, 120, 7, "a low of 7 is too far from the last price, 100; the next poll decides"},
	} {
		was := seen{quote: Quote{Price: 100, At: 1}}
		g := &result{Update: Update{Price: c.price, High: c.high, Low: c.low, At: 2}}
		if err := f.judge(was, g); err == nil || err.Error() != c.want || g.next.doubt != c.price {
			t.Errorf("%v, doubt %v\nwant %s", err, g.next.doubt, c.want)
		}
	}
}

// The band is a setting.
func TestFeedBand(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		p := &tape{begin: time.Now().Add(-time.Minute), trades: append(ramp(100, 100, 70), ramp(115, 115, 100)...)}
		f, l := NewFeed(p, nil), &listener{}
		f.Band = 1.1
		f.Watch("A")
		run(t, f, l, 12*time.Second)
		at := slices.IndexFunc(l.updates["A"], func(u Update) bool { return u.Price == 115 })
		if at < 0 || l.updates["A"][at].At < p.begin.Add(71*time.Second).UnixMilli() { // first seen a second before
			t.Errorf("updates %v", l.updates["A"])
		}
	})
}

// What is told does not depend on how often the source is polled: the paths of all
// updates, joined, are the same minutes with the same opens, highs and lows, and begin at
// the last price.
func TestFeedPathIsIndependentOfPolls(t *testing.T) {
	trades := slices.Concat(ramp(100, 100, 60), ramp(100, 90, 40), ramp(96, 96, 20), ramp(80, 85, 60), []float64{85, 60, 120, 85}, ramp(85, 85, 236))
	paths := make(map[time.Duration]string)
	for _, cadence := range []time.Duration{time.Second, 10 * time.Second, time.Minute} {
		bubble(t, func(t *testing.T) {
			time.Sleep(4 * time.Second) // to a whole minute
			p := &tape{begin: time.Now(), trades: trades}
			turn := 0
			p.fail = func() error {
				if turn++; time.Since(p.begin)%cadence >= time.Second {
					return errors.New("not polled now")
				}
				return nil
			}
			f := NewFeed(p, nil)
			w := f.watch("A")
			minutes := make(map[int64]Bar)
			for time.Since(p.begin) < 7*time.Minute {
				s, err := p.Bars(t.Context(), Query{Symbol: "A", Interval: Minute1, Limit: 20})
				if err == nil {
					from := w.quote.Price
					g, err := f.bars(w.state(), s)
					if err != nil {
						t.Fatal(err)
					}
					if len(g.Path) > 0 && from != 0 && (g.From != from || g.Path[0].Time == w.last.Time && g.Path[0].Open != from) {
						t.Errorf("the path %v does not begin at %v", g.Path, from)
					}
					for _, b := range g.Path {
						m, ok := minutes[b.Time]
						if !ok {
							m = b
						}
						m.High, m.Low, m.Close = max(m.High, b.High), min(m.Low, b.Low), b.Close
						minutes[b.Time] = m
						if b.High > g.High || b.Low < g.Low {
							t.Errorf("path %v exceeds %v to %v", b, g.Low, g.High)
						}
					}
					f.accept(w, g)
				}
				time.Sleep(time.Second)
			}
			var all []Bar
			for _, b := range minutes {
				b.Time -= p.begin.Unix()
				b.Volume = 0
				all = append(all, b)
			}
			slices.SortFunc(all, byTime)
			paths[cadence] = fmt.Sprint(all)
		})
	}
	if paths[time.Second] != paths[10*time.Second] || paths[time.Second] != paths[time.Minute] {
		t.Errorf("paths differ:\n%s\n%s\n%s", paths[time.Second], paths[10*time.Second], paths[time.Minute])
	}
}

// The forming bar of every watched interval comes with each update, whole, also
// at the first trade of a bar.
func TestFeedForming(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		p := &tape{begin: time.Now().Add(-30 * time.Minute), trades: ramp(100, 160, 3000)}
		f := NewFeed(p, nil)
		f.Watch("A", Minute1, Minute5, Hour1)
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Minute)
		defer cancel()
		n := 0
		f.Run(ctx, func(u Update) {
			n++
			for _, iv := range []Interval{Minute1, Minute5, Hour1} {
				s, _ := p.Bars(ctx, Query{Symbol: "A", Interval: iv, Limit: 1})
				if u.Forming[iv].Bar != s.Bar(0) || u.Forming[iv].Volume == 0 {
					t.Errorf("%s: forming %v, the source has %v", iv, u.Forming[iv], s.Bar(0))
				}
			}
		})
		if n < 400 {
			t.Errorf("%d updates", n)
		}
	})
}

// If prices come from a ticker, forming bars are computed from minutes between two
// requests for them. They must be the same as those of the service.
func TestFeedFormingOverTicker(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := &markettest.Exchange{Days: 2}
		f := NewFeed(Cached(fake(t, "kraken", x)), nil)
		f.Watch("XBTUSD", Hour1, Hour4)
		minutes := 70
		if testing.Short() {
			minutes = 30
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(minutes)*time.Minute)
		defer cancel()
		compared, closed := 0, 0
		f.Run(ctx, func(u Update) {
			closed += len(u.Closed)
			now := time.UnixMilli(u.At).UTC()
			for iv, got := range u.Forming {
				rows := x.Rows("kraken", "XBTUSD", string(iv), iv.Start(now.Unix()), now.Unix()+1)
				r := rows[len(rows)-1]
				if want := (Bar{int64(r[0]), r[1], r[2], r[3], r[4], r[5]}); got.Bar != want {
					t.Errorf("%s at %s: forming %v, the service has %v", iv, now, got, want)
				}
				compared++
			}
		})
		if compared < minutes/2 || closed != 1 { // at 18:00
			t.Errorf("%d compared, %d closed", compared, closed)
		}
		// Twelve prices a minute, and the minutes once, or twice if a price that is due at the
		// same moment takes the turn.
		if n := x.Requests("kraken"); n > minutes*(12+2) {
			t.Errorf("%d requests in %d minutes", n, minutes)
		}
	})
}

// A forming bar from the cache, which a chart has asked for some seconds ago, lacks the
// trades since then, and so would all bars that are computed from it.
func TestFeedFormingBesideCharts(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		x := &markettest.Exchange{Days: 2}
		source := Cached(fake(t, "kraken", x))
		if _, err := source.Bars(t.Context(), Query{Symbol: "XBTUSD", Interval: Hour4, Limit: 100}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		f := NewFeed(source, nil)
		f.Watch("XBTUSD", Hour4)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		compared := 0
		f.Run(ctx, func(u Update) {
			if got, ok := u.Forming[Hour4]; ok {
				rows := x.Rows("kraken", "XBTUSD", "4h", Hour4.Start(u.At/1000), u.At/1000+1)
				if want := rows[len(rows)-1][5]; got.Volume != want {
					t.Errorf("at %d: a volume of %v, the service has %v", u.At, got.Volume, want)
				}
				compared++
			}
		})
		if compared == 0 {
			t.Error("no forming bar was told")
		}
	})
}

// After a downtime the first update begins at the last price before it, and its
// path has what was traded meanwhile.
func TestFeedResumesPrice(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		time.Sleep(4 * time.Second)
		p := &tape{begin: time.Now(), trades: slices.Concat(ramp(100, 100, 90), ramp(70, 70, 60), ramp(80, 80, 600))}
		time.Sleep(5 * time.Minute)
		f, l := NewFeed(p, nil), &listener{}
		f.Resume("A", nil, 100, p.begin.Add(80*time.Second).UnixMilli())
		f.Watch("A")
		run(t, f, l, 3*time.Second)
		u := l.updates["A"][0]
		if u.From != 100 || u.Price != 80 || u.Low != 70 || u.High != 100 || len(u.Path) != 5 || u.Path[0].Open != 100 || u.Path[1].Open != 70 || u.Since != p.begin.Add(80*time.Second).UnixMilli() {
			t.Errorf("the first update is %+v", u)
		}
		if u := l.updates["A"][1]; u.From != 80 || u.Low != 80 || len(u.Path) != 1 {
			t.Errorf("the second update is %+v", u)
		}
	})
}

// A price whose time is the end of a bar is of that bar, or else the first of the next:
// either way all of the next was traded after it. Files have such times, services while
// nothing is traded, and a clock that is ahead of the market.
func TestFeedResumesPriceBetweenBars(t *testing.T) {
	t.Parallel()
	for _, iv := range []Interval{Minute1, Hour1} {
		bubble(t, func(t *testing.T) {
			step := time.Duration(iv.Seconds()) * time.Second
			start := time.Unix(iv.Next(iv.Start(time.Now().Unix())), 0)
			time.Sleep(time.Until(start))
			n := int(iv.Seconds())
			p := &tape{begin: start, trades: slices.Concat(ramp(100, 100, n+20), ramp(70, 70, 10), ramp(100, 100, 4*n))}
			time.Sleep(5 * step / 2)
			f, l := NewFeed(filter{p, func(q Query) error {
				if q.Interval.Seconds() < iv.Seconds() {
					return fmt.Errorf("%w: longer bars only", ErrTooFine)
				}
				return nil
			}}, nil), &listener{}
			f.Resume("A", nil, 100, start.Add(step).UnixMilli())
			f.Watch("A", iv)
			run(t, f, l, 3*time.Second)
			if u := l.updates["A"][0]; u.From != 100 || u.Price != 100 || u.Low != 70 {
				t.Errorf("with bars of %s the first update is %+v", iv, u)
			}
		})
	}
}

// If the price, its time and the last bar stay the same, nothing was traded. The next
// update then begins at the last poll that found them so, and a new high or low of the
// minute counts as later than that poll. It is the same after a restart.
func TestFeedStandsStill(t *testing.T) {
	t.Parallel()
	for name, resumed := range map[string]bool{"watched": false, "resumed": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				time.Sleep(5 * time.Second) // 17:35:01
				p := &tape{begin: time.Now(), trades: slices.Concat(ramp(100, 100, 10), []float64{105, 100})}
				stood := p.begin.UnixMilli()
				p.bend = func(s *Series) {
					clear(s.Volume)
					if s.PriceAt = stood; time.Since(p.begin) >= 11*time.Second {
						s.PriceAt = p.begin.Add(11 * time.Second).UnixMilli()
					}
				}
				f, l := NewFeed(filter{p, func(Query) error { // a poll that sees 105 is one too many
					if at := time.Since(p.begin); at >= 10*time.Second && at < 11*time.Second {
						return errors.New("away")
					}
					return nil
				}}, nil), &listener{}
				if resumed {
					f.Resume("A", nil, 100, stood)
				}
				f.Watch("A")
				run(t, f, l, 20*time.Second)
				u := l.updates["A"][len(l.updates["A"])-1]
				if looked := u.Since - stood; looked < 8000 || looked >= 10000 || u.High != 105 || u.From != 100 || u.Price != 100 {
					t.Errorf("the last update, %d ms after the price, is %+v", looked, u)
				}
			})
		})
	}
}

// A source without minutes gives longer bars: the rest of the one in which the
// last price was taken is part of the path.
func TestFeedResumesPriceWithoutMinutes(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		start := Hour1.Next(Hour1.Start(time.Now().Unix()))
		time.Sleep(time.Until(time.Unix(start, 0)))
		hours := &tape{begin: time.Now(), trades: slices.Concat(ramp(100, 100, 1200), ramp(70, 70, 600), ramp(80, 80, 5400))}
		source := filter{hours, func(q Query) error {
			if q.Interval.Seconds() < hour {
				return fmt.Errorf("%w: hours only", ErrTooFine)
			}
			return nil
		}}
		time.Sleep(50 * time.Minute)
		f, l := NewFeed(source, nil), &listener{}
		f.Resume("A", nil, 100, hours.begin.Add(10*time.Minute).UnixMilli())
		f.Watch("A", Hour1)
		run(t, f, l, 3*time.Second)
		if len(l.updates["A"]) == 0 {
			t.Fatal("no update within the bar of the last price")
		}
		if u := l.updates["A"][0]; u.From != 100 || u.Price != 80 || len(u.Path) != 1 || u.Path[0].Time != start || u.Path[0].Open != 100 || u.Path[0].Close != 80 || u.Path[0].Low != 80 {
			t.Errorf("the first update is %+v", u) // how low it went after the price is not known
		}
	})
}

// filter is a source that refuses some queries.
type filter struct {
	Source
	refuse func(Query) error
}

func (f filter) Bars(ctx context.Context, q Query) (*Series, error) {
	if err := f.refuse(q); err != nil {
		return nil, err
	}
	return f.Source.Bars(ctx, q)
}

// Our clock was an hour ahead when the last price was taken: prices are taken
// again at once, not an hour later.
func TestFeedClockSetBack(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		f, l := NewFeed(&tape{begin: time.Now().Add(-time.Minute), trades: ramp(100, 101, 600)}, nil), &listener{}
		f.Resume("A", nil, 100, time.Now().Add(time.Hour).UnixMilli())
		f.Watch("A")
		run(t, f, l, 10*time.Second)
		if len(l.updates["A"]) < 8 {
			t.Errorf("%d updates in ten seconds", len(l.updates["A"]))
		}
	})
}

// Ages returns for each source how long it has been silent.
func TestFeedAges(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		x := &markettest.Exchange{Days: 3}
		source, err := open("auto", reach{markettest.Env("http://127.0.0.1"), x.Transport()})
		if err != nil {
			t.Fatal(err)
		}
		f := NewFeed(Cached(source), nil)
		if len(f.Ages()) != 0 {
			t.Errorf("ages of nothing: %v", f.Ages())
		}
		f.Await([]string{"BTCUSDT", "AAPL"})
		time.Sleep(time.Minute)
		f.Await([]string{"BTCUSDT"})
		if ages := f.Ages(); len(ages) != 1 || ages["binance"] != time.Minute {
			t.Errorf("ages %v, want a minute for binance alone, which was awaited and never answered", ages)
		}
		f.Unwatch("BTCUSDT")
		if len(f.Ages()) != 0 {
			t.Errorf("ages of nothing awaited: %v", f.Ages())
		}
		f.Watch("BTCUSDT", Hour1)
		f.Watch("ETH-USD", Hour1)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { f.Run(ctx, func(Update) {}) })
		time.Sleep(time.Minute)
		if ages := f.Ages(); len(ages) != 2 || ages["binance"] > 10*time.Second || ages["coinbase"] > 10*time.Second {
			t.Errorf("ages %v", ages)
		}
		x.Inject(markettest.Fault{Service: "binance", Kind: markettest.Broken})
		time.Sleep(time.Minute)
		if ages := f.Ages(); ages["binance"] < 45*time.Second || ages["coinbase"] > 10*time.Second {
			t.Errorf("ages %v with binance down for a minute", ages)
		}
		cancel()
		wg.Wait()
	})
}

// Twenty symbols get a price every few seconds with few requests if the service gives
// many prices at once, and Period says ten seconds or less.
func TestFeedPollsManyAtOnce(t *testing.T) {
	t.Parallel()
	minutes, count := 3, 20
	if testing.Short() {
		minutes, count = 1, 8
	}
	for _, p := range providers {
		if p.ticker == nil {
			continue
		}
		name := p.name
		bubble(t, func(t *testing.T) {
			x := &markettest.Exchange{Days: 2}
			f, l := NewFeed(Cached(fake(t, name, x)), nil), &listener{}
			symbols := []string{p.example}
			for i := range min(count, p.batch) - 1 {
				symbols = append(symbols, p.spell(fmt.Sprintf("C%d-%s", i, dollars[p.name])))
			}
			for _, s := range symbols {
				f.Watch(s, Hour4, Hour1)
			}
			run(t, f, l, 2*time.Minute) // histories come first
			l.updates = nil
			run(t, f, l, time.Duration(minutes)*time.Minute)
			period := f.Period(symbols[0])
			if period > 10*time.Second || x.OverLimit(name) > 0 {
				t.Errorf("%s: the period is %s, %d requests over the limit", name, period, x.OverLimit(name))
			}
			for _, s := range symbols {
				last, widest := time.Now().Add(-time.Duration(minutes)*time.Minute).UnixMilli(), int64(0)
				for _, u := range l.updates[s] {
					widest, last = max(widest, u.At-last), u.At
				}
				if widest > 10_000 || len(l.updates[s]) < 4*minutes {
					t.Errorf("%s %s: prices up to %d ms apart, %d of them", name, s, widest, len(l.updates[s]))
				}
			}
		})
	}
}

// A symbol that vanishes from the service does not take the prices of the
// others with it.
func TestFeedSurvivesAVanishedSymbol(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		x := &markettest.Exchange{Days: 2}
		f, l := NewFeed(Cached(fake(t, "kraken", x)), nil), &listener{}
		f.Watch("XBTUSD")
		f.Watch("ETHUSD")
		run(t, f, l, 20*time.Second)
		x.Inject(markettest.Fault{Kind: markettest.WrongSymbol, Times: 1})
		l.updates = nil
		run(t, f, l, time.Minute)
		if len(l.updates["XBTUSD"]) < 6 || len(l.updates["ETHUSD"]) < 6 {
			t.Errorf("%d and %d updates in a minute", len(l.updates["XBTUSD"]), len(l.updates["ETHUSD"]))
		}
	})
}

// TestQuoteIsTold: whoever was told a price by a running feed comes behind it. It was
// delivered, and with it what the market reached on the way.
func TestQuoteIsTold(t *testing.T) {
	t.Parallel()
	told := func(t *testing.T, f *Feed, symbol string) {
		var last atomic.Pointer[Update]
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f.Watch(symbol, Minute1)
		go f.Run(ctx, func(u Update) {
			if before := last.Load(); before != nil && u.From != before.Price {
				t.Errorf("an update goes on from %v, and not from %v", u.From, before.Price)
			}
			last.Store(&u)
		})
		for range 40 {
			time.Sleep(3777 * time.Millisecond)
			if time.Now().Second() < 5 {
				time.Sleep(5 * time.Second) // bars are asked for, which is not waited for long
			}
			q, err := f.Quote(ctx, symbol)
			if u := last.Load(); err != nil || u == nil || u.At < q.At || u.At == q.At && u.Price != q.Price {
				t.Fatalf("the price is %v of %d (%v), and told was %+v", q.Price, q.At, err, u)
			}
		}
		cancel()
		synctest.Wait()
	}
	for name, symbol := range listed {
		bubble(t, func(t *testing.T) {
			told(t, NewFeed(Cached(fake(t, name, &markettest.Exchange{Days: 3})), nil), symbol)
		})
	}
	bubble(t, func(t *testing.T) {
		told(t, NewFeed(&tape{begin: time.Now().Add(-time.Minute), trades: ramp(100, 100, 4000)}, nil), "A")
	})
}

// A quote is asked for anew, judged like any price, and shared by those who ask
// at the same time.
func TestFeedQuote(t *testing.T) {
	t.Parallel()
	for name, symbol := range listed {
		bubble(t, func(t *testing.T) {
			x := &markettest.Exchange{Days: 3}
			f := NewFeed(Cached(fake(t, name, x)), nil)
			if _, err := f.source.Bars(t.Context(), Query{Symbol: symbol, Interval: Minute1, Limit: 5}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // the answer is still in the cache
			asked := x.Requests(name)
			var wg sync.WaitGroup
			bad := make(chan string, 50)
			for range cap(bad) {
				wg.Go(func() {
					q, err := f.Quote(t.Context(), symbol)
					if err != nil || q.Source != name || q.Symbol != symbol || !(q.Price > 0) || time.Since(time.UnixMilli(q.At)) > 2*time.Second {
						bad <- fmt.Sprintf("%+v, %v", q, err)
					}
				})
			}
			wg.Wait()
			if len(bad) > 0 {
				t.Errorf("%s: %d of %d callers got a bad quote, one of them %s", name, len(bad), cap(bad), <-bad)
			}
			if n := x.Requests(name) - asked; n != 1 {
				t.Errorf("%s: %d requests", name, n)
			}
		})
	}
	bubble(t, func(t *testing.T) { // nothing was traded since an earlier feed took its last price
		p := &tape{begin: time.Now(), trades: ramp(100, 100, 4000)}
		f := NewFeed(p, nil)
		told, err := NewFeed(p, nil).Quote(t.Context(), "A")
		if err != nil {
			t.Fatal(err)
		}
		f.Resume("A", nil, told.Price, told.At)
		if q, err := f.Quote(t.Context(), "A"); err != nil || q != told || q.Source == "" {
			t.Errorf("the price of before: %+v, %v; want %+v", q, err, told)
		}
	})
	bubble(t, func(t *testing.T) {
		p := &tape{begin: time.Now().Add(-time.Minute), trades: ramp(100, 100, 4000)}
		f := NewFeed(p, nil)
		f.Resume("A", nil, 100, time.Now().Add(-time.Second).UnixMilli())
		once := true
		p.bend = func(s *Series) {
			if once {
				s.Close[s.Len()-1], s.High[s.Len()-1] = 1000, 1000
			}
			once = false
		}
		if q, err := f.Quote(t.Context(), "A"); err == nil || !strings.Contains(err.Error(), "price 1000 is too far from the last one, 100") {
			t.Errorf("a bad print: %+v, %v", q, err)
		}
		if q, err := f.Quote(t.Context(), "A"); err != nil || q.Price != 100 {
			t.Errorf("after a bad print: %+v, %v", q, err)
		}
		p.bend = func(s *Series) { s.Close[s.Len()-1], s.High[s.Len()-1] = 1000, 1000 }
		f.Watch("A")
		run(t, f, &listener{}, 5*time.Second)
		if q, err := f.Quote(t.Context(), "A"); err != nil || q.Price != 1000 {
			t.Errorf("a jump that polls have confirmed: %+v, %v", q, err)
		}
		time.Sleep(2 * quoteAge)
		p.bend = func(s *Series) { s.Close[s.Len()-1], s.Low[s.Len()-1] = -1, -1 }
		if q, err := f.Quote(t.Context(), "A"); err == nil {
			t.Errorf("a negative price: %+v", q)
		}
	})
	// A file's price is as old as its last bar, and the finest file gives it.
	c := directory(t, map[string]string{"abc-1d.csv": threeDays})
	if q, err := NewFeed(Cached(c), nil).Quote(t.Context(), "ABC"); err != nil || q.Price != 4 || q.At != 1704326400_000 || q.Source != "csv" {
		t.Errorf("%+v, %v", q, err)
	}
}
