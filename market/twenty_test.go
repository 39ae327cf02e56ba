package market

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wick/market/markettest"
)

// counted is a transport that notes when each path was asked for.
type counted struct {
	http.RoundTripper
	mu    sync.Mutex
	asked map[string][]time.Time
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	path := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	c.asked[path] = append(c.asked[path], time.Now())
	c.mu.Unlock()
	return c.RoundTripper.RoundTrip(r)
}

// TestTwentySymbolsOfKraken: Kraken allows about one request a second; twenty symbols are
// loaded at the same time, and watched from then on; all are loaded within half a minute,
// the ticker is asked every five seconds from the first on, and no symbol is without a new
// price for more than two of its rounds, although it takes a minute until bars of all were
// polled.
func TestTwentySymbolsOfKraken(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		x := &markettest.Exchange{Days: 2}
		desk := &counted{RoundTripper: x.Transport(), asked: make(map[string][]time.Time)}
		source := Cached(over(t, "kraken", reach{env: markettest.Env("http://127.0.0.1"), transport: desk}))
		f, l := NewFeed(source, nil), &listener{}
		start := time.Now()
		var loads sync.WaitGroup
		var mu sync.Mutex
		loaded := make(map[string]time.Time)
		for i := range 20 {
			symbol := "AA" + string(rune('A'+i)) + "USD"
			loads.Go(func() {
				for {
					_, err := source.Bars(t.Context(), Query{Symbol: symbol, Interval: Hour4, Limit: 501})
					if err == nil {
						break
					}
					if !errors.Is(err, ErrBusy) || strings.Contains(err.Error(), "kraken returned") {
						t.Errorf("%s: %v", symbol, err)
					}
					time.Sleep(time.Second)
				}
				f.Watch(symbol, Hour4)
				mu.Lock()
				defer mu.Unlock()
				loaded[symbol] = time.Now()
			})
		}
		run(t, f, l, 2*time.Minute)
		loads.Wait()
		for _, symbol := range slices.Sorted(maps.Keys(loaded)) {
			last := loaded[symbol]
			if took := last.Sub(start); took > 30*time.Second {
				t.Errorf("%s is loaded after %s", symbol, took)
			}
			for _, u := range l.updates[symbol] {
				if gap := time.UnixMilli(u.At).Sub(last); gap > 2*kraken.every {
					t.Errorf("%s has no price for %s after %s", symbol, gap, last.Sub(start))
				}
				last = time.UnixMilli(u.At)
			}
		}
		if n := len(desk.asked["Ticker"]); n < 20 {
			t.Errorf("the ticker was asked %d times in two minutes", n)
		}
		if n := x.OverLimit("kraken"); n > 0 {
			t.Errorf("%d requests were too many", n)
		}
	})
}
