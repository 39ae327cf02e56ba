package mcp

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"wick/internal/address"
	"wick/internal/limit"
)

// Policy says which hosts the server answers to and which web pages may talk
// to it. Without it a page of any site could rebind its own name to 127.0.0.1
// and use a local server as if it were its own.
type Policy struct {
	// Own is the start of the paths that only web pages of the base URL's own origin may
	// request. Such pages need no CORS. Empty means that there are no such paths.
	Own string

	host    string   // the base URL's, without port
	origins []string // of web pages, the base URL's own first
}

// NewPolicy returns the policy of a server published at base: requests must
// name its host or a loopback name; pages must come from its origin, from a
// loopback one or from one of origins, such as "https://app.example.com".
func NewPolicy(base string, origins []string) (*Policy, error) {
	own, err := parseOrigin(base)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	p := &Policy{host: hostname(own.Host), origins: []string{originOf(own)}}
	for _, o := range origins {
		u, err := parseOrigin(o)
		if err != nil {
			return nil, fmt.Errorf("allowed origin: %w", err)
		}
		p.origins = append(p.origins, originOf(u))
	}
	return p, nil
}

// parseOrigin reads a URL that names a scheme and a host.
func parseOrigin(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil, fmt.Errorf("%q is not of the form https://host or http://host:port", limit.Clip(s))
	}
	return u, nil
}

// originOf writes u's origin as browsers do: lower case, no default port.
func originOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	switch u.Scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return u.Scheme + "://" + host
}

// hostname returns host in lower case, without its port and without the brackets of an
// IPv6 address.
func hostname(host string) string {
	u := url.URL{Host: host}
	return strings.ToLower(u.Hostname())
}

// originAllowed reports whether a page of this origin may call us. The opaque
// origin "null" may not: any page can have it by sandboxing itself.
func (p *Policy) originAllowed(origin string) bool {
	u, err := parseOrigin(origin)
	if err != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	return address.Loopback(u.Hostname()) || slices.Contains(p.origins, originOf(u))
}

// Wrap returns a handler that applies the policy before it calls next, which serves the
// whole site. A wrong Host is refused on every path. What happens with the Origin depends
// on the path:
//
//   - Private paths, such as /authorize, are pages. They get no CORS headers, so that no
//     script of another origin can read them (OAuth 2.1). Their Origin is not checked,
//     since a browser may send a form on them with the origin "null".
//   - Below Own every origin but the base URL's is refused, and what a browser says comes from another
//     site or no page; programs other than browsers say neither. There are no CORS headers.
//   - On all other paths a wrong Origin is refused. A right one gets the CORS headers and
//     the answer to its preflight, before any authentication.
//
// A path that is not clean, such as //mcp, is refused here, because ServeMux
// would answer with a redirect, and a client that follows one drops its token.
func (p *Policy) Wrap(next http.Handler, private ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch host := hostname(r.Host); {
		case host != p.host && !address.Loopback(host):
			turnAway(w, foreign(fmt.Sprintf("host %q is not this server's: use its base URL", limit.Clip(r.Host))))
		case !clean(r.URL.Path):
			turnAway(w, errNotFound)
		case slices.Contains(private, r.URL.Path):
			next.ServeHTTP(w, r)
		case p.Own != "" && strings.HasPrefix(r.URL.Path, p.Own):
			w.Header().Set("Cache-Control", "no-store") // what the owner sees stays in no cache
			origins := r.Header["Origin"]
			another := slices.ContainsFunc(r.Header["Sec-Fetch-Site"], func(site string) bool { return site != "same-origin" })
			if another || len(origins) > 0 && !slices.Equal(origins, p.origins[:1]) {
				turnAway(w, foreign("only this server's own page may ask this"))
				return
			}
			next.ServeHTTP(w, r)
		case p.share(w, r):
			next.ServeHTTP(w, r)
		}
	})
}

// foreign returns the error of a request that names another host or comes from another page.
func foreign(why string) *Error {
	return &Error{Code: codeInvalidRequest, Message: why, Status: http.StatusForbidden}
}

// clean reports whether a path is in the form that ServeMux serves.
func clean(p string) bool {
	c := path.Clean(p)
	return p == c || p == c+"/" && c != "/"
}

// share checks the Origin of a request, sets the CORS headers and answers a preflight. It
// reports whether the request goes on to the handler.
func (p *Policy) share(w http.ResponseWriter, r *http.Request) bool {
	if origins := r.Header["Origin"]; len(origins) > 0 {
		if len(origins) > 1 || !p.originAllowed(origins[0]) {
			turnAway(w, foreign(fmt.Sprintf("origin %q may not use this server: --allow-origin can allow it", limit.Clip(origins[0]))))
			return false
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origins[0])
		h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After")
		h.Add("Vary", "Origin")
	}
	if r.Method != http.MethodOptions {
		return true
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS")
	// Each header is named, since the wildcard does not cover Authorization.
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID")
	h.Set("Access-Control-Max-Age", "3600")
	w.WriteHeader(http.StatusNoContent)
	return false
}
