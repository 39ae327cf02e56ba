package oauth

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"wick/internal/limit"
)

// Grant is what a token allows, and to whom.
type Grant struct {
	ID      string    `json:"-"` // the token, as the hex of its SHA-256
	Client  string    // the client, as a digest of its name and redirect URIs: the same after a restart
	Name    string    // what the client calls itself: a stranger's words, cleaned for display
	Scope   string    // "charts" or "charts trade"; with " owner" behind it for the owner's own page
	Expires time.Time // when the token ends, unless it is revoked before
	Login   string    // for [Server.Works], also after a restart and in other processes with the same keys: id, epoch and issuer, with dots between
}

// statement is what the text of a token says, sealed: every process with the key can check
// it. It does not say whether the login was revoked; the ledger does.
type statement struct {
	Grant
	ClientID string // digest of the client_id that got it: only that one may revoke it
}

// token is an access token that was given or presented here.
type token struct {
	statement
	key digest // of its text

	ended atomic.Bool // it was revoked, and OnRevoke was called

	last atomic.Int64               // when it was last presented, in Unix nanoseconds
	from atomic.Pointer[netip.Addr] // from which address
}

func (t *token) dies() time.Time { return t.Expires }
func (t *token) used() int64     { return t.last.Load() }

// touch notes that the token was presented. The address is stored only when it
// changed, so that a busy client costs no allocation.
func (t *token) touch(now time.Time, from netip.Addr) {
	t.last.Store(now.UnixNano())
	if old := t.from.Load(); old == nil || *old != from {
		t.from.Store(&from)
	}
}

// newToken returns the token of a statement whose text has that digest.
func newToken(st statement, key digest, from netip.Addr) *token {
	st.ID = key.String()
	t := &token{statement: st, key: key}
	t.touch(time.Now(), from)
	return t
}

// readToken returns the token of a text, which may have been revoked. The table saves
// opening the same text again, and is the list of tokens that are in use here.
func (s *Server) readToken(text string) (*token, bool) {
	if len(text) > maxSealed {
		return nil, false
	}
	key := digestOf(text)
	if t, ok := s.tokens.get(key); ok {
		return t, true
	}
	var st statement
	if s.open(forToken, text, &st) == nil || !time.Now().Before(st.Expires) {
		return nil, false
	}
	return newToken(st, key, netip.Addr{}), true
}

// keep stores a token in the table, unless it is there. If the table is full, another token is
// pushed out of it. That one still works, and is stored again when it is next presented. But
// until then its revocation would not be noticed here, so its open streams must end now.
func (s *Server) keep(t *token) {
	_, pushed := s.tokens.add(t.key, t)
	for _, old := range pushed {
		if !old.ended.Load() {
			s.tell(old)
		}
	}
}

// tell calls Options.OnRevoke for a token that has ended before its time, or was pushed
// out. The caller holds no lock, because the callback may call this server.
func (s *Server) tell(t *token) {
	if s.options.OnRevoke != nil {
		s.options.OnRevoke(t.ID)
	}
}

// Works reports whether the token of a [Grant.Login] has not been revoked. The token need
// not have been presented to this process. Whether it has expired the text does not say.
func (s *Server) Works(login string) bool {
	id, rest, _ := strings.Cut(login, ".")
	epoch, issuer, _ := strings.Cut(rest, ".")
	return slices.Contains(s.issuers, issuer) && !s.ledger.Revoked(id, epoch)
}

// What can be wrong with the token of a request. [Server.Challenge] tells the client.
var (
	ErrNoToken           = errors.New("no bearer token: connect this server again to log in")
	ErrInvalidToken      = errors.New("the bearer token is unknown, expired or revoked: log in again")
	ErrInsufficientScope = errors.New("the owner allowed charts only: log in again and allow trading")
)

// Authenticate returns the grant of the token of a request, which came from an address: see
// [Server.ClientIP]. The token is read from the Authorization header only; one in the query,
// which proxies log, is not looked at. The error is [ErrNoToken] or [ErrInvalidToken].
func (s *Server) Authenticate(r *http.Request, from netip.Addr) (Grant, error) {
	headers := r.Header.Values("Authorization")
	if len(headers) == 0 {
		return Grant{}, ErrNoToken
	}
	scheme, secret, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return Grant{}, ErrNoToken
	}
	// Two headers are two answers to "who is this": a proxy may have checked
	// the other one.
	if len(headers) > 1 {
		return Grant{}, ErrInvalidToken
	}
	return s.Present(strings.TrimSpace(secret), from)
}

// Present returns the grant of a token that came from an address, as Authenticate does. For
// another process that passes a request on with its own token.
func (s *Server) Present(token string, from netip.Addr) (Grant, error) {
	t, ok := s.readToken(token)
	if !ok || !s.Works(t.Login) {
		return Grant{}, ErrInvalidToken
	}
	s.keep(t)
	t.touch(time.Now(), from)
	return t.Grant, nil
}

// Valid reports whether the token of that [Grant.ID] still works. Of a token that was
// neither given nor presented to this process it reports false.
func (s *Server) Valid(id string) bool {
	key, err := hex.DecodeString(id)
	if err != nil || len(key) != len(digest{}) {
		return false
	}
	t, ok := s.tokens.get(digest(key))
	return ok && s.Works(t.Login)
}

// Challenge sets WWW-Authenticate for the refusal of a request to path: where
// to find the metadata of that address (RFC 9728), and what was wrong with the
// token, if one was sent (RFC 6750). Answer [ErrInsufficientScope] with 403 and
// the others with 401.
func (s *Server) Challenge(h http.Header, path string, err error) {
	path = strings.TrimSuffix(path, "/")
	if !slices.Contains(resourcePaths, path) {
		path = ""
	}
	challenge := fmt.Sprintf("Bearer resource_metadata=%q", s.base+resourceDocument+path)
	switch {
	case errors.Is(err, ErrInvalidToken):
		challenge += `, error="invalid_token", error_description="` + description(ErrInvalidToken.Error()) + `"`
	case errors.Is(err, ErrInsufficientScope):
		challenge += `, error="insufficient_scope", scope="` + chartsAndTrade + `"`
	}
	h.Set("WWW-Authenticate", challenge)
}

// minPrefix is how many characters of a [Grant.ID] the owner must type at least to name
// a login. [Grant.ShortID] has as many.
const minPrefix = 8

// Login is a grant in use, for the owner to look at.
type Login struct {
	Grant
	Since time.Time  // when the token was given
	Used  time.Time  // when it was last presented
	From  netip.Addr // from which address it was last presented
}

// ShortID returns enough of the grant's id for the owner to name it.
func (g Grant) ShortID() string { return g.ID[:min(minPrefix, len(g.ID))] }

// Logins returns every grant that works now and was given or presented here since the
// start, the oldest first.
func (s *Server) Logins() []Login {
	var list []Login
	for _, t := range s.tokens.all() {
		if s.Works(t.Login) {
			list = append(list, Login{Grant: t.Grant, Since: t.Expires.Add(-TokenLife), Used: time.Unix(0, t.last.Load()), From: *t.from.Load()})
		}
	}
	slices.SortFunc(list, func(a, b Login) int { return a.Since.Compare(b.Since) })
	return list
}

// Revoke ends the one token whose [Grant.ID] begins with prefix, which has at
// least 8 characters, and returns its grant. If the prefix fits no token or several, it
// returns an error and ends nothing. If the ledger could not write the revocation down, it
// returns an error too, but the token has ended in this process; Revoke may then be called
// again until it succeeds.
func (s *Server) Revoke(prefix string) (Grant, error) {
	found := slices.DeleteFunc(s.tokens.all(), func(t *token) bool { return !strings.HasPrefix(t.ID, prefix) })
	switch {
	case len(prefix) < minPrefix:
		return Grant{}, fmt.Errorf("id %q is too short: at least %d characters are needed", limit.Clip(prefix), minPrefix)
	case len(found) > 1:
		return Grant{}, fmt.Errorf("%d logins have ids that begin with %q: give more of it", len(found), limit.Clip(prefix))
	case len(found) == 0:
		return Grant{}, fmt.Errorf("no login has the id %q: wick clients lists them", limit.Clip(prefix))
	}
	grant := found[0].Grant
	err := s.end(found[0])
	s.log.Info("token revoked by the owner", "id", grant.ShortID(), "name", limit.Clip(grant.Name))
	return grant, notKept(err)
}

// notKept returns an error that says what follows if a revocation could not be written
// down, or nil if it was.
func notKept(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("revoked in this process and until the next start only, for it could not be written down: %w; once it can be, do the same again", err)
}

// RevokeAll ends every token and every code, so that the owner is signed out everywhere,
// and returns how many of the tokens were known here. Registrations stay, so a client may
// ask for consent again. An error means that all this holds for this process only.
func (s *Server) RevokeAll() (tokens int, err error) {
	err = s.ledger.NextEpoch() // ends the codes as well
	tokens = s.Sweep()
	s.log.Info("all tokens revoked", "tokens", tokens)
	return tokens, notKept(err)
}

// revoke is RFC 7009: a client gives back its own token. A token that does not
// exist is as good as revoked, so the answer is the same.
func (s *Server) revoke(r *http.Request, p params) (any, *refusal) {
	cl, ref := s.authenticateClient(r, p)
	if ref != nil {
		return nil, ref
	}
	if p.get("token") == "" {
		return nil, bad("invalid_request", "token is missing: send the access token, in the body")
	}
	t, ok := s.readToken(p.get("token")) // also finds a revoked one, which may still have to be written down
	switch {
	case !ok:
		return nil, nil
	case t.ClientID != cl.id.String():
		return nil, bad("invalid_grant", "the token was given to another client")
	}
	worked := s.Works(t.Login)
	err := s.end(t)
	if worked { // also one that was not presented here, of which nothing ends but the token
		s.log.Info("token revoked by its client", cl.who())
	}
	if err != nil {
		s.log.Error("a token is revoked in this process and until the next start only", "error", err)
		return nil, unavailable()
	}
	return nil, nil
}

// end ends a token everywhere. On an error it has ended in this process only, and may work
// again after the next start. It stays in the table, where the owner can revoke it once more.
func (s *Server) end(t *token) error {
	id, _, _ := strings.Cut(t.Login, ".")
	err := s.ledger.Revoke(id, t.Expires)
	s.keep(t)
	s.Sweep()
	return err
}

// Sweep calls Options.OnRevoke for each token that a shared [Ledger] says is revoked, once.
// Whoever runs the ledger calls it when another process has revoked something; for what this
// server revokes, it is not needed. It returns how many tokens have ended.
func (s *Server) Sweep() (ended int) {
	for _, t := range s.tokens.all() {
		if !s.Works(t.Login) && !t.ended.Swap(true) {
			s.tell(t)
			ended++
		}
	}
	return ended
}
