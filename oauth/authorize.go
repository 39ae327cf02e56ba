package oauth

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"wick/limit"
)

const maxState = 2 << 10 // bytes

// ask is an authorization request of a known client to a redirect URI of its
// own.
type ask struct {
	client    *client
	clientID  string
	redirect  string
	state     string // as it came, byte for byte
	challenge string
}

// What a person can do when a client's registration is gone. An app behind
// mcp-remote has no server to remove: mcp-remote keeps the registration, drops
// it at its next start and, up to version 0.15.1, logs in at the one after. The
// Inspector's command line waits for an answer that cannot come.
const (
	reconnect    = "Remove this server from the app and add it again."
	restartTwice = " If the app uses mcp-remote, start the app again instead, up to twice. On the Inspector's command line, end it and add --relogin once."
)

// authorize answers the browser that a client sent here. It changes nothing
// until the owner consents; only on a machine without a passphrase, where
// whoever can reach the service owns it, a loopback client gets its code at once.
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
	s.log.Info("authorization asked", "client", a.client.identity.short(), "name", limit.Clip(a.client.name),
		"to", destinationOf(a.redirect).String(), "from", s.ClientIP(r))
	if s.mayGoAtOnce(r, a) {
		s.grant(w, a, s.scopeAtOnce(p.get("scope")))
		return
	}
	s.consent(w, r, a, notice{status: http.StatusOK})
}

// checkHost refuses a page whose DNS name was pointed at this machine: where no
// passphrase is asked for, it could read the consent page as its own and click
// for the owner.
func (s *Server) checkHost(r *http.Request) *refusal {
	if s.owner != nil || isLoopbackHost(r.Host) {
		return nil
	}
	return &refusal{status: http.StatusForbidden, code: "invalid_request",
		text: "This server answers at its loopback address only: " + s.base}
}

// pageQuery reads the query of a request for a page. It reports false once it has
// refused the request, which must name our host.
func (s *Server) pageQuery(w http.ResponseWriter, r *http.Request) (params, bool) {
	pageHeaders(w.Header())
	p, ref := parseQuery(r.URL.RawQuery)
	if ref == nil {
		ref = s.checkHost(r)
	}
	if ref != nil {
		s.refuseHere(w, r, ref)
	}
	return p, ref == nil
}

// pageForm reads the form of a page. It reports false once it has refused the
// request, which must name our host and come from a page of ours.
func (s *Server) pageForm(w http.ResponseWriter, r *http.Request) (params, bool) {
	pageHeaders(w.Header())
	form, ref := readParams(w, r)
	if ref == nil {
		ref = s.checkHost(r)
	}
	if ref == nil {
		ref = s.checkOrigin(r)
	}
	if ref != nil {
		s.refuseHere(w, r, ref)
	}
	return form, ref == nil
}

// check judges a request. The ask is nil as long as client and redirect URI are
// not known to be good, and then a refusal must not leave this server.
func (s *Server) check(p params, from visitor) (*ask, *refusal) {
	cl, ok := s.client(p.get("client_id"), from)
	if !ok {
		why := "it forgets all apps when it restarts"
		if s.ledger != nil {
			why = "the key that the app registered under is not in use"
		}
		return nil, bad("invalid_client", "This server does not know the app that sent you here; "+why+". "+reconnect+restartTwice)
	}
	redirect := p.get("redirect_uri")
	if !cl.mayUse(redirect) {
		return nil, bad("invalid_client", "The app asked to send you to an address that it did not register. "+reconnect)
	}
	a := &ask{
		client:    cl,
		clientID:  p.get("client_id"),
		redirect:  redirect,
		challenge: p.get("code_challenge"),
	}
	// From here on the client may be told by a redirect, with its state once that is
	// known to be short enough.
	if len(p.get("state")) > maxState {
		return a, bad("invalid_request", "state is longer than 2 KiB")
	}
	a.state = p.get("state")
	if ref := p.twice(); ref != nil {
		return a, ref
	}
	if ref := checkCodeRequest(p); ref != nil {
		return a, ref
	}
	return a, s.checkResources(p.resources())
}

// checkCodeRequest checks that a code is asked for, and with PKCE: without it,
// whoever reads the redirect can use the code. A request that names no method
// means "plain" in RFC 7636, so the name is required.
func checkCodeRequest(p params) *refusal {
	switch {
	case p.get("response_type") == "":
		return bad("invalid_request", "response_type is missing: send code")
	case p.get("response_type") != "code":
		return bad("unsupported_response_type", "only response_type code is offered")
	case p.get("code_challenge") == "":
		return bad("invalid_request", "code_challenge is missing: PKCE is required")
	case p.get("code_challenge_method") != "S256":
		return bad("invalid_request", "code_challenge_method must be S256")
	case !validChallenge(p.get("code_challenge")):
		return bad("invalid_request", "code_challenge must be the 43 characters of a SHA-256 in base64url")
	}
	return nil
}

// mayUse reports whether the client may be sent to an address. The owner's page is
// at one address: at another port of this machine anybody may listen.
func (c *client) mayUse(redirect string) bool {
	if c.own {
		return slices.Contains(c.redirect, redirect)
	}
	return slices.ContainsFunc(c.redirect, func(registered string) bool { return redirectMatches(registered, redirect) })
}

// scopeAtOnce is the scope for a client that goes through without a page: all
// there is, unless it asked for charts alone. Clients ask for "openid email
// profile" everywhere, which says nothing.
func (s *Server) scopeAtOnce(asked string) string {
	names := strings.Fields(asked)
	if s.trade && (slices.Contains(names, ScopeTrade) || !slices.Contains(names, ScopeCharts)) {
		return chartsAndTrade
	}
	return ScopeCharts
}

// mayGoAtOnce decides whether the owner need not be asked: no passphrase is
// set, the code goes to this machine, and no page sent the browser here. A
// browser says "none" when the person typed the address or another program
// opened it, and programs that are no browsers say nothing. Any other value is a
// page's doing, also "same-site": a page on another port of localhost is another
// program, which could otherwise log in a client of its choosing. The owner's own
// page always needs a click.
func (s *Server) mayGoAtOnce(r *http.Request, a *ask) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return s.owner == nil && !a.client.own && destinationOf(a.redirect).Loopback && (site == "" || site == "none")
}

// grant makes a code and sends the browser back to the client with it.
func (s *Server) grant(w http.ResponseWriter, a *ask, scope string) {
	secret := s.newCode(&code{
		client:    a.client.id,
		redirect:  digestOf(a.redirect),
		challenge: a.challenge,
		scope:     scope,
		issued:    time.Now(),
	})
	s.log.Info("code issued", "client", a.client.identity.short(), "scope", scope, "to", destinationOf(a.redirect).String())
	redirect(w, s.answerURL(a, url.Values{"code": {secret}}))
}

// refuseAsk answers a bad request, or the owner's no, where it may be answered.
// Anyone can register a client, so a redirect to an address that the owner has
// never approved would make this server a redirector to any site under a
// trusted name (RFC 9700 section 4.11.2): that answer stays here, with a link.
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
	s.log.Warn("authorization refused", "client", a.client.identity.short(), "error", ref.code, "reason", ref.text, "from", s.ClientIP(r))
	redirect(w, answer)
}

// mayRedirect reports whether an error may be sent to a client without the owner
// looking: to a program on this machine, which waits for it, or to an address of
// a client that the owner has allowed since the start, with that address before
// his eyes. The other addresses that the client registered do not count.
func (s *Server) mayRedirect(a *ask) bool {
	_, approved := s.approved.get(a.approval())
	return approved || destinationOf(a.redirect).Loopback
}

// approval is what the owner allows: this client at this address.
func (a *ask) approval() digest {
	return digestOf(string(a.client.identity[:]) + a.redirect)
}

// refuseHere answers a bad request that must not be redirected: with a page for
// people, with JSON for callers that ask for it (mcp-remote looks for
// invalid_client before it opens the browser).
func (s *Server) refuseHere(w http.ResponseWriter, r *http.Request, ref *refusal) {
	s.log.Warn("authorization refused", "error", ref.code, "reason", ref.text, "from", s.ClientIP(r))
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html") {
		writeRefusal(w, ref)
		return
	}
	s.problem(w, ref)
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
	separator := "?"
	switch {
	case strings.HasSuffix(a.redirect, "?"):
		separator = ""
	case strings.Contains(a.redirect, "?"):
		separator = "&"
	}
	return a.redirect + separator + answer.Encode()
}
