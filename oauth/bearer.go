package oauth

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// What can be wrong with the token of a request. [Server.Challenge] tells the client.
var (
	ErrNoToken           = errors.New("no bearer token: connect this server again to log in")
	ErrInvalidToken      = errors.New("the bearer token is unknown, expired or revoked: log in again")
	ErrInsufficientScope = errors.New("the owner allowed charts only: log in again and allow trading")
)

// Authenticate returns the grant of the request's token. The token is read from
// the Authorization header only; one in the query, which proxies log, is not
// looked at. The error is [ErrNoToken] or [ErrInvalidToken].
func (s *Server) Authenticate(r *http.Request) (Grant, error) {
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
	return s.Present(strings.TrimSpace(secret), s.ClientIP(r))
}

// Present returns the grant of a token that came from an address, as Authenticate does. For
// another process that passes a request on with its own token.
func (s *Server) Present(token string, from netip.Addr) (Grant, error) {
	t, ok := s.findToken(token)
	if !ok {
		return Grant{}, ErrInvalidToken
	}
	t.touch(time.Now(), from)
	return t.grant, nil
}

// Valid reports whether the token of that [Grant.ID] still works. Of a token that was
// neither given nor presented to this process it reports false.
func (s *Server) Valid(id string) bool {
	key, err := hex.DecodeString(id)
	if err != nil || len(key) != len(digest{}) {
		return false
	}
	t, ok := s.tokens.get(digest(key))
	return ok && s.live(t)
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
