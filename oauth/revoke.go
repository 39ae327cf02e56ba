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

	"wick/limit"
)

// minPrefix is how many characters of a [Grant.ID] the owner must type to name
// it, and as many are shown.
const minPrefix = 8

// Login is a grant in use, for the owner to look at.
type Login struct {
	Grant
	Since time.Time  // when the token was given
	Used  time.Time  // when it was last presented
	From  netip.Addr // from which address
}

// ShortID returns enough of the grant's id for the owner to name it.
func (g Grant) ShortID() string { return g.ID[:min(minPrefix, len(g.ID))] }

// Logins returns every grant that works now, the oldest first.
func (s *Server) Logins() []Login {
	var list []Login
	for _, t := range s.tokens.all() {
		list = append(list, Login{Grant: t.grant, Since: t.since, Used: time.Unix(0, t.last.Load()), From: *t.from.Load()})
	}
	slices.SortFunc(list, func(a, b Login) int { return a.Since.Compare(b.Since) })
	return list
}

// Revoke ends the one token whose [Grant.ID] begins with prefix, which has at
// least 8 characters, and returns its grant. A prefix that fits none or several
// is an error and ends nothing.
func (s *Server) Revoke(prefix string) (Grant, error) {
	if len(prefix) < minPrefix {
		return Grant{}, fmt.Errorf("id %q is too short: at least %d characters are needed", limit.Clip(prefix), minPrefix)
	}
	var found []Grant
	for _, t := range s.tokens.all() {
		if strings.HasPrefix(t.grant.ID, prefix) {
			found = append(found, t.grant)
		}
	}
	switch {
	case len(found) == 0:
		return Grant{}, fmt.Errorf("no login has the id %q: wick --clients lists them", limit.Clip(prefix))
	case len(found) > 1:
		return Grant{}, fmt.Errorf("%d logins have ids that begin with %q: give more of it", len(found), limit.Clip(prefix))
	}
	key, ok := found[0].digest()
	if !ok || !s.tokens.remove(key) {
		return Grant{}, errors.New("the login ended a moment ago")
	}
	s.log.Info("token revoked by the owner", "client", found[0].shortClient(), "name", limit.Clip(found[0].Name))
	s.announce([]digest{key})
	return found[0], nil
}

// RevokeAll ends every token and every code and returns how many tokens there
// were: the owner signs out everywhere. Registrations stay, so a client may ask
// for consent again.
func (s *Server) RevokeAll() int {
	// Codes first, each marked spent: an exchange that has one in hand would
	// otherwise add its token after the tokens were cleared.
	for _, c := range s.codes.clear() {
		c.mu.Lock()
		c.spent = true
		c.mu.Unlock()
	}
	var ended []digest
	for _, t := range s.tokens.clear() {
		ended = append(ended, t.grant.key())
	}
	s.log.Info("all tokens revoked", "tokens", len(ended))
	s.announce(ended)
	return len(ended)
}

// revoke is RFC 7009: a client gives back its own token. A token that does not
// exist is as good as revoked, so the answer is the same.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	p, ref := readParams(w, r)
	if ref == nil {
		ref = p.twice()
	}
	var cl *client
	if ref == nil {
		cl, ref = s.authenticateClient(r, p)
	}
	if ref == nil {
		ref = s.giveBack(cl, p.get("token"))
	}
	if ref != nil {
		s.log.Warn("revocation refused", "error", ref.code, "reason", ref.text, "from", s.ClientIP(r))
		writeRefusal(w, ref)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// giveBack ends a client's own token.
func (s *Server) giveBack(cl *client, secret string) *refusal {
	if secret == "" {
		return bad("invalid_request", "token is missing: send the access token, in the body")
	}
	key := digestOf(secret)
	t, ok := s.tokens.get(key)
	switch {
	case !ok:
		return nil
	case t.client != cl.id:
		return bad("invalid_grant", "the token was given to another client")
	}
	if s.tokens.remove(key) {
		s.log.Info("token revoked by its client", "client", cl.identity.short(), "name", limit.Clip(cl.name))
		s.announce([]digest{key})
	}
	return nil
}

// announce tells the rest of the program which tokens ended before their time.
// No lock is held: the callback may call back.
func (s *Server) announce(ended []digest) {
	if s.onRevoke == nil {
		return
	}
	for _, key := range ended {
		s.onRevoke(hex.EncodeToString(key[:]))
	}
}

// digest returns the key under which the grant's token is kept.
func (g Grant) digest() (key digest, ok bool) {
	if len(g.ID) != hex.EncodedLen(len(key)) {
		return key, false
	}
	_, err := hex.Decode(key[:], []byte(g.ID))
	return key, err == nil
}

// key is like digest, for a grant of ours, whose id is always good.
func (g Grant) key() digest {
	key, _ := g.digest()
	return key
}

// shortClient names the client in a log line, as digest.short does.
func (g Grant) shortClient() string { return g.Client[:min(8, len(g.Client))] }
