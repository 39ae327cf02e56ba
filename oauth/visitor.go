package oauth

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
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

// forwarders are the headers that proxies and tunnels add; one that ends with a hyphen
// stands for all that begin so.
var forwarders = []string{
	"Forwarded", "Via", "X-Forwarded-", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Original-", "X-Envoy-", "True-Client-Ip",
	"Cdn-Loop", "Cf-", "Fly-", "Ngrok-", "Tailscale-", "Fastly-", "Akamai-", "X-Amzn-", "X-Appengine-", "X-Azure-", "X-Vercel-",
	"X-Forwarded", "Client-Ip", "Proxy-Client-Ip", "Wl-Proxy-", "X-Nf-", "X-Remote-", "X-Originating-Ip", "X-Varnish", "X-Arr-", "Max-Forwards", "Front-End-Https",
	"X-Scheme", "X-Cloud-Trace-Context", "X-Render-", "X-Railway-", "X-Http-Forwarded-For", "Proxy-Connection", "X-Localtunnel-",
}

// forwarded reports whether a proxy says that it passes on someone's request. An empty
// header counts too: it may be the first of several lines.
func forwarded(r *http.Request) bool {
	for name := range r.Header {
		for _, f := range forwarders {
			if name == f || strings.HasSuffix(f, "-") && strings.HasPrefix(name, f) {
				return true
			}
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
