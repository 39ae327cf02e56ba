package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/limit"
)

// formLife is how long a consent page may lie open before it must be shown anew.
const formLife = 10 * time.Minute

var pagePolicy = policy()

// policy is the page's Content-Security-Policy: its own style sheet by hash,
// its icon, no scripts, no frames around it. It has no form-action on purpose.
// Chromium holds that directive against every redirect that follows the post,
// and we cannot know them all: claude.ai's callback goes on to claude://,
// vscode.dev's to vscode://. Escaping in the page keeps strangers' forms out.
func policy() string {
	sum := sha256.Sum256([]byte(pageCSS))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// pageHeaders sets what every answer of /authorize carries. The referrer policy
// keeps the page's address, which holds the request, from other sites; our own
// must see it, or browsers would post the form with the origin "null".
func pageHeaders(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
}

// notice says why a form is shown, and with which status.
type notice struct {
	status    int
	text      string
	wrongWord bool // it is about the passphrase
	trade     bool // the owner had chosen trading, and the choice is kept
	wait      time.Duration
}

// consent shows the form for a good request and ties it to this browser.
func (s *Server) consent(w http.ResponseWriter, r *http.Request, a *ask, n notice) {
	(&refusal{wait: n.wait}).head(w.Header())
	show(w, n.status, page{
		Title:          "Allow access?",
		Server:         s.base,
		Notice:         n.text,
		Client:         a.client.name,
		To:             destinationOf(a.redirect),
		Own:            a.client.own,
		Trade:          s.trade,
		ChoseTrade:     n.trade,
		Paper:          s.paper,
		Money:          s.money,
		Passphrase:     s.owner != nil,
		PassphraseFrom: s.passphraseFrom,
		WrongWord:      n.wrongWord,
		Kept:           s.ledger != nil,
		Request:        s.sealForm(a, s.bind(w, r, a)),
	})
}

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
func (s *Server) Tell(w http.ResponseWriter, status int, title, text string, facts ...Fact) {
	pageHeaders(w.Header())
	show(w, status, page{Title: title, Server: s.base, Problem: text, Facts: facts})
}

// sentence dresses an error's text for a page. Texts of ours begin with ASCII.
func sentence(text string) string {
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

// show writes a page.
func show(w http.ResponseWriter, status int, p page) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, p.html()) // fails when the browser has left
}

// decide takes the owner's answer. It counts once, on a form of ours, from the
// browser that the form was shown in, posted by the form's own page.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	form, ok := s.pageForm(w, r)
	if !ok {
		return
	}
	a, good, ref := s.openForm(r, form.get("request"))
	if ref != nil {
		s.refuseHere(w, r, ref)
		return
	}
	// The form is marked as answered only once the answer counts, so that a wrong
	// passphrase can be typed again.
	n := s.judge(r, a, form, good)
	if n == nil {
		n = s.claim(r, a, form)
	}
	if n != nil {
		n.trade = s.choseTrade(form)
		s.consent(w, r, a, *n)
		return
	}
	s.setCookie(w, s.cookieName(a), "", -1) // it has served
	if form.get("decision") == "deny" {
		s.refuseAsk(w, r, a, &refusal{status: http.StatusOK, code: "access_denied", text: "the owner said no"})
		return
	}
	scope := s.scopeFor(a.client, s.choseTrade(form))
	s.approved.add(a.approval(), mark{at: time.Now()})
	s.log.Info("consent given", "client", a.client.identity.short(), "name", limit.Clip(a.client.name), "scope", scope, "from", s.ClientIP(r))
	s.grant(w, a, scope)
}

// choseTrade reports whether the owner ticked trading on a server that trades.
func (s *Server) choseTrade(form params) bool { return s.trade && form.get("grant") == ScopeTrade }

// judge returns nil if an answer counts, else what to say on the page that is
// shown again.
func (s *Server) judge(r *http.Request, a *ask, form params, good bool) *notice {
	switch decision := form.get("decision"); {
	case !good:
		s.log.Warn("consent form refused", "client", a.client.identity.short(), "reason", "expired, used, or of another browser", "from", s.ClientIP(r))
		return &notice{status: http.StatusBadRequest,
			text: "This page was answered before, open for too long, or your browser keeps no cookies. Nothing was granted: please answer again."}
	case decision == "allow":
		return s.checkPassphrase(r, a.client.identity.short(), form.get("passphrase"))
	case decision != "deny":
		return &notice{status: http.StatusBadRequest, text: "Please choose Allow or Deny."}
	}
	return nil
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
	right, wait := s.owner.check(guess, s.visitor(r))
	switch {
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

// checkOrigin refuses a form that a browser says another page posted. Browsers
// send Origin with every post; programs that are no browsers send none, and
// cannot be made to post by a page. "null" may be anyone's, unless the browser
// says as well that the post comes from this site's own page.
func (s *Server) checkOrigin(r *http.Request) *refusal {
	site, origins := r.Header.Get("Sec-Fetch-Site"), r.Header.Values("Origin")
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

// cookieName returns the name of the cookie that ties a form to its browser. It
// is made from the request, so that two pages for two clients can be open in
// one browser. Over https the prefix __Host- makes browsers take it from this
// host alone, not from a neighbouring name.
func (s *Server) cookieName(a *ask) string {
	sum := sha256.Sum256(pack(a.clientID, a.redirect, a.state, a.challenge))
	name := "wick-" + hex.EncodeToString(sum[:8])
	if s.secure() {
		return "__Host-" + name
	}
	return name
}

// bind ties the form for a request to this browser by a cookie, and returns the
// cookie's value for the form to hold. A browser that has the page open already
// keeps its value, so that a second tab does not spoil the first.
func (s *Server) bind(w http.ResponseWriter, r *http.Request, a *ask) string {
	name, value := s.cookieName(a), newSecret()
	if old, err := r.Cookie(name); err == nil && len(old.Value) == len(value) {
		value = old.Value
	}
	s.setCookie(w, name, value, int(formLife.Seconds()))
	return value
}

// setCookie sets a cookie of one of the two forms, or deletes it when maxAge is
// negative. No script can read it, and no other site's request carries it.
func (s *Server) setCookie(w http.ResponseWriter, name, value string, maxAge int) {
	c := &http.Cookie{Name: name, Value: value, Path: AuthorizePath, MaxAge: maxAge, HttpOnly: true, SameSite: http.SameSiteStrictMode}
	if strings.HasSuffix(name, answerCookie) {
		c.Path = ApprovePath
	}
	if s.secure() {
		c.Path, c.Secure = "/", true // as the prefix demands
	}
	http.SetCookie(w, c)
}

// sealForm returns what a form remembers: until when it is good, the browser it
// was shown in, and the request.
func (s *Server) sealForm(a *ask, browser string) string {
	ends := strconv.FormatInt(time.Now().Add(formLife).UnixNano(), 10)
	return s.seal(forForm, pack(ends, browser, a.clientID, a.redirect, a.state, a.challenge))
}

// openForm returns the request of a form, and whether an answer on it counts:
// it is not over, was not answered before, and comes from the browser it was
// shown in.
func (s *Server) openForm(r *http.Request, sealed string) (a *ask, good bool, ref *refusal) {
	plain, _, ok := s.open(forForm, sealed)
	texts, ok2 := unpack(plain)
	if !ok || !ok2 || len(texts) != 6 {
		return nil, false, bad("invalid_request", "This is not a form of this server, or the server was restarted. Go back to the app and connect again.")
	}
	// The form holds, in this order: when it ends, the browser, the client's id, the
	// redirect URI, the state and the challenge.
	cl, ok := s.client(texts[2], s.visitor(r))
	ends, err := strconv.ParseInt(texts[0], 10, 64)
	if !ok || err != nil {
		return nil, false, bad("invalid_client", "This server does not know the app that sent you here. "+reconnect)
	}
	a = &ask{client: cl, clientID: texts[2], redirect: texts[3], state: texts[4], challenge: texts[5]}
	_, answered := s.answered.get(digestOf(sealed))
	same := slices.ContainsFunc(r.CookiesNamed(s.cookieName(a)), func(c *http.Cookie) bool {
		return subtle.ConstantTimeCompare([]byte(c.Value), []byte(texts[1])) == 1
	})
	return a, same && !answered && time.Now().UnixNano() < ends, nil
}

// claim marks a form as answered. It returns nil if it was not before, else what to
// say on the page: of two posts of one form one wins. With keys of a file the form
// may come to another process too, or after a restart; the ledger is asked about
// consent alone, which takes the passphrase, so that no stranger fills it.
func (s *Server) claim(r *http.Request, a *ask, form params) *notice {
	key := digestOf(form.get("request"))
	first, _ := s.answered.add(key, mark{at: time.Now(), life: formLife})
	if first && s.ledger != nil && form.get("decision") == "allow" {
		var err error
		if first, err = s.ledger.TakeOnce("form-"+hex.EncodeToString(key[:]), time.Now().Add(formLife)); err != nil {
			s.log.Error("consent form not taken", "client", a.client.identity.short(), "error", err)
			return &notice{status: http.StatusServiceUnavailable, text: "Your answer cannot be written down now. Nothing was granted: please try again in a few seconds."}
		}
	}
	if !first {
		return s.judge(r, a, form, false)
	}
	return nil
}
