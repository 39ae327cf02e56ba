package oauth

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// client is one registration.
type client struct {
	id       digest // of the client_id
	secret   digest // of the client_secret
	identity digest // of name and redirect URIs: the same after a restart
	name     string // a stranger's words, cleaned for display
	redirect []string
	public   bool // registered with "none": its secret is not asked for
	created  time.Time
	tokenAt  atomic.Int64 // when it last got a token, in Unix nanoseconds; 0 for never
}

func (c *client) dies() time.Time {
	if c.tokenAt.Load() != 0 {
		return time.Time{}
	}
	return c.created.Add(unusedLife)
}

func (c *client) standing() (proven bool, used int64) {
	if at := c.tokenAt.Load(); at != 0 {
		return true, at
	}
	return false, c.created.UnixNano()
}

// code is an authorization code, bound to all that its exchange must repeat.
type code struct {
	client    digest
	redirect  string // as it was asked for, not as it was registered
	challenge string
	scope     string
	issued    time.Time

	mu    sync.Mutex
	spent bool   // guarded by mu
	gave  digest // the token it gave; guarded by mu
}

func (c *code) dies() time.Time         { return c.issued.Add(codeLife) }
func (c *code) standing() (bool, int64) { return false, c.issued.UnixNano() }

// token is an access token. It holds its own copy of what it grants: that its
// client's registration was pushed out does not end it.
type token struct {
	grant Grant
	used  atomic.Int64 // when it was last presented, in Unix nanoseconds
}

func (t *token) dies() time.Time         { return t.grant.Expires }
func (t *token) standing() (bool, int64) { return false, t.used.Load() }

// entry is what a table keeps.
type entry interface {
	// dies returns when the entry ends by itself, or the zero time for never.
	dies() time.Time

	// standing orders entries for eviction: the proven go last, and among
	// equals the one used longest ago goes first.
	standing() (proven bool, used int64)
}

// table is a bounded set of entries by digest. Entries that have died are
// removed by the next request that touches the table. Reading takes no lock;
// changes are rare (a registration, a login) and may walk the whole table,
// which its bound keeps short.
type table[E entry] struct {
	max int
	m   sync.Map     // digest to E
	due atomic.Int64 // no entry dies before this, in Unix nanoseconds

	mu      sync.Mutex // held through every change, so that n is the size of m
	n       int
	victims []victim // whom to evict next; guarded by mu
}

// victim is an entry to be evicted, unless its standing has changed.
type victim struct {
	key    any
	proven bool
	used   int64
}

func (t *table[E]) init(most int) {
	t.max = most
	t.due.Store(math.MaxInt64)
}

// get returns the living entry of key.
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

// add puts in a new entry, pushing out the one of lowest standing if the table
// is full. Keys are digests of fresh random values and never repeat.
func (t *table[E]) add(key digest, e E) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := time.Now(); now.UnixNano() >= t.due.Load() {
		t.sweep(now)
	}
	if t.n >= t.max {
		t.evict()
	}
	t.m.Store(key, e)
	t.n++
	if d := e.dies(); !d.IsZero() {
		t.due.Store(min(t.due.Load(), d.UnixNano()))
	}
}

// remove takes out the entry of key, if it is there.
func (t *table[E]) remove(key digest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(key)
}

// clear calls last with every entry and takes it out.
func (t *table[E]) clear(last func(E)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, v := range t.m.Range {
		last(v.(E))
		t.drop(key)
	}
}

// sweep takes out what has died by now and learns when the next one will. The
// caller holds mu, here and below.
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

// evict takes out the entry of lowest standing. One walk finds victims for the
// evictions to come as well, since entries only ever rise and new ones start
// above old ones; a victim that has risen meanwhile is passed over.
func (t *table[E]) evict() {
	for {
		if len(t.victims) == 0 {
			t.victims = t.lowest()
		}
		v := t.victims[0]
		t.victims = t.victims[1:]
		e, ok := t.m.Load(v.key)
		if !ok {
			continue
		}
		if proven, used := e.(E).standing(); proven == v.proven && used == v.used {
			t.drop(v.key)
			return
		}
	}
}

// lowest returns a sixteenth of the table, lowest first. If all entries are
// proven it returns only one, since the next new entry would stand below them.
func (t *table[E]) lowest() []victim {
	all := make([]victim, 0, t.n)
	for key, v := range t.m.Range {
		proven, used := v.(E).standing()
		all = append(all, victim{key, proven, used})
	}
	slices.SortFunc(all, func(a, b victim) int {
		if a.proven != b.proven {
			if b.proven {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.used, b.used)
	})
	most := 1 + len(all)/16
	if i := slices.IndexFunc(all, func(v victim) bool { return v.proven }); i >= 0 {
		most = min(most, max(i, 1))
	}
	return all[:most]
}

func (t *table[E]) drop(key any) {
	if _, was := t.m.LoadAndDelete(key); was {
		t.n--
	}
}
