package market

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
)

// Bounds of one cache: past either, the least recently used answers go.
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
	entries map[string]*list.Element // of kept[V]
	order   list.List                // the most recently used first
	bytes   int

	hits, misses atomic.Uint64
}

// kept is an answer of the source and how long it may be given again.
type kept[V any] struct {
	key    string
	value  V
	size   int       // in bytes, about
	expiry time.Time // from then on it is fetched anew
}

// get returns the value remembered under key if fits accepts it, and fetches it
// otherwise. Callers with the same flight share a fetch. It does not end when
// one of them gives up, since the others still wait; callTime limits it.
func (m *memo[V]) get(ctx context.Context, key, flight string, fits func(V) bool, fetch func(context.Context) (kept[V], error)) (V, error) {
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
		k.key = key
		m.store(k)
		return k.value, nil
	})
	var none V
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case r := <-done:
		if r.Err != nil {
			return none, r.Err
		}
		return r.Val.(V), nil
	}
}

// lookup returns the value under key if it is not too old and fits accepts it.
func (m *memo[V]) lookup(key string, fits func(V) bool) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.entries[key]; ok {
		k := e.Value.(kept[V])
		if time.Now().Before(k.expiry) && fits(k.value) {
			m.order.MoveToFront(e)
			return k.value, true
		}
	}
	var none V
	return none, false
}

// store remembers k as the most recently used, and drops the least recently used
// values until the bounds hold.
func (m *memo[V]) store(k kept[V]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil {
		m.entries = make(map[string]*list.Element)
	}
	m.drop(m.entries[k.key])
	m.entries[k.key] = m.order.PushFront(k)
	m.bytes += k.size
	for m.order.Len() > maxEntries || m.bytes > maxBytes {
		m.drop(m.order.Back())
	}
}

// drop forgets an entry; nil is ignored. The caller holds m.mu.
func (m *memo[V]) drop(e *list.Element) {
	if e == nil {
		return
	}
	k := m.order.Remove(e).(kept[V])
	delete(m.entries, k.key)
	m.bytes -= k.size
}

// cached is a source that remembers the answers of another.
type cached struct {
	source Source
	memo   memo[answer]
}

// answer is a series and how many bars were asked for. If it has fewer bars than
// that, the source has no more.
type answer struct {
	series *Series
	limit  int
}

// Cached returns a source that remembers what source answered for a small part
// of the interval, at most until the newest bar closes. Of many equal questions
// at the same time it passes on one. A question for fewer bars is answered from
// a longer answer.
func Cached(source Source) Source { return &cached{source: source} }

// CacheStats returns how many questions a source made by [Cached] has answered
// from memory, and how many it has passed on or joined to one that was being
// asked. Both are zero for a source without a cache.
func CacheStats(s Source) (hits, misses uint64) {
	if c, ok := s.(*cached); ok {
		return c.memo.hits.Load(), c.memo.misses.Load()
	}
	return 0, 0
}

// Bars answers from memory or from the source.
func (c *cached) Bars(ctx context.Context, q Query) (*Series, error) {
	q, err := q.checked(c)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%s %s %q", q.Symbol, q.Interval, q.Extra)
	// An answer that is shorter than its question has all there is.
	fits := func(a answer) bool { return a.limit >= q.Limit || a.series.Len() < a.limit }
	a, err := c.memo.get(ctx, key, fmt.Sprint(key, q.Limit), fits, func(ctx context.Context) (kept[answer], error) {
		s, err := c.source.Bars(ctx, q)
		if err != nil {
			return kept[answer]{}, err
		}
		return kept[answer]{value: answer{s, q.Limit}, size: s.Len() * 8 * (6 + len(s.Extra)), expiry: goodUntil(s)}, nil
	})
	if err != nil {
		return nil, err
	}
	return a.series.Tail(q.Limit), nil
}

// goodUntil returns when s should be asked for anew: after a sixtieth of its
// interval, between one second and thirty, but as soon as its last bar closes.
func goodUntil(s *Series) time.Time {
	now := time.Now()
	until := now.Add(min(max(s.Interval.Duration()/60, time.Second), 30*time.Second))
	if !s.Forming || s.Len() == 0 {
		return until
	}
	closes := time.Unix(s.Interval.Next(s.Time[s.Len()-1]), 0).Add(settle)
	switch {
	case closes.Before(now): // it may come closed any moment
		return now.Add(time.Second)
	case closes.Before(until):
		return closes
	}
	return until
}

// pace implements pacer.
func (c *cached) pace(symbol string) time.Duration { return paceOf(c.source, symbol) }

// pacer is a source with a budget of requests. Pace returns how long the feed
// has to wait after it polled a symbol so that it uses half of the budget; the
// other half remains for charts.
type pacer interface {
	pace(symbol string) time.Duration
}

// paceOf returns the pace of a source, zero if it has no budget.
func paceOf(s Source, symbol string) time.Duration {
	if p, ok := s.(pacer); ok {
		return p.pace(symbol)
	}
	return 0
}
