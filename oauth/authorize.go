package oauth

import (
	"net/http"
	"slices"
	"strings"

	"wick/internal/limit"
)

// maxState bounds the client's state, which travels in the form and back to the client,
// in bytes.
const maxState = 2 << 10

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
	s.log.Info("authorization asked", "client", a.client.identity.short(), "name", limit.Clip(a.client.name),
		"to", destinationOf(a.redirect).String(), "from", s.ClientIP(r))
	if a.client.own && s.page != nil && !s.page.admits(s, r, a, false) {
		s.refuseHere(w, r, noPageKey)
		return
	}
	if s.mayGoAtOnce(r, a) {
		s.grant(w, a, s.scopeAtOnce(p.get("scope")))
		return
	}
	s.consent(w, r, a, notice{status: http.StatusOK})
}

// check returns the ask of a request, and a refusal if something is wrong with it. If
// that is the client or the redirect URI, the ask is nil, and the refusal must not be
// redirected.
func (s *Server) check(p params, from visitor) (*ask, *refusal) {
	a, ref := s.checkClient(p, from)
	if ref != nil {
		return nil, ref
	}
	// From here on a refusal may be redirected to the client. It carries the state only
	// once that is known to be short enough.
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
	return a, s.checkResources(p)
}

// checkClient finds the client of a request and checks that it may be sent the answer.
func (s *Server) checkClient(p params, from visitor) (*ask, *refusal) {
	cl, err := s.client(p.get("client_id"), from)
	if err != nil {
		why := "it forgets all apps when it restarts"
		if s.kept {
			why = "the key that the app registered under is not in use"
		}
		return nil, refuseClient(err, bad("invalid_client", "This server does not know the app that sent you here; "+why+". "+reconnect+restartTwice))
	}
	redirect := p.get("redirect_uri")
	if !cl.mayUse(redirect) {
		return nil, bad("invalid_client", "The app asked to send you to an address that it did not register. "+reconnect)
	}
	return &ask{
		client:    cl,
		clientID:  p.get("client_id"),
		redirect:  redirect,
		challenge: p.get("code_challenge"),
		key:       p.get("key"),
	}, nil
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

// scopeAtOnce returns the scope for a client that goes through without a page: all
// there is, unless it asked for charts and not for trading. Other names are ignored:
// some clients ask every server for "openid email profile".
func (s *Server) scopeAtOnce(asked string) string {
	names := strings.Fields(asked)
	if s.options.Trade && (slices.Contains(names, ScopeTrade) || !slices.Contains(names, ScopeCharts)) {
		return chartsAndTrade
	}
	return ScopeCharts
}

// mayGoAtOnce reports whether a client gets its code without asking the owner: no
// passphrase is set, the code goes to this machine, and no page sent the browser here.
// The owner's own page always needs a click.
func (s *Server) mayGoAtOnce(r *http.Request, a *ask) bool {
	return s.owner == nil && !a.client.own && destinationOf(a.redirect).Loopback && !sentByPage(r)
}

// sentByPage reports whether a web page may have caused a request. Browsers send the
// Sec-Fetch-Site "none" if the person typed the address or another program opened it;
// programs other than browsers send no such header. Any other value means a page, even
// "same-site": a page on another port of localhost is another program, which could
// otherwise log in a client of its choice. A request with Origin or Referer comes from a
// page too, and so does one with Sec-Fetch-Dest (an image, a frame) but no Sec-Fetch-Site.
// Sec-Fetch-Mode does not count: fetch in Node sends it alone.
func sentByPage(r *http.Request) bool {
	h := r.Header
	switch siteOf(r) {
	case "none":
		return h["Origin"] != nil || h["Referer"] != nil
	case "":
		return h["Origin"] != nil || h["Referer"] != nil || h["Sec-Fetch-Dest"] != nil
	}
	return true
}
