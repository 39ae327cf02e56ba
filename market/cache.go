package market

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
)

// answer is a series and how many bars were asked for. If it has fewer bars than
// that, the source has no more.
type answer struct {
	series *Series
	limit  int
}

// Cached returns a source that remembers each answer of source for a sixtieth of its
// interval (one second to thirty), at most until the newest bar closes. Equal queries
// that come at the same time become one query to source. A query for fewer bars is
// answered from a longer answer.
func Cached(source Source) Source {
	under := venueOf(source)
	v := *under
	v.under = under
	var m memo[answer]
	v.stats = func() (uint64, uint64) { return m.hits.Load(), m.misses.Load() }
	v.bars = func(ctx context.Context, q Query) (*Series, error) {
		key := fmt.Sprintf("%s %s %q", q.Symbol, q.Interval, q.Extra)
		// An answer with fewer bars than its query asked for has all there are.
		fits := func(a answer) bool { return a.limit >= q.Limit || a.series.Len() < a.limit }
		a, err := m.get(ctx, key, fmt.Sprint(key, q.Limit), fits, func(ctx context.Context) (kept[answer], error) {
			s, err := under.bars(ctx, q)
			if err != nil {
				return kept[answer]{}, err
			}
			return kept[answer]{value: answer{s, q.Limit}, size: 8 * (s.Len()*(6+len(s.Extra)) + 3*len(s.Delayed)), expiry: goodUntil(s)}, nil
		})
		if err != nil {
			return nil, err
		}
		return a.series.Tail(q.Limit), nil
	}
	return &v
}

// CacheStats returns how many queries a source made by [Cached] has answered from
// memory, and how many others there were: those that it passed on and those that waited
// for the same query of another caller. Both are zero for a source without a cache.
func CacheStats(s Source) (hits, misses uint64) {
	if v := venueOf(s); v.stats != nil {
		return v.stats()
	}
	return 0, 0
}

// goodUntil returns when s should be asked for anew: after a sixtieth of its
// interval, between one second and thirty, but as soon as its last bar closes.
func goodUntil(s *Series) time.Time {
	good := min(max(s.Interval.Duration()/60, time.Second), 30*time.Second)
	if s.Forming && s.Len() > 0 {
		closes := time.Until(time.Unix(s.DueAt(s.Len()-1), 0).Add(settle))
		if closes < 0 { // the source may report it as closed at any moment
			closes = time.Second
		}
		good = min(good, closes)
	}
	return time.Now().Add(good)
}

// Bounds of one cache: past either, others make room for the newest answer.
const (
	maxEntries = 512
	maxBytes   = 64 << 20 // of one cache's answers
)

// memo remembers answers for a while, at most maxEntries of them and about
// maxBytes in all. Callers that ask the same at the same time share one fetch.
// The zero value is ready to use.
type memo[V any] struct {
	flight singleflight.Group

	mu      sync.Mutex
	entries map[string]kept[V]
	bytes   int

	hits, misses atomic.Uint64
}

// kept is an answer of the source, and how long it may be used again.
type kept[V any] struct {
	value  V
	size   int       // in bytes, about
	expiry time.Time // from then on it is fetched anew
}

// get returns the value remembered under key if fits accepts it, and fetches it
// otherwise; a nil fits accepts any. Callers with the same flight share a fetch. The fetch does not end when
// one of them gives up, since the others still wait; it may take at most callTime.
func (m *memo[V]) get(ctx context.Context, key, flight string, fits func(V) bool, fetch func(context.Context) (kept[V], error)) (v V, err error) {
	if v, ok := m.lookup(key, fits); ok {
		m.hits.Add(1)
		return v, nil
	}
	m.misses.Add(1)
	// The fetch keeps the values of the first caller's context, not its end.
	shared := context.WithoutCancel(ctx)
	done := m.flight.DoChan(flight, func() (any, error) {
		if v, ok := m.lookup(key, fits); ok { // stored by the fetch before ours
			return v, nil
		}
		ctx, cancel := context.WithTimeout(shared, callTime)
		defer cancel()
		k, err := fetch(ctx)
		if err != nil {
			return nil, err
		}
		m.store(key, k)
		return k.value, nil
	})
	select {
	case <-ctx.Done():
		return v, ctx.Err()
	case r := <-done:
		if r.Err == nil {
			v = r.Val.(V)
		}
		return v, r.Err
	}
}

func (m *memo[V]) lookup(key string, fits func(V) bool) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.entries[key]
	return k.value, time.Now().Before(k.expiry) && (fits == nil || fits(k.value))
}

// store remembers k, and drops others, whichever come first, until the bounds hold: answers
// are kept for seconds, so it matters little which go.
func (m *memo[V]) store(key string, k kept[V]) {
	if k.size > maxBytes {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil {
		m.entries = make(map[string]kept[V])
	}
	m.bytes += k.size - m.entries[key].size
	m.entries[key] = k
	for other, old := range m.entries {
		if len(m.entries) <= maxEntries && m.bytes <= maxBytes {
			return
		}
		if other != key {
			delete(m.entries, other)
			m.bytes -= old.size
		}
	}
}
