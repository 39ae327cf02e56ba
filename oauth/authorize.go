package oauth

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// authorize answers the browser that a client sent here. It changes nothing
// until the owner consents, with one exception: without a passphrase a client on this
// machine gets its code at once, for charts and the paper book.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	p, ok := s.pageQuery(w, r)
	if !ok {
		return
	}
	a, ref := s.check(p, s.visitor(r))
	if ref != nil {
		s.refuseAsk(w, r, a, ref)
		return
	}
	s.log.Info("authorization asked", a.client.who(), leadsTo(a.Redirect), "from", s.ClientIP(r))
	if a.client.own && s.page != nil && !s.page.admits(s, r, a, false) {
		s.refuseHere(w, r, noPageKey)
		return
	}
	// Without a passphrase a client gets its code without a question if the code goes to this
	// machine and no page sent the browser here: for charts, and for trading unless it asked for
	// charts alone. The owner's own page always needs a click.
	if s.owner == nil && !a.client.own && destinationOf(a.Redirect).Loopback && !sentByPage(r) {
		asked := strings.Fields(p.get("scope")) // some clients ask every server for "openid email profile"
		s.grant(w, a, s.scopeFor(a.client, slices.Contains(asked, ScopeTrade) || !slices.Contains(asked, ScopeCharts)))
		return
	}
	s.consent(w, r, a, notice{status: http.StatusOK})
}

// check returns the ask of a request, and a refusal if something is wrong with it. If
// that is the client or the redirect URI, the ask is nil, and the refusal must not be
// redirected.
func (s *Server) check(p params, from visitor) (*ask, *refusal) {
	why := when(s.kept, "the key that the app registered under is not in use") + when(!s.kept, "it forgets all apps when it restarts")
	cl, ref := s.client(p.get("client_id"), from, bad("invalid_client", "This server does not know the app that sent you here; "+why+". "+reconnect+restartTwice))
	switch {
	case ref != nil:
		return nil, ref
	case !cl.mayUse(p.get("redirect_uri")):
		return nil, bad("invalid_client", "The app asked to send you to an address that it did not register. "+reconnect)
	}
	a := &ask{client: cl, ClientID: p.get("client_id"), Redirect: p.get("redirect_uri"), Challenge: p.get("code_challenge"), Key: p.get("key")}
	// From here on a refusal may be redirected to the client. It carries the state only
	// once that is known to be short enough.
	if len(p.get("state")) > maxState {
		return a, bad("invalid_request", "state is longer than 2 KiB")
	}
	a.State = []byte(p.get("state"))
	if ref := p.twice(); ref != nil {
		return a, ref
	}
	// A code is given with PKCE only: without it, whoever reads the redirect can use the code.
	// A request that names no method means "plain" in RFC 7636, so the name is required.
	switch {
	case p.get("response_type") == "":
		return a, bad("invalid_request", "response_type is missing: send code")
	case p.get("response_type") != "code":
		return a, bad("unsupported_response_type", "only response_type code is offered")
	case a.Challenge == "":
		return a, bad("invalid_request", "code_challenge is missing: PKCE is required")
	case p.get("code_challenge_method") != "S256":
		return a, bad("invalid_request", "code_challenge_method must be S256")
	case !challenge.MatchString(a.Challenge):
		return a, bad("invalid_request", "code_challenge must be the 43 characters of a SHA-256 in base64url")
	}
	return a, s.checkResources(p)
}

// ask is an authorization request of a known client to a redirect URI of its
// own.
type ask struct {
	client    *client
	ClientID  string // as it came; client.id is its digest
	Redirect  string // one that the client may use
	State     []byte // as it came, byte for byte
	Challenge string // of PKCE, S256
	Key       string // that the owner's page sent: see pageKey
}

// approval returns a digest of what the owner allows: this client at this address.
func (a *ask) approval() digest {
	return digestOf(string(a.client.identity[:]) + a.Redirect)
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
	text := s.seal(forCode, code{Login: rand.Text(), Epoch: s.ledger.Epoch(), Client: a.client.id.String(),
		Redirect: digestOf(a.Redirect).String(), Challenge: a.Challenge, Scope: scope, Issued: wallClock()})
	s.log.Info("code issued", "client", a.client.identity.short(), "scope", scope, leadsTo(a.Redirect))
	redirect(w, s.answerURL(a, url.Values{"code": {text}}))
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
	// An error goes to a program on this machine, which waits for it, and to the address that the
	// consent page showed when the owner allowed the client, if that was since the start.
	if _, approved := s.approved.get(a.approval()); !approved && !destinationOf(a.Redirect).Loopback {
		ref.link, ref.to = answer, destinationOf(a.Redirect)
		s.refuseHere(w, r, ref)
		return
	}
	s.logRefusal(r, "authorization refused", ref, slog.String("client", a.client.identity.short()))
	redirect(w, answer)
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
	if len(a.State) > 0 {
		answer.Set("state", string(a.State))
	}
	answer.Set("iss", s.base)
	// The URI was compared as a text, so it is extended as a text, not parsed and rewritten.
	separator := "?"
	switch {
	case strings.HasSuffix(a.Redirect, "?"):
		separator = ""
	case strings.Contains(a.Redirect, "?"):
		separator = "&"
	}
	return a.Redirect + separator + answer.Encode()
}
