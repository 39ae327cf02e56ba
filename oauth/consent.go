package oauth

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"wick/internal/limit"
)

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
		Trade:          s.options.Trade,
		ChoseTrade:     n.trade,
		Money:          s.options.Money,
		Passphrase:     s.owner != nil,
		PassphraseFrom: s.options.PassphraseFrom,
		WrongWord:      n.wrongWord,
		Kept:           s.kept,
		Request:        s.seal(forForm, packTime(time.Now().Add(formLife)), s.bind(w, r, a), a.clientID, a.redirect, a.state, a.challenge, a.key),
	})
}

// decide takes the owner's answer. It counts once, and only on a form of ours, from
// the browser that the form was shown in, posted by the form's own page.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	form, ok := s.pageForm(w, r, "Nothing was granted. Go back to the app and connect again.")
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
	s.setCookie(w, AuthorizePath, s.cookieName(a), "", -time.Second) // it has served
	if a.client.own && s.page != nil && form.get("decision") == "allow" {
		if !s.page.admits(s, r, a, true) {
			s.refuseHere(w, r, noPageKey)
			return
		}
		s.setCookie(w, AuthorizePath, s.hostCookie(pageCookie), s.page.browser, TokenLife)
	}
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
func (s *Server) choseTrade(form params) bool {
	return s.options.Trade && form.get("grant") == ScopeTrade
}

// scopeFor returns what a client is granted, with or without trading. The owner's own
// page gets everything there is: whoever logs in there is the owner.
func (s *Server) scopeFor(cl *client, trade bool) string {
	switch {
	case cl.own && s.options.Trade:
		return chartsAndTrade + " " + ScopeOwner
	case cl.own:
		return ScopeCharts + " " + ScopeOwner
	case trade:
		return chartsAndTrade
	}
	return ScopeCharts
}

// judge returns nil if an answer counts, else what to say when the page is shown again.
// The argument good is what openForm reported of the form.
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

// cookieName returns the name of the cookie that ties a form to its browser. It
// is made from the request, so that two pages for two clients can be open in
// one browser.
func (s *Server) cookieName(a *ask) string {
	sum := sha256.Sum256(pack(a.clientID, a.redirect, a.state, a.challenge))
	return s.hostCookie("wick-" + hex.EncodeToString(sum[:8]))
}

// bind ties the form for a request to this browser by a cookie, and returns the
// cookie's value for the form to hold. A browser that has the page open already
// keeps its value, so that a second tab does not spoil the first.
func (s *Server) bind(w http.ResponseWriter, r *http.Request, a *ask) string {
	name, value := s.cookieName(a), newSecret()
	if old, err := r.Cookie(name); err == nil && len(old.Value) == len(value) {
		value = old.Value
	}
	s.setCookie(w, AuthorizePath, name, value, formLife)
	return value
}

// openForm returns the request that a form holds, and whether the form is good: it has
// not expired, was not answered before, and comes from the browser it was shown in.
func (s *Server) openForm(r *http.Request, sealed string) (a *ask, good bool, ref *refusal) {
	texts, _ := s.open(forForm, sealed)
	if len(texts) != 7 {
		return nil, false, bad("invalid_request", "This is not a form of this server, or the server was restarted. Go back to the app and connect again.")
	}
	// The form holds, in this order: when it ends, the browser, the client's id, the
	// redirect URI, the state, the challenge and the key of the page.
	cl, err := s.client(texts[2], s.visitor(r))
	ends, ok := unpackTime(texts[0])
	if err != nil || !ok {
		return nil, false, refuseClient(err, bad("invalid_client", "This server does not know the app that sent you here. "+reconnect))
	}
	a = &ask{client: cl, clientID: texts[2], redirect: texts[3], state: texts[4], challenge: texts[5], key: texts[6]}
	_, answered := s.answered.get(digestOf(sealed))
	return a, hasCookie(r, s.cookieName(a), texts[1]) && !answered && time.Now().Before(ends), nil
}

// claim marks a form as answered. It returns nil for the first post of a form, and for
// any other what to say on the page. A form may also be posted to another process, or again
// after a restart, so the ledger is asked too. It is asked only about a yes, which takes
// the passphrase, so that no stranger can fill the ledger.
func (s *Server) claim(r *http.Request, a *ask, form params) *notice {
	key := digestOf(form.get("request"))
	first, _ := s.answered.add(key, mark{time.Now(), time.Now().Add(formLife)})
	if first && form.get("decision") == "allow" {
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
