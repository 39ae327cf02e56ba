package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Duty 17: code and PKCE with S256 by name, or nothing. Without the method's
// name RFC 7636 means "plain", where the request itself holds the verifier.
func TestDuty17Request(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	for _, tc := range []struct{ name, value, code string }{
		{"response_type", "", "invalid_request"},
		{"response_type", "token", "unsupported_response_type"},
		{"response_type", "code token", "unsupported_response_type"},
		{"response_type", "CODE", "unsupported_response_type"},
		{"code_challenge", "", "invalid_request"},
		{"code_challenge", rfcChallenge[1:], "invalid_request"},
		{"code_challenge", rfcChallenge + "A", "invalid_request"},
		{"code_challenge", rfcChallenge[1:] + "=", "invalid_request"},
		{"code_challenge", rfcChallenge[1:] + "é", "invalid_request"},
		{"code_challenge", strings.Repeat("a", 128), "invalid_request"},
		{"code_challenge_method", "", "invalid_request"},
		{"code_challenge_method", "plain", "invalid_request"},
		{"code_challenge_method", "s256", "invalid_request"},
		{"code_challenge_method", "S512", "invalid_request"},
	} {
		q := query(c, callback)
		q.Set(tc.name, tc.value)
		v := location(t, h.authorize(q), callback)
		if v.Get("error") != tc.code || v.Has("code") || v.Get("error_description") == "" {
			t.Errorf("%s=%q answered %v, want %s", tc.name, tc.value, v, tc.code)
		}
	}
	if h.codes.Load() != 0 {
		t.Errorf("%d codes made for bad requests", h.codes.Load())
	}
}

// Duty 18: a redirect URI matches whole, but for a loopback port. Matching by
// prefix or host sends codes to whoever finds an open corner of a client's site.
func TestDuty18RedirectMatch(t *testing.T) {
	for _, tc := range []struct {
		registered, asked string
		want              bool
	}{
		{"https://a.example/cb", "https://a.example/cb", true},
		{"https://a.example/cb", "https://a.example/cb/", false},
		{"https://a.example/cb", "https://a.example/cb?x", false},
		{"https://a.example/cb", "https://a.example/CB", false},
		{"https://a.example/cb", "https://A.example/cb", false},
		{"https://a.example/cb", "https://a.example:443/cb", false},
		{"https://a.example/cb", "https://a.example/cb/../x", false},
		{"https://a.example/cb", "https://a.example/%63b", false},
		{"https://a.example/cb", "https://a.example.evil.example/cb", false},
		{"https://a.example/cb", "http://a.example/cb", false},
		{"https://localhost:1/cb", "https://localhost:2/cb", true},
		{"https://localhost/cb", "https://localhost:8443/cb", true},
		{"https://127.0.0.1/cb", "https://127.0.0.1:8443/cb", true},
		{"https://[::1]:1/cb?x=1", "https://[::1]:2/cb?x=1", true},
		{"https://localhost/cb", "http://localhost:8443/cb", false},
		{"http://localhost/cb", "https://localhost:8443/cb", false},
		{"https://localhost/cb", "https://localhost:8443/other", false},
		{"https://localhost/cb", "https://localhost:8443@evil.example/cb", false},
		{"https://localhost.evil.example:1/cb", "https://localhost.evil.example:2/cb", false},
		{"https://a.example:1/cb", "https://a.example:2/cb", false},
		{"http://localhost:1/cb", "http://localhost:2/cb", true},
		{"http://localhost/cb", "http://localhost:2/cb", true},
		{"http://localhost:1/cb", "http://localhost/cb", true},
		{"http://127.0.0.1/", "http://127.0.0.1:33418/", true},
		{"http://[::1]:1/cb", "http://[::1]:2/cb", true},
		{"http://127.0.0.1:1/cb?x=1", "http://127.0.0.1:2/cb?x=1", true},
		{"http://127.0.0.1:1", "http://127.0.0.1:2", true},
		{"http://localhost:1/cb", "http://127.0.0.1:1/cb", false},
		{"http://localhost:1/cb", "http://localhost:2/other", false},
		{"http://localhost:1/cb", "http://localhost:2/cb?x", false},
		{"http://localhost:1/cb", "http://localhost:0/cb", false},
		{"http://localhost:1/cb", "http://localhost:99999/cb", false},
		{"http://localhost:1/cb", "http://user@localhost:2/cb", false},
		{"http://localhost:1/cb", "http://localhost:2@evil.example/cb", false},
		{"http://localhost:1/cb", "http://localhost:2/cb#f", false},
		{"http://localhost:1/cb", "HTTP://localhost:2/cb", false},
		{"cursor://a/cb", "cursor://a/cb", true},
		{"cursor://localhost:1/cb", "cursor://localhost:2/cb", false},
		{"https://a.example/cb", "", false},
	} {
		if got := redirectMatches(tc.registered, tc.asked); got != tc.want {
			t.Errorf("registered %q, asked %q: %v, want %v", tc.registered, tc.asked, got, tc.want)
		}
	}
}

// Duty 18, the answer: nobody is redirected to an address that nobody
// registered, or the server would be an open redirector with a login page's name.
func TestDuty18ErrorsStayHere(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	for name, change := range map[string]func(url.Values){
		"unknown client":      func(q url.Values) { q.Set("client_id", "nobody") },
		"no client":           func(q url.Values) { q.Del("client_id") },
		"two clients":         func(q url.Values) { q.Add("client_id", c.ClientID) },
		"foreign redirect":    func(q url.Values) { q.Set("redirect_uri", "https://evil.example/") },
		"no redirect":         func(q url.Values) { q.Del("redirect_uri") },
		"two redirects":       func(q url.Values) { q.Add("redirect_uri", "https://evil.example/") },
		"two equal redirects": func(q url.Values) { q.Add("redirect_uri", callback) },
	} {
		q := query(c, callback)
		change(q)
		w := h.authorize(q, header("Accept", "text/html,application/xhtml+xml,*/*;q=0.8"))
		if w.Code != http.StatusBadRequest || w.Header().Get("Location") != "" || !strings.Contains(w.Body.String(), "add it again") {
			t.Errorf("%s: status %d, Location %q, want a page that says what to do", name, w.Code, w.Header().Get("Location"))
		}
		if got := w.Header().Get("Content-Type"); got != "text/html; charset=utf-8" {
			t.Errorf("%s: Content-Type %q", name, got)
		}
		// mcp-remote asks so before it opens the browser.
		wantError(t, h.authorize(q, header("Accept", "application/json")), http.StatusBadRequest, "invalid_client")
	}
	for _, raw := range []string{"%zz", "a=1;b=2"} {
		if w := h.do("GET", "/authorize?"+raw, ""); w.Code != http.StatusBadRequest {
			t.Errorf("query %q: status %d, want 400", raw, w.Code)
		}
	}
}

// Duty 19: a parameter sent twice is an error, since a proxy before us may have
// checked the other one. An empty one counts as absent, an unknown one is ignored.
func TestDuty19Twice(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	for _, name := range []string{"response_type", "code_challenge", "code_challenge_method", "scope", "state", "unknown"} {
		q := query(c, callback)
		q[name] = []string{"a", "a"}
		v := location(t, h.authorize(q), callback)
		if v.Get("error") != "invalid_request" || v.Has("code") {
			t.Errorf("%s twice answered %v", name, v)
		}
		if want := map[bool]string{true: "", false: "xyz"}[name == "state"]; v.Get("state") != want {
			t.Errorf("%s twice: state %q, want %q", name, v.Get("state"), want)
		}
	}
	form := exchangeForm(c, h.code(query(c, callback)), callback)
	for name := range form {
		twice := url.Values{}
		for k, v := range form {
			twice[k] = v
		}
		twice[name] = append(twice[name][:1:1], twice[name][0])
		wantError(t, h.exchange(twice), http.StatusBadRequest, "invalid_request")
	}
	q := query(c, callback)
	q.Set("state", "")
	q.Set("scope", "")
	q.Set("resource", "")
	if v := location(t, h.authorize(q), callback); v.Has("state") || !v.Has("code") {
		t.Errorf("empty state came back in %v", v)
	}
}

// Duty 20: no CORS on /authorize, whatever asks: a page could read the form.
func TestDuty20NoCORS(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	for _, w := range []http.Header{
		h.authorize(query(c, callback), header("Origin", "http://localhost:3000")).Header(),
		h.do("POST", "/authorize", "x=y", header("Origin", "null")).Header(),
		h.do("OPTIONS", AuthorizePath, "", header("Origin", "http://localhost:3000")).Header(),
	} {
		for name := range w {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s is set", name)
			}
		}
	}
}

// Duty 21: 303. After a 307 the browser posts the form, passphrase and all, on
// to the client.
func TestDuty21Status(t *testing.T) {
	h := open(t, public)
	c := h.registerURIs(callback)
	for _, decision := range []string{"allow", "deny"} {
		if w := h.answer(h.authorize(query(c, callback)), url.Values{"decision": {decision}, "passphrase": {phrase}}); w.Code != http.StatusSeeOther {
			t.Errorf("%s: status %d, want 303", decision, w.Code)
		}
	}
	q := query(c, callback)
	q.Del("response_type")
	if w := h.authorize(q); w.Code != http.StatusSeeOther {
		t.Errorf("error: status %d, want 303", w.Code)
	}
}

// Duty 22: the state comes back as it was sent, through the form as well, and
// the redirect URI keeps its own query. Pasted in raw, a state could add
// parameters to the answer.
func TestDuty22State(t *testing.T) {
	states := []string{"a", "a b+c", "a&code=evil#f", "%41%", "\r\nSet-Cookie: x", "\x00\xff\xfe", "é📈", "'\"<>", strings.Repeat("\xff", maxState)}
	for _, redirect := range []string{callback, callback + "?own=1&b=%20", callback + "?", "https://client.example/cb?own=1", "cursor://x/cb"} {
		h := open(t)
		c := h.registerURIs(redirect)
		for _, state := range states {
			q := query(c, redirect)
			q.Set("state", state)
			w := h.authorize(q)
			if w.Code == http.StatusOK {
				w = h.answer(w, url.Values{"decision": {"allow"}})
			}
			v := location(t, w, redirect)
			if got := v.Get("state"); got != state {
				t.Errorf("%s: state %q came back as %q", redirect, state, got)
			}
			if len(v["code"]) != 1 || len(v["state"]) != 1 || len(v["iss"]) != 1 {
				t.Errorf("%s: answer %v, want code, state and iss once", redirect, v)
			}
			u, err := url.Parse(w.Header().Get("Location"))
			if err != nil || strings.Contains(redirect, "own=1") != (u.Query().Get("own") == "1") {
				t.Errorf("Location %q lost the query of %q", w.Header().Get("Location"), redirect)
			}
		}
		q := query(c, redirect)
		q.Set("state", strings.Repeat("x", maxState+1))
		if v := location(t, h.authorize(q), redirect); v.Get("error") != "invalid_request" || v.Has("state") { // maxState and a byte
			t.Errorf("a state of 2 KiB and a byte answered %v", v)
		}
	}
}

// Duty 23: the page's address holds the request; it goes to nobody else, and
// nothing on the page comes from elsewhere.
func TestDuty23Referrer(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback, "https://client.example/cb")
	for _, redirect := range c.RedirectURIs {
		w := h.authorize(query(c, redirect))
		if got := w.Header().Get("Referrer-Policy"); got != "same-origin" {
			t.Errorf("%s: Referrer-Policy %q", redirect, got)
		}
		for _, outside := range []string{`src="http`, `href="http`, "@import", "url("} {
			if strings.Contains(w.Body.String(), outside) {
				t.Errorf("%s: the page loads %s", redirect, outside)
			}
		}
	}
}

// Errors for people are pages with the same protective headers as the form.
func TestProblemPage(t *testing.T) {
	w := open(t).do("GET", "/authorize?client_id=x", "", header("Accept", "text/html"))
	for name, want := range map[string]string{"X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": pagePolicy} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if strings.Contains(w.Body.String(), "<form") {
		t.Error("a problem page has a form")
	}
}
