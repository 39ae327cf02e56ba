package oauth

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// methods serves a path by method. HEAD is not implied by GET: on /authorize it
// would make a code nobody can read.
type methods map[string]http.HandlerFunc

// ServeHTTP calls the handler of the request's method, or refuses the request and names
// the methods that the path has.
func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	boundBody(w, r)
	if h := m[r.Method]; h != nil {
		h(w, r)
		return
	}
	allowed := slices.Sorted(maps.Keys(m))
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	writeRefusal(w, &refusal{status: http.StatusMethodNotAllowed, code: "invalid_request",
		text: fmt.Sprintf("%s does not take this method, only %s", r.URL.Path, strings.Join(allowed, " and "))})
}

// limited lets a visitor through to h as often as l allows. What another site's page loads
// into itself does not count as the visitor's.
func (s *Server) limited(l *limiter, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		people := r.URL.Path == AuthorizePath || r.URL.Path == ApprovePath // who open these
		if people && embedded(r) {
			writeRefusal(w, &refusal{status: http.StatusForbidden, code: "invalid_request", text: "this page is for a person to open, not for another site's page to load"})
			return
		}
		wait, first := l.take(s.visitor(r))
		if wait == 0 {
			h(w, r)
			return
		}
		if first { // one line per flood, not one per request
			s.log.Warn("rate limit reached", "path", r.URL.Path, "from", s.ClientIP(r))
		}
		ref := &refusal{status: http.StatusTooManyRequests, code: "temporarily_unavailable", wait: wait,
			text: fmt.Sprintf("too many requests from this address: try again in %d seconds", seconds(wait))}
		if people {
			s.answerHere(w, r, ref)
			return
		}
		writeRefusal(w, ref)
	}
}

// posted returns a handler of what a client posts. It calls do with the parameters;
// do returns the reply, nil for an empty one, or a refusal.
func (s *Server) posted(do func(r *http.Request, p params) (any, *refusal)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		var reply any
		p, ref := readParams(w, r)
		if ref == nil {
			reply, ref = do(r, p)
		}
		switch {
		case ref != nil:
			s.log.Warn("client refused", "path", r.URL.Path, "error", ref.code, "reason", ref.reason(), "from", s.ClientIP(r))
			writeRefusal(w, ref)
		case reply != nil:
			writeJSON(w, http.StatusOK, reply)
		}
	}
}
