package market

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wick/market/markettest"
)

// 1,000 queries for one chart at the same time make one query to the source.
func TestThousandAsksOneRequest(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		x := &markettest.Exchange{Days: 30}
		x.Inject(markettest.Fault{Kind: markettest.Slow, Delay: time.Second})
		s := Cached(fake(t, "binance", x))
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				if got, err := s.Bars(t.Context(), Query{Symbol: "btcusdt", Interval: Hour4, Limit: 100}); err != nil || got.Len() != 100 {
					t.Errorf("%v", err)
				}
			})
		}
		wg.Wait()
		if n := x.Requests("binance"); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// counting is a source that answers slowly and counts.
type counting struct {
	asked atomic.Int64
	delay time.Duration
	err   error
}

func (c *counting) Bars(ctx context.Context, q Query) (*Series, error) {
	c.asked.Add(1)
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(c.delay):
	}
	if c.err != nil {
		return nil, c.err
	}
	return Sample{}.Bars(ctx, q)
}

// The first caller gives up; the others that wait for the same fetch still get bars.
func TestCancelledCallerLeavesOthers(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		src := &counting{delay: time.Second}
		s := Cached(src)
		q := Query{Symbol: "A", Interval: Hour1, Limit: 10}
		first, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.Bars(first, q); !errors.Is(err, context.Canceled) {
				t.Errorf("the first got %v", err)
			}
		})
		time.Sleep(100 * time.Millisecond)
		for range 10 {
			wg.Go(func() {
				if _, err := s.Bars(t.Context(), q); err != nil {
					t.Errorf("another got %v", err)
				}
			})
		}
		time.Sleep(100 * time.Millisecond)
		cancel()
		wg.Wait()
		if n := src.asked.Load(); n != 1 {
			t.Errorf("%d fetches", n)
		}
	})
}

func TestCacheServesAndExpires(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) { // 17:34:56 UTC
		src := &counting{}
		s := Cached(src)
		ask := func(iv Interval, limit int, want int64) *Series {
			t.Helper()
			got, err := s.Bars(t.Context(), Query{Symbol: "A", Interval: iv, Limit: limit})
			if err != nil || got.Len() != limit || src.asked.Load() != want {
				t.Fatalf("%d bars, %d fetches, %v; want %d, %d", got.Len(), src.asked.Load(), err, limit, want)
			}
			return got
		}
		long := ask(Hour1, 300, 1)
		short := ask(Hour1, 20, 1) // from the longer answer
		if short.Bar(19) != long.Bar(299) || !short.Forming {
			t.Error("the short answer is not the end of the long one")
		}
		ask(Hour1, 301, 2) // longer: fetched
		time.Sleep(29 * time.Second)
		ask(Hour1, 20, 2)
		time.Sleep(2 * time.Second)
		ask(Hour1, 20, 3)
		ask(Minute5, 5, 4)
		time.Sleep(time.Until(time.Now().Truncate(5*time.Minute).Add(5*time.Minute)) - time.Second)
		ask(Minute5, 5, 5)
		time.Sleep(time.Second + settle) // the bar has closed: its answer is worth nothing any more
		ask(Minute5, 5, 6)
	})
}

func TestCacheForgetsErrors(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		src := &counting{err: errors.New("down")}
		s := Cached(src)
		q := Query{Symbol: "A", Interval: Hour1, Limit: 10}
		if _, err := s.Bars(t.Context(), q); err == nil {
			t.Fatal("no error")
		}
		src.err = nil
		if _, err := s.Bars(t.Context(), q); err != nil {
			t.Error("an error was remembered")
		}
		if _, err := s.Bars(t.Context(), Query{Symbol: "../a", Interval: Hour1, Limit: 10}); !errors.Is(err, errSymbol) || src.asked.Load() != 2 {
			t.Errorf("a bad query reached the source: %v", err)
		}
	})
}

// Strangers can ask for any symbols; memory stays bounded.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c memo[int]
	for i := range 3 * maxEntries {
		c.store(fmt.Sprint(i), kept[int]{value: i, expiry: time.Now().Add(time.Hour)})
		if v, ok := c.lookup(fmt.Sprint(i), nil); !ok || v != i {
			t.Fatalf("entry %d is not the newest: %d, %v", i, v, ok)
		}
	}
	if n := len(c.entries); n != maxEntries {
		t.Errorf("%d entries, want %d", n, maxEntries)
	}
	var m memo[int]
	for i := range 100 {
		m.store(fmt.Sprint(i), kept[int]{size: maxBytes / 10, expiry: time.Now().Add(time.Hour)})
	}
	if m.bytes > maxBytes || len(m.entries) != 10 {
		t.Errorf("%d bytes in %d entries", m.bytes, len(m.entries))
	}
	m.store("giant", kept[int]{size: 2 * maxBytes, expiry: time.Now().Add(time.Hour)})
	if _, ok := m.lookup("giant", nil); ok || m.bytes > maxBytes {
		t.Errorf("%d bytes in %d entries after one too large", m.bytes, len(m.entries))
	}
}

// TestCacheStats: the first query is a miss, the same one again is a hit.
func TestCacheStats(t *testing.T) {
	source := Cached(Sample{})
	for range 3 {
		if _, err := source.Bars(t.Context(), Query{Symbol: "BTCUSDT", Interval: Hour1, Limit: 10}); err != nil {
			t.Fatal(err)
		}
	}
	if hits, misses := CacheStats(source); hits != 2 || misses != 1 {
		t.Errorf("%d hits and %d misses, want 2 and 1", hits, misses)
	}
	if hits, misses := CacheStats(Sample{}); hits != 0 || misses != 0 {
		t.Errorf("a source without a cache: %d hits and %d misses", hits, misses)
	}
}
