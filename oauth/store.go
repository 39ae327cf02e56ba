package oauth

import (
	"math"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// code is an authorization code, with all that a request to exchange it must match.
type code struct {
	client    digest // of the client_id
	redirect  digest // of the address as it was asked for, not as it was registered
	challenge string
	scope     string
	issued    time.Time

	login string // id of the login that it begins, by which the ledger knows it
	epoch string // of the ledger when it was given
}

// codeLife is how long a code may be exchanged.
const codeLife = 5 * time.Minute

// expires returns when the code can no longer be exchanged.
func (c *code) expires() time.Time { return c.issued.Add(codeLife) }

// Grant is what a token allows, and to whom.
type Grant struct {
	ID      string    // the token, as the hex of its SHA-256
	Client  string    // the client, as a digest of its name and redirect URIs: the same after a restart
	Name    string    // what the client calls itself: a stranger's words, cleaned for display
	Scope   string    // "charts" or "charts trade"; with " owner" behind it for the owner's own page
	Expires time.Time // when the token ends, unless it is revoked before
	Login   string    // for [Server.Works], also after a restart and in other processes with the same keys
}

// token is an access token. It holds its own copy of what it grants.
type token struct {
	grant  Grant
	key    digest // of the token itself
	client digest // of the client_id that got it: only that one may revoke it
	since  time.Time

	login, epoch string // those of its code

	ended atomic.Bool // it was revoked, and OnRevoke was called

	last atomic.Int64               // when it was last presented, in Unix nanoseconds
	from atomic.Pointer[netip.Addr] // from which address
}

func (t *token) dies() time.Time { return t.grant.Expires }
func (t *token) used() int64     { return t.last.Load() }

// touch notes that the token was presented. The address is stored only when it
// changed, so that a busy client costs no allocation.
func (t *token) touch(now time.Time, from netip.Addr) {
	t.last.Store(now.UnixNano())
	if old := t.from.Load(); old == nil || *old != from {
		t.from.Store(&from)
	}
}

// mark remembers that something happened: a form was answered, a client was
// approved.
type mark struct {
	at   time.Time
	ends time.Time // zero: when it is pushed out
}

func (m mark) dies() time.Time { return m.ends }
func (m mark) used() int64     { return m.at.UnixNano() }

// entry is what a table keeps.
type entry interface {
	// dies returns when the entry ends by itself, or the zero time for never.
	dies() time.Time

	// used returns when the entry was last used, in Unix nanoseconds. The one
	// used longest ago is pushed out first.
	used() int64
}

// table is a bounded set of entries by digest. Entries that have died are
// removed by the next request that touches the table. Reading takes no lock;
// changes are rare (a login, an answered form) and may walk the whole table,
// which its bound keeps short.
type table[E entry] struct {
	max int
	m   sync.Map     // digest to E
	due atomic.Int64 // no entry dies before this, in Unix nanoseconds

	mu sync.Mutex // held through every change, so that n is the size of m
	n  int
}

// init sets how many entries a table holds at most. Nothing is due yet.
func (t *table[E]) init(most int) {
	t.max = most
	t.due.Store(math.MaxInt64)
}

// get returns the entry of key, if there is one that has not died.
func (t *table[E]) get(key digest) (e E, ok bool) {
	if now := time.Now(); now.UnixNano() >= t.due.Load() {
		t.mu.Lock()
		t.sweep(now)
		t.mu.Unlock()
	}
	v, ok := t.m.Load(key)
	if !ok {
		return e, false
	}
	return v.(E), true
}

// add puts in an entry, unless key has one already, and reports whether it did. If the
// table was full, it pushes out the entry used longest ago and returns it.
func (t *table[E]) add(key digest, e E) (added bool, pushed []E) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := time.Now(); now.UnixNano() >= t.due.Load() {
		t.sweep(now)
	}
	if _, there := t.m.Load(key); there {
		return false, nil
	}
	if t.n >= t.max {
		pushed = append(pushed, t.evict())
	}
	t.m.Store(key, e)
	t.n++
	if d := e.dies(); !d.IsZero() {
		t.due.Store(min(t.due.Load(), d.UnixNano()))
	}
	return true, pushed
}

// all returns every living entry, in no order.
func (t *table[E]) all() (list []E) {
	now := time.Now()
	for _, v := range t.m.Range {
		if d := v.(E).dies(); d.IsZero() || now.Before(d) {
			list = append(list, v.(E))
		}
	}
	return list
}

// sweep takes out the entries that have died by now, and sets due to when the next one
// dies. The caller holds mu, here and below.
func (t *table[E]) sweep(now time.Time) {
	due := int64(math.MaxInt64)
	for key, v := range t.m.Range {
		switch d := v.(E).dies(); {
		case d.IsZero():
		case now.Before(d):
			due = min(due, d.UnixNano())
		default:
			t.drop(key)
		}
	}
	t.due.Store(due)
}

// evict takes out the entry used longest ago and returns it. The table is not
// empty.
func (t *table[E]) evict() (oldest E) {
	var victim any
	least := int64(math.MaxInt64)
	for key, v := range t.m.Range {
		if used := v.(E).used(); victim == nil || used < least {
			victim, least, oldest = key, used, v.(E)
		}
	}
	t.drop(victim)
	return oldest
}

// drop deletes an entry and reports whether it was there. mu is held.
func (t *table[E]) drop(key any) bool {
	_, was := t.m.LoadAndDelete(key)
	if was {
		t.n--
	}
	return was
}
