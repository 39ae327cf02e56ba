package trade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/book"
)

// hanging is a market whose source answers for the symbol ZZZ, and once hangs is set for
// no other: a request of those ends as one over the network does, after 14 s.
type hanging struct {
	*scene
	hangs atomic.Bool
}

func (s *hanging) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	if s.hangs.Load() && q.Symbol != "ZZZ" {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(14 * time.Second):
			return nil, errors.New("the source did not answer in time")
		}
	}
	return s.scene.Bars(ctx, q)
}

// startedFeed is a feed that notes when Run was called.
type startedFeed struct {
	*market.Feed
	at atomic.Int64 // unix seconds
}

func (f *startedFeed) Run(ctx context.Context, deliver func(market.Update)) error {
	f.at.Store(time.Now().Unix())
	return f.Feed.Run(ctx, deliver)
}

// TestHangingSymbols: the source hangs for 49 symbols that orders wait for, from before a
// start on or while wick runs; the feed runs at once, the stop of the fiftieth symbol is
// filled when its price comes, the daily loss and the file HALT restrict trading within
// two seconds, and the orders of the others expire on time.
func TestHangingSymbols(t *testing.T) {
	for name, restart := range map[string]bool{"from the start": true, "while it runs": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testHanging(t, restart) })
		})
	}
}

func testHanging(t *testing.T, restart bool) {
	const fall = 310 // second at which the price falls from 100 to 90
	source := &hanging{scene: &scene{start: time.Now().Unix(), prices: append(slices.Repeat([]int64{10000}, fall), slices.Repeat([]int64{9000}, 600)...)}}
	at := func(second int) { time.Sleep(time.Until(time.Unix(source.start+int64(second), 0))) }
	o, disk := testOptions(t), journaltest.NewDisk()
	o.Source, o.Account.Cash, o.Limits.DailyLoss = source, 10_000*exact.One, 50*exact.One
	var e *Engine
	var feed *startedFeed
	run := func() (stop func()) {
		feed = &startedFeed{Feed: market.NewFeed(source, nil)}
		o.Feed = feed
		var err error
		if e, err = openOn(o, disk); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- e.Run(ctx) }()
		return func() {
			cancel()
			if err := errors.Join(<-done, e.Close()); err != nil {
				t.Error(err)
			}
		}
	}
	stop := run()
	at(245)
	ask(t, e, func(r *book.OrderRequest) { r.Symbol, r.Quantity = "ZZZ", 10*exact.One })
	protection := ask(t, e, func(r *book.OrderRequest) {
		stopping(book.Sell, 95)(r)
		r.Symbol, r.Quantity = "ZZZ", 10*exact.One
	})
	expires := time.Unix(source.start+fall+60, 0)
	var brief book.Order
	for i := range 49 {
		brief = ask(t, e, func(r *book.OrderRequest) {
			r.Symbol, r.Type, r.Price, r.TimeInForce, r.ExpiresAt = fmt.Sprintf("H%02d", i), book.Limit, 50*exact.One, book.GTD, expires
		})
	}
	at(299)
	source.hangs.Store(true)
	if restart {
		stop()
		at(300)
		stop = run()
		at(302)
		if began := feed.at.Load() - source.start; began < 300 {
			t.Errorf("2 s after the start the feed does not run")
		}
	}
	at(fall - 1)
	if got := found(t, e, protection.ID); got != "open" {
		t.Fatalf("before the fall the stop is %s", got)
	}
	at(fall + 2) // the feed asks every second
	if got := found(t, e, protection.ID); got != "filled 95" {
		t.Errorf("2 s after the fall the stop is %s, want it filled at 95, which the fall passes", got)
	}
	if got := e.Status().Trading; got != book.Reducing {
		t.Errorf("2 s after a loss of 100 with a limit of 50 a day trading is %s", got)
	}
	if err := os.WriteFile(filepath.Join(o.Dir, haltName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	at(fall + 4)
	if got := e.Status().Trading; got != book.Halted {
		t.Errorf("2 s after the file HALT was made trading is %s", got)
	}
	at(fall + 60 + int(expireLate.Seconds()) + 2)
	if got := found(t, e, brief.ID); got != "cancelled" {
		t.Errorf("2 s after its time an order of a symbol that hangs is %s", got)
	}
	stop()
}

// slowMarket is a market whose source takes ten seconds to answer for the symbol SLOW,
// once slow is set.
type slowMarket struct {
	*scene
	slow atomic.Bool
}

func (s *slowMarket) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	if s.slow.Load() && q.Symbol == "SLOW" {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Second):
		}
	}
	return s.scene.Bars(ctx, q)
}

// TestSlowSecondMarket: a bar of BBB closes at 2:00, and an alert on it reads another
// market, whose source takes ten seconds; meanwhile the price falls: the stop of AAA is
// filled, an alert on BBB that reads no other market fires, and the alert that does fires
// once the other market's bars are there. If wick is killed before that, the next process
// judges the bar.
func TestSlowSecondMarket(t *testing.T) {
	for name, killed := range map[string]bool{"waits": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testSecondMarket(t, killed) })
		})
	}
}

func testSecondMarket(t *testing.T, killed bool) {
	p := newProcess(t, 115*time.Minute, 100, 100, 90, 90)
	copy(p.market.prices[7200:], []int64{10000, 10000, 10000, 10000, 10000}) // it falls 5 s after the bar closed
	source := &slowMarket{scene: p.market}
	p.change = func(o *Options) { o.Source, o.Feed = source, market.NewFeed(source, nil) }
	p.start()
	if _, err := p.e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One}); err != nil {
		t.Fatal(err)
	}
	protection := ask(t, p.e, stopping(book.Sell, 95))
	for _, when := range []string{"close > 50", "close > 50 and close:SLOW > 50"} {
		if _, err := p.e.SetAlert(t.Context(), book.AlertRequest{Symbol: "BBB", Interval: "1h", Repeat: book.EachBar,
			Condition: book.Condition{Type: book.IndicatorSignal, Indicator: "rule", Signal: "becomes_true", Params: map[string]json.RawMessage{"when": json.RawMessage(strconv.Quote(when))}}}); err != nil {
			t.Fatal(err)
		}
	}
	source.slow.Store(true)
	fired := func() (whens []string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, n := range p.told {
			var when string
			if err := json.Unmarshal(n.Condition.Params["when"], &when); err != nil {
				t.Error(err)
			}
			whens = append(whens, when+n.BarTime.Format(" 15:04"))
		}
		return whens
	}
	hour := time.Unix(p.market.start+7200, 0)
	time.Sleep(time.Until(hour.Add(7 * time.Second)))
	if got := found(t, p.e, protection.ID); got != "filled 95" {
		t.Errorf("2 s after the fall the stop is %s, want it filled at 95", got)
	}
	if got, want := fired(), []string{"close > 50 01:00"}; !slices.Equal(got, want) {
		t.Errorf("7 s after the bar closed %q has fired, want %q", got, want)
	}
	if killed {
		if err := p.e.writeSeen(); err != nil {
			t.Fatal(err)
		}
		p.kill()
		p.start()
	}
	time.Sleep(time.Until(hour.Add(30 * time.Second)))
	if got, want := fired(), []string{"close > 50 01:00", "close > 50 and close:SLOW > 50 01:00"}; !slices.Equal(got, want) {
		t.Errorf("30 s after the bar closed %q has fired, want %q", got, want)
	}
	p.stop()
}

// crowdedSource is a source whose limit of requests is used up for so many calls.
type crowdedSource struct {
	flat
	calls atomic.Int64
}

func (s *crowdedSource) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	if s.calls.Add(-1) >= 0 {
		return nil, fmt.Errorf("auto chose kraken: %w", market.ErrBusy)
	}
	return s.flat.Bars(ctx, q)
}

// TestLoadsWaitTheirTurn: a symbol that could not be loaded because too many requests were
// made at once is loaded as soon as that is over, and not half a minute later.
func TestLoadsWaitTheirTurn(t *testing.T) {
	source := &crowdedSource{flat: 100}
	source.calls.Store(5)
	inBubble(t, func(o *Options) { o.Source, o.Symbols = source, []string{"AAA"} }, func(t *testing.T, e *Engine) {
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
		defer cancel()
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
		if !e.watch.Has("AAA") {
			t.Error("AAA is not watched after 6 s")
		}
	})
}
