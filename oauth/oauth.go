// Package oauth is an OAuth 2.1 authorization server for a service with one
// owner, and the check of the bearer tokens it gives out.
//
// A client registers itself (RFC 7591), sends the owner's browser to the
// consent page, and exchanges the code it gets back for a token, proving with
// PKCE that it is the one who asked. A [Server] holds all of it in memory:
// clients, codes that live five minutes and work once, tokens that live seven
// days. A restart forgets everything, and clients start over. What a token
// allows is its scope: [ScopeCharts], or [ScopeTrade] on top of it.
//
// Clients find their way by documents (RFC 8414 and RFC 9728) that the
// challenge of a 401 points to; [Server.Challenge] writes it.
//
// # Security considerations
//
// Every address served here is open to strangers. What they send is bounded
// before it costs anything: bodies, parameters, rates per address, and the
// number of everything kept. A flood of registrations pushes out other
// registrations that never led to a token, never a token.
//
// A token is the owner's leave. With a passphrase nobody gets a code without
// it; wrong guesses are counted over all addresses, so that a botnet guesses no
// faster than one machine. The price is that a stranger who keeps guessing can
// keep the owner from approving new clients; tokens in use are not touched.
// Without a passphrase the service must be out of strangers' reach, and [New]
// insists on it.
//
// Secrets are looked up by their SHA-256 or compared in constant time, and none
// is ever logged. The package fetches nothing: addresses in a registration are
// text. What strangers say about themselves reaches the page and the log as
// quoted text only.
package oauth

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"wick/address"
	"wick/limit"
)

// Scopes. A token always holds ScopeCharts; ScopeTrade comes on top of it when
// the owner allows trading, and is offered only where Options.Trade is set.
const (
	ScopeCharts = "charts"
	ScopeTrade  = "trade"

	chartsAndTrade = ScopeCharts + " " + ScopeTrade
)

// What the specification fixes.
const (
	tokenLife  = 7 * 24 * time.Hour
	codeLife   = 5 * time.Minute
	unusedLife = 24 * time.Hour // of a registration that never led to a token
)

// AuthorizePath is where browsers go, with the owner in front of them. No script
// of another origin may be let at it (RFC 9700 section 2.1); all other addresses
// here are for programs.
const AuthorizePath = "/authorize"

// Defaults of the bounds in [Options].
const (
	DefaultMaxClients = 1000
	DefaultMaxCodes   = 100
	DefaultMaxTokens  = 1000
)

// Options configure a [Server].
type Options struct {
	// BaseURL is the published address and the issuer: scheme and host, and
	// nothing after them. It is https unless its host is a loopback name.
	BaseURL string

	// Passphrase is what the owner types on the consent page. Only a slow hash
	// of it is kept. Empty means that no one is asked, which [New] accepts only
	// with Loopback and a base URL on a loopback name.
	Passphrase string

	// Loopback says that the service listens on loopback addresses only.
	Loopback bool

	// Trade offers the trade scope.
	Trade bool

	// TrustedProxies are the peers whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix

	// Log gets one line per step, without secrets; nil discards them.
	Log *slog.Logger

	// Bounds on what is kept; zero means the default. Past MaxClients the
	// oldest registration that never led to a token goes first; past MaxCodes
	// the oldest code, past MaxTokens the token longest unused.
	MaxClients, MaxCodes, MaxTokens int
}

// Server is the authorization server. Its methods may be called at once from
// many goroutines; it starts none itself.
type Server struct {
	base    string
	trade   bool
	proxies []netip.Prefix
	log     *slog.Logger
	owner   *passphrase // nil: nobody is asked
	sealKey [32]byte    // of the consent form, new with every process

	clients table[*client]
	codes   table[*code]
	tokens  table[*token]

	discoveries, registrations, authorizations, exchanges limiter
}

// New returns a server with nothing registered. It refuses a base URL that
// clients could not use, and to go without a passphrase where a stranger could
// reach it: a code can be read from a redirect without any browser, so on a
// public address only the passphrase tells the owner from everybody else.
func New(o Options) (*Server, error) {
	local, err := checkBase(o.BaseURL)
	switch {
	case err != nil:
		return nil, err
	case o.MaxClients < 0 || o.MaxCodes < 0 || o.MaxTokens < 0:
		return nil, fmt.Errorf("bounds of %d clients, %d codes, %d tokens: none may be negative", o.MaxClients, o.MaxCodes, o.MaxTokens)
	case o.Passphrase == "" && !o.Loopback:
		return nil, errors.New("without a passphrase anyone who reaches the service could get a token: set a passphrase, or listen on a loopback address")
	case o.Passphrase == "" && !local:
		return nil, fmt.Errorf("base URL %q is not a loopback name, so strangers may reach the service: set a passphrase", limit.Clip(o.BaseURL))
	}
	s := &Server{
		base:    o.BaseURL,
		trade:   o.Trade,
		proxies: slices.Clone(o.TrustedProxies),
		log:     o.Log,

		// Bucket and refill of an address on each endpoint.
		discoveries:    limiter{rate: rate{burst: 60, every: 200 * time.Millisecond}},
		registrations:  limiter{rate: rate{burst: 20, every: time.Hour / 20}},
		authorizations: limiter{rate: rate{burst: 100, every: 15 * time.Minute / 100}},
		exchanges:      limiter{rate: rate{burst: 50, every: 15 * time.Minute / 50}},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.clients.init(cmp.Or(o.MaxClients, DefaultMaxClients))
	s.codes.init(cmp.Or(o.MaxCodes, DefaultMaxCodes))
	s.tokens.init(cmp.Or(o.MaxTokens, DefaultMaxTokens))
	if o.Passphrase != "" {
		s.owner = newPassphrase(o.Passphrase, stretch)
	}
	rand.Read(s.sealKey[:]) // never fails: the runtime stops the program instead
	return s, nil
}

// checkBase checks the issuer as RFC 8414 wants it and reports whether its host
// is a loopback name. A path is refused because clients look for the metadata
// of https://host/path where this server would never be asked.
func checkBase(base string) (local bool, err error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != base {
		return false, fmt.Errorf("base URL %q is not scheme and host alone: write it like https://charts.example.com", limit.Clip(base))
	}
	local = address.Loopback(u.Hostname())
	if u.Scheme != "https" && !(u.Scheme == "http" && local) {
		return false, fmt.Errorf("base URL %q must be https: over plain http anyone on the way reads passphrase and tokens", limit.Clip(base))
	}
	return local, nil
}

// Routes adds the server's addresses to mux. Each takes every method, so that a
// wrong one is answered in JSON with Allow. CORS is the caller's to add, on every
// path but [AuthorizePath].
func (s *Server) Routes(mux *http.ServeMux) {
	s.discoveryRoutes(mux)
	mux.Handle("/register", methods{http.MethodPost: s.limited(&s.registrations, s.register)})
	mux.Handle(AuthorizePath, methods{
		http.MethodGet:  s.limited(&s.authorizations, s.authorize),
		http.MethodPost: s.limited(&s.authorizations, s.decide),
	})
	mux.Handle("/token", methods{http.MethodPost: s.limited(&s.exchanges, s.token)})
	mux.Handle("/favicon.svg", methods{http.MethodGet: favicon, http.MethodHead: favicon})
}

// methods serves a path by method. HEAD is not implied by GET: on /authorize it
// would make a code nobody can read.
type methods map[string]http.HandlerFunc

func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	boundBody(w, r)
	if h := m[r.Method]; h != nil {
		h(w, r)
		return
	}
	allowed := make([]string, 0, len(m))
	for name := range m {
		allowed = append(allowed, name)
	}
	slices.Sort(allowed)
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	writeRefusal(w, &refusal{status: http.StatusMethodNotAllowed, code: "invalid_request",
		text: fmt.Sprintf("%s does not take this method, only %s", r.URL.Path, strings.Join(allowed, " and "))})
}

//go:embed favicon.svg
var faviconSVG []byte

func favicon(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Cache-Control", "public, max-age=86400")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	w.Write(faviconSVG)
}

// A digest stands for a secret wherever one is stored or named.
type digest [sha256.Size]byte

func digestOf(secret string) digest {
	var room [64]byte // a token fits, and every request brings one
	return sha256.Sum256(append(room[:0], secret...))
}

// short names a digest in a log line: enough to follow a client through it, too
// little to be taken for the thing itself.
func (d digest) short() string { return hex.EncodeToString(d[:4]) }

// newSecret returns 256 random bits as text: a token, a code, a client secret.
func newSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
