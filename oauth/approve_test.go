package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// asking is one question, and what was said to it.
type asking struct {
	lines []string
	said  []bool
	used  bool // the app has come for the answer
}

func (a *asking) Question(id string) (lines []string, approved, ok bool) {
	approved = len(a.said) == 1 && a.said[0]
	return a.lines, approved, id == "the-id" && !a.used && (len(a.said) == 0 || approved)
}

func (a *asking) Answer(_ context.Context, id string, yes bool, _ string) error {
	_, approved, ok := a.Question(id)
	if ok = ok && !(approved && yes); ok {
		a.said = append(a.said, yes)
		return nil
	}
	return errors.New("it waits no longer")
}

// reply posts the form of a page with further fields.
func postAnswer(h *fixture, shown *httptest.ResponseRecorder, extra url.Values, change ...func(*http.Request)) *httptest.ResponseRecorder {
	form := url.Values{"request": {field(h.t, shown, "request")}}
	for name, values := range extra {
		form[name] = values
	}
	return h.do("POST", ApprovePath, form.Encode(), append([]func(*http.Request){cookies(shown), header("Origin", h.base)}, change...)...)
}

// The owner's yes needs the passphrase, the form's own browser and page, and
// counts once.
func TestApprove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &asking{lines: []string{"buy 1 <b>BTCUSDT</b>"}}
		h := open(t, public, func(o *Options) { o.Questions = q })
		shown := h.do("GET", ApprovePath+"?id=the-id", "")
		if text := shown.Body.String(); shown.Code != 200 || !strings.Contains(text, "buy 1 &lt;b&gt;BTCUSDT&lt;/b&gt;") || shown.Header().Get("X-Frame-Options") != "DENY" {
			t.Fatalf("%d %s", shown.Code, text)
		}
		yes := url.Values{"decision": {"allow"}, "passphrase": {phrase}}
		for what, refused := range map[string]*httptest.ResponseRecorder{
			"no passphrase":         postAnswer(h, shown, url.Values{"decision": {"allow"}}),
			"a wrong passphrase":    postAnswer(h, shown, url.Values{"decision": {"allow"}, "passphrase": {"guess"}}),
			"another site's page":   postAnswer(h, shown, yes, header("Origin", "https://evil.example")),
			"another browser":       postAnswer(h, shown, yes, func(r *http.Request) { r.Header.Del("Cookie") }),
			"no decision":           postAnswer(h, shown, url.Values{"passphrase": {phrase}}),
			"a form of our login":   postAnswer(h, shown, url.Values{"request": {h.seal(forForm, form{Ends: time.Now().Add(time.Hour), Browser: cookieOf(shown), Ask: &ask{ClientID: "the-id"}})}, "decision": {"allow"}, "passphrase": {phrase}}),
			"a made-up form":        postAnswer(h, shown, url.Values{"request": {"the-id"}, "decision": {"allow"}, "passphrase": {phrase}}),
			"the id as a parameter": h.do("POST", ApprovePath, "id=the-id&decision=allow&passphrase="+url.QueryEscape(phrase), header("Origin", h.base)),
		} {
			if refused.Code < 400 || len(q.said) > 0 {
				t.Fatalf("%s: status %d, %v", what, refused.Code, q.said)
			}
			if text := refused.Body.String(); strings.Contains(text, "connect again") || strings.Contains(text, "site") != (what == "another site's page") {
				t.Errorf("%s: the page says %s", what, text)
			}
		}
		shown = h.do("GET", ApprovePath+"?id=the-id", "")
		time.Sleep(formLife)
		if late := postAnswer(h, shown, yes); late.Code != http.StatusBadRequest || len(q.said) > 0 {
			t.Errorf("a page that lay open: %d, %v", late.Code, q.said)
		}
		shown = h.do("GET", ApprovePath+"?id=the-id", "")
		if done := postAnswer(h, shown, yes); done.Code != 200 || len(q.said) != 1 || !q.said[0] {
			t.Errorf("the owner's yes: %d, %v", done.Code, q.said)
		}
		if again := postAnswer(h, shown, yes); again.Code != http.StatusBadRequest || len(q.said) != 1 {
			t.Errorf("a second time: %d, %v", again.Code, q.said)
		}
	})
}

// TestApprovedAlready: a page that was opened before the yes, or is opened after it, says that the
// order is approved, whatever is pressed, and lets the owner take the yes back until it is
// used. Once it is used nobody is told that nothing was granted.
func TestApprovedAlready(t *testing.T) {
	q := &asking{lines: []string{"buy 1"}}
	h := open(t, public, func(o *Options) { o.Questions = q })
	see := func() *httptest.ResponseRecorder { return h.do("GET", ApprovePath+"?id=the-id", "") }
	yes, no := url.Values{"decision": {"allow"}, "passphrase": {phrase}}, url.Values{"decision": {"deny"}}
	first, second := see(), see()
	if done := postAnswer(h, first, yes); done.Code != 200 || len(q.said) != 1 {
		t.Fatalf("the yes: %d, %v", done.Code, q.said)
	}
	gone := func(r *http.Request) { r.Header.Del("Cookie") }
	if text := postAnswer(h, second, no, gone).Body.String(); !strings.Contains(text, `role="alert"`) {
		t.Errorf("it does not say why nothing was taken back: %s", text)
	}
	for what, shown := range map[string]*httptest.ResponseRecorder{
		"the address again":           see(),
		"yes in another tab":          postAnswer(h, second, yes),
		"no, and the cookie is gone":  postAnswer(h, second, no, gone),
		"yes with a wrong passphrase": postAnswer(h, second, url.Values{"decision": {"allow"}, "passphrase": {"guess"}}),
		"yes and the cookie is gone":  postAnswer(h, second, yes, gone),
		"no decision in another tab":  postAnswer(h, second, nil),
	} {
		text := shown.Body.String()
		if !strings.Contains(text, "This order is approved already") || !strings.Contains(text, "Take it back") || len(q.said) != 1 ||
			strings.Contains(text, "Nothing was") || strings.Contains(text, "Place it") || strings.Contains(text, `type="password"`) {
			t.Errorf("%s: %v %s", what, q.said, text)
		}
	}
	if back := postAnswer(h, see(), no); back.Code != 200 || len(q.said) != 2 || q.said[1] || !strings.Contains(back.Body.String(), "Not placed") {
		t.Errorf("taken back: %d, %v, %s", back.Code, q.said, back.Body)
	}
	q.said, q.used = []bool{true}, true
	for what, shown := range map[string]*httptest.ResponseRecorder{"the address": see(), "no in another tab": postAnswer(h, second, no)} {
		if text := shown.Body.String(); shown.Code != http.StatusNotFound || strings.Contains(text, "Nothing was") || !strings.Contains(text, "may have been placed") {
			t.Errorf("used: %s: %d %s", what, shown.Code, text)
		}
	}
}

// Without a passphrase the page shows the order and takes no yes: whatever is on this machine
// could give it. A server without questions has no such
// page.
func TestApproveOnLoopback(t *testing.T) {
	q := &asking{lines: []string{"sell 2"}}
	h := open(t, func(o *Options) { o.Questions, o.OwnPage = q, "/app" })
	shown := h.do("GET", ApprovePath+"?id=the-id", "")
	if text := shown.Body.String(); strings.Contains(text, "<form") || !strings.Contains(text, "sell 2") || !strings.Contains(text, "nobody can say yes") {
		t.Fatalf("%v %s", q.said, shown.Body)
	}
	if rebound := h.do("GET", ApprovePath+"?id=the-id", "", func(r *http.Request) { r.Host = "evil.example" }); rebound.Code != http.StatusForbidden {
		t.Errorf("under another name: %d", rebound.Code)
	}
	for _, cookie := range []string{"", formCookie + "=b"} { // a form as the page would have it, made with the server's own key
		yes := url.Values{"decision": {"allow"}, "request": {h.seal(forForm, form{Ends: time.Now().Add(formLife), Browser: "b", Question: "the-id"})}}
		if done := h.do("POST", ApprovePath, yes.Encode(), header("Origin", h.base), header("Cookie", cookie)); done.Code != http.StatusForbidden || len(q.said) != 0 {
			t.Errorf("yes: %d, %v", done.Code, q.said)
		}
	}
	if none := open(t).do("GET", ApprovePath+"?id=the-id", ""); none.Code != http.StatusNotFound {
		t.Errorf("without questions: %d", none.Code)
	}
}
