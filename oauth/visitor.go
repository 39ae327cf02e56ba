package oauth

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"wick/internal/limit"
)

// visitor returns whom a request counts against. A peer on this machine that forwards
// for nobody is local. Everyone behind a proxy that is not trusted looks like the
// proxy, and all of them share one bucket.
func (s *Server) visitor(r *http.Request) visitor {
	addr := s.ClientIP(r)
	v := visitor{
		shared: forwarded(r) && !s.trusted(peerOf(r)),
		local:  addr.IsLoopback() && !forwarded(r) && !s.trusted(addr),
		here:   addr.IsLoopback() && !forwarded(r),
	}
	v.addr, _ = addr.Prefix(min(addr.BitLen(), 64)) // fails for the zero address, and leaves the zero prefix
	if addr.Is6() && !v.local {
		v.site, _ = addr.Prefix(48)
	}
	return v
}

// ownHeaders are the headers that browsers and clients send for themselves; one that ends
// with a hyphen stands for all that begin so. Any other header counts as added on the
// way: nobody knows the names of all headers that proxies and tunnels add, but those of
// programs that ask for themselves are known.
var ownHeaders = []string{
	"Accept", "Accept-", "User-Agent", "Sec-", "Cookie", "Origin", "Referer", "Content-", "Authorization", "Cache-Control", "Pragma", "If-", "Range",
	"Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Upgrade-Insecure-Requests", "Http2-Settings", "Expect", "Priority", "Dnt", "Purpose", "Save-Data",
	"Mcp-", "Last-Event-Id", "Traceparent", "Tracestate", "Baggage", "X-Requested-With",
}

// forwarded reports whether somebody may have passed a request on. An empty header counts
// too: it may be the first of several lines.
func forwarded(r *http.Request) bool {
	for name := range r.Header {
		if !slices.ContainsFunc(ownHeaders, func(own string) bool {
			return name == own || strings.HasSuffix(own, "-") && strings.HasPrefix(name, own)
		}) {
			return true
		}
	}
	return false
}

// peerOf returns the address at the other end of the connection. The zero
// address means that it has none (a test, a socket file).
func peerOf(r *http.Request) netip.Addr {
	addr, _ := parseHop(r.RemoteAddr)
	return addr
}

// ClientIP returns the address a request came from: the peer's, or, when the
// peer is a trusted proxy, the rightmost address in X-Forwarded-For that is not
// one. Everything left of that was written by the client and is worth nothing.
// The zero address means that the peer has none.
func (s *Server) ClientIP(r *http.Request) netip.Addr {
	addr := peerOf(r)
	list := r.Header.Values("X-Forwarded-For")
	if len(list) == 0 {
		return addr
	}
	if !s.trusted(addr) {
		s.untrusted.Do(func() {
			s.log.Warn("X-Forwarded-For from a peer that is not trusted is ignored, so all its clients share one limit: if it is your proxy, name it with --trusted-proxy",
				"peer", addr)
		})
		return addr
	}
	hops := strings.Split(strings.Join(list, ","), ",")
	// From the right: as long as an address is trusted, the one to its left is believed,
	// because the trusted one added it.
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

// trusted reports whether an address is one of our proxies'.
func (s *Server) trusted(addr netip.Addr) bool {
	return slices.ContainsFunc(s.options.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// bucket counts one visitor's requests.
type bucket struct {
	limit.Bucket
	told bool // the last request was refused, which was logged
}

// visitor is whom a request counts against.
type visitor struct {
	addr   netip.Prefix // an IPv4 address, or the /64 of an IPv6 one; invalid if the peer has none
	site   netip.Prefix // the /48 of an IPv6 address; invalid for others
	local  bool         // a program on this machine that is not a trusted proxy
	here   bool         // a program on this machine; a trusted proxy is none while it forwards for another
	socket bool         // over the control socket, which is here too
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
