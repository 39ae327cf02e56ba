package oauth

import (
	"sync"
	"time"
)

// entry is what a table keeps.
type entry interface {
	// dies returns when the entry ends by itself, or the zero time for never.
	dies() time.Time

	// used returns when the entry was last used, in Unix nanoseconds. The one
	// used longest ago is pushed out first.
	used() int64
}

// mark remembers that something happened: a form was answered, a client was
// approved.
type mark struct {
	at   time.Time
	ends time.Time // zero: when it is pushed out
}

func (m mark) dies() time.Time { return m.ends }
func (m mark) used() int64     { return m.at.UnixNano() }

// table is a bounded set of entries by digest. Reading takes no lock; changes are rare (a
// login, an answered form) and walk the whole table when it is full, which its bound keeps
// short. Entries that have died are not found, and go when there is no room.
type table[E entry] struct {
	max int
	m   sync.Map // digest to E

	mu sync.Mutex // held through every change, so that n is the size of m
	n  int
}

// dead reports whether an entry has ended by itself.
func dead(e entry, now time.Time) bool { return !e.dies().IsZero() && !now.Before(e.dies()) }

// get returns the entry of key, if there is one that has not died.
func (t *table[E]) get(key digest) (e E, ok bool) {
	v, ok := t.m.Load(key)
	if !ok || dead(v.(E), time.Now()) {
		return e, false
	}
	return v.(E), true
}

// add puts in an entry, unless key has one already, and reports whether it did. If the
// table was full of living ones, it pushes out the one used longest ago and returns it.
func (t *table[E]) add(key digest, e E) (added bool, pushed []E) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	old, there := t.m.Load(key)
	switch {
	case there && !dead(old.(E), now):
		return false, nil
	case there:
		t.drop(key)
	case t.n >= t.max:
		pushed = t.makeRoom(now)
	}
	t.m.Store(key, e)
	t.n++
	return true, pushed
}

// makeRoom takes out the entries that have died or, if there is none, the one used longest
// ago, which it returns. The caller holds mu, here and below.
func (t *table[E]) makeRoom(now time.Time) (pushed []E) {
	var oldest any
	for key, v := range t.m.Range {
		if dead(v.(E), now) {
			t.drop(key)
		} else if oldest == nil || v.(E).used() < pushed[0].used() {
			oldest, pushed = key, []E{v.(E)}
		}
	}
	if t.n < t.max {
		return nil
	}
	t.drop(oldest)
	return pushed
}

// drop takes out the entry of key.
func (t *table[E]) drop(key any) {
	t.m.Delete(key)
	t.n--
}

// all returns every living entry, in no order.
func (t *table[E]) all() (list []E) {
	now := time.Now()
	for _, v := range t.m.Range {
		if !dead(v.(E), now) {
			list = append(list, v.(E))
		}
	}
	return list
}
