package market

import (
	"container/list"
	"context"
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

// kept is an answer of the source, and how long it may be used again.
type kept[V any] struct {
	key    string
	value  V
	size   int       // in bytes, about
	expiry time.Time // from then on it is fetched anew
}

// get returns the value remembered under key if fits accepts it, and fetches it
// otherwise. Callers with the same flight share a fetch. The fetch does not end when
// one of them gives up, since the others still wait; it may take at most callTime.
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
