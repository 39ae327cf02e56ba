package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ask is an authorization request of a known client to a redirect URI of its
// own.
type ask struct {
	client    *client
	clientID  string // as it came; client.id is its digest
	redirect  string // one that the client may use
	state     string // as it came, byte for byte
	challenge string // of PKCE, S256
	key       string // that the owner's page sent: see pageKey
}

// approval returns a digest of what the owner allows: this client at this address.
func (a *ask) approval() digest {
	return digestOf(string(a.client.identity[:]) + a.redirect)
}

// What a person can do when a client's registration is gone. An app behind
// mcp-remote has no server to remove: mcp-remote keeps the registration, drops
// it at its next start and, up to version 0.15.1, logs in at the one after. The
// Inspector's command line waits for an answer that cannot come.
const (
	reconnect    = "Remove this server from the app and add it again."
	restartTwice = " If the app uses mcp-remote, start the app again instead, up to twice. On the Inspector's command line, end it and add --relogin once."
)

// grant makes a code and sends the browser back to the client with it. The caller has
// the owner's consent, or knows that none is needed.
func (s *Server) grant(w http.ResponseWriter, a *ask, scope string) {
	secret := s.newCode(&code{
		client:    a.client.id,
		redirect:  digestOf(a.redirect),
		challenge: a.challenge,
		scope:     scope,
		issued:    time.Now().Round(0), // by the wall clock, which goes on while the machine sleeps
	})
	s.log.Info("code issued", "client", a.client.identity.short(), "scope", scope, "to", destinationOf(a.redirect).String())
	redirect(w, s.answerURL(a, url.Values{"code": {secret}}))
}

// refuseAsk tells the client that its request was bad or that the owner said no.
// Anyone can register a client, so a redirect to an address that the owner has
// never approved would make this server a redirector to any site under a trusted
// name (RFC 9700 section 4.11.2): instead, a page here shows that answer, with a link.
func (s *Server) refuseAsk(w http.ResponseWriter, r *http.Request, a *ask, ref *refusal) {
	if a == nil {
		s.refuseHere(w, r, ref)
		return
	}
	answer := s.answerURL(a, url.Values{"error": {ref.code}, "error_description": {description(ref.text)}})
	if !s.mayRedirect(a) {
		ref.link, ref.to = answer, destinationOf(a.redirect)
		s.refuseHere(w, r, ref)
		return
	}
	s.log.Warn("authorization refused", "client", a.client.identity.short(), "error", ref.code, "reason", ref.reason(), "from", s.ClientIP(r))
	redirect(w, answer)
}

// mayRedirect reports whether an error may be sent to a client without the owner
// looking: to a program on this machine, which waits for it, or to the address that
// the consent page showed when the owner allowed the client, since the start. Other
// addresses that the client registered do not count.
func (s *Server) mayRedirect(a *ask) bool {
	_, approved := s.approved.get(a.approval())
	return approved || destinationOf(a.redirect).Loopback
}

// redirect sends the browser to the client. The status is 303: after 307 the
// browser would repeat the post, passphrase and all, to the client.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

// answerURL returns the client's redirect URI with an answer, the state it sent,
// and our name, so that a client of several servers knows who answered
// (RFC 9207). The URI's own query stays as it is.
func (s *Server) answerURL(a *ask, answer url.Values) string {
	if a.state != "" {
		answer.Set("state", a.state)
	}
	answer.Set("iss", s.base)
	// The URI was compared as a text, so it is extended as a text, not parsed and rewritten.
	separator := "?"
	switch {
	case strings.HasSuffix(a.redirect, "?"):
		separator = ""
	case strings.Contains(a.redirect, "?"):
		separator = "&"
	}
	return a.redirect + separator + answer.Encode()
}
