package trade

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/book"
	"wick/trade/watch"
)

// process is a wick that is started, stopped and killed, on one disk and one
// market.
type process struct {
	t      *testing.T
	market *scene
	change func(*Options)
	disk   *journaltest.Disk
	e      *Engine
	halt   func() // ends Run

	mu   sync.Mutex
	told []book.Notification // by all of them; guarded by mu
}

// newProcess returns a process, not started yet, on a market that is at each of these
// prices for an hour, once passed is over. Prices come every second.
func newProcess(t *testing.T, passed time.Duration, hours ...int64) *process {
	p := &process{t: t, market: &scene{start: time.Now().Unix()}, disk: journaltest.NewDisk()}
	for _, price := range hours {
		p.market.prices = append(p.market.prices, slices.Repeat([]int64{100 * price}, 3600)...)
	}
	time.Sleep(passed)
	return p
}

// start begins to run, and gives the feed some seconds.
func (p *process) start() {
	o := testOptions(p.t)
	o.Source, o.Feed, o.Symbols = p.market, market.NewFeed(p.market, nil), []string{"AAA"}
	o.Notify = func(n book.Notification, _ []string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.told = append(p.told, n)
	}
	if p.change != nil {
		p.change(&o)
	}
	var err error
	if p.e, err = openOn(o, p.disk); err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(p.t.Context())
	done := make(chan error)
	go func() { done <- p.e.Run(ctx) }()
	p.halt = func() {
		cancel()
		if err := <-done; err != nil {
			p.t.Error(err)
		}
	}
	time.Sleep(3500 * time.Millisecond)
}

// stop ends it in good order.
func (p *process) stop() {
	p.halt()
	if err := p.e.Close(); err != nil {
		p.t.Error(err)
	}
}

// kill ends the process without letting it write anything: the next one finds what was on
// disk.
func (p *process) kill() {
	left := p.disk.Cut(journaltest.Dropped)
	p.halt()
	p.e.Close() // on the disk that nobody reads any more
	p.disk = left
}

// noted returns how far the journal says that the market was judged.
func (p *process) noted() *book.Seen {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	return p.e.book.Seen["AAA"]
}

// alert sets one and returns its id.
func (p *process) alert(condition, interval string) string {
	p.t.Helper()
	a, err := setAlert(p.t, p.e, condition, interval)
	if err != nil {
		p.t.Fatal(err)
	}
	return a.ID
}

// lines returns what was told, one line for each notification.
func (p *process) lines() (out []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.told {
		bar := "now"
		if n.BarTime != nil {
			bar = n.BarTime.Format("15:04")
		}
		out = append(out, fmt.Sprint(n.Condition.Type, n.Condition.Signal, " ", n.Value, " ", bar, " ", n.Late))
	}
	return out
}

// TestDownIsNotBlind: bars that close and prices that come and go while no process runs
// are judged by the next one, in order and once, whether the process before was stopped or
// was killed as soon as the alerts were set.
func TestDownIsNotBlind(t *testing.T) {
	for name, end := range map[string]func(*process){"stopped": (*process).stop, "killed": (*process).kill} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProcess(t, 130*time.Minute, 100, 100, 90, 120, 80, 130, 100, 100, 60, 140, 140, 140)
				p.start()
				p.alert(`{"indicator_signal":{"indicator":"sma","signal":"price_cross_down","length":2}}`, "1h")
				p.alert(`{"indicator_signal":{"indicator":"sma","signal":"price_cross_up","length":2}}`, "1h")
				p.alert(`{"price_below":85}`, "")
				p.alert(`{"price_above":119}`, "")
				p.alert(`{"price_above":135}`, "")                                                                       // reached at 9:00
				p.alert(`{"indicator_signal":{"indicator":"sma","signal":"crosses_below","level":85,"length":2}}`, "1h") // at the bar of 8:00, whose mean is 80
				p.alert(`{"price_below":50}`, "")                                                                        // never
				end(p)
				time.Sleep(260 * time.Minute) // 6:30
				p.start()
				want := []string{"price_below 80 04:00 true", "price_above 120 03:00 true",
					"indicator_signalprice_cross_down 95 02:00 true", "indicator_signalprice_cross_up 105 03:00 true"}
				if got := p.lines(); !slices.Equal(got, want) {
					p.stop()
					t.Fatalf("after a downtime\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if n, _, _ := p.e.Notifications("", false, Page{Size: 1 << 20}); n[0].Message != "AAA at 2000-01-01 04:00 UTC was at 80, at or below 85. This comes late: wick was not watching then." {
					t.Errorf("message %q, want that 80 was reached at 04:00, and late", n[0].Message)
				}
				end(p)
				time.Sleep(10 * time.Minute)
				p.start()
				end(p)
				time.Sleep(100 * time.Minute) // 8:20
				p.start()
				time.Sleep(50 * time.Minute)
				want = append(want, "indicator_signalcrosses_below 80 08:00 false", "price_above 140 now false")
				if got := p.lines(); len(got) != 6 || !slices.Equal(slices.Sorted(slices.Values(got[4:])), want[4:]) {
					t.Errorf("two restarts later\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if n := len(must(p.e.Alerts(""))); n != 1 {
					t.Errorf("%d alerts wait, want 1", n)
				}
				p.stop()
			})
		})
	}
}

// TestLateAlertIsNotOlder: an alert that is set after a start does not fire on what the
// market did before that, although the process learns of it only afterwards.
func TestLateAlertIsNotOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, 130*time.Minute, 100, 100, 90, 120, 80, 130, 100, 100)
		p.start()
		p.alert(`{"price_below":50}`, "")
		p.alert(`{"indicator_signal":{"indicator":"sma","signal":"crosses_below","level":50,"length":2}}`, "1h")
		p.stop()
		time.Sleep(260 * time.Minute)
		feed := market.NewFeed(p.market, nil)
		var err error
		o := testOptions(t)
		o.Source, o.Feed = p.market, feed
		if p.e, err = openOn(o, p.disk); err != nil { // not yet running
			t.Fatal(err)
		}
		p.alert(`{"price_below":85}`, "")
		p.alert(`{"indicator_signal":{"indicator":"sma","signal":"price_cross_up","length":2}}`, "1h")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := p.e.Run(ctx); err != nil {
			t.Error(err)
		}
		if n, _, _ := p.e.Notifications("", false, Page{Size: 1 << 20}); len(n) != 0 {
			t.Errorf("fired on what came before the alert: %+v", n)
		}
		p.e.Close()
	})
}

// TestLongDowntime: during a downtime more bars close than a window keeps; the signal on
// the first of them is still found, computed on the bars that its chart had.
func TestLongDowntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, 599*time.Minute, slices.Concat(slices.Repeat([]int64{90}, 10), slices.Repeat([]int64{120}, 30))...)
		p.start()
		p.alert(`{"indicator_signal":{"indicator":"sma","signal":"crosses_above","level":95,"length":4}}`, "1m")
		p.kill()
		time.Sleep(26 * time.Hour)
		p.start()
		if got, want := p.lines(), []string{"indicator_signalcrosses_above 97.5 10:00 true"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		if s, _ := p.e.watch.Window("AAA", market.Minute1); s.Len() > 2*watch.WindowBars+1 {
			t.Errorf("the window keeps %d bars, want at most %d", s.Len(), 2*watch.WindowBars+1)
		}
		p.stop()
	})
}

// TestDipOfDowntime: while no process runs the price falls below a limit and comes back;
// the order is filled at its limit.
func TestDipOfDowntime(t *testing.T) {
	for name, end := range map[string]func(*process){"stopped": (*process).stop, "killed": (*process).kill} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProcess(t, 10*time.Minute, 100, 80, 120, 100)
				p.start()
				place(t, p.e, book.Buy, book.Limit, "1", "95")
				place(t, p.e, book.Sell, book.Limit, "1", "110")
				place(t, p.e, book.Buy, book.Limit, "1", "79")
				end(p)
				time.Sleep(3 * time.Hour)
				p.start()
				for i, want := range []string{"95", "110", "null"} {
					if got := show(must(p.e.Orders(false))[i].AveragePrice); got != want {
						t.Errorf("order %d filled at %s, want %s", i, got, want)
					}
				}
				p.stop()
			})
		})
	}
}

// aheadOf is a market as a process sees it whose clock is ahead of the market's. Nobody says
// when the last trade was, so that a price is as new as that clock, or the end of its bar.
type aheadOf struct {
	*scene
	by int64 // seconds
}

func (a aheadOf) Bars(ctx context.Context, q market.Query) (*market.Series, error) {
	late := *a.scene
	late.start += a.by
	s, err := late.Bars(ctx, q)
	for i := range s.Time {
		s.Time[i] -= a.by
	}
	s.PriceAt = min(s.AsOf, q.Interval.Next(s.Time[s.Len()-1])*1000)
	return s, err
}

// TestDipAfterClockAhead: a process whose clock is 25 seconds ahead of the market is killed,
// and the next one has the right clock; it judges all that came meanwhile, also in the
// minute that the first one took for the present.
func TestDipAfterClockAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, 5*time.Minute, 100, 100)
		for second := 665; second < 670; second++ { // 11:05
			p.market.prices[second] = 8000
		}
		source := aheadOf{p.market, 25}
		p.change = func(o *Options) { o.Source, o.Feed = source, market.NewFeed(source, nil) }
		p.start()
		p.alert(`{"price_below":85}`, "")
		place(t, p.e, book.Buy, book.Limit, "1", "95")
		for minute := (p.market.start + 660) * 1000; p.noted().At != minute; time.Sleep(time.Second) { // 11:00, while it is 10:35 or later
			if time.Now().Unix()-p.market.start >= 685 {
				t.Fatalf("seen at %d, want %d", p.noted().At, minute)
			}
		}
		p.kill()
		source.by = 0
		time.Sleep(10 * time.Minute)
		p.start()
		if got := p.lines(); len(got) != 1 || show(must(p.e.Orders(false))[0].AveragePrice) != "95" {
			t.Errorf("told %q, and the order is %+v", got, must(p.e.Orders(false))[0])
		}
		p.stop()
	})
}

// TestDipBeforeOrder: how far the market was judged is written once a minute, and with an
// order; the price dips before the order; after a kill that dip does not fill it.
func TestDipBeforeOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, 10*time.Minute+30*time.Second, 100, 100)
		for second := 665; second < 670; second++ { // 11:05
			p.market.prices[second] = 8000
		}
		p.start()
		p.alert(`{"price_below":50}`, "") // the symbol is noted from here on
		time.Sleep(46 * time.Second)      // until 11:20
		place(t, p.e, book.Buy, book.Limit, "1", "95")
		p.kill()
		time.Sleep(10 * time.Minute)
		p.start()
		if o := must(p.e.Orders(false))[0]; o.Status != book.StatusOpen {
			t.Errorf("order %s at %s", o.Status, show(o.AveragePrice))
		}
		p.stop()
	})
}

// TestStopWhileJudging: the process may be stopped while it judges bars. They do not count
// as judged then, so the next start judges them.
func TestStopWhileJudging(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, e *Engine) {
		if _, err := setAlert(t, e, `{"indicator_signal":{"indicator":"sma","signal":"price_cross_up","length":2}}`, "1h"); err != nil {
			t.Fatal(err)
		}
		before := *e.watch.Seen("AAA")
		time.Sleep(time.Hour)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		bar := market.Bar{Time: time.Now().Unix() - 3600, Open: 100, High: 120, Low: 100, Close: 120}
		e.deliver(ctx, market.Update{Symbol: "AAA", Price: 120, High: 120, Low: 120, At: time.Now().UnixMilli(),
			Closed: []market.ClosedBar{{Interval: market.Hour1, Bar: bar}}})
		if after := e.watch.Seen("AAA"); !maps.Equal(after.Bars, before.Bars) {
			t.Errorf("bars are judged up to %v, want %v as before", after.Bars, before.Bars)
		}
	})
}

// TestDipWhileHalted: while trading is halted, a dip does not fill an order. It must not
// do so after a kill either.
func TestDipWhileHalted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, 10*time.Minute+30*time.Second, 100, 100)
		for second := 665; second < 670; second++ { // 11:05
			p.market.prices[second] = 8000
		}
		dir := t.TempDir()
		p.change = func(o *Options) { o.Dir = dir }
		p.start()
		place(t, p.e, book.Buy, book.Limit, "1", "95")
		os.WriteFile(filepath.Join(dir, haltName), nil, 0o600)
		time.Sleep(42 * time.Second) // 11:15
		os.Remove(filepath.Join(dir, haltName))
		time.Sleep(5 * time.Second)
		p.kill()
		time.Sleep(10 * time.Minute)
		p.start()
		if o := must(p.e.Orders(false))[0]; o.Status != book.StatusOpen {
			t.Errorf("order %s at %s", o.Status, show(o.AveragePrice))
		}
		p.stop()
	})
}

// TestHaltMadeWhileStopped: a file HALT that was made while no process ran counts before the
// first price after the start.
func TestHaltMadeWhileStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, 10*time.Minute+30*time.Second, 100, 100)
		for second := 660; second < 1500; second++ {
			p.market.prices[second] = 8000
		}
		dir := t.TempDir()
		p.change = func(o *Options) { o.Dir = dir }
		p.start()
		place(t, p.e, book.Buy, book.Limit, "1", "95")
		p.stop()
		os.WriteFile(filepath.Join(dir, haltName), nil, 0o600)
		time.Sleep(5 * time.Minute)
		p.start()
		time.Sleep(5 * time.Second)
		if o := must(p.e.Orders(false))[0]; o.Status != book.StatusOpen {
			t.Errorf("order %s at %s under HALT", o.Status, show(o.AveragePrice))
		}
		os.Remove(filepath.Join(dir, haltName))
		time.Sleep(5 * time.Second)
		if o := must(p.e.Orders(false))[0]; o.Status != book.StatusFilled {
			t.Errorf("order %s after HALT, want it filled at the present price", o.Status)
		}
		p.stop()
	})
}

// TestSeenIsForgotten: how far a symbol was judged is written once a minute and when the
// process stops, and forgotten once nothing waits for the symbol.
func TestSeenIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, 10*time.Minute, 100, 100)
		p.start()
		id := p.alert(`{"price_below":50}`, "")
		notes := func() int { // nothing else is written meanwhile
			before := p.e.Status().Records
			time.Sleep(10*time.Minute + time.Second)
			return int(p.e.Status().Records - before)
		}
		if n := notes(); n < 9 || n > 11 {
			t.Errorf("written %d times in ten minutes, want 9 to 11", n)
		}
		time.Sleep(30 * time.Second)
		p.stop()
		s, err := tryLoad(p.disk.Cut(journaltest.Kept), false)
		if err != nil || s.Seen["AAA"] == nil || time.Since(time.UnixMilli(s.Seen["AAA"].At)) > 2*time.Second {
			t.Errorf("after a stop %+v is written, want a time of less than two seconds ago (%v)", s.Seen["AAA"], err)
		}
		p.start()
		if _, err := p.e.CancelAlert(book.Who{}, id); err != nil {
			t.Fatal(err)
		}
		if n := notes(); n != 1 || p.noted() != nil {
			t.Errorf("written %d times when nothing waits, want once, and %+v is kept", n, p.noted())
		}
		p.stop()
	})
}
