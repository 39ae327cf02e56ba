package oauth

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// This file has the two forms for the owner: consent to a client, and the answer to a
// question. Both are shown, tied to their browser and answered in the same way.

// form is what a page's form holds, sealed: until when and in which browser it can be
// answered, and what it decides about, a client's request or a question.
type form struct {
	Ends     time.Time
	Browser  string // the value of the cookie
	Ask      *ask   `json:",omitempty"`
	Question string `json:",omitempty"` // its id
}

// formLife is how long a page with a form can be answered after it was shown.
const formLife = 10 * time.Minute

// formCookie is the name of the cookie that ties forms to a browser. All forms of a browser
// share its value, so that several can be open at once.
const formCookie = "wick-form"

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
	switch right, wait := s.owner.check(guess, s.visitor(r)); {
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

// showForm shows a page with a form for f, and ties the form to this browser. A browser that
// has a form open already keeps its cookie. The page has a lead, the notice, what the owner
// decides about, and the fields of the form; without fields there is nothing to answer.
func (s *Server) showForm(w http.ResponseWriter, r *http.Request, f form, n notice, title, lead, about string, fields ...string) {
	(&refusal{wait: n.wait}).head(w.Header())
	name, value := s.hostCookie(formCookie), newSecret()
	if old, err := r.Cookie(name); err == nil && len(old.Value) == len(value) {
		value = old.Value
	}
	s.setCookie(w, r.URL.Path, name, value, formLife)
	f.Ends, f.Browser = time.Now().Add(formLife), value
	parts := []string{lead, when(n.text != "", piece("notice", "{notice}", n.text)), about}
	if len(fields) > 0 {
		parts = append(parts, piece("form", "{action}", r.URL.Path, "{request}", s.seal(forForm, f)))
	}
	s.show(w, n.status, title, append(parts, fields...)...)
}

// passphraseField is the field for the owner's passphrase, if there is one.
func (s *Server) passphraseField(n notice) string {
	if s.owner == nil {
		return ""
	}
	from := when(s.options.PassphraseFrom != "", "set with "+s.options.PassphraseFrom+" where wick runs")
	return piece("passphrase", "{set}", from) + when(n.wrongWord, piece("wrong")) + piece("entered")
}

// judge returns nil if an answer counts, else what to say when the page is shown again. It
// counts once, from the browser that the form was shown in, and a yes with the passphrase
// only. The form is marked as answered last, so that a wrong passphrase can be typed again.
func (s *Server) judge(r *http.Request, client string, posted params, f form) *notice {
	key, yes := digestOf(posted.get("request")), posted.get("decision") == "allow"
	stale := &notice{status: http.StatusBadRequest,
		text: "This page was answered before, open for too long, or your browser keeps no cookies. This answer was not taken: please answer again."}
	if _, answered := s.answered.get(key); answered || !hasCookie(r, s.hostCookie(formCookie), f.Browser) || !time.Now().Before(f.Ends) {
		s.log.Warn("form refused", "client", client, "reason", "expired, used, or of another browser", "from", s.ClientIP(r))
		return stale
	}
	if !yes && posted.get("decision") != "deny" {
		return &notice{status: http.StatusBadRequest, text: "Please choose one of the two."}
	}
	if yes {
		if n := s.checkPassphrase(r, client, posted.get("passphrase")); n != nil {
			return n
		}
	}
	// A form may also be posted to another process, or again after a restart, so the ledger
	// is asked too: only about a yes, which takes the passphrase, so that no stranger can
	// fill it.
	ends := time.Now().Add(formLife)
	first, _ := s.answered.add(key, mark{time.Now(), ends})
	if first && yes {
		var err error
		if first, err = s.ledger.TakeOnce("form-"+key.String(), ends); err != nil {
			s.log.Error("form not taken", "client", client, "error", err)
			return &notice{status: http.StatusServiceUnavailable, text: "Your answer cannot be written down now. Nothing was granted: please try again in a few seconds."}
		}
	}
	if !first {
		return stale
	}
	return nil
}

// consent shows the form for a good request of a client. A client cannot preselect trading.
func (s *Server) consent(w http.ResponseWriter, r *http.Request, a *ask, n notice) {
	to := destinationOf(a.Redirect)
	lead, about, choice := piece("question", "{client}", a.client.name), to.shown("target")+when(to.Loopback, piece("local")), piece("charts")
	switch {
	case a.client.own: // it gets everything, so there is nothing to choose
		lead, about, choice = piece("own"), "", piece("everything")
	case s.options.Trade:
		choice = piece("choice", "{charts}", when(!n.trade, " checked"), "{trade}", when(n.trade, " checked"), "{money}", s.options.Money)
	}
	s.showForm(w, r, form{Ask: a}, n, "Allow access?", lead, about,
		choice, s.passphraseField(n), piece("buttons", "{restart}", when(!s.kept, ", or when wick restarts")))
}

// decide takes the owner's answer to a client.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	posted, f, ok := s.pageForm(w, r, "Nothing was granted. Go back to the app and connect again.")
	if !ok {
		return
	}
	a, trade := f.Ask, posted.get("grant") == ScopeTrade
	if a == nil {
		s.refuseHere(w, r, bad("invalid_request", "This is not a form of this server, or the server was restarted. Go back to the app and connect again."))
		return
	}
	var ref *refusal
	if a.client, ref = s.client(a.ClientID, s.visitor(r), bad("invalid_client", "This server does not know the app that sent you here. "+reconnect)); ref != nil {
		s.refuseHere(w, r, ref)
		return
	}
	if n := s.judge(r, a.client.identity.short(), posted, f); n != nil {
		n.trade = trade
		s.consent(w, r, a, *n)
		return
	}
	if posted.get("decision") == "deny" {
		s.refuseAsk(w, r, a, &refusal{status: http.StatusOK, code: "access_denied", text: "the owner said no"})
		return
	}
	if a.client.own && s.page != nil {
		if !s.page.admits(s, r, a, true) {
			s.refuseHere(w, r, noPageKey)
			return
		}
		s.setCookie(w, AuthorizePath, s.hostCookie(pageCookie), s.page.browser, TokenLife)
	}
	scope := s.scopeFor(a.client, trade)
	s.approved.add(a.approval(), mark{at: time.Now()})
	s.log.Info("consent given", a.client.who(), "scope", scope, "from", s.ClientIP(r))
	s.grant(w, a, scope)
}

// scopeFor returns what a client is granted, with or without trading. The owner's own
// page gets everything there is: whoever logs in there is the owner.
func (s *Server) scopeFor(cl *client, trade bool) string {
	scope := ScopeCharts
	if s.options.Trade && (trade || cl.own) {
		scope = chartsAndTrade
	}
	if cl.own {
		scope += " " + ScopeOwner
	}
	return scope
}

// ApprovePath is the path of the page on which the owner answers a question. Like
// [AuthorizePath] it is for browsers, and scripts of other origins must not reach it.
const ApprovePath = "/approve"

// noQuestion is the refusal for a question that is gone or never was. It is one for
// both, so that a stranger who tries ids cannot tell them apart.
var noQuestion = &refusal{status: http.StatusNotFound, code: "invalid_request", perhaps: true,
	text: "There is no such question: it was answered, is older than ten minutes, or the position has changed since and the app has a newer address. An order that was approved may have been placed. If it was not, have the app ask again."}

// approvePage shows the question that the query names.
func (s *Server) approvePage(w http.ResponseWriter, r *http.Request) {
	p, ok := s.pageQuery(w, r)
	if !ok {
		return
	}
	s.showQuestion(w, r, p.get("id"), notice{status: http.StatusOK})
}

// showQuestion shows the form of a question. If the owner has said yes before, the page says
// so, and the form can only take that back.
func (s *Server) showQuestion(w http.ResponseWriter, r *http.Request, id string, n notice) {
	lines, approved, ok := s.options.Questions.Question(id)
	if !ok {
		s.refuseHere(w, r, noQuestion)
		return
	}
	about := ""
	for _, line := range lines {
		about += piece("line", "{line}", line)
	}
	title, lead, fields := "Place this order?", "approval", []string{s.passphraseField(n), piece("place")}
	switch {
	case s.owner == nil: // without a passphrase any program on this machine could say yes
		n.text, fields = "Here nobody can say yes: start wick with a passphrase (--passphrase-file).", nil
	case approved:
		lead, fields = "approved", []string{piece("back")}
	}
	if approved {
		title = "Approved"
	}
	s.showForm(w, r, form{Question: id}, n, title, piece("heading", "{title}", title)+piece(lead), about, fields...)
}

// approve takes the owner's answer to a question. Without a passphrase it takes no yes.
func (s *Server) approve(w http.ResponseWriter, r *http.Request) {
	posted, f, ok := s.pageForm(w, r, "This answer was not taken. To answer, open the address that the app gave.")
	if !ok {
		return
	}
	if f.Question == "" {
		s.refuseHere(w, r, noQuestion)
		return
	}
	yes := posted.get("decision") == "allow"
	n := &notice{status: http.StatusForbidden}
	if !yes || s.owner != nil {
		n = s.judge(r, "owner", posted, f)
	}
	if n != nil {
		s.showQuestion(w, r, f.Question, *n)
		return
	}
	if err := s.options.Questions.Answer(r.Context(), f.Question, yes, s.ClientIP(r).String()); err != nil {
		s.log.Warn("an answer does not count", "yes", yes, "error", err, "from", s.ClientIP(r))
		s.showQuestion(w, r, f.Question, notice{status: http.StatusConflict}) // approved before, or gone
		return
	}
	if yes {
		s.tellPage(w, http.StatusOK, "Approved", "Tell the app to place the order again, within ten minutes. You can close this page.")
		return
	}
	s.tellPage(w, http.StatusOK, "Not placed", "The app gets this answer when it asks again, within ten minutes. You can close this page.")
}

// hostCookie returns the full name of a cookie. Over https it has the prefix __Host-:
// then browsers accept the cookie from this host alone, not from a neighbouring one.
func (s *Server) hostCookie(name string) string {
	return when(s.secure(), "__Host-") + name
}

// setCookie sets a cookie for the form at path. Scripts cannot read it, and requests that other sites cause do not carry it.
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

// pageKey is how the owner gets to the owner's page where there is no passphrase: with a
// secret that is made at each start and printed inside the address of the page. The first
// login binds it to its browser by a cookie, and from then on it takes both: the key alone
// may be read in a log, and the cookie alone is sent to every port of this machine.
// Anybody else here gets charts and the paper book, and never the owner's scope.
type pageKey struct {
	key, browser string // the secret, and the value of the browser's cookie

	mu   sync.Mutex
	used bool // guarded by mu
}

const pageCookie = "wick-owner"

var noPageKey = &refusal{status: http.StatusForbidden, code: "access_denied",
	text: "The owner's page opens with the address that wick prints when it starts, /app?key=…, in one browser. It was used, or this is another address. Start wick again for a new one, or set a passphrase (--passphrase-file)."}

// PageKey returns the secret for the address of the owner's page; empty if none is needed.
func (s *Server) PageKey() string {
	if s.page == nil {
		return ""
	}
	return s.page.key
}

// admits reports whether a login of the owner's page comes from the owner: with the key, and
// once that was used from the browser that used it. With bind it binds the key to this
// browser: of two at once the first counts.
func (p *pageKey) admits(s *Server, r *http.Request, a *ask, bind bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	ok := subtle.ConstantTimeCompare([]byte(a.Key), []byte(p.key)) == 1 && (!p.used || hasCookie(r, s.hostCookie(pageCookie), p.browser))
	p.used = p.used || ok && bind
	return ok
}
