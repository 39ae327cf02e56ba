package oauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/url"
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

// pageHeaders sets what every answer of /authorize carries.
func pageHeaders(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
}

// notice says why a form is shown, and with which status.
type notice struct {
	status    int
	text      string
	wrongWord bool
	wait      time.Duration
}

// consent shows the form for a good request.
func (s *Server) consent(w http.ResponseWriter, a *ask, n notice) {
	request := a.pack()
	(&refusal{wait: n.wait}).head(w.Header())
	show(w, n.status, page{
		Title:      "Allow access?",
		Notice:     n.text,
		Client:     a.client.name,
		To:         destinationOf(a.redirect),
		Trade:      s.trade,
		WantsTrade: a.scope == chartsAndTrade,
		Passphrase: s.owner != nil,
		WrongWord:  n.wrongWord,
		Request:    request,
		Seal:       s.seal(request, time.Now().Add(formLife)),
	})
}

// problem shows a refusal to a person.
func (s *Server) problem(w http.ResponseWriter, ref *refusal) {
	pageHeaders(w.Header())
	ref.head(w.Header())
	show(w, ref.status, page{Title: "This did not work", Problem: sentence(ref.text)})
}

// sentence dresses an error's text for a page. Texts of ours begin with ASCII.
func sentence(text string) string {
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

func show(w http.ResponseWriter, status int, p page) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, p.html())
}

// decide takes the owner's answer. The request is judged again as if it came
// anew, so a form can say nothing that an address could not. A form that is not
// ours, too old, or posted by another site decides nothing: it is shown again.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	pageHeaders(w.Header())
	form, p, ref := readForm(w, r)
	if ref != nil {
		s.refuseHere(w, r, ref)
		return
	}
	a, ref := s.check(r, p)
	if ref != nil {
		s.refuseAsk(w, r, a, ref)
		return
	}
	if choice := form.get("grant"); choice != "" { // kept if the form is shown again
		a.scope = s.askedScope(choice)
	}
	decision := form.get("decision")
	switch {
	case !s.sealed(form.get("request"), form.get("seal")) || fromElsewhere(r):
		s.log.Warn("consent form refused", "client", a.client.identity.short(), "reason", "expired or not ours", "from", s.ClientIP(r))
		s.consent(w, a, notice{status: http.StatusBadRequest,
			text: "This page was open for too long. Nothing was granted: please answer again."})
	case decision == "deny":
		s.refuseAsk(w, r, a, bad("access_denied", "the owner said no"))
	case decision != "allow":
		s.consent(w, a, notice{status: http.StatusBadRequest, text: "Please choose Allow or Deny."})
	default:
		s.allow(w, r, a, form)
	}
}

// allow grants what the owner allowed, if it is the owner.
func (s *Server) allow(w http.ResponseWriter, r *http.Request, a *ask, form params) {
	if s.owner != nil {
		right, wait := s.owner.check(form.get("passphrase"))
		switch {
		case wait > 0:
			s.log.Warn("passphrase not tried: too many wrong ones", "client", a.client.identity.short(), "from", s.ClientIP(r))
			s.consent(w, a, notice{status: http.StatusTooManyRequests, wait: wait, wrongWord: true,
				text: fmt.Sprintf("Too many wrong passphrases. Try again in %d seconds.", seconds(wait))})
			return
		case !right:
			s.log.Warn("wrong passphrase", "client", a.client.identity.short(), "from", s.ClientIP(r))
			s.consent(w, a, notice{status: http.StatusForbidden, wrongWord: true, text: "That is not the passphrase."})
			return
		}
	}
	scope := ScopeCharts
	if s.trade && form.get("grant") == ScopeTrade {
		scope = chartsAndTrade
	}
	s.log.Info("consent given", "client", a.client.identity.short(), "name", limit.Clip(a.client.name), "scope", scope, "from", s.ClientIP(r))
	s.grant(w, a, scope)
}

// pack writes a request that passed every check the way the form carries it:
// as base64, since a browser would change line ends and odd bytes of a state
// given to it as they are.
func (a *ask) pack() string {
	again := url.Values{
		"client_id":             {a.clientID},
		"redirect_uri":          {a.redirect},
		"response_type":         {"code"},
		"state":                 {a.state},
		"code_challenge":        {a.challenge},
		"code_challenge_method": {"S256"},
		"scope":                 {a.scope},
	}
	return base64.RawURLEncoding.EncodeToString([]byte(again.Encode()))
}

// readForm reads the consent form and the request packed in it.
func readForm(w http.ResponseWriter, r *http.Request) (form, request params, ref *refusal) {
	form, ref = readParams(w, r)
	if ref == nil {
		ref = form.twice()
	}
	if ref != nil {
		return nil, nil, ref
	}
	raw, err := base64.RawURLEncoding.DecodeString(form.get("request"))
	again, err2 := url.ParseQuery(string(raw))
	if err != nil || err2 != nil || len(raw) == 0 {
		return nil, nil, bad("invalid_request", "This is not a form of this server. Go back to the app and connect again.")
	}
	return form, params(again), nil
}

// fromElsewhere reports whether the browser says that another site's page
// posted the form. Browsers that say nothing are held by the seal alone: on a
// loopback server no other site can read one, elsewhere there is the passphrase.
func fromElsewhere(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}

// seal signs a form's request together with the time at which the form ends.
func (s *Server) seal(request string, ends time.Time) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(ends.Unix()))
	mac := hmac.New(sha256.New, s.sealKey[:])
	mac.Write(b)
	mac.Write([]byte(request))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(b))
}

// sealed reports whether seal is ours, of this request, and not yet over.
func (s *Server) sealed(request, seal string) bool {
	b, err := base64.RawURLEncoding.DecodeString(seal)
	if err != nil || len(b) != 8+sha256.Size {
		return false
	}
	ends := time.Unix(int64(binary.BigEndian.Uint64(b)), 0)
	return time.Now().Before(ends) && hmac.Equal([]byte(seal), []byte(s.seal(request, ends)))
}
