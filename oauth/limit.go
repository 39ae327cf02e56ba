package oauth

import (
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// rate is a bucket's size and the time in which one unit comes back.
type rate struct {
	burst float64
	every time.Duration
}

// bucket counts one address's requests. The zero bucket is full.
type bucket struct {
	used float64 // units taken and not yet back
	at   time.Time
	told bool // that it is empty was logged
}

// take takes one unit, or returns how long until there is one.
func (b *bucket) take(now time.Time, r rate) (wait time.Duration) {
	b.used = max(0, b.used-float64(now.Sub(b.at))/float64(r.every))
	b.at = now
	if b.used > r.burst-1 {
		return time.Duration(math.Ceil((b.used - r.burst + 1) * float64(r.every)))
	}
	b.used++
	return 0
}

// giveBack undoes one take.
func (b *bucket) giveBack() { b.used = max(0, b.used-1) }

// maxAddresses bounds each of the two generations of buckets a limiter keeps.
const maxAddresses = 4096

// localFactor is how much more a program on this machine may ask for, so that
// tests and local use do not trip over limits meant for strangers.
const localFactor = 10

// visitor is whom a bucket belongs to.
type visitor struct {
	addr  netip.Addr // an IPv4 address, or the /64 of an IPv6 one: that much is one household's
	local bool
}

// limiter holds a bucket per visitor. It forgets in generations: when the young
// one is full it becomes the old one, and the old one is dropped. Whoever owns
// thousands of addresses can make it forget, and needs no forgetting either.
type limiter struct {
	rate rate

	mu         sync.Mutex
	young, old map[visitor]*bucket // guarded by mu
}

// take takes one unit of v's bucket, or returns how long v must wait and
// whether this is the first refusal in a row.
func (l *limiter) take(v visitor) (wait time.Duration, first bool) {
	r := l.rate
	if v.local {
		r = rate{burst: r.burst * localFactor, every: r.every / localFactor}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(v)
	wait = b.take(time.Now(), r)
	first = wait > 0 && !b.told
	b.told = wait > 0
	return wait, first
}

// bucket finds or makes v's bucket in the young generation. The caller holds mu.
func (l *limiter) bucket(v visitor) *bucket {
	if b := l.young[v]; b != nil {
		return b
	}
	if l.young == nil || len(l.young) >= maxAddresses {
		l.young, l.old = make(map[visitor]*bucket), l.young
	}
	b := l.old[v]
	if b == nil {
		b = new(bucket)
	}
	l.young[v] = b
	return b
}

// limited lets a visitor through to h as often as l allows.
func (s *Server) limited(l *limiter, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		wait, first := l.take(s.visitor(r))
		if wait == 0 {
			h(w, r)
			return
		}
		if first { // one line a flood, not one a request
			s.log.Warn("rate limit reached", "path", r.URL.Path, "from", s.ClientIP(r))
		}
		ref := &refusal{status: http.StatusTooManyRequests, code: "temporarily_unavailable", wait: wait,
			text: fmt.Sprintf("too many requests from this address: try again in %d seconds", seconds(wait))}
		if r.URL.Path == AuthorizePath {
			s.refuseHere(w, r, ref)
			return
		}
		writeRefusal(w, ref)
	}
}

// seconds rounds up: a client that waits so long will be served.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// visitor tells whose bucket a request draws on. A peer on this machine that
// forwards for nobody is local; behind a proxy that is not trusted everyone
// looks like the proxy and shares one bucket.
func (s *Server) visitor(r *http.Request) visitor {
	addr := s.ClientIP(r)
	forwarded := r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != ""
	local := addr.IsLoopback() && !forwarded && !s.trusted(addr)
	if addr.Is6() {
		if p, err := addr.Prefix(64); err == nil {
			addr = p.Addr()
		}
	}
	return visitor{addr, local}
}

// ClientIP returns the address a request came from: the peer's, or, when the
// peer is a trusted proxy, the rightmost address in X-Forwarded-For that is not
// one. Everything left of that was written by the client and is worth nothing.
// The zero address means that the peer has none (a test, a socket file).
func (s *Server) ClientIP(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr := peer.Addr().Unmap().WithZone("")
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && s.trusted(addr); i-- {
		hop, err := parseHop(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		addr = hop
	}
	return addr
}

// parseHop reads an entry of X-Forwarded-For; some proxies add the port.
func parseHop(s string) (netip.Addr, error) {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone(""), nil
	}
	a, err := netip.ParseAddr(s)
	return a.Unmap().WithZone(""), err
}

func (s *Server) trusted(addr netip.Addr) bool {
	return slices.ContainsFunc(s.proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}
