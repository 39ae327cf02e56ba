package oauth

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// This file is what the pages for the owner's browser have in common, consent and
// questions: how their requests are read, how refusals are shown, the passphrase, and
// the cookie that ties a form to the browser it was shown in.

// problem shows a refusal to a person.
func (s *Server) problem(w http.ResponseWriter, ref *refusal) {
	pageHeaders(w.Header())
	ref.head(w.Header())
	p := page{Title: "This did not work", Server: s.base, Problem: sentence(ref.text), Link: ref.link, To: ref.to}
	if ref.code == "access_denied" {
		p.Title = "Access denied"
	}
	show(w, ref.status, p)
}

// Tell shows a person a page that asks for nothing: a heading, a sentence and
// some facts.
func (s *Server) Tell(w http.ResponseWriter, title, text string, facts ...Fact) {
	pageHeaders(w.Header())
	show(w, http.StatusOK, page{Title: title, Server: s.base, Problem: text, Facts: facts})
}

// refuseHere answers a bad request that must not be redirected: with a page for
// people, with JSON for callers that ask for it (mcp-remote looks for
// invalid_client before it opens the browser).
func (s *Server) refuseHere(w http.ResponseWriter, r *http.Request, ref *refusal) {
	s.log.Warn("authorization refused", "error", ref.code, "reason", ref.reason(), "from", s.ClientIP(r))
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html") {
		writeRefusal(w, ref)
		return
	}
	s.problem(w, ref)
}

// pageQuery reads the query of a request for a page. It reports false once it has
// refused the request, which must name our host and, without a passphrase, come from
// this machine.
func (s *Server) pageQuery(w http.ResponseWriter, r *http.Request) (params, bool) {
	pageHeaders(w.Header())
	p, ref := parseQuery(r.URL.RawQuery)
	if ref == nil {
		ref = s.checkNear(r)
	}
	if ref != nil {
		s.refuseHere(w, r, ref)
	}
	return p, ref == nil
}

// pageForm reads the form of a page. It reports false once it has refused the
// request, which must pass as that of a page does, and come from a page of ours.
func (s *Server) pageForm(w http.ResponseWriter, r *http.Request) (params, bool) {
	pageHeaders(w.Header())
	form, ref := readParams(w, r)
	if ref == nil {
		ref = s.checkNear(r)
	}
	if ref == nil {
		ref = s.checkOrigin(r)
	}
	if ref != nil {
		s.refuseHere(w, r, ref)
	}
	return form, ref == nil
}

// checkNear refuses, where no passphrase is asked for, what may not come from this
// machine: what a proxy or a tunnel brought, since whoever is at its other end could
// read the code from the redirect; and a page whose DNS name was pointed here, since it
// could read the consent page as its own and click for the owner.
func (s *Server) checkNear(r *http.Request) *refusal {
	switch {
	case s.owner != nil:
		return nil
	case forwarded(r):
		return &refusal{status: http.StatusForbidden, code: "invalid_request",
			text: "This came through a proxy or a tunnel, and by the same way strangers could log in: set a passphrase where wick runs (--passphrase-file), or use wick on its own machine, at " + s.base}
	case !isLoopbackHost(r.Host):
		return &refusal{status: http.StatusForbidden, code: "invalid_request",
			text: "This server answers at its loopback address only: " + s.base}
	}
	return nil
}

// checkOrigin refuses a form that a browser says another page posted. Browsers
// send Origin with every post; programs that are no browsers send none, and
// cannot be made to post by a page. "null" may be anyone's, unless the browser
// says as well that the post comes from this site's own page.
func (s *Server) checkOrigin(r *http.Request) *refusal {
	site, origins := siteOf(r), r.Header.Values("Origin")
	// What the browser says of the page: one of ours, or the person's own doing.
	own := site == "" || site == "same-origin" || site == "none"
	switch {
	case len(origins) > 1:
		own = false
	case len(origins) == 1 && origins[0] == "null":
		own = site == "same-origin"
	case len(origins) == 1:
		// The base URL, or the loopback address that a browser on this machine used.
		own = own && (origins[0] == s.base || origins[0] == "http://"+r.Host && isLoopbackHost(r.Host))
	}
	if own {
		return nil
	}
	return &refusal{status: http.StatusForbidden, code: "invalid_request",
		text: "Another site's page posted this form. Nothing was granted. Go back to the app and connect again."}
}

// siteOf returns what the browser says of the site that a request comes from. Two lines
// of it are one text that is no browser's.
func siteOf(r *http.Request) string { return strings.Join(r.Header["Sec-Fetch-Site"], ", ") }

// formLife is how long a consent page may lie open before it must be shown anew.
const formLife = 10 * time.Minute

// notice says why a form is shown, and with which status.
type notice struct {
	status    int
	text      string
	wrongWord bool // it is about the passphrase
	trade     bool // the owner had chosen trading, and the choice is kept
	wait      time.Duration
}

// checkPassphrase returns nil if the owner's passphrase was given or none is
// set, else what to say on the page. An empty field is no guess. The client is
// named in the log.
func (s *Server) checkPassphrase(r *http.Request, client, guess string) *notice {
	if s.owner == nil {
		return nil
	}
	if guess == "" {
		return &notice{status: http.StatusForbidden, wrongWord: true, text: "Please type the passphrase."}
	}
	right, wait, busy := s.owner.check(guess, s.visitor(r))
	switch {
	case busy:
		s.log.Warn("passphrase not tried: too many at once", "client", client, "from", s.ClientIP(r))
		return &notice{status: http.StatusTooManyRequests, wait: wait, text: "Too many attempts at once. Try again in a second."}
	case wait > 0:
		s.log.Warn("passphrase not tried: too many wrong ones", "client", client, "from", s.ClientIP(r))
		return &notice{status: http.StatusTooManyRequests, wait: wait, wrongWord: true,
			text: fmt.Sprintf("Too many wrong passphrases. Try again in %d seconds.", seconds(wait))}
	case !right:
		s.log.Warn("wrong passphrase", "client", client, "from", s.ClientIP(r))
		return &notice{status: http.StatusForbidden, wrongWord: true, text: "That is not the passphrase."}
	}
	return nil
}

// hostCookie returns name as the name of a cookie. Over https the prefix __Host- makes
// browsers take it from this host alone, not from a neighbouring name.
func (s *Server) hostCookie(name string) string {
	return when(s.secure(), "__Host-") + name
}

// setCookie sets a cookie of the form at path, or deletes it when life is
// negative. No script can read it, and no other site's request carries it.
func (s *Server) setCookie(w http.ResponseWriter, path, name, value string, life time.Duration) {
	c := &http.Cookie{Name: name, Value: value, Path: path, MaxAge: int(life.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode}
	if s.secure() {
		c.Path, c.Secure = "/", true // as the prefix demands
	}
	http.SetCookie(w, c)
}

// hasCookie reports whether a request carries a cookie of that name and value, in
// whatever place among others of the name: the request then comes from the browser
// that the value was given to.
func hasCookie(r *http.Request, name, value string) bool {
	return slices.ContainsFunc(r.CookiesNamed(name), func(c *http.Cookie) bool {
		return subtle.ConstantTimeCompare([]byte(c.Value), []byte(value)) == 1
	})
}
