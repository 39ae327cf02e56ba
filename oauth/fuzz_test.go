package oauth

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"wick/internal/address"
)

// visit counts the fuzzers' requests, each of which comes from an address of its
// own: the rates have tests of their own.
var visit atomic.Uint32

func stranger() func(*http.Request) {
	n := visit.Add(1)
	return from(netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, byte(n >> 16), byte(n >> 8), byte(n)}), 1).String())
}

// FuzzRegister: whatever is posted, the answer is JSON; what is registered can
// be used; the client_id stays within its bound.
func FuzzRegister(f *testing.F) {
	for _, rc := range realClients {
		f.Add([]byte(rc.register))
	}
	for _, s := range []string{"", "{}", "null", `{"redirect_uris":["javascript:x"]}`, `{"redirect_uris":["http://localhost:1/#"],"client_name":"\u202e"}`, `{"REDIRECT_URIS":["https://a.example"]}`, `{"redirect_uris":["https://a.example"],"redirect_uris":[]}`} {
		f.Add([]byte(s))
	}
	h := open(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		h := h.with(t)
		w := h.do("POST", "/register", string(body), header("Content-Type", asJSON), stranger())
		if !json.Valid(w.Body.Bytes()) {
			t.Fatalf("reply to %q: %q", body, w.Body)
		}
		if w.Code != http.StatusCreated {
			if w.Code != http.StatusBadRequest && w.Code != http.StatusRequestEntityTooLarge {
				t.Fatalf("status %d for %q", w.Code, body)
			}
			return
		}
		c := reply[registered](t, w, http.StatusCreated)
		if !bytes.Contains(body, []byte(`"redirect_uris"`)) && !bytes.Contains(body, []byte(`\u`)) {
			t.Fatalf("%q was read by another name", body)
		}
		if len(c.ClientID) > maxClientID {
			t.Fatalf("a client_id of %d characters for %q", len(c.ClientID), body)
		}
		for _, uri := range c.RedirectURIs {
			u, err := url.Parse(uri)
			if err != nil || u.Fragment != "" || u.User != nil || strings.ContainsAny(uri, " \r\n\\#") ||
				u.Scheme == "http" && !address.Loopback(u.Hostname()) || strings.EqualFold(u.Scheme, "javascript") {
				t.Fatalf("registered %q", uri)
			}
			checkAnswer(t, h.authorize(query(c, uri), stranger()), c.RedirectURIs)
		}
	})
}

// checkAnswer holds an answer of /authorize to its two shapes: something to read
// here, or a 303 to a registered address and no other.
func checkAnswer(t *testing.T, w *httptest.ResponseRecorder, registered []string) {
	t.Helper()
	to := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther {
		if to != "" || w.Code != http.StatusOK && w.Code != http.StatusBadRequest && w.Code != http.StatusRequestEntityTooLarge {
			t.Fatalf("status %d, Location %q", w.Code, to)
		}
		return
	}
	i := max(strings.LastIndex(to, "?code="), strings.LastIndex(to, "&code="), strings.LastIndex(to, "?error="), strings.LastIndex(to, "&error="))
	for _, uri := range registered {
		if i >= 0 && redirectMatches(uri, to[:i]) || strings.HasSuffix(uri, "?") && strings.HasPrefix(to, uri) {
			return
		}
	}
	t.Fatalf("sent to %q, registered %q", to, registered)
}

// FuzzAuthorize: no query sends the browser anywhere but to a registered
// address, and no page holds a script or an unescaped word of the query.
func FuzzAuthorize(f *testing.F) {
	h := open(f, trading)
	redirects := []string{callback, "https://client.example/cb?own=1", "cursor://x/cb"}
	c := h.registerURIs(redirects...)
	for _, redirect := range redirects {
		f.Add(query(c, redirect).Encode())
		f.Add(query(c, redirect).Encode() + "&state=twice&resource=x&scope=charts+trade")
	}
	f.Add("client_id=" + c.ClientID + "&redirect_uri=https://evil.example")
	f.Add("client_id=" + c.ClientID + "&redirect_uri=http://127.0.0.1:1@evil.example/callback")
	f.Add("%zz&;")
	f.Fuzz(func(t *testing.T, raw string) {
		// Corpus entries of other runs name other clients.
		q, err := url.ParseQuery(raw)
		if err == nil && q.Get("client_id") != "" {
			q.Set("client_id", c.ClientID)
			raw = q.Encode()
		}
		r := httptest.NewRequest("GET", h.base+"/authorize", nil)
		r.URL.RawQuery = raw
		stranger()(r)
		w := httptest.NewRecorder()
		h.mux.ServeHTTP(w, r)
		checkAnswer(t, w, redirects)
		if strings.Contains(w.Body.String(), "<script") {
			t.Fatalf("query %q: %s", raw, w.Body)
		}
		if state := q["state"]; err == nil && w.Code == http.StatusSeeOther && len(state) == 1 && len(state[0]) <= maxState {
			u, err := url.Parse(w.Header().Get("Location"))
			if err != nil || u.Query().Get("state") != state[0] {
				t.Fatalf("state %q came back in %q", state[0], w.Header().Get("Location"))
			}
		}
	})
}

// FuzzConsent: no form that is posted without its browser's cookie makes a code.
func FuzzConsent(f *testing.F) {
	h := open(f)
	redirect := "https://client.example/cb"
	c := h.registerURIs(redirect)
	page := h.authorize(query(c, redirect))
	f.Add("request=" + field(f, page, "request") + "&decision=allow") // without its cookie
	f.Add("request=" + field(f, page, "request") + "&decision=deny")
	f.Add("request=%zz")
	f.Fuzz(func(t *testing.T, form string) {
		w := h.do("POST", "/authorize", form, stranger())
		checkAnswer(t, w, []string{redirect})
		if h.codes.Load() != 0 {
			t.Fatalf("form %q made a code", form)
		}
	})
}

// FuzzToken: no body gets a token, because none holds the verifier of a code; and none
// uses up the code that waits for its client.
func FuzzToken(f *testing.F) {
	for _, json := range []bool{false, true} {
		f.Add("grant_type=authorization_code&client_id=ID&code=CODE&code_verifier="+strings.Repeat("a", 43), json)
		f.Add("grant_type=authorization_code&client_id=ID&code=CODE&code=CODE", json)
		f.Add(`{"grant_type":"authorization_code","client_id":"ID","code":"CODE","code_verifier":"`+rfcChallenge+`"}`, json)
		f.Add(`{"a":"b","a":{}}`, json)
	}
	h := open(f)
	c := h.registerURIs(callback)
	f.Fuzz(func(t *testing.T, body string, asjson bool) {
		if strings.Contains(body, rfcVerifier) {
			return
		}
		h := h.with(t)
		h.ledger = NewLedger(NewBook(), func(Book) error { return nil }) // one takes only so many codes in five minutes
		code := h.code(query(c, callback))
		h.authorizations = limiter{rate: h.authorizations.rate}
		h.exchanges = limiter{rate: h.exchanges.rate}
		body = strings.NewReplacer("ID", c.ClientID, "CODE", code).Replace(body)
		kind := "application/x-www-form-urlencoded"
		if asjson {
			kind = asJSON
		}
		w := h.do("POST", "/token", body, header("Content-Type", kind), stranger())
		if w.Code/100 != 4 || !json.Valid(w.Body.Bytes()) || w.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("body %q: status %d: %s", body, w.Code, w.Body)
		}
		reply[tokenReply](t, h.exchange(exchangeForm(c, code, callback)), http.StatusOK)
	})
}

// FuzzRedirectMatch: nothing matches that was not registered, but for the port of a loopback
// address over http or https. The test does not compare as the code does: it reads both URIs with
// net/url and compares them part by part.
func FuzzRedirectMatch(f *testing.F) {
	f.Add("http://localhost:1/cb", "http://localhost:2/cb")
	f.Add("http://127.0.0.1/", "http://127.0.0.1:33418/")
	f.Add("http://[::1]:1/cb", "http://[::1]:2/cb")
	f.Add("https://localhost:1/cb", "https://localhost:2/cb")
	f.Add("https://a.example/cb", "https://a.example/cb/")
	f.Add("http://localhost:1/cb", "http://localhost:1@evil.example/cb")
	f.Add("http://localhost:1?x", "http://localhost:12?x")
	f.Fuzz(func(t *testing.T, registered, asked string) {
		if _, err := parseRedirect(registered); err != nil {
			return // never registered
		}
		if !redirectMatches(registered, asked) {
			if registered == asked {
				t.Fatalf("%q does not match itself", asked)
			}
			return
		}
		if registered == asked {
			return
		}
		a, errA := url.Parse(registered)
		b, errB := url.Parse(asked)
		if errA != nil || errB != nil {
			t.Fatalf("%q matches %q", registered, asked)
		}
		if a.Scheme != b.Scheme || a.Scheme != "http" && a.Scheme != "https" || a.Hostname() != b.Hostname() || !address.Loopback(b.Hostname()) || b.User != nil ||
			a.EscapedPath() != b.EscapedPath() || a.RawQuery != b.RawQuery || b.Fragment != "" || strings.Contains(asked, "#") || a.ForceQuery != b.ForceQuery {
			t.Fatalf("%q matches %q", registered, asked)
		}
	})
}

// FuzzBearer: only the header with the name of the scheme and the token lets a caller
// in; no other text does.
func FuzzBearer(f *testing.F) {
	h := open(f)
	token := h.login()
	for _, seed := range []string{"Bearer TOKEN", "bearer  TOKEN ", "Bearer", "Basic TOKEN", "TOKEN", "Bearer TOKEN, Bearer x", "Bearer\tTOKEN"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		value = strings.ReplaceAll(value, "TOKEN", token) // each process of the fuzzer has its own
		_, err := h.present("/mcp", value)
		scheme, rest, _ := strings.Cut(value, " ")
		if want := strings.EqualFold(scheme, "bearer") && strings.TrimSpace(rest) == token; (err == nil) != want {
			t.Errorf("%q: %v, want it let in: %v", value, err, want)
		}
	})
}

// FuzzForwarded: what a client writes into X-Forwarded-For never decides who it
// is: the entry that the trusted proxy adds does, and without a proxy the peer.
func FuzzForwarded(f *testing.F) {
	proxied := open(f, public, func(o *Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	plain := open(f)
	for _, seed := range []string{"", "10.0.0.1", "192.0.2.1, 10.0.0.1", "[2001:db8::1]:80", "x,,y", "198.51.100.7", "::ffff:10.0.0.1", "fe80::1%eth0", "10.0.0.1:99999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = "10.1.2.3:4"
		r.Header["X-Forwarded-For"] = []string{list, "198.51.100.7"}
		if got := proxied.ClientIP(r); got != netip.MustParseAddr("198.51.100.7") {
			t.Errorf("%q makes the client %v", list, got)
		}
		r.Header["X-Forwarded-For"] = []string{list}
		if got := plain.ClientIP(r); got != netip.MustParseAddr("10.1.2.3") {
			t.Errorf("without a proxy %q makes the client %v", list, got)
		}
	})
}

// FuzzClientID: no text opens as a client but the ones that were given out.
func FuzzClientID(f *testing.F) {
	h := open(f)
	c := h.registerURIs(callback)
	f.Add(c.ClientID, "")
	f.Add("ID", "AAAA")
	f.Add("ID\n", "")
	f.Add("IDID", "=")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, head, tail string) {
		id := strings.ReplaceAll(head, "ID", c.ClientID) + tail
		if cl, err := h.client(id, visitor{}, noQuestion); (err == nil) != (id == c.ClientID) || err == nil && cl.mayUse("https://evil.example/") {
			t.Fatalf("%q is a client: %v", id, err == nil)
		}
	})
}

// FuzzAuthority: a redirect URI that is taken shows the host that it names, in
// plain ASCII, as net/url and the text itself have it.
func FuzzAuthority(f *testing.F) {
	for _, seed := range []string{"https://claude.ai/cb", "https://%D1%81laude.ai/cb", "https://claude.ai%E3%83%8Eapi.evil.example", "https://a.example:443", "http://[::1]:1/", "https://2130706433/", "cursor://x/cb", "https://a.example\\@b/", "https:/a", "com.example://a:b@c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		u, ref := parseRedirect(uri)
		if ref != nil {
			return
		}
		to := destinationOf(uri)
		for _, c := range to.String() {
			if !plainAuthority.MatchString(string(c)) && !strings.ContainsRune("[]", c) && !(to.App && c == '+') {
				t.Fatalf("%q is shown as %q", uri, to)
			}
		}
		if to.App {
			return
		}
		shown, err := url.Parse(u.Scheme + "://" + to.String())
		if err != nil || !strings.EqualFold(shown.Hostname(), u.Hostname()) || !strings.HasPrefix(strings.ToLower(uri), u.Scheme+"://"+strings.ToLower(to.Lead+to.Main)) {
			t.Fatalf("%q is shown as %q", uri, to)
		}
	})
}

// FuzzCookie: no Cookie header makes a form count but one with the form's own
// cookie in it.
func FuzzCookie(f *testing.F) {
	h := open(f)
	const redirect = "https://client.example/cb"
	page := h.authorize(query(h.registerURIs(redirect), redirect))
	cookie := page.Result().Cookies()[0]
	for _, seed := range []string{"", "NAME=VALUE", "NAME=\"VALUE\"", "NAME=VALU", "a=b; NAME=", "NAME=x; NAME=VALUE", ";;;=", "NAME =VALUE"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.NewReplacer("NAME", cookie.Name, "VALUE", cookie.Value).Replace(text)
		r := httptest.NewRequest("POST", h.base+"/authorize", nil)
		r.Header["Cookie"] = []string{text}
		if hasCookie(r, cookie.Name, cookie.Value) && (!strings.Contains(text, cookie.Name) || !strings.Contains(text, cookie.Value)) {
			t.Fatalf("%q passes for the cookie", text)
		}
	})
}

// FuzzRevoke: no body ends a token that was given to another client, even if the body holds it.
func FuzzRevoke(f *testing.F) {
	h := open(f)
	token := h.login()
	c := h.registerURIs(callback)
	for _, seed := range []string{"token=TOKEN&client_id=ID", "token=TOKEN", "client_id=ID", "token=x&client_id=ID", `{"token":"TOKEN","client_id":"ID"}`, "token=TOKEN&token=TOKEN&client_id=ID"} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, body string, asjson bool) {
		body = strings.NewReplacer("TOKEN", token, "ID", c.ClientID).Replace(body) // another client's
		kind := "application/x-www-form-urlencoded"
		if asjson {
			kind = asJSON
		}
		w := h.do("POST", "/revoke", body, header("Content-Type", kind), stranger())
		if w.Code != http.StatusOK && (w.Code/100 != 4 || !json.Valid(w.Body.Bytes())) {
			t.Fatalf("body %q: status %d: %s", body, w.Code, w.Body)
		}
		if _, err := h.bearer(token); err != nil {
			t.Fatalf("body %q of another client ended the token", body)
		}
	})
}
