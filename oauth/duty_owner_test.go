package oauth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The tests named after a number hold the server to the list of duties that
// OAuth 2.1, RFC 9700, the MCP specification and its security practices put on
// it. Each says what would happen without the check.

// Duty 1: the owner is asked before a code is made. Without this anyone who
// reaches the address registers a client, reads the code from the Location
// header without a browser, and trades.
func TestDuty01OwnerIsAsked(t *testing.T) {
	h := open(t, public)
	c := h.registerURIs(callback, "https://client.example/cb")
	for _, redirect := range c.RedirectURIs {
		w := h.authorize(query(c, redirect))
		if w.Code != http.StatusOK || w.Header().Get("Location") != "" {
			t.Errorf("%s: status %d, Location %q, want the page", redirect, w.Code, w.Header().Get("Location"))
		}
		w = h.answer(w, url.Values{"decision": {"allow"}})
		if w.Code != http.StatusForbidden || w.Header().Get("Location") != "" || h.codes.Load() != 0 {
			t.Errorf("%s: no passphrase: status %d and %d codes, want 403 and none", redirect, w.Code, h.codes.Load())
		}
	}
}

// Duty 1, too: no passphrase, no public address.
func TestDuty01NoPassphraseStaysHome(t *testing.T) {
	for _, o := range []Options{
		{BaseURL: "http://localhost:9315"},                     // listens on other addresses
		{BaseURL: "https://wick.example", Loopback: true},      // published by a proxy
		{BaseURL: "https://localhost.example", Loopback: true}, // not a loopback name
		{BaseURL: "http://localhost:9315", Loopback: true, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "passphrase") {
			t.Errorf("New(%+v) = %v, want an error that asks for a passphrase", o, err)
		}
	}
}

// Duty 1 once more: a proxy or a tunnel on this machine may bring strangers to a server
// that listens on loopback, even under its loopback name; without a passphrase a request
// that came through one gets no code, no form to click, and no order approved.
func TestDuty01NothingThroughProxy(t *testing.T) {
	serve := func() (*fixture, registered) {
		h := open(t, func(o *Options) {
			o.OwnPage, o.Questions = "/app", &asking{lines: []string{"Buy 1 BTCUSDT"}}
		})
		return h, h.registerURIs(callback, "https://client.example/cb")
	}
	for name, value := range map[string]string{
		"X-Forwarded-For": "203.0.113.66", "Forwarded": "for=203.0.113.66", "X-Real-IP": "203.0.113.66", "Via": "1.1 tunnel",
		"X-Forwarded-Proto": "https", "X-Forwarded-Host": "wick.example", "CF-Connecting-IP": "203.0.113.66", "CF-Ray": "1", "CF-Visitor": "{}", "CDN-Loop": "cloudflare",
		"True-Client-IP": "203.0.113.66", "Fly-Client-IP": "203.0.113.66", "Ngrok-Trace-Id": "1", "Tailscale-User-Login": "a@b", "X-Client-IP": "203.0.113.66", "X-Envoy-External-Address": "203.0.113.66",
		"X-Forwarded": "for=203.0.113.66", "Client-IP": "203.0.113.66", "Proxy-Client-IP": "203.0.113.66", "WL-Proxy-Client-IP": "203.0.113.66", "X-Nf-Client-Connection-Ip": "203.0.113.66", "X-Remote-IP": "203.0.113.66",
		"X-Originating-IP": "203.0.113.66", "X-Varnish": "1", "X-Arr-Log-Id": "1", "Max-Forwards": "9", "Front-End-Https": "on", "X-Scheme": "https", "X-Cloud-Trace-Context": "1", "X-Render-Origin-Server": "1", "X-Railway-Edge": "1", "X-HTTP-Forwarded-For": "203.0.113.66", "Proxy-Connection": "keep-alive", "X-Localtunnel-Agent-Ips": "[]",
		"L5d-Client-Id": "1", "X-Request-Id": "1", "Eagleeye-Traceid": "1", "Ali-Cdn-Real-Ip": "203.0.113.66", "Incap-Client-Ip": "203.0.113.66", "Surrogate-Capability": "1", "Remote-Addr": "203.0.113.66", "Z-Forwarded-For": "203.0.113.66", "Ar-Real-Ip": "203.0.113.66", "Netlify-Country": "DE", "A-Tunnel-Of-Tomorrow": "1",
	} {
		h, c := serve() // for each, or they would be too many for one minute
		own := query(registered{ClientID: OwnClient}, h.base+"/app")
		form := h.authorize(query(c, "https://client.example/cb"))
		for what, w := range map[string]*httptest.ResponseRecorder{
			"a code at once":   h.authorize(query(c, callback), header(name, value)),
			"the form":         h.authorize(query(c, "https://client.example/cb"), header(name, value)),
			"the owner's page": h.authorize(own, header(name, value)),
			"the form's post":  h.answer(form, url.Values{"decision": {"allow"}}, header(name, value)),
			"a question":       h.do("GET", ApprovePath+"?id=the-id", "", header(name, value)),
			"with no address":  h.authorize(query(c, callback), header(name, "")),
		} {
			if w.Code != http.StatusForbidden || w.Header().Get("Location") != "" || strings.Contains(w.Body.String(), "<form") ||
				!strings.Contains(w.Body.String(), "came through a proxy") || !strings.Contains(w.Body.String(), "set a passphrase") {
				t.Errorf("%s with %s: status %d, Location %q: %s", what, name, w.Code, w.Header().Get("Location"), w.Body)
			}
		}
		if h.codes.Load() != 0 {
			t.Errorf("%s: %d codes were given", name, h.codes.Load())
		}
		// The form itself still counts, for the person on this machine.
		location(t, h.answer(form, url.Values{"decision": {"allow"}}), "https://client.example/cb")
	}
	h, c := serve()
	// As nginx asks for location / { proxy_pass http://localhost:9315; }.
	if w := h.authorize(query(c, callback), func(r *http.Request) { r.Proto, r.ProtoMinor = "HTTP/1.0", 0 }); w.Code != http.StatusForbidden {
		t.Errorf("HTTP/1.0: status %d", w.Code)
	}
	if h.codes.Load() != 0 {
		t.Errorf("HTTP/1.0: %d codes were given", h.codes.Load())
	}
	public := open(t, public)
	c = public.registerURIs(callback)
	if w := public.authorize(query(c, callback), header("X-Forwarded-For", "203.0.113.66")); w.Code != http.StatusOK {
		t.Errorf("with a passphrase: status %d, want the form", w.Code)
	}
}

// The contract's second rule: without a passphrase a loopback client goes through at once, unless
// a web page sent the browser; any other redirect needs a click. Without the exceptions a web
// page could log in a client of its own and have the code sent to itself.
func TestDuty01LoopbackRule(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback, "https://client.example/cb", "cursor://x/cb")
	for _, tc := range []struct {
		redirect, site string
		page           bool
	}{
		{callback, "", true}, // emptied on the way
		{callback, "none", false},
		{callback, "same-site", true}, // a page on another port of this machine
		{callback, "same-origin", true},
		{callback, "cross-site", true},
		{callback, "NONE", true},
		{"https://client.example/cb", "", true},
		{"cursor://x/cb", "none", true},
	} {
		w := h.authorize(query(c, tc.redirect), header("Sec-Fetch-Site", tc.site))
		if page := w.Code == http.StatusOK; page != tc.page {
			t.Errorf("%s from %q: status %d, want a page: %v", tc.redirect, tc.site, w.Code, tc.page)
		}
		if tc.page { // one click, no passphrase
			location(t, h.answer(w, url.Values{"decision": {"allow"}}), tc.redirect)
		}
	}
}

// The same rule for other headers: that a page sent a request may also show in Origin or
// Referer, in two lines of Sec-Fetch-Site, or in Sec-Fetch-Dest without Sec-Fetch-Site.
func TestDuty01WhoSentIt(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	for _, tc := range []struct {
		header http.Header
		page   bool
	}{
		{http.Header{}, false},
		{http.Header{"Sec-Fetch-Site": {"none"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}, "Sec-Fetch-User": {"?1"}}, false},
		// As Chromium 140, Firefox 143, Safari 26, and the HTTP clients of Java and Python ask.
		{http.Header{"Connection": {"keep-alive"}, "Cache-Control": {"max-age=0"}, "Sec-Ch-Ua": {"x"}, "Sec-Ch-Ua-Mobile": {"?0"}, "Sec-Ch-Ua-Platform": {"x"}, "Upgrade-Insecure-Requests": {"1"}, "User-Agent": {"x"}, "Accept": {"*/*"}, "Sec-Fetch-Site": {"none"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-User": {"?1"}, "Sec-Fetch-Dest": {"document"}, "Accept-Encoding": {"gzip"}, "Accept-Language": {"de"}, "Cookie": {"a=b"}, "Sec-Gpc": {"1"}}, false},
		{http.Header{"User-Agent": {"x"}, "Accept": {"*/*"}, "Accept-Language": {"de"}, "Accept-Encoding": {"gzip"}, "Dnt": {"1"}, "Connection": {"keep-alive"}, "Upgrade-Insecure-Requests": {"1"}, "Sec-Fetch-Dest": {"document"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Site": {"none"}, "Sec-Fetch-User": {"?1"}, "Priority": {"u=0, i"}, "Te": {"trailers"}, "Pragma": {"no-cache"}, "Cache-Control": {"no-cache"}}, false},
		{http.Header{"Connection": {"Upgrade, HTTP2-Settings"}, "Http2-Settings": {"x"}, "Upgrade": {"h2c"}, "User-Agent": {"Java-http-client/21"}}, false},
		{http.Header{"Accept": {"*/*"}, "Accept-Encoding": {"gzip"}, "Connection": {"keep-alive"}, "User-Agent": {"python-httpx"}, "Mcp-Protocol-Version": {"2025-11-25"}}, false},
		{http.Header{"Sec-Fetch-Mode": {"cors"}}, false}, // fetch in Node says so of every request, and nothing else
		{http.Header{"Origin": {"https://evil.example"}}, true},
		{http.Header{"Origin": {"null"}}, true},
		{http.Header{"Origin": {"http://localhost:9315"}}, true},
		{http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"none"}}, true},
		{http.Header{"Referer": {"https://evil.example/"}}, true},
		{http.Header{"Sec-Fetch-Dest": {"iframe"}}, true},
		{http.Header{"Sec-Fetch-Dest": {"document"}}, true},
		{http.Header{"Sec-Fetch-Site": {"none", "cross-site"}}, true},
		{http.Header{"Sec-Fetch-Site": {"", "same-site"}}, true},
		{http.Header{"Sec-Fetch-Site": {"none, cross-site"}}, true},
		{http.Header{"Sec-Fetch-Site": {""}}, true}, // something on the way emptied what a browser sent
		{http.Header{"Sec-Fetch-Site": {"", ""}}, true},
		{http.Header{"Sec-Fetch-Site": {" "}}, true},
	} {
		w := h.authorize(query(c, callback), func(r *http.Request) { r.Header = tc.header.Clone() })
		if page := w.Code == http.StatusOK; page != tc.page {
			t.Errorf("%v: status %d, want a page: %v", tc.header, w.Code, tc.page)
		}
	}
}

// Duty 1 again: without a passphrase a request for another host, as of a page whose DNS name was
// pointed at this machine, gets no code and no form; to the browser such a page is the same
// origin, and could post the form.
func TestDuty01Rebinding(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	for host, want := range map[string]int{
		"attacker.example:9315": 403, "localhost.attacker.example": 403, "": 403, "127.0.0.1.nip.example": 403,
		"localhost:9315": 303, "LOCALHOST:9315": 303, "127.0.0.1:9315": 403, "[::1]:9315": 403, "localhost": 403, "localhost:9316": 403,
	} {
		if w := h.authorize(query(c, callback), func(r *http.Request) { r.Host = host }); w.Code != want {
			t.Errorf("Host %q: status %d, want %d", host, w.Code, want)
		}
	}
}

// Duty 2: the page names the client, the host and what is granted; it cannot be
// framed, or a click on something else would be a click on Allow.
func TestDuty02ConsentPage(t *testing.T) {
	h := open(t, public, trading)
	c := h.register(`{"client_name":"Chart Friend","redirect_uris":["https://friend.example:8443/cb"]}`)
	w := h.authorize(query(c, "https://friend.example:8443/cb"))
	body := w.Body.String()
	for _, want := range []string{"Chart Friend", `<strong>friend.example</strong>:8443`, "https://wick.example", "Charts only", "Charts and trading",
		`type="password"`, `value="allow"`, `value="deny"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, banned := range []string{"<script", " style=", "onclick"} {
		if strings.Contains(body, banned) {
			t.Errorf("the page holds %q", banned)
		}
	}
	if got := w.Header().Get("X-Frame-Options"); got != "DENY" {
		t.Errorf("X-Frame-Options %q", got)
	}
	csp := w.Header().Get("Content-Security-Policy")
	if !strings.Contains(csp, "frame-ancestors 'none'") || !strings.Contains(csp, "default-src 'none'") {
		t.Errorf("Content-Security-Policy %q", csp)
	}
	if strings.Contains(csp, "form-action") {
		t.Errorf("Content-Security-Policy %q would block the redirect to the client in Chromium", csp)
	}
}

// Duty 2, the post: an answer counts only on a form of ours, for the request it
// was made for, posted by our own page. Without the seal any site could post
// "allow" for its own client with the owner's browser.
func TestDuty02Forgery(t *testing.T) {
	h := open(t) // no passphrase: the seal is all there is
	redirect := "https://client.example/cb"
	c, other := h.registerURIs(redirect), h.registerURIs(redirect)
	allow := url.Values{"decision": {"allow"}}
	good, foreign := h.authorize(query(c, redirect)), h.authorize(query(other, redirect))
	stranger := open(t) // another process, another key
	sc := stranger.registerURIs(redirect)
	request := field(t, good, "request")

	for name, forged := range map[string]string{
		"nothing":           "",
		"another request":   field(t, foreign, "request"), // whose cookie is missing
		"another server's":  field(t, stranger.authorize(query(sc, redirect)), "request"),
		"made longer":       request + "AAAA",
		"made shorter":      request[:len(request)-4],
		"changed":           "__" + request[2:],
		"not ours":          strings.Repeat("A", len(request)),
		"no base64":         "!",
		"with a line break": request[:9] + "\n" + request[9:],
		"a client id":       c.ClientID, // sealed too, for another purpose
	} {
		form := url.Values{"decision": {"allow"}, "request": {forged}}
		if w := h.answer(good, form); w.Code != http.StatusBadRequest || h.codes.Load() != 0 {
			t.Errorf("%s: status %d, %d codes, want 400 and none", name, w.Code, h.codes.Load())
		}
	}
	for _, site := range []string{"cross-site", "same-site", ""} {
		if w := h.answer(good, allow, header("Sec-Fetch-Site", site)); w.Code != http.StatusForbidden || h.codes.Load() != 0 {
			t.Errorf("posted from %q: status %d, want 403", site, w.Code)
		}
	}
	for _, form := range []string{"", "decision=allow", "request=", "request=!&decision=allow", "decision=allow&decision=deny"} {
		if w := h.do("POST", "/authorize", form); w.Code != http.StatusBadRequest || h.codes.Load() != 0 {
			t.Errorf("form %q: status %d, want 400", form, w.Code)
		}
	}
	location(t, h.answer(good, allow, header("Sec-Fetch-Site", "same-origin")), redirect)
}

// After an answer that is neither yes nor no the page asks again, and no is no.
func TestDuty02Answers(t *testing.T) {
	h := open(t, public, trading)
	c := h.registerURIs(callback)
	page := h.authorize(query(c, callback))
	if w := h.answer(page, url.Values{"decision": {"maybe"}}); w.Code != http.StatusBadRequest {
		t.Errorf("maybe: status %d, want 400", w.Code)
	}
	v := location(t, h.answer(page, url.Values{"decision": {"deny"}}), callback)
	if v.Get("error") != "access_denied" || v.Get("state") != "xyz" || v.Get("iss") != h.base || v.Has("code") {
		t.Errorf("deny answered %v", v)
	}
}

// A form that lay open too long decides nothing: the person in front of it may
// be another one by now.
func TestDuty02Expiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		c := h.registerURIs("https://client.example/cb")
		page := h.authorize(query(c, "https://client.example/cb"))
		time.Sleep(formLife)
		again := h.answer(page, url.Values{"decision": {"allow"}})
		if again.Code != http.StatusBadRequest || !strings.Contains(again.Body.String(), "open for too long") {
			t.Fatalf("expired form: status %d: %s", again.Code, again.Body)
		}
		time.Sleep(formLife - time.Nanosecond)
		location(t, h.answer(again, url.Values{"decision": {"allow"}}), "https://client.example/cb")
	})
}

// A form that is shown again keeps the owner's choice, or a mistyped passphrase
// would turn it into another one unseen.
func TestConsentKeepsChoice(t *testing.T) {
	h := open(t, public, trading)
	c := h.registerURIs(callback)
	page := h.authorize(query(c, callback))
	for _, choice := range []string{"trade", "charts", "trade"} {
		page = h.answer(page, url.Values{"decision": {"allow"}, "grant": {choice}, "passphrase": {"wrong"}})
		if !strings.Contains(page.Body.String(), `value="`+choice+`" checked`) {
			t.Errorf("after a wrong passphrase %s is not selected", choice)
		}
	}
}

// Duty 3: where any local program may listen, the page says so.
func TestDuty03LoopbackWarning(t *testing.T) {
	h := open(t, public)
	c := h.registerURIs(callback, "https://client.example/cb", "cursor://x/cb")
	const warning = "Any program on this computer can listen"
	for redirect, want := range map[string]bool{callback: true, "https://client.example/cb": false, "cursor://x/cb": false} {
		if got := strings.Contains(h.authorize(query(c, redirect)).Body.String(), warning); got != want {
			t.Errorf("%s: warning %v, want %v", redirect, got, want)
		}
	}
}

// Duty 4: five wrong passphrases, then one a minute, whatever address strangers
// come from. Without it a list of a million passphrases is tried over night.
func TestDuty04Guesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, public)
		c := h.registerURIs(callback)
		guess := func(word, addr string) int {
			w := h.answer(h.authorize(query(c, callback)), url.Values{"decision": {"allow"}, "passphrase": {word}}, from(addr))
			if w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "" {
				t.Error("429 without Retry-After")
			}
			return w.Code
		}
		for i, addr := range []string{"198.51.100.1:1", "198.51.100.2:1", "[2001:db8::1]:1", "[2001:db8:1::1]:1", "203.0.113.9:1"} {
			if got := guess("wrong", addr); got != http.StatusForbidden {
				t.Errorf("wrong guess %d: %d, want 403", i+1, got)
			}
		}
		// Now even the right one is not looked at: an answer would tell.
		if got := guess(phrase, "192.0.2.7:1"); got != http.StatusTooManyRequests {
			t.Errorf("sixth guess: %d, want 429", got)
		}
		time.Sleep(time.Minute)
		if got := guess("wrong again", "192.0.2.7:1"); got != http.StatusForbidden {
			t.Errorf("a minute later: %d, want 403", got)
		}
		if got := guess(phrase, "192.0.2.7:1"); got != http.StatusTooManyRequests {
			t.Errorf("the one after: %d, want 429", got)
		}
		time.Sleep(time.Minute)
		if got := guess(phrase, "192.0.2.7:1"); got != http.StatusSeeOther {
			t.Errorf("the right passphrase, in time: %d, want 303", got)
		}
	})
}

// Duty 4, the memory: what the server keeps is a slow, salted hash. Kept as it
// is, the passphrase could be read from a core dump.
func TestDuty04SlowHash(t *testing.T) {
	word := []byte(phrase)
	s, err := New(Options{BaseURL: "https://wick.example", Passphrase: word})
	if err != nil {
		t.Fatal(err)
	}
	if s.owner.rounds != 600_000 { // OWASP, for PBKDF2 with HMAC-SHA-256
		t.Errorf("%d rounds", s.owner.rounds)
	}
	if right, _ := s.owner.check(phrase, visitor{}); !right {
		t.Error("the passphrase is refused")
	}
	if string(word) != strings.Repeat("\x00", len(phrase)) {
		t.Errorf("the caller's passphrase is %q after New, want it overwritten", word)
	}
	p, q := newPassphrase([]byte(phrase), 10), newPassphrase([]byte(phrase), 10)
	if string(p.key) == string(q.key) || len(p.key) != 32 {
		t.Error("two servers with one passphrase keep the same hash: no salt")
	}
	for guess, want := range map[string]bool{phrase: true, "": false, phrase + " ": false, strings.ToUpper(phrase): false} {
		if right, _ := p.check(guess, visitor{}); right != want {
			t.Errorf("check(%q) = %v, want %v", guess, right, want)
		}
	}
}

// Duty 5: a client's words are text, wherever they are shown, and in the log too. Unescaped, a name
// is a script on the page that takes the passphrase, or a line of the log that we never wrote.
func TestDuty05HostileText(t *testing.T) {
	var log lockedBuffer
	records := &counting{Handler: slog.NewTextHandler(&log, nil)}
	h := open(t, public, func(o *Options) { o.Log = slog.New(records) })
	name := "</bdi><script>alert(1)</script>\r\nSet-Cookie: a=b\u202e\u0000\"'`<img src=x onerror=y>\ntime=0 level=ERROR msg=forged"
	body, _ := json.Marshal(map[string]any{"client_name": name, "redirect_uris": []string{"https://client.example/cb?a=%22%3E%3Cscript%3E"}})
	c := h.register(string(body))
	q := query(c, c.RedirectURIs[0])
	q.Set("state", "\"><script>alert(2)</script>\r\nX: y")
	page := h.authorize(q)
	for _, banned := range []string{"<script", "<img src=x", "\u202e", "\x00"} {
		if strings.Contains(page.Body.String(), banned) {
			t.Errorf("the page holds %q", banned)
		}
	}
	if !strings.Contains(page.Body.String(), "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the name is not shown as text")
	}
	w := h.answer(page, url.Values{"decision": {"allow"}, "passphrase": {phrase}})
	if strings.ContainsAny(w.Header().Get("Location"), "\r\n<>\" ") {
		t.Errorf("Location %q", w.Header().Get("Location"))
	}
	if got := location(t, w, c.RedirectURIs[0]).Get("state"); got != q.Get("state") {
		t.Errorf("state %q, want %q", got, q.Get("state"))
	}
	// Errors repeat nothing that could be markup or break a header.
	for _, c := range description("a\"b\\c\r\nd<é") {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			t.Errorf("description lets %q through", c)
		}
	}
	if got := field(t, page, "request"); !isBase64(got) {
		t.Errorf("the form carries %q", got)
	}
	// Nor does the log: each record is one line, with words of ours before the first text of theirs.
	h.do("GET", "/authorize?client_id=x%0Atime%3D0+msg%3Dforged&redirect_uri=%0Atime%3D0&%0Atime%3D0=y", "")
	h.do("POST", "/register", `{"client_name":"a\ntime=0 msg=forged","redirect_uris":["https://a\ntime=0 msg=forged/"]}`, header("Content-Type", asJSON))
	lines := strings.SplitAfter(strings.TrimSuffix(log.String(), "\n"), "\n")
	if len(lines) != records.n {
		t.Errorf("%d lines of the log for %d records", len(lines), records.n)
	}
	named := 0
	for _, line := range lines {
		if !logged.MatchString(line) || strings.Contains(line, "alert(2)") {
			t.Errorf("the log has the line %q", line)
		}
		if strings.Contains(line, "script") {
			named++
			if !strings.Contains(line, `name="</bdi><script>`) {
				t.Errorf("the log has the name beyond its quotes: %q", line)
			}
		}
	}
	if named < 3 { // registered, asked, consent given
		t.Errorf("%d lines of the log have the name", named)
	}
}

// logged is how a line of the log begins: our time, and one of our own messages.
var logged = regexp.MustCompile(`^time=2\S+ level=(INFO|WARN) msg=("[a-z ]+"|[a-z]+) [^\r\v]*\n?$`)

// counting counts the records of a log.
type counting struct {
	slog.Handler
	n int
}

func (c *counting) Handle(ctx context.Context, r slog.Record) error {
	c.n++
	return c.Handler.Handle(ctx, r)
}

func isBase64(s string) bool {
	_, err := base64.RawURLEncoding.DecodeString(s)
	return err == nil
}

// The choice on the page is what the token carries, and no form gets more than
// the server offers.
func TestConsentScope(t *testing.T) {
	for _, tc := range []struct {
		name, asked, chosen, want string
		trade                     bool
	}{
		{"charts only", "", "charts", "charts", true},
		{"charts and trading", "", "trade", "charts trade", true},
		{"asked for trading, got it", "charts trade", "trade", "charts trade", true},
		{"asked for trading, got charts", "trade", "charts", "charts", true},
		{"asked for charts", "charts", "charts", "charts", true},
		{"foreign scopes", "openid email profile", "charts", "charts", true},
		{"no choice made", "charts trade", "", "charts", true},
		{"trading not offered", "charts trade", "trade", "charts", false},
	} {
		h := open(t, func(o *Options) { o.Trade = tc.trade })
		redirect := "https://client.example/cb"
		c := h.registerURIs(redirect)
		q := query(c, redirect)
		q.Set("scope", tc.asked)
		page := h.authorize(q)
		if strings.Contains(page.Body.String(), `value="trade" checked`) {
			t.Errorf("%s: trading is chosen before the owner chose", tc.name)
		}
		w := h.answer(page, url.Values{"decision": {"allow"}, "grant": {tc.chosen}})
		code := location(t, w, redirect).Get("code")
		if got := reply[tokenReply](t, h.exchange(exchangeForm(c, code, redirect)), 200).Scope; got != tc.want {
			t.Errorf("%s: scope %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestScopeAtOnce: where no page asks, a program that wants charts alone gets no more. Names of
// other services say nothing.
func TestScopeAtOnce(t *testing.T) {
	for _, tc := range []struct {
		asked, want string
		trade       bool
	}{
		{"charts", "charts", true},
		{"openid charts", "charts", true},
		{"charts trade", "charts trade", true},
		{"trade", "charts trade", true},
		{"", "charts trade", true},
		{"openid email profile", "charts trade", true},
		{"charts trade", "charts", false},
		{"", "charts", false},
	} {
		h := open(t, func(o *Options) { o.Trade = tc.trade })
		c := h.registerURIs(callback)
		q := query(c, callback)
		q.Set("scope", tc.asked)
		code := location(t, h.authorize(q), callback).Get("code")
		if got := reply[tokenReply](t, h.exchange(exchangeForm(c, code, callback)), http.StatusOK).Scope; got != tc.want {
			t.Errorf("asked for %q, with trading %t: scope %q, want %q", tc.asked, tc.trade, got, tc.want)
		}
	}
}

// The owner's own page is a client that nobody registers: its codes go to the page
// alone, it always asks, and only it gets the scope of the owner. Without this a client
// could end other clients' logins or lift a halt.
func TestOwnPage(t *testing.T) {
	own := func(o *Options) { o.OwnPage = "/app" }
	for _, tc := range []struct {
		name   string
		change []func(*Options)
		scope  string
	}{
		{"loopback without a passphrase", []func(*Options){own}, "charts owner"},
		{"loopback with trading", []func(*Options){own, trading}, "charts trade owner"},
		{"public with a passphrase", []func(*Options){own, trading, public}, "charts trade owner"},
	} {
		h := open(t, tc.change...)
		c := registered{ClientID: OwnClient}
		page := h.base + "/app"
		ask := query(c, page)
		if key := h.PageKey(); key != "" {
			for _, wrong := range []string{"", "x", key + "x"} {
				ask.Set("key", wrong)
				if w := h.authorize(ask); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "<form") {
					t.Errorf("%s: with the key %q: status %d", tc.name, wrong, w.Code)
				}
			}
			ask.Set("key", key)
		}
		w := h.authorize(ask) // no browser, on loopback: others would go through
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Open your page") {
			t.Fatalf("%s: status %d, want the page that asks", tc.name, w.Code)
		}
		if h.owner != nil {
			if w := h.answer(w, url.Values{"decision": {"allow"}, "passphrase": {"wrong"}}); w.Code != http.StatusForbidden {
				t.Errorf("%s: a wrong passphrase: status %d", tc.name, w.Code)
			}
		}
		w, second := h.authorize(ask), h.authorize(ask)
		answered := h.answer(w, url.Values{"decision": {"allow"}, "passphrase": {phrase}})
		code := location(t, answered, page).Get("code")
		if h.PageKey() != "" { // the first login has used it up, and its browser is known
			if w := h.answer(second, url.Values{"decision": {"allow"}}); w.Code != http.StatusForbidden || h.codes.Load() != 1 {
				t.Errorf("%s: the key a second time: status %d, %d codes", tc.name, w.Code, h.codes.Load())
			}
			if w := h.authorize(ask); w.Code != http.StatusForbidden {
				t.Errorf("%s: the key once more: status %d", tc.name, w.Code)
			}
			if w := h.authorize(query(c, page), cookies(answered)); w.Code != http.StatusForbidden { // a server on another port is sent the cookie too
				t.Errorf("%s: the cookie without the key: status %d", tc.name, w.Code)
			}
			if w := h.authorize(ask, cookies(answered)); w.Code != http.StatusOK {
				t.Errorf("%s: the same browser: status %d", tc.name, w.Code)
			}
		}
		token := reply[tokenReply](t, h.exchange(exchangeForm(c, code, page)), http.StatusOK)
		if token.Scope != tc.scope {
			t.Errorf("%s: scope %q, want %q", tc.name, token.Scope, tc.scope)
		}
		for _, elsewhere := range []string{"https://evil.example/app", h.base + "/app/x", h.base + "/", callback} {
			if w := h.authorize(query(c, elsewhere)); w.Code != http.StatusBadRequest {
				t.Errorf("%s: redirect to %s: status %d, want 400", tc.name, elsewhere, w.Code)
			}
		}
	}
}

// Nobody else gets the owner's scope, whatever it asks for or calls itself, and a
// server without the page does not know the page's name.
func TestOwnPageAlone(t *testing.T) {
	h := open(t, trading, func(o *Options) { o.OwnPage = "/app" })
	c := h.register(`{"client_name":"The owner's other page","redirect_uris":["` + callback + `","http://localhost:9315/app"]}`)
	q := query(c, callback)
	q.Set("scope", "charts trade owner")
	if token := reply[tokenReply](t, h.exchange(exchangeForm(c, h.code(q), callback)), http.StatusOK); token.Scope != "charts trade" {
		t.Errorf("a registered client got %q", token.Scope)
	}
	registered, _ := h.client(c.ClientID, visitor{}, noQuestion)
	page, _ := h.client(OwnClient, visitor{}, noQuestion)
	if registered.identity == page.identity || registered.own {
		t.Error("a registered client passes for the page")
	}
	for _, elsewhere := range []string{"http://localhost:6666/app", "http://localhost/app", "http://127.0.0.1:9315/app"} {
		own := c
		own.ClientID = OwnClient
		if w := h.authorize(query(own, elsewhere)); w.Code != http.StatusBadRequest {
			t.Errorf("the page at %s: status %d, want 400", elsewhere, w.Code)
		}
	}
	without := open(t)
	if w := without.authorize(query(c, "http://localhost:9315/app")); w.Code != http.StatusBadRequest {
		t.Errorf("without a page: status %d, want 400", w.Code)
	}
	c.ClientID = OwnClient
	if w := without.authorize(query(c, "http://localhost:9315/app")); w.Code != http.StatusBadRequest {
		t.Errorf("without a page, its name: status %d, want 400", w.Code)
	}
}

// No client can call itself what the owner's own page is called in the list of logins
// and in messages: there it would pass for the page. What only looks like it is told apart by
// the scope beside it.
func TestOwnPageName(t *testing.T) {
	host := serveDocuments(t)
	h := host.open(t, func(o *Options) { o.OwnPage = "/app" })
	page, _ := h.client(OwnClient, visitor{}, noQuestion)
	for _, name := range []string{page.name, "the OWNER's  page", " \u200bThe owner's page"} {
		body, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": []string{callback}, "client_id": documentID})
		if err != nil {
			t.Fatal(err)
		}
		w := h.do("POST", "/register", string(body), header("Content-Type", asJSON))
		if w.Code != http.StatusBadRequest {
			t.Errorf("%q is registered", name)
			continue
		}
		wantError(t, w, http.StatusBadRequest, "invalid_client_metadata")
		if _, err := parseDocument(documentID, body); err == nil {
			t.Errorf("a document by the name %q is taken", name)
		}
	}
	for _, name := range []string{"The owner's", "page", "Owner's page", "The owner's page 2", "Claude"} {
		if h.register(`{"client_name":"`+name+`","redirect_uris":["`+callback+`"]}`).Name != name {
			t.Errorf("%q is another name", name)
		}
	}
}

// TestEmbedded: what another site's page loads as an image, a frame or by a script is refused
// and does not use up what the owner may open from the same address. What a person opens, or
// a program asks for, is answered.
func TestEmbedded(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	ask := func(site, dest string) int {
		return h.authorize(query(c, callback), header("Sec-Fetch-Site", site), header("Sec-Fetch-Dest", dest)).Code
	}
	for range 2000 { // more than an address may ask
		for _, dest := range []string{"image", "iframe", "empty"} {
			if status := ask("cross-site", dest); status != http.StatusForbidden {
				t.Fatalf("as %s: status %d, want 403", dest, status)
			}
		}
	}
	for _, site := range []string{"cross-site", "none"} {
		if status := ask(site, "document"); status == http.StatusForbidden || status == http.StatusTooManyRequests {
			t.Errorf("a person comes, %s: status %d", site, status)
		}
	}
}
