package oauth

import (
	"crypto/rand"
	"encoding/hex"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Codes and tokens are sealed statements of this server: all that it would otherwise keep
// in memory stands in the text itself, and every process with the key can check one.
// Whether a code was used or a login revoked does not stand in the text. The ledger knows
// that by the id of the login, which a code passes on to its token.

// maxSealed bounds a sealed code or token in characters. The longest that is made
// has a name of 64 characters of four bytes each; whatever is longer is not opened.
const maxSealed = 1 << 10

// packCode returns a code as it is sealed.
func packCode(c *code) []string {
	return []string{c.epoch, c.login, string(c.client[:]), packTime(c.issued), c.scope, string(c.redirect[:]), c.challenge}
}

// unpackCode reads what packCode returned, or returns false for anything else.
func unpackCode(texts []string) (*code, bool) {
	if len(texts) != 7 || len(texts[2]) != len(digest{}) || len(texts[5]) != len(digest{}) {
		return nil, false
	}
	issued, ok := unpackTime(texts[3])
	return &code{epoch: texts[0], login: texts[1], client: digest([]byte(texts[2])), issued: issued,
		scope: texts[4], redirect: digest([]byte(texts[5])), challenge: texts[6]}, ok
}

// packToken returns a token as it is sealed.
func packToken(t *token) []string {
	return []string{t.epoch, t.login, string(t.client[:]), packTime(t.grant.Expires), t.grant.Scope, t.grant.Client, t.grant.Name}
}

// unpackToken reads what packToken returned, or returns false for anything else. The caller
// sets the key and the id, which follow from the token's text.
func unpackToken(texts []string) (*token, bool) {
	if len(texts) != 7 || len(texts[2]) != len(digest{}) {
		return nil, false
	}
	ends, ok := unpackTime(texts[3])
	t := &token{epoch: texts[0], login: texts[1], client: digest([]byte(texts[2])), since: ends.Add(-TokenLife)}
	t.grant = Grant{Expires: ends, Scope: texts[4], Client: texts[5], Name: texts[6]}
	return t, ok
}

// newCode begins a login and returns the text of its code.
func (s *Server) newCode(c *code) string {
	c.login, c.epoch = rand.Text(), s.ledger.Epoch()
	return s.seal(forCode, packCode(c)...)
}

// findCode returns the code of a text if it has not expired. It may have been used
// before: the exchange finds that out, after all other checks.
func (s *Server) findCode(text string) (*code, bool) {
	if len(text) > maxSealed {
		return nil, false
	}
	texts, _ := s.open(forCode, text)
	c, ok := unpackCode(texts)
	if !ok || !time.Now().Before(c.expires()) || s.ledger.Revoked(c.login, c.epoch) {
		return nil, false
	}
	return c, true
}

// sealToken returns the text of a token, and sets the token's key, id and entry, which
// follow from the text.
func (s *Server) sealToken(t *token) string {
	text := s.seal(forToken, packToken(t)...)
	t.key = digestOf(text)
	t.grant.Login = t.entry(s.issuers[0])
	t.grant.ID = hex.EncodeToString(t.key[:])
	return text
}

// findToken returns the token of a text if it works now, and notes that it is in use
// here.
func (s *Server) findToken(text string) (*token, bool) {
	t, ok := s.readToken(text)
	if !ok || !s.live(t) {
		return nil, false
	}
	s.keep(t)
	return t, true
}

// keep stores a token, unless it is there. One that is pushed out still works, and is stored
// again when it is next presented. But until then its revocation would not be noticed here,
// so its open streams must end now.
func (s *Server) keep(t *token) {
	_, pushed := s.tokens.add(t.key, t)
	for _, old := range pushed {
		if !old.ended.Load() {
			s.tell(old)
		}
	}
}

// tell tells the rest of the program that a token has ended before its time, or was pushed
// out. The caller holds no lock, because the callback may call this server.
func (s *Server) tell(t *token) {
	if s.options.OnRevoke != nil {
		s.options.OnRevoke(t.grant.ID)
	}
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
	texts, by := s.open(forToken, text)
	t, ok := unpackToken(texts)
	if !ok || !time.Now().Before(t.grant.Expires) {
		return nil, false
	}
	t.key, t.grant.ID, t.grant.Login = key, hex.EncodeToString(key[:]), t.entry(s.issuer(by))
	t.touch(time.Now(), netip.Addr{})
	return t, true
}

// entry returns the [Grant.Login] of a token that issuer sealed.
func (t *token) entry(issuer string) string { return t.login + "." + t.epoch + "." + issuer }

// Works reports whether the token of a [Grant.Login] has not been revoked. The token need
// not have been presented to this process. Whether it has expired the text does not say.
func (s *Server) Works(login string) bool {
	parts := strings.Split(login, ".")
	return len(parts) == 3 && slices.Contains(s.issuers, parts[2]) && !s.ledger.Revoked(parts[0], parts[1])
}

// live reports whether a token that was found still works.
func (s *Server) live(t *token) bool { return !s.ledger.Revoked(t.login, t.epoch) }

// end ends a token everywhere. On an error it has ended in this process only, and may work
// again after the next start. It stays in the table, where the owner can revoke it once more.
func (s *Server) end(t *token) error {
	err := s.ledger.Revoke(t.login, t.grant.Expires)
	s.keep(t)
	s.sweep()
	return err
}

// Sweep calls Options.OnRevoke for each token that a shared [Ledger] says is revoked, once.
// Whoever runs the ledger calls it when another process has revoked something; for what this
// server revokes, it is not needed.
func (s *Server) Sweep() { s.sweep() }

// sweep is Sweep, and returns how many tokens have ended.
func (s *Server) sweep() (ended int) {
	for _, t := range s.tokens.all() {
		if !s.live(t) && !t.ended.Swap(true) {
			s.tell(t)
			ended++
		}
	}
	return ended
}
