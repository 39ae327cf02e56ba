package oauth

import (
	"net/netip"
	"sync"
	"time"

	"wick/internal/limit"
)

// bucket counts one visitor's requests.
type bucket struct {
	limit.Bucket
	told bool // the last request was refused, which was logged
}

// maxAddresses bounds each of the two generations of buckets a limiter keeps.
const maxAddresses = 4096

const (
	// localFactor is how much more a program on this machine may ask for, so
	// that tests and local use do not meet limits meant for strangers.
	localFactor = 10

	// siteFactor is how much more a whole IPv6 /48 may ask for than one of its
	// 65,536 networks. A provider gives a /48 to one customer.
	siteFactor = 4
)

// visitor is whom a request counts against.
type visitor struct {
	addr   netip.Prefix // an IPv4 address, or the /64 of an IPv6 one; invalid if the peer has none
	site   netip.Prefix // the /48 of an IPv6 address; invalid for others
	local  bool         // a program on this machine that is not a trusted proxy
	here   bool         // a program on this machine that asks for itself; it may be a trusted proxy, which says so when it asks for another
	shared bool         // behind a proxy that is not trusted: everybody behind it has this address
}

// places returns where the visitor is, the narrowest first: an IPv4 address, or
// the /64 and the /48 of an IPv6 one. A phone changes its /64 and keeps its
// /48; but the neighbours in a /48 may be strangers.
func (v visitor) places() []netip.Prefix {
	if v.site.IsValid() {
		return []netip.Prefix{v.addr, v.site}
	}
	return []netip.Prefix{v.addr}
}

// limiter holds a bucket per visitor. It forgets in generations: when the young
// one is full it becomes the old one, and the old one is dropped. Someone with
// thousands of networks can make it forget, but gains nothing that the many
// networks would not give anyway.
type limiter struct {
	rate limit.Rate

	mu         sync.Mutex
	young, old map[visitor]*bucket // guarded by mu; the key of a site has no other field than site
}

// take takes one unit from v's bucket and one from its site's, or returns how
// long v must wait and whether this is the first refusal in a row.
func (l *limiter) take(v visitor) (wait time.Duration, first bool) {
	now, r := time.Now(), l.rate
	if v.local {
		r = limit.Rate{Burst: r.Burst * localFactor, Every: r.Every / localFactor}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(visitor{addr: v.addr, local: v.local})
	wait = b.Take(now, r)
	// An IPv6 address also uses the bucket of its /48, in which one customer may have very
	// many addresses. If that bucket refuses, the address gets its own unit back.
	if wait == 0 && v.site.IsValid() {
		site := l.bucket(visitor{site: v.site})
		wait = site.Take(now, limit.Rate{Burst: r.Burst * siteFactor, Every: r.Every / siteFactor})
		if wait > 0 {
			b.GiveBack()
		}
	}
	first = wait > 0 && !b.told
	b.told = wait > 0
	return wait, first
}

// bucket finds or makes a bucket in the young generation. The caller holds mu.
func (l *limiter) bucket(key visitor) *bucket {
	if b := l.young[key]; b != nil {
		return b
	}
	// A full young generation becomes the old one, and the one before is dropped: of that,
	// whatever was used since is in the younger one too.
	if l.young == nil || len(l.young) >= maxAddresses {
		l.young, l.old = make(map[visitor]*bucket), l.young
	}
	b := l.old[key]
	if b == nil {
		b = new(bucket)
	}
	l.young[key] = b
	return b
}
