package oauth

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"wick/internal/limit"
)

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
		if s.live(t) {
			list = append(list, Login{Grant: t.grant, Since: t.since, Used: time.Unix(0, t.last.Load()), From: *t.from.Load()})
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
	found := slices.DeleteFunc(s.tokens.all(), func(t *token) bool { return !strings.HasPrefix(t.grant.ID, prefix) })
	switch {
	case len(prefix) < minPrefix:
		return Grant{}, fmt.Errorf("id %q is too short: at least %d characters are needed", limit.Clip(prefix), minPrefix)
	case len(found) > 1:
		return Grant{}, fmt.Errorf("%d logins have ids that begin with %q: give more of it", len(found), limit.Clip(prefix))
	case len(found) == 0:
		return Grant{}, fmt.Errorf("no login has the id %q: wick clients lists them", limit.Clip(prefix))
	}
	grant := found[0].grant
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
	tokens = s.sweep()
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
	case t.client != cl.id:
		return nil, bad("invalid_grant", "the token was given to another client")
	}
	worked := s.live(t)
	err := s.end(t)
	if worked { // also one that was not presented here, of which nothing ends but the token
		s.log.Info("token revoked by its client", "client", cl.identity.short(), "name", limit.Clip(cl.name))
	}
	if err != nil {
		s.log.Error("a token is revoked in this process and until the next start only", "error", err)
		return nil, unavailable()
	}
	return nil, nil
}
