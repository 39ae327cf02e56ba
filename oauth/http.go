package oauth

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/internal/limit"
	"wick/internal/strictjson"
)

// Routes adds the server's addresses to mux. Each takes every method, so that a
// wrong one is answered in JSON with Allow. The caller adds CORS to every path but
// [AuthorizePath] and [ApprovePath].
func (s *Server) Routes(mux *http.ServeMux) {
	s.discoveryRoutes(mux)
	mux.Handle("/register", methods{http.MethodPost: s.limited(&s.registrations, s.register)})
	mux.Handle(AuthorizePath, methods{
		http.MethodGet:  s.limited(&s.authorizations, s.authorize),
		http.MethodPost: s.limited(&s.authorizations, s.decide),
	})
	if s.options.Questions != nil {
		mux.Handle(ApprovePath, methods{
			http.MethodGet:  s.limited(&s.authorizations, s.approvePage),
			http.MethodPost: s.limited(&s.authorizations, s.approve),
		})
	}
	mux.Handle("/token", methods{http.MethodPost: s.limited(&s.exchanges, s.posted(s.token))})
	mux.Handle("/revoke", methods{http.MethodPost: s.limited(&s.exchanges, s.posted(s.revoke))})
	mux.Handle("/favicon.svg", methods{http.MethodGet: favicon, http.MethodHead: favicon})
}

//go:embed favicon.svg
var faviconSVG []byte

// favicon serves the logo that clients and browsers show.
func favicon(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Cache-Control", "public, max-age=86400")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	w.Write(faviconSVG)
}

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
			s.logRefusal(r, "client refused", ref, slog.String("path", r.URL.Path))
			writeRefusal(w, ref)
		case reply != nil:
			writeJSON(w, http.StatusOK, reply)
		}
	}
}

// params are the parameters of a request. Empty ones count as absent (RFC 6749
// section 3.1), and unknown ones are never asked for.
type params url.Values

// get returns the value of a parameter that was sent exactly once, else nothing: of
// two values this server might take one, and a proxy that checks requests the other.
func (p params) get(name string) string {
	if v := p[name]; len(v) == 1 {
		return v[0]
	}
	return ""
}

// twice returns a refusal when any parameter was sent more than once, but for
// resource, of which RFC 8707 allows several.
func (p params) twice() *refusal {
	for name, v := range p {
		if len(v) > 1 && name != "resource" {
			return moreThanOnce(name)
		}
	}
	return nil
}

// moreThanOnce refuses a parameter that was sent twice.
func moreThanOnce(name string) *refusal {
	ref := bad("invalid_request", "parameter "+limit.Clip(name)+" was sent more than once")
	ref.logged = "a parameter was sent more than once" // its name may be anything
	return ref
}

// boundBody gives the client bodyTime to send the body. A body that no handler reads
// needs the bound too: the server waits for the rest of it when the handler is done.
// Setting the deadline fails only where there is no connection, in a test.
func boundBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 { // 0 is none, -1 unknown
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
	}
}

// readBody reads a body of at most maxBody bytes. Once the whole body is there it lifts
// the deadline of boundBody, which would otherwise end the request while it is handled.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig):
		return nil, &refusal{status: http.StatusRequestEntityTooLarge, code: "invalid_request", text: "the body is longer than 16 KiB"}
	case err != nil:
		return nil, bad("invalid_request", "the body did not arrive whole, or not within 10 seconds")
	}
	http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body, nil
}

// readParams reads parameters from the body, none of them twice: form-encoded as
// OAuth has it, or a JSON object of strings as some clients send it. The query is
// not looked at: secrets in it would end up in every proxy's log.
func readParams(w http.ResponseWriter, r *http.Request) (p params, ref *refusal) {
	body, ref := readBody(w, r)
	if ref != nil {
		return nil, ref
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	p = make(params)
	switch kind {
	case "application/json": // an object of strings; a null counts as absent
		var members map[string]*string
		switch wrong := strictjson.Unmarshal(body, &members, ""); {
		case wrong != nil && wrong.Kind == strictjson.Twice:
			return nil, moreThanOnce(wrong.Name)
		case wrong != nil || members == nil:
			return nil, bad("invalid_request", "the body is not a JSON object of strings")
		}
		for name, text := range members {
			if text != nil {
				p[name] = []string{*text}
			}
		}
	case "application/x-www-form-urlencoded", "":
		v, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, bad("invalid_request", "the body is not form-encoded")
		}
		p = params(v)
	default:
		return nil, bad("invalid_request", "Content-Type must be application/x-www-form-urlencoded or application/json")
	}
	return p, p.twice()
}

// refusal is an error for a client: an RFC 6749 or RFC 7591 code and a text that
// says what was wrong and what would be right.
type refusal struct {
	status    int
	code      string
	text      string
	logged    string        // what the log says instead, if text quotes what was sent, which may be a secret; empty: text
	wait      time.Duration // sent as Retry-After when positive
	challenge string        // sent as WWW-Authenticate when not empty

	// Only for a page: something may have been granted before this request, so the page does
	// not say that nothing was.
	perhaps bool

	// Only for a page: a link that takes the answer to the client if the person follows
	// it, and where it leads. Empty for no link.
	link string
	to   destination
}

// bad returns a refusal with status 400, as most are.
func bad(code, text string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: code, text: text}
}

// unavailable returns the refusal of a step that could not be written to the ledger. The
// client may try again.
func unavailable() *refusal {
	return &refusal{status: http.StatusServiceUnavailable, code: "temporarily_unavailable", wait: 5 * time.Second,
		text: "this cannot be written down now: try again in a few seconds"}
}

// refusalJSON is the body of RFC 6749 section 5.2.
type refusalJSON struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// writeRefusal writes a refusal as the JSON that OAuth gives errors.
func writeRefusal(w http.ResponseWriter, e *refusal) {
	e.head(w.Header())
	writeJSON(w, e.status, refusalJSON{e.code, description(e.text)})
}

// head sets the headers of the refusal, whether its body is JSON or a page.
func (e *refusal) head(h http.Header) {
	h.Set("Cache-Control", "no-store")
	if e.wait > 0 {
		h.Set("Retry-After", strconv.Itoa(seconds(e.wait)))
	}
	if e.challenge != "" {
		h.Set("WWW-Authenticate", e.challenge)
	}
}

// description fits a text to the characters that RFC 6749 allows in an
// error_description: printable ASCII without the double quote and backslash.
func description(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '"':
			return '\''
		case c < ' ' || c > '~' || c == '\\':
			return '?'
		}
		return c
	}, text)
}

// writeJSON answers with v.
func writeJSON(w http.ResponseWriter, status int, v any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(encodeJSON(v)) // fails when the client has left
}

// seconds returns d in whole seconds, rounded up: a client that waits so long will be
// served.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
