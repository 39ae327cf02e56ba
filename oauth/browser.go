package oauth

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// This file has what the two pages for the owner's browser, consent and questions, have
// in common: how their requests are read, how refusals are shown, the passphrase, and
// the cookie that ties a form to the browser it was shown in.

// Tell shows a person a page that asks for nothing: a heading, a sentence and
// some facts.
func (s *Server) Tell(w http.ResponseWriter, title, text string, facts ...Fact) {
	pageHeaders(w.Header())
	show(w, http.StatusOK, page{Title: title, Server: s.base, Problem: text, Facts: facts})
}

// refuseHere logs and answers a bad request that must not be redirected.
func (s *Server) refuseHere(w http.ResponseWriter, r *http.Request, ref *refusal) {
	s.log.Warn("authorization refused", "error", ref.code, "reason", ref.reason(), "from", s.ClientIP(r))
	s.answerHere(w, r, ref)
}

// answerHere answers a refused request with a page for people, with JSON for callers that
// ask for it (mcp-remote looks for invalid_client before it opens the browser).
func (s *Server) answerHere(w http.ResponseWriter, r *http.Request, ref *refusal) {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html") {
		writeRefusal(w, ref)
		return
	}
	pageHeaders(w.Header())
	ref.head(w.Header())
	p := page{Title: "This did not work", Server: s.base, Problem: sentence(ref.text), Perhaps: ref.perhaps, Link: ref.link, To: ref.to}
	if ref.code == "access_denied" {
		p.Title = "Access denied"
	}
	show(w, ref.status, p)
}

// pageQuery reads the query of a request for a page. It returns false if it has refused
// the request: one with a bad query, or one that checkNear refuses. Parameters that come
// twice are left to the caller, who knows where the refusal may be sent.
func (s *Server) pageQuery(w http.ResponseWriter, r *http.Request) (params, bool) {
	pageHeaders(w.Header())
	var v url.Values
	ref := bad("invalid_request", "the query is longer than 12 KiB")
	if len(r.URL.RawQuery) <= maxQuery {
		ref = s.checkNear(r)
		var err error
		if v, err = url.ParseQuery(r.URL.RawQuery); err != nil {
			ref = bad("invalid_request", "the query is not URL-encoded")
		}
	}
	if ref != nil {
		s.refuseHere(w, r, ref)
	}
	return params(v), ref == nil
}

// pageForm reads the form that a page posts. It returns false if it has refused the
// request: one with a bad form, or one that checkNear or checkOrigin refuses. If another
// site's page posted it, the refusal says what follows from that.
func (s *Server) pageForm(w http.ResponseWriter, r *http.Request, follows string) (params, bool) {
	pageHeaders(w.Header())
	form, ref := readParams(w, r)
	if ref == nil {
		ref = s.checkNear(r)
	}
	if ref == nil {
		ref = s.checkOrigin(r, follows)
	}
	if ref != nil {
		s.refuseHere(w, r, ref)
	}
	return form, ref == nil
}

// checkNear refuses requests that may come from elsewhere than this machine, if there is
// no passphrase. It refuses what a proxy or a tunnel brought, since whoever is at its
// other end could read the code from the redirect, and HTTP/1.0, which old proxies speak
// and no client; and what a page sent whose DNS name was pointed here, since it could read
// the consent page as its own and click for the owner. A forwarder that adds nothing cannot
// be told from a program on this machine.
func (s *Server) checkNear(r *http.Request) *refusal {
	switch {
	case s.owner != nil:
		return nil
	case forwarded(r) || !r.ProtoAtLeast(1, 1):
		return &refusal{status: http.StatusForbidden, code: "invalid_request",
			text: "This came through a proxy or a tunnel, and by the same way strangers could log in: set a passphrase where wick runs (--passphrase-file), or use wick on its own machine, at " + s.base}
	case !strings.EqualFold(r.Host, strings.TrimPrefix(strings.TrimPrefix(s.base, "http://"), "https://")):
		return &refusal{status: http.StatusForbidden, code: "invalid_request",
			text: "Without a passphrase this server answers at its own address only: " + s.base}
	}
	return nil
}

// checkOrigin refuses a form that, as the browser says, another site's page posted.
// Browsers send Origin with every post; other programs send none, and no page can make
// them post. The origin "null" may be any page, unless Sec-Fetch-Site says that the post
// comes from this site's own.
func (s *Server) checkOrigin(r *http.Request, follows string) *refusal {
	site, origins := siteOf(r), r.Header.Values("Origin")
	// What Sec-Fetch-Site says: nothing, a page of ours, or the person and no page.
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
	return &refusal{status: http.StatusForbidden, code: "invalid_request", text: "Another site's page posted this form. " + follows}
}

// embedded reports whether, as the browser says, another site's page asks for an address as
// an image, a frame or the like, and no person has opened it. A page can do so a thousand
// times in a second, unseen.
func embedded(r *http.Request) bool {
	site, dest := siteOf(r), r.Header.Get("Sec-Fetch-Dest")
	return site != "" && site != "same-origin" && site != "none" && dest != "" && dest != "document"
}

// siteOf returns the header Sec-Fetch-Site: what the browser says of the site that a
// request comes from, and "" only if there is no such header. If there are two lines, or
// an empty one, something on the way has changed what the browser sent: that counts as a
// foreign site.
func siteOf(r *http.Request) string {
	switch lines := r.Header["Sec-Fetch-Site"]; {
	case len(lines) == 0:
		return ""
	case len(lines) == 1 && lines[0] != "":
		return lines[0]
	}
	return "cross-site"
}

// formLife is how long a page with a form can be answered after it was shown.
const formLife = 10 * time.Minute

// notice says why a form is shown, and with which status.
type notice struct {
	status    int
	text      string
	wrongWord bool // it is about the passphrase
	trade     bool // the owner chose trading: the form is shown with that choice
	wait      time.Duration
}

// checkPassphrase returns nil if the owner's passphrase was given or none is
// set, else what to say on the page. An empty field does not count as a guess. The log
// names the client.
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

// hostCookie returns the full name of a cookie. Over https it has the prefix __Host-:
// then browsers accept the cookie from this host alone, not from a neighbouring one.
func (s *Server) hostCookie(name string) string {
	return when(s.secure(), "__Host-") + name
}

// setCookie sets a cookie for the form at path, or deletes it if life is negative.
// Scripts cannot read it, and requests that other sites cause do not carry it.
func (s *Server) setCookie(w http.ResponseWriter, path, name, value string, life time.Duration) {
	c := &http.Cookie{Name: name, Value: value, Path: path, MaxAge: int(life.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode}
	if s.secure() {
		c.Path, c.Secure = "/", true // as the prefix demands
	}
	http.SetCookie(w, c)
}

// hasCookie reports whether a request carries a cookie of that name and value, perhaps
// among others of the same name: if so, the request comes from the browser that the value
// was given to.
func hasCookie(r *http.Request, name, value string) bool {
	return slices.ContainsFunc(r.CookiesNamed(name), func(c *http.Cookie) bool {
		return subtle.ConstantTimeCompare([]byte(c.Value), []byte(value)) == 1
	})
}
