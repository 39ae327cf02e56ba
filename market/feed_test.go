package market

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wick/market/markettest"
)

// listener notes what a feed tells.
type listener struct {
	mu      sync.Mutex
	updates map[string][]Update
}

func (l *listener) deliver(u Update) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.updates == nil {
		l.updates = make(map[string][]Update)
	}
	l.updates[u.Symbol] = append(l.updates[u.Symbol], u)
}

// closed returns the bars of an interval in the order told.
func (l *listener) closed(symbol string, iv Interval) []Bar {
	l.mu.Lock()
	defer l.mu.Unlock()
	var bars []Bar
	for _, u := range l.updates[symbol] {
		for _, c := range u.Closed {
			if c.Interval == iv {
				bars = append(bars, c.Bar)
			}
		}
	}
	return bars
}

// run feeds l for a while.
func run(t *testing.T, f *Feed, l *listener, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := f.Run(ctx, l.deliver); err != nil {
		t.Fatal(err)
	}
}

// wantRun checks that bars are the n bars of the market that start at first,
// each once and in order.
func wantRun(t *testing.T, symbol string, iv Interval, bars []Bar, first int64, n int) {
	t.Helper()
	if len(bars) != n {
		t.Fatalf("%d closed bars, want %d: %v", len(bars), n, bars)
	}
	all, err := Sample{}.At(Query{Symbol: symbol, Interval: iv, Limit: 1000}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[int64]Bar)
	for i := range all.Len() - 1 {
		want[all.Time[i]] = all.Bar(i)
	}
	for i, b := range bars {
		if start := first + int64(i)*iv.Seconds(); b.Time != start || b != want[start] {
			t.Errorf("bar %d is %v, want %v", i, b, want[start])
		}
	}
}

// Ten minutes of the sample: a price every second, highs and lows that miss nothing,
// and every closed bar once.
func TestFeed(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) { // 17:34:56
		f, l := NewFeed(Sample{}, nil), &listener{}
		f.Watch("BTCUSDT", Minute1, Minute5)
		run(t, f, l, 10*time.Minute)
		updates := l.updates["BTCUSDT"]
		if len(updates) < 500 {
			t.Errorf("%d updates in ten minutes", len(updates))
		}
		if u := updates[0]; u.High != u.Price || u.Low != u.Price || len(u.Closed) != 0 {
			t.Errorf("the first update is %+v", u)
		}
		start := time.Date(2000, 1, 5, 17, 30, 0, 0, time.UTC).Unix()
		wantRun(t, "BTCUSDT", Minute1, l.closed("BTCUSDT", Minute1), start+4*60, 10)
		wantRun(t, "BTCUSDT", Minute5, l.closed("BTCUSDT", Minute5), start, 2)
		// All updates of the whole minutes together have their highs and lows.
		bars := l.closed("BTCUSDT", Minute1)
		var high, low float64
		for _, u := range updates {
			if u.At/1000 >= bars[1].Time && u.At/1000 <= bars[9].Time {
				high = max(high, u.High)
				if low == 0 || u.Low < low {
					low = u.Low
				}
			}
		}
		for _, b := range bars[1:9] {
			if b.High > high || b.Low < low {
				t.Errorf("bar %v exceeds what was told, %v to %v", b, low, high)
			}
		}
	})
}

// After a restart a feed goes on where the last one ended.
func TestFeedResumes(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		before := &listener{}
		f := NewFeed(Sample{}, nil)
		f.Watch("A", Minute1)
		run(t, f, before, 3*time.Minute)
		told := before.closed("A", Minute1)
		time.Sleep(3 * time.Hour) // down
		after := &listener{}
		f = NewFeed(Sample{}, nil)
		f.Resume("A", map[Interval]int64{Minute1: told[len(told)-1].Time}, 0, 0)
		f.Watch("A", Minute1)
		run(t, f, after, 2*time.Minute)
		wantRun(t, "A", Minute1, append(told, after.closed("A", Minute1)...), told[0].Time, 185)
	})
}

// flaky is the sample behind a bad connection and with a bad clock.
type flaky struct {
	shift atomicDuration // what the source's clock is off by
	fail  func(q Query) error
}

type atomicDuration struct {
	mu sync.Mutex
	d  time.Duration
}

func (a *atomicDuration) set(d time.Duration) { a.mu.Lock(); defer a.mu.Unlock(); a.d = d }
func (a *atomicDuration) get() time.Duration  { a.mu.Lock(); defer a.mu.Unlock(); return a.d }

func (f *flaky) Bars(ctx context.Context, q Query) (*Series, error) {
	if f.fail != nil {
		if err := f.fail(q); err != nil {
			return nil, err
		}
	}
	return Sample{}.At(q, time.Now().Add(f.shift.get()))
}

// The connection is down for an hour; when it is back, the bars that closed meanwhile
// are told, with the high and low of that hour. A source without a budget is looked at
// every second all the time. With -short it is down for twenty minutes.
func TestFeedAfterOutage(t *testing.T) {
	t.Parallel()
	down, minutes, hours := 60, 120, 2
	if testing.Short() {
		down, minutes, hours = 20, 40, 1
	}
	bubble(t, func(t *testing.T) {
		begin := time.Now()
		src := &flaky{fail: func(Query) error {
			if d := time.Since(begin); d > 5*time.Minute && d < time.Duration(5+down)*time.Minute {
				return errors.New("line down")
			}
			return nil
		}}
		f, l := NewFeed(src, nil), &listener{}
		f.Watch("A", Minute1, Hour1)
		run(t, f, l, time.Duration(minutes)*time.Minute)
		wantRun(t, "A", Minute1, l.closed("A", Minute1), begin.Truncate(time.Minute).Unix(), minutes)
		wantRun(t, "A", Hour1, l.closed("A", Hour1), begin.Truncate(time.Hour).Unix(), hours)
		widest, back := Update{}, begin.Add(time.Duration(5+down)*time.Minute).UnixMilli()
		for i, u := range l.updates["A"] {
			if i > 0 && l.updates["A"][i-1].At < back && u.At >= back+2000 {
				t.Errorf("the first price is told %d ms after the outage, want at most 2 s", u.At-back)
			}
			if u.High-u.Low > widest.High-widest.Low {
				widest = u
			}
		}
		if len(widest.Closed) < down-1 {
			t.Errorf("the widest update has %d closed bars: the outage's extremes were not told", len(widest.Closed))
		}
	})
}

// The source's clock jumps back and later ahead, by twenty minutes: no bar is told
// twice, none is left out.
func TestFeedClockJumps(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		begin := time.Now()
		src := &flaky{}
		f, l := NewFeed(src, nil), &listener{}
		f.Watch("A", Minute1)
		var wg sync.WaitGroup
		wg.Go(func() {
			time.Sleep(5 * time.Minute)
			src.shift.set(-20 * time.Minute)
			time.Sleep(5 * time.Minute)
			src.shift.set(20 * time.Minute)
			time.Sleep(5 * time.Minute)
			src.shift.set(0)
		})
		run(t, f, l, 40*time.Minute)
		wg.Wait()
		wantRun(t, "A", Minute1, l.closed("A", Minute1), begin.Truncate(time.Minute).Unix(), 40)
		last := int64(0)
		for _, b := range l.closed("A", Minute1) {
			if b.Time <= last {
				t.Errorf("%d after %d", b.Time, last)
			}
			last = b.Time
		}
	})
}

// One symbol fails and one hangs; the others get their prices. An interval
// that fails holds up neither the price nor the other intervals.
func TestFeedIsolatesFailures(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		src := &flaky{fail: func(q Query) error {
			switch {
			case q.Symbol == "BAD":
				return errors.New("no such symbol")
			case q.Symbol == "HANGS":
				time.Sleep(15 * time.Second)
				return errors.New("too slow")
			case q.Symbol == "HALF" && q.Interval == Hour1:
				return errors.New("no hours today")
			}
			return nil
		}}
		f, l := NewFeed(src, nil), &listener{}
		for _, symbol := range []string{"GOOD", "BAD", "HANGS", "HALF"} {
			f.Watch(symbol, Minute1, Hour1)
		}
		run(t, f, l, 5*time.Minute)
		if n := len(l.updates["GOOD"]); n < 200 {
			t.Errorf("GOOD has %d updates", n)
		}
		if n := len(l.closed("HALF", Minute1)); n != 5 {
			t.Errorf("HALF has %d closed minutes, want 5", n)
		}
		if len(l.updates["BAD"])+len(l.updates["HANGS"]) > 0 {
			t.Errorf("updates of symbols that fail: %v, %v", l.updates["BAD"], l.updates["HANGS"])
		}
	})
}

func TestFeedUnwatch(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		f, l := NewFeed(Sample{}, nil), &listener{}
		f.Watch("A", Minute1)
		f.Watch("B")
		go func() {
			time.Sleep(time.Minute)
			f.Unwatch("A")
			f.Watch("B", Minute1)
		}()
		run(t, f, l, 10*time.Minute)
		if n := len(l.updates["A"]); n < 50 || n > 62 {
			t.Errorf("A has %d updates", n)
		}
		if n := len(l.closed("B", Minute1)); n != 9 {
			t.Errorf("B has %d closed minutes, want 9", n)
		}
	})
}

// A file of hours has no minutes: prices come from the bars there are.
func TestFeedOverCoarseSource(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		src := &flaky{fail: func(q Query) error {
			if q.Interval == Minute1 {
				return fmt.Errorf("%w: hours only", ErrTooFine)
			}
			return nil
		}}
		f, l := NewFeed(src, nil), &listener{}
		f.Watch("A", Day1, Hour1)
		run(t, f, l, time.Hour)
		if len(l.closed("A", Hour1)) != 1 || len(l.updates["A"]) < 1000 {
			t.Errorf("%d closed hours, %d updates", len(l.closed("A", Hour1)), len(l.updates["A"]))
		}
	})
}

// Over the stand-ins of the services, with faults: prices every few seconds, closed bars
// once, and never more requests than allowed, however many symbols are watched.
func TestFeedOverServices(t *testing.T) {
	t.Parallel()
	for name, symbol := range listed {
		for i, n := range []int{1, 12} {
			if testing.Short() && i != len(name)%2 {
				continue // one symbol at some, many at the others
			}
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				t.Parallel()
				bubble(t, func(t *testing.T) {
					x := &markettest.Exchange{Days: 3}
					f, l := NewFeed(Cached(fake(t, name, x)), nil), &listener{}
					f.Watch(symbol, Minute1, Minute5)
					for i := range n - 1 {
						f.Watch(fmt.Sprintf("C%dUSDT", i))
					}
					x.Inject(markettest.Fault{Kind: markettest.Broken, Skip: 20, Times: 3})
					run(t, f, l, map[int]time.Duration{1: 3, 12: 2}[n]*time.Minute)
					// In the first minute each symbol waits for its first bars, and some for
					// the fault as well.
					fresh, since := 0, time.Now().Add(-time.Minute).UnixMilli()
					for _, u := range l.updates[symbol] {
						if u.At >= since {
							fresh++
						}
					}
					if want := int(time.Minute / f.Period(symbol)); fresh < want-1 || x.OverLimit(name) > 0 {
						t.Errorf("%d updates in the last minute, want %d; %d requests over the limit", fresh, want, x.OverLimit(name))
					}
					last := int64(0)
					for _, b := range l.closed(symbol, Minute1) {
						if last != 0 && b.Time != last+60 {
							t.Errorf("%d follows %d", b.Time, last)
						}
						last = b.Time
					}
					if now := time.Now().Unix(); n == 1 && last < now-125 {
						t.Errorf("the last closed bar is %d s old", now-last)
					}
				})
			})
		}
	}
}

// dailyAsks counts the requests for bars of a day.
type dailyAsks struct {
	http.RoundTripper
	count *atomic.Int64
}

func (d dailyAsks) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.RawQuery, "interval=1d") && strings.Contains(r.URL.Path, "chart") {
		d.count.Add(1)
	}
	return d.RoundTripper.RoundTrip(r)
}

// TestFeedComplete: the bar of a day is told as complete once, when the last trade of its
// session was told, and once as closed when the next session opens. Before and between them the
// service is not asked for it.
func TestFeedComplete(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		x, asks := &markettest.Exchange{Days: 30}, new(atomic.Int64)
		f := NewFeed(Cached(over(t, "yahoo", reach{env: markettest.Env("http://127.0.0.1"), transport: dailyAsks{x.Transport(), asks}})), nil)
		f.Watch("AAPL", Day1)
		newYork, _ := time.LoadLocation("America/New_York")
		var got []string
		note := func(what string, b ClosedBar) {
			rows := x.Rows("yahoo", "AAPL", "1d", b.Bar.Time, b.Bar.Time+1)
			if len(rows) != 1 || rows[0][1] != b.Bar.Open || rows[0][4] != b.Bar.Close {
				t.Errorf("%s: %v, the service has %v", what, b, rows)
			}
			got = append(got, fmt.Sprint(what, " ", time.Unix(b.Bar.Time, 0).UTC().Day(), " at ", time.Now().In(newYork).Format("2 15:00")))
		}
		run := func(day, hour, minute int, length time.Duration) {
			time.Sleep(time.Until(time.Date(2000, 1, day, hour, minute, 0, 0, newYork)))
			ctx, cancel := context.WithTimeout(t.Context(), length)
			defer cancel()
			f.Run(ctx, func(u Update) {
				for _, b := range u.Complete {
					note("complete", b.ClosedBar)
					if shut := time.Unix(b.Ended, 0).In(newYork); shut.Format(time.TimeOnly) != "16:45:00" {
						t.Errorf("complete since %s", shut)
					}
				}
				for _, b := range u.Closed {
					note("closed", b)
				}
			})
		}
		for day := 10; day < 13; day++ { // from a Monday on
			run(day, 9, 25, 10*time.Minute)
			run(day, 15, 55, 10*time.Minute)
			before := asks.Load()
			run(day, 16, 6, 38*time.Minute)
			if n := asks.Load() - before; n != 0 {
				t.Errorf("asked %d times for a bar whose trades may still be told", n)
			}
			run(day, 16, 44, 10*time.Minute)
			before = asks.Load()
			run(day, 16, 54, 10*time.Minute)
			if n := asks.Load() - before; n != 0 {
				t.Errorf("asked %d times for a bar that is complete", n)
			}
		}
		want := []string{"complete 10 at 10 16:00", "closed 10 at 11 09:00", "complete 11 at 11 16:00", "closed 11 at 12 09:00", "complete 12 at 12 16:00"}
		if !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

// TestCompleteSince: a bar is complete since its session was told, also if the hours are those
// of the next session by now, and since its close where no hours are known, so that two bars
// of two days are a day apart.
func TestCompleteSince(t *testing.T) {
	bubble(t, func(t *testing.T) {
		newYork, _ := time.LoadLocation("America/New_York")
		clock := func(day, hour, minute int) int64 {
			return time.Date(2000, 1, day, hour, minute, 0, 0, newYork).Unix()
		}
		session := func(day int) Hours { return Hours{clock(day, 9, 30), clock(day, 16, 0)} }
		for _, c := range []struct {
			hours     Hours
			day, hour int // now
			want      int64
		}{
			{session(10), 10, 17, clock(10, 16, 45)}, {session(10), 11, 3, clock(10, 16, 45)}, {session(11), 11, 3, clock(10, 16, 45)},
			{Hours{math.MaxInt64 - 3600, math.MaxInt64}, 11, 3, clock(11, 9, 30)}, // nobody's: not waited through
			{Hours{}, 10, 17, clock(11, 9, 30)}, {Hours{}, 11, 3, clock(11, 9, 30)},
		} {
			time.Sleep(time.Until(time.Unix(clock(c.day, c.hour, 0), 0)))
			s := &Series{Interval: Day1, Hours: c.hours}
			s.Append(Bar{clock(10, 9, 30), 1, 1, 1, 1, 1})
			g := &result{next: seen{told: map[Interval]int64{Day1: 1}, complete: make(map[Interval]CompleteBar)}}
			g.bar(s, true)
			if len(g.Complete) != 1 || g.Complete[0].Ended != c.want {
				t.Errorf("hours %v, on %d at %d: %v, want one since %d", c.hours, c.day, c.hour, g.Complete, c.want)
			}
		}
	})
}

// On a Saturday the price is Friday's and says so, and the service is asked
// for little more than it.
func TestFeedRestsWhenClosed(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2000, 1, 8, 12, 0, 0, 0, time.UTC)))
		x := &markettest.Exchange{Days: 10}
		f, l := NewFeed(Cached(fake(t, "yahoo", x)), nil), &listener{}
		f.Watch("AAPL", Day1)
		run(t, f, l, 4*time.Minute)
		bell := time.Date(2000, 1, 7, 21, 0, 0, 0, time.UTC).UnixMilli()
		updates := l.updates["AAPL"]
		if len(updates) == 0 || updates[0].At != bell || len(l.closed("AAPL", Day1)) != 0 {
			t.Fatalf("updates %v, want the price of %d", updates, bell)
		}
		if n := x.Requests("yahoo"); n > 60 {
			t.Errorf("%d requests in four minutes of a weekend", n)
		}
	})
}

// A price of a file that is outside of the band is none for an order, also if its row is no newer
// than the last: the file may be half written.
func TestQuoteOfHalfWrittenFile(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := directory(t, nil)
		write := func(close string) {
			row := fmt.Sprintf("time,open,high,low,close\n%d,100,101,1,%s", Minute1.Start(time.Now().Unix())-60, close)
			if err := os.WriteFile(filepath.Join(c.dir, "aaa-1m.csv"), []byte(row), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("100")
		f, l := NewFeed(c, nil), &listener{}
		f.Watch("AAA", Minute1)
		run(t, f, l, 2*time.Second)
		write("1")
		if q, err := f.Quote(t.Context(), "AAA"); err == nil {
			t.Errorf("took %+v", q)
		}
		write("101")
		if q, err := f.Quote(t.Context(), "AAA"); err != nil || q.Price != 101 {
			t.Errorf("%+v, %v, want 101", q, err)
		}
	})
}

// A longer bar of a file is told once, a minute after its end if its last row is missing.
// A row that comes later still changes the bar in charts.
func TestFeedLateRow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := directory(t, nil)
		rows := "time,open,high,low,close,volume\n"
		start := Minute5.Start(time.Now().Unix())
		write := func(minute int64, price int) {
			rows += fmt.Sprintf("%d,%d,%[2]d,%[2]d,%[2]d,1\n", start+60*minute, price)
			if err := os.WriteFile(filepath.Join(c.dir, "aaa-1m.csv"), []byte(rows), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		at := func(minute time.Duration) time.Duration {
			return time.Until(time.Unix(start, 0).Add(minute*time.Minute + 2*time.Second))
		}
		f, l := NewFeed(c, nil), &listener{}
		f.Watch("AAA", Minute5)
		write(3, 10) // of 17:33, now it is 17:34:56
		run(t, f, l, at(5))
		if got := l.closed("AAA", Minute5); len(got) != 0 {
			t.Fatalf("told %v at 17:35:02; the row of 17:34 may come", got)
		}
		run(t, f, l, at(6))
		if got := l.closed("AAA", Minute5); len(got) != 1 || got[0].Close != 10 {
			t.Fatalf("told %v at 17:36:02", got)
		}
		write(4, 11)
		run(t, f, l, at(7))
		if got := l.closed("AAA", Minute5); len(got) != 1 {
			t.Errorf("told %v", got)
		}
	})
}
