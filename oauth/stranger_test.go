package oauth

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// shownHost returns the host on a consent page, without its markup.
func shownHost(t testing.TB, page *httptest.ResponseRecorder) string {
	t.Helper()
	_, rest, ok := strings.Cut(page.Body.String(), `<bdi class="host">`)
	if !ok {
		t.Fatalf("status %d: no host on the page: %s", page.Code, page.Body)
	}
	host, _, _ := strings.Cut(rest, "</bdi>")
	return host
}

// The browser decides what a host means; if we decoded it, %D1%81laude.ai would be
// shown as claude.ai with a Cyrillic letter, and the browser would go elsewhere.
func TestRedirectAuthority(t *testing.T) {
	h := open(t)
	for _, uri := range []string{
		"https://%D1%81laude.ai/cb",                     // Cyrillic с
		"https://claude.ai%E3%83%8Eapi.evil.example/cb", // a Katakana letter like a slash
		"https://claude.ai%2Fevil.example/", "https://claude.ai%2eevil.example/", "https://claude.ai%00.evil.example/",
		"https://%E2%80%AEia.edualc/", "https://claude_ai.example/", "https://claude.ai,evil.example/", "https://claude.ai;x/", "https://claude.ai!x/",
		"https://a~b.example/", "https://a+b.example/", "https://$a.example/", "https://a*b.example/", "https://(a).example/", "https://a=b.example/", "https://'a'.example/", "https://a&b.example/",
		"https://me@claude.ai/", "https://claude.ai:443@evil.example/", "https://@claude.ai/", "https://:@claude.ai/",
		"https://2130706433/cb", "https://0x7f.1/", "https://127.1/", "https://a.0x1/", "https://1.2.3.4.5/", "https://192.0.2.1./", "https://0300.0.2.1/", "https://1.2.3.256/", "https://a.0x/",
		"https://claude.ai./cb", "https://.claude.ai/", "https://claude..ai/", "https://./", "https://claude.ai:0443/", "https://claude.ai:/", "https://claude.ai:99999/",
		"https://[::ffff:192.0.2.1]/", "https://[2001:db8:0:0::1]/", "https://[::1/", "https://::1/", "https://[::1]x/", "https://[fe80::1%25eth0]/", "https://[]/",
		"cursor://%D1%81laude.ai/cb", "cursor://me@x/cb", "com.example.app://a%20b/",
	} {
		body, _ := json.Marshal(map[string]any{"redirect_uris": []string{uri}})
		wantError(t, h.do("POST", "/register", string(body), header("Content-Type", asJSON)), http.StatusBadRequest, "invalid_redirect_uri")
	}
}

// What is shown is the whole host, its last two labels emphasised: they say who
// owns it, whatever stands before them. Punycode stays punycode.
func TestRedirectShown(t *testing.T) {
	h := open(t, public)
	for uri, want := range map[string]string{
		"https://claude.ai/api/mcp/auth_callback":        "<strong>claude.ai</strong>",
		"https://claude.ai.evil.example/cb":              "claude.ai.<strong>evil.example</strong>",
		"https://CLAUDE.AI:443/cb":                       "<strong>claude.ai</strong>",
		"https://claude.ai:8443/cb":                      "<strong>claude.ai</strong>:8443",
		"https://xn--laude-0ye.ai/cb":                    "<strong>xn--laude-0ye.ai</strong>",
		"https://www.xn--80ak6aa92e.com/":                "www.<strong>xn--80ak6aa92e.com</strong>",
		"https://192.0.2.1:8443/":                        "<strong>192.0.2.1</strong>:8443",
		"https://[2001:db8::1]/":                         "<strong>[2001:db8::1]</strong>",
		"https://intranet/cb":                            "<strong>intranet</strong>",
		"http://localhost:8787/callback":                 "<strong>localhost</strong>:8787",
		"http://[::1]:80/cb":                             "<strong>[::1]</strong>",
		"cursor://anysphere.cursor-mcp/oauth/callback":   "<strong>cursor:</strong>",
		"https://a.example/cb?https://claude.ai/?x=%2e":  "<strong>a.example</strong>",
		"https://a.b.c.d.example:444/%D1%81laude.ai?x=y": "a.b.c.<strong>d.example</strong>:444",
	} {
		c := h.registerURIs(uri)
		if got := shownHost(t, h.authorize(query(c, uri))); got != want {
			t.Errorf("%s is shown as %q, want %q", uri, got, want)
		}
	}
}

// Only redirect URIs with the schemes of the web and of apps are taken. Others start programs of
// the system with what a stranger wrote.
func TestRedirectSchemes(t *testing.T) {
	h := open(t)
	register := func(uri string) int {
		body, _ := json.Marshal(map[string]any{"redirect_uris": []string{uri}})
		return h.do("POST", "/register", string(body), header("Content-Type", asJSON)).Code
	}
	for _, uri := range []string{"search-ms://x/y", "ms-msdt://x/y", "smb://host/share", "jnlp://x/y", "ms-word:ofe|u|x", "ssh://x", "tel://x", "steam://run/1",
		"x-apple.systempreferences", "mailto://x", "slack://x/y", "Search-MS://x/y", "chrome-extension://abc/x", "moz-extension://abc/x", "vscode2://x/y", "cursorx://x/y", "x.://a", "x..y://a",
		"https://]/", "https://claude.ai]/cb", "https://a]b.ai/cb", "claude://]/x", "https://" + strings.Repeat("a", 64) + ".example/cb"} {
		if got := register(uri); got != http.StatusBadRequest {
			t.Errorf("%s: status %d, want 400", uri, got)
		}
	}
	for _, uri := range []string{"cursor://x/cb", "vscode://x/cb", "vscode-insiders://x/cb", "windsurf://x/cb", "zed://x/cb", "claude://x/cb", "com.example.app:/cb", "com.example.app://x/cb", "CURSOR://x/cb"} {
		if got := register(uri); got != http.StatusCreated {
			t.Errorf("%s: status %d, want 201", uri, got)
		}
	}
}

// RFC 9700 section 4.11.2: anyone can register, so an error or a No that is
// redirected would send people from a trusted name to any site; it stays on the
// page, with a link, until the owner has approved that client.
func TestErrorsStayOnPage(t *testing.T) {
	h := open(t, public)
	const redirect = "https://client.example/cb?own=1"
	c := h.registerURIs(redirect, callback)
	broken := query(c, redirect)
	broken.Set("response_type", "token")

	stays := func(name string, w *httptest.ResponseRecorder, status int) {
		t.Helper()
		body := w.Body.String()
		if w.Code != status || w.Header().Get("Location") != "" || strings.Contains(body, "http-equiv") {
			t.Errorf("%s: status %d, Location %q, want %d and a page", name, w.Code, w.Header().Get("Location"), status)
		}
		if !strings.Contains(body, `href="https://client.example/cb?own=1&amp;error=`) || !strings.Contains(body, "state=xyz") || !strings.Contains(body, "<strong>client.example</strong>") {
			t.Errorf("%s: the page lacks the link: %s", name, body)
		}
	}
	stays("an error", h.authorize(broken), http.StatusBadRequest)
	stays("a No", h.answer(h.authorize(query(c, redirect)), url.Values{"decision": {"deny"}}), http.StatusOK)
	wantError(t, h.authorize(broken, header("Accept", "application/json")), http.StatusBadRequest, "unsupported_response_type")

	// A program on this machine waits for its answer and gets it.
	local := query(c, callback)
	local.Set("response_type", "token")
	location(t, h.authorize(local), callback)
	location(t, h.answer(h.authorize(query(c, callback)), url.Values{"decision": {"deny"}}), callback)

	// A wrong passphrase approves nothing; the right one does, for a client of
	// that name and those addresses, also when it registers again.
	h.answer(h.authorize(query(c, redirect)), url.Values{"decision": {"allow"}, "passphrase": {"wrong"}})
	stays("an error after a wrong passphrase", h.authorize(broken), http.StatusBadRequest)
	h.code(query(c, redirect))
	if v := location(t, h.authorize(broken), redirect); v.Get("error") != "unsupported_response_type" || v.Get("state") != "xyz" {
		t.Errorf("an approved client got %v", v)
	}
	// The owner did not see the other address of the same client.
	const unseen = "https://evil.example/x"
	two := h.registerURIs(redirect, unseen)
	h.code(query(two, redirect))
	bad := query(two, unseen)
	bad.Set("response_type", "token")
	if w := h.authorize(bad); w.Code != http.StatusBadRequest || w.Header().Get("Location") != "" {
		t.Errorf("an address the owner never saw: %d to %q", w.Code, w.Header().Get("Location"))
	}
	again := h.registerURIs(redirect, callback)
	broken.Set("client_id", again.ClientID)
	location(t, h.authorize(broken), redirect)
	other := h.registerURIs(redirect) // other addresses, another client
	broken.Set("client_id", other.ClientID)
	stays("another client", h.authorize(broken), http.StatusBadRequest)
}

// guesser posts guesses at the passphrase of a server.
func guesser(h *fixture) func(word, addr string, change ...func(*http.Request)) int {
	c := h.registerURIs(callback)
	return func(word, addr string, change ...func(*http.Request)) int {
		change = append(change, from(addr))
		page := h.authorize(query(c, callback), change...)
		return h.answer(page, url.Values{"decision": {"allow"}, "passphrase": {word}}, change...).Code
	}
}

// A stranger who guesses once a minute for ever uses up the strangers' guesses
// and nobody else's: the owner logs in from this machine and from places where
// the passphrase was right before.
func TestGuessBudgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, public)
		guess := guesser(h)
		known := []string{"198.51.100.1:1", "[2001:db8:7:1::1]:1"}
		for _, addr := range known {
			if got := guess(phrase, addr); got != http.StatusSeeOther {
				t.Fatalf("%s: the right passphrase: %d", addr, got)
			}
		}
		for i := range 8 { // a stranger keeps the bucket empty
			guess("wrong", fmt.Sprintf("203.0.113.%d:1", i))
		}
		if got := guess(phrase, "192.0.2.99:1"); got != http.StatusTooManyRequests {
			t.Errorf("a new place while a stranger guesses: %d, want 429", got)
		}
		for _, addr := range append(known, "[2001:db8:7:ffff::2]:9", "127.0.0.1:1", "[::1]:1") { // the /48 is known, not only the /64
			if got := guess(phrase, addr); got != http.StatusSeeOther {
				t.Errorf("%s while a stranger guesses: %d, want 303", addr, got)
			}
		}
		// Neighbours in the owner's /48 may be strangers: they use up what the
		// site has, not what the owner's own network has.
		for i := range 8 {
			guess("wrong", fmt.Sprintf("[2001:db8:7:f%d::1]:1", i))
		}
		if got := guess(phrase, known[1]); got != http.StatusSeeOther {
			t.Errorf("the owner's network while a neighbour guesses: %d, want 303", got)
		}
		// A known place has its own five guesses, and they are no one else's.
		for i := range 5 {
			if got := guess("wrong", known[0]); got != http.StatusForbidden {
				t.Errorf("wrong guess %d at a known place: %d, want 403", i+1, got)
			}
		}
		if got := guess(phrase, known[0]); got != http.StatusTooManyRequests {
			t.Errorf("the sixth: %d, want 429", got)
		}
		if got := guess(phrase, known[1]); got != http.StatusSeeOther {
			t.Errorf("another known place: %d, want 303", got)
		}
		for range 5 {
			guess("wrong", "127.0.0.1:1")
		}
		if got := guess(phrase, "127.0.0.1:1"); got != http.StatusTooManyRequests {
			t.Errorf("the sixth wrong guess on this machine: %d, want 429", got)
		}
	})
}

// If a trusted proxy runs on this machine, strangers come through it and are counted
// by the address that it names. An owner who asks without it is on this machine, and has
// this machine's budget.
func TestGuessBesideProxy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, public, func(o *Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
		guess := guesser(h)
		for i := range 8 {
			guess("wrong", "127.0.0.1:1", header("X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i)))
		}
		if got := guess(phrase, "127.0.0.1:1"); got != http.StatusSeeOther {
			t.Errorf("on this machine while strangers guess: %d, want 303", got)
		}
		if got := guess(phrase, "127.0.0.1:1", header("X-Forwarded-For", "127.0.0.1")); got != http.StatusTooManyRequests {
			t.Errorf("through the proxy, claiming to be on this machine: %d, want 429", got)
		}
	})
}

// Of many wrong guesses at once only as many are checked as the budget allows.
func TestGuessesAtOnce(t *testing.T) {
	h := open(t, public)
	c := h.registerURIs(callback)
	var checked, refused atomic.Int64
	var together sync.WaitGroup
	for range 20 {
		page := h.authorize(query(c, callback))
		together.Go(func() {
			switch w := h.answer(page, url.Values{"decision": {"allow"}, "passphrase": {"wrong"}}, from("203.0.113.5:1")); w.Code {
			case http.StatusForbidden:
				checked.Add(1)
			case http.StatusTooManyRequests:
				refused.Add(1)
				if text := w.Body.String(); !strings.Contains(text, "Too many wrong passphrases. Try again in") || w.Header().Get("Retry-After") == "" {
					t.Errorf("a guess that was not checked: Retry-After %q, %s", w.Header().Get("Retry-After"), text)
				}
			}
		})
	}
	together.Wait()
	if checked.Load() != 5 || refused.Load() != 15 {
		t.Errorf("%d guesses were checked and %d refused, want 5 and 15", checked.Load(), refused.Load())
	}
}

// Of many right guesses at once none is told that it was wrong.
func TestRightAtOnce(t *testing.T) {
	h := open(t, public)
	h.owner = newPassphrase([]byte(phrase), 5000) // slow enough that they overlap
	c := h.registerURIs(callback)
	var together sync.WaitGroup
	for range 8 {
		page := h.authorize(query(c, callback))
		together.Go(func() {
			w := h.answer(page, url.Values{"decision": {"allow"}, "passphrase": {phrase}}, from("203.0.113.5:1"))
			if w.Code != http.StatusSeeOther {
				t.Errorf("status %d: %s", w.Code, w.Body)
			}
		})
	}
	together.Wait()
}

// An empty field is no guess: a stranger who posts nothing uses nothing up.
func TestEmptyGuess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guess := guesser(open(t, public))
		for range 20 {
			if got := guess("", "203.0.113.5:1"); got != http.StatusForbidden {
				t.Fatalf("an empty guess: %d, want 403", got)
			}
		}
		if got := guess(phrase, "203.0.113.6:1"); got != http.StatusSeeOther {
			t.Errorf("the right passphrase after empty guesses: %d, want 303", got)
		}
	})
}

// Behind a proxy that is not trusted everyone has the proxy's address. The
// owner's success there must not make strangers known.
func TestGuessesBehindProxy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, public)
		guess := guesser(h)
		proxied := header("X-Forwarded-For", "203.0.113.5")
		if got := guess(phrase, "127.0.0.1:1", proxied); got != http.StatusSeeOther {
			t.Fatalf("the owner: %d", got)
		}
		for range 5 {
			guess("wrong", "127.0.0.1:1", proxied)
		}
		if got := guess("wrong", "127.0.0.1:1", proxied); got != http.StatusTooManyRequests {
			t.Errorf("a stranger through the proxy: %d, want 429", got)
		}
		if got := guess(phrase, "127.0.0.1:1"); got != http.StatusSeeOther {
			t.Errorf("the owner on the machine itself: %d, want 303", got)
		}
		if h.owner.known.n != 0 {
			t.Errorf("%d known places, want none", h.owner.known.n)
		}
	})
}

// The places that are remembered are bounded; the one not used for longest goes.
func TestKnownPlacesBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPassphrase([]byte(phrase), 10)
		for i := range maxPlaces + 10 {
			time.Sleep(time.Second)
			p.check(phrase, visitor{addr: netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 32)})
		}
		_, gone := p.known.get(digestOf("192.0.2.9/32"))
		_, kept := p.known.get(digestOf("192.0.2.10/32"))
		if p.known.n != maxPlaces || gone || !kept {
			t.Errorf("%d places, want the newest %d", p.known.n, maxPlaces)
		}
	})
}

// One IPv6 site is one household, however many of its 65,536 networks it uses.
func TestSiteLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		served := 0
		for i := range 5000 {
			if w := h.do("POST", "/register", "x", from(fmt.Sprintf("[2001:db8:1:%x::1]:1", i))); w.Code != http.StatusTooManyRequests {
				served++
			} else if w.Header().Get("Retry-After") == "" {
				t.Fatal("429 without Retry-After")
			}
		}
		if served != 80 { // four networks' worth of 20
			t.Errorf("%d of 5,000 networks of a /48 are served, want 80", served)
		}
		if w := h.do("POST", "/register", "x", from("[2001:db8:2::1]:1")); w.Code == http.StatusTooManyRequests {
			t.Error("another site is refused too")
		}
	})
}

// A registration that does not fit into 2 KiB of client_id is refused, and one
// that does is all in it.
func TestClientIDBound(t *testing.T) {
	h := open(t)
	register := func(n int) *httptest.ResponseRecorder {
		uris := []string{"https://a.example/" + strings.Repeat("x", 900), "https://b.example/" + strings.Repeat("x", n)}
		body, _ := json.Marshal(map[string]any{"client_name": "n", "redirect_uris": uris})
		return h.do("POST", "/register", string(body), header("Content-Type", asJSON))
	}
	if got := reply[registered](t, register(400), http.StatusCreated); len(got.ClientID) > 2048 {
		t.Errorf("a client_id of %d characters", len(got.ClientID))
	}
	wantError(t, register(700), http.StatusBadRequest, "invalid_client_metadata")
	if maxClientID != 2<<10 {
		t.Errorf("maxClientID %d", maxClientID)
	}
}

// A client_id works exactly as it was given out. It holds the whole registration,
// sealed, and the server does not know it after a restart.
func TestClientIDIsSealed(t *testing.T) {
	h, other := open(t), open(t)
	c := h.registerURIs(callback)
	page := h.authorize(query(c, callback), header("Sec-Fetch-Site", "cross-site"))
	for name, id := range map[string]string{
		"cut":             c.ClientID[:len(c.ClientID)-1],
		"longer":          c.ClientID + "A",
		"padded":          c.ClientID + "=",
		"a line break":    c.ClientID[:10] + "\n" + c.ClientID[10:],
		"another alpha":   strings.NewReplacer("-", "+", "_", "/").Replace(c.ClientID) + "\r\n",
		"a bit flipped":   flip(c.ClientID),
		"the secret":      c.ClientSecret,
		"a form":          field(t, page, "request"),
		"another server":  other.registerURIs(callback).ClientID,
		"empty":           "",
		"too long for us": strings.Repeat("A", 5000),
	} {
		q := query(c, callback)
		q.Set("client_id", id)
		t.Run(name, func(t *testing.T) {
			wantError(t, h.authorize(q, header("Accept", "application/json")), http.StatusBadRequest, "invalid_client")
		})
	}
	location(t, h.authorize(query(c, callback)), callback)
}

// flip changes one bit of a base64 text.
func flip(s string) string {
	b := []byte(s)
	b[20] = map[bool]byte{true: 'B', false: 'A'}[b[20] == 'A']
	return string(b)
}

// POST /authorize takes no form that another site's page has posted, by whichever of its headers
// the browser says so.
func TestFormOrigin(t *testing.T) {
	const redirect = "https://client.example/cb"
	for _, tc := range []struct {
		name         string
		public       bool
		host         string
		site, origin string // "-" for absent
		want         int
	}{
		{"our page", true, "", "same-origin", "https://wick.example", 303},
		{"our page, an older browser", true, "", "-", "https://wick.example", 303},
		{"no browser", true, "", "-", "-", 303},
		{"null of our page", true, "", "same-origin", "null", 303},
		{"null alone", true, "", "-", "null", 403},
		{"null of another site", true, "", "cross-site", "null", 403},
		{"another site", true, "", "cross-site", "https://evil.example", 403},
		{"another site, an older browser", true, "", "-", "https://evil.example", 403},
		{"a subdomain", true, "", "same-site", "https://a.wick.example", 403},
		{"plain http of our name", true, "", "-", "http://wick.example", 403},
		{"another port", true, "", "same-site", "https://wick.example:8443", 403},
		{"our page, posted from elsewhere", true, "", "cross-site", "https://wick.example", 403},
		{"loopback by its address", false, "127.0.0.1:9315", "same-origin", "http://127.0.0.1:9315", 403},
		{"two sites, ours first", true, "", "same-origin|cross-site", "https://wick.example", 403},
		{"another port of this machine", false, "localhost:9315", "same-site", "http://localhost:3000", 403},
		{"another port, an older browser", false, "localhost:9315", "-", "http://localhost:3000", 403},
	} {
		h := open(t)
		if tc.public {
			h = open(t, public)
		}
		c := h.registerURIs(redirect)
		page := h.authorize(query(c, redirect))
		w := h.answer(page, url.Values{"decision": {"allow"}, "passphrase": {phrase}}, func(r *http.Request) {
			if tc.host != "" {
				r.Host = tc.host
			}
			if tc.site != "-" {
				r.Header["Sec-Fetch-Site"] = strings.Split(tc.site, "|")
			}
			if tc.origin != "-" {
				r.Header.Set("Origin", tc.origin)
			}
		})
		if w.Code != tc.want || (h.codes.Load() == 1) != (tc.want == 303) {
			t.Errorf("%s: status %d, %d codes, want %d", tc.name, w.Code, h.codes.Load(), tc.want)
		}
	}
}

// A form is good in the browser it was shown in: a stranger's form, carried into
// the owner's browser, would otherwise log in the stranger's client.
func TestFormBrowser(t *testing.T) {
	for name, change := range map[string]func(*Options){"public": public, "loopback": func(*Options) {}} {
		h := open(t, change)
		const redirect = "https://client.example/cb"
		c := h.registerURIs(redirect)
		allow := url.Values{"decision": {"allow"}, "passphrase": {phrase}}
		page := h.authorize(query(c, redirect))
		set := page.Header().Get("Set-Cookie")
		cookie := page.Result().Cookies()[0]
		if cookie.SameSite != http.SameSiteStrictMode || !cookie.HttpOnly || cookie.MaxAge != 600 || len(cookie.Value) != 43 ||
			strings.HasPrefix(cookie.Name, "__Host-wick-") != (name == "public") || cookie.Secure != (name == "public") || name == "public" && cookie.Path != "/" {
			t.Errorf("%s: Set-Cookie %q", name, set)
		}
		for what, change := range map[string]func(*http.Request){
			"no cookie":            func(r *http.Request) { r.Header.Del("Cookie") },
			"another value":        header("Cookie", cookie.Name+"="+newSecret()),
			"an empty value":       header("Cookie", cookie.Name+"="),
			"the value of no name": header("Cookie", cookie.Value),
			"another name":         header("Cookie", "wick="+cookie.Value),
			"without the prefix":   header("Cookie", "x"+cookie.Name+"="+cookie.Value),
			"another browser":      cookies(h.authorize(query(h.registerURIs(redirect), redirect))),
		} {
			w := h.answer(page, allow, func(r *http.Request) { r.Header.Del("Cookie") }, change)
			if w.Code != http.StatusBadRequest || h.codes.Load() != 0 {
				t.Errorf("%s, %s: status %d, %d codes, want 400 and none", name, what, w.Code, h.codes.Load())
			}
		}
		location(t, h.answer(page, allow), redirect)
	}
}

// Two pages in one browser both work, and so does one page in two tabs.
func TestTwoForms(t *testing.T) {
	h := open(t, public)
	const redirect = "https://client.example/cb"
	a, b := h.registerURIs(redirect), h.registerURIs(redirect)
	var jar []func(*http.Request)
	visit := func(c registered) *httptest.ResponseRecorder {
		w := h.authorize(query(c, redirect), jar...)
		jar = append(jar, cookies(w))
		return w
	}
	first, second, again := visit(a), visit(b), visit(a)
	for _, page := range []*httptest.ResponseRecorder{first, second, again} {
		form := url.Values{"request": {field(t, page, "request")}, "decision": {"allow"}, "passphrase": {phrase}}
		location(t, h.do("POST", "/authorize", form.Encode(), jar...), redirect)
	}
}

// One form, one answer: a form found in a browser's history decides nothing.
func TestFormOnce(t *testing.T) {
	h := open(t)
	const redirect = "https://client.example/cb"
	c := h.registerURIs(redirect)
	for _, answers := range [][2]string{{"allow", "allow"}, {"allow", "deny"}, {"deny", "allow"}} {
		page := h.authorize(query(c, redirect))
		h.answer(page, url.Values{"decision": {answers[0]}})
		made := h.codes.Load()
		w := h.answer(page, url.Values{"decision": {answers[1]}})
		if w.Code != http.StatusBadRequest || h.codes.Load() != made || !strings.Contains(w.Body.String(), "answered before") {
			t.Errorf("%v: status %d, %d codes, want 400 and %d", answers, w.Code, h.codes.Load(), made)
		}
		location(t, h.answer(w, url.Values{"decision": {"allow"}}), redirect) // the page shown instead is a good one
	}
}

// Of many posts of one form at once one counts.
func TestFormOnceParallel(t *testing.T) {
	h := open(t)
	const redirect = "https://client.example/cb"
	page := h.authorize(query(h.registerURIs(redirect), redirect))
	done := make(chan int)
	for range 16 {
		go func() { done <- h.answer(page, url.Values{"decision": {"allow"}}).Code }()
	}
	won := 0
	for range 16 {
		if <-done == http.StatusSeeOther {
			won++
		}
	}
	if won != 1 || h.codes.Load() != 1 {
		t.Errorf("%d answers won and %d codes were made, want 1", won, h.codes.Load())
	}
}

// The page says what the owner needs to know: which server asks, where its
// passphrase was set, and that paper trading moves no money.
func TestPageTells(t *testing.T) {
	const redirect = "https://client.example/cb"
	show := func(change ...func(*Options)) string {
		h := open(t, append(change, public)...)
		return h.authorize(query(h.registerURIs(redirect), redirect)).Body.String()
	}
	paper := show(trading, func(o *Options) { o.Money, o.PassphraseFrom = "Paper trading: no real money.", "--passphrase-file" })
	for _, want := range []string{"https://wick.example", "--passphrase-file", "Paper trading: no real money."} {
		if !strings.Contains(paper, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if real := show(trading, func(o *Options) { o.Money = "Real money: orders are sent to Alpaca, account …1234." }); !strings.Contains(real, "<em>Real money: orders are sent to Alpaca, account …1234.</em>") {
		t.Error("the page does not say where real money goes")
	}
	if real := show(trading); strings.Contains(real, "real money") {
		t.Error("real trading is called paper")
	}
	if charts := show(func(o *Options) { o.Money = "Paper trading: no real money." }); strings.Contains(charts, "real money") {
		t.Error("a server without trading speaks of money")
	}
}

// The operator hears once of X-Forwarded-For from a peer that is not trusted.
func TestForwardedWarning(t *testing.T) {
	var lines lockedBuffer
	h := open(t, public, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&lines, nil))
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	const warning = "--trusted-proxy"
	h.do("GET", serverDocument, "", from("10.0.0.1:1"), header("X-Forwarded-For", "203.0.113.5"))
	if strings.Contains(lines.String(), warning) {
		t.Error("a trusted proxy is warned of")
	}
	for range 3 {
		h.do("GET", serverDocument, "", from("192.0.2.1:1"), header("X-Forwarded-For", "203.0.113.5"))
	}
	if got := strings.Count(lines.String(), warning); got != 1 || !strings.Contains(lines.String(), "peer=192.0.2.1") {
		t.Errorf("%d warnings, want 1 with the peer: %s", got, lines.String())
	}
}

// RFC 7009: a client gives its own token back; the rest of the program hears of
// it at once.
func TestRevokeEndpoint(t *testing.T) {
	var ended []string
	h := open(t, func(o *Options) { o.OnRevoke = func(id string) { ended = append(ended, id) } })
	c := h.register(`{"redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"client_secret_post"}`)
	other := h.registerURIs(callback)
	form := exchangeForm(c, h.code(query(c, callback)), callback)
	form.Set("client_secret", c.ClientSecret)
	token := reply[tokenReply](t, h.exchange(form), http.StatusOK).AccessToken
	grant, err := h.bearer(token)
	if err != nil {
		t.Fatal(err)
	}
	post := func(v url.Values, change ...func(*http.Request)) *httptest.ResponseRecorder {
		return h.do("POST", "/revoke", v.Encode(), change...)
	}
	own := url.Values{"token": {token}, "token_type_hint": {"access_token"}, "client_id": {c.ClientID}, "client_secret": {c.ClientSecret}}
	with := func(name, value string) url.Values {
		v := url.Values{}
		for k := range own {
			v.Set(k, own.Get(k))
		}
		v.Set(name, value)
		return v
	}
	wantError(t, post(url.Values{"token": {token}}), http.StatusUnauthorized, "invalid_client")
	wantError(t, post(with("client_secret", "wrong")), http.StatusUnauthorized, "invalid_client")
	wantError(t, post(with("client_secret", "")), http.StatusUnauthorized, "invalid_client")
	wantError(t, post(with("token", "")), http.StatusBadRequest, "invalid_request")
	wantError(t, post(url.Values{"token": {token}, "client_id": {other.ClientID}}), http.StatusBadRequest, "invalid_grant")
	wantError(t, post(url.Values{"token": {token}}, func(r *http.Request) {
		r.SetBasicAuth(c.ClientID, c.ClientSecret)
		r.Header.Add("Authorization", "Basic bm9ib2R5OndoYXRldmVy")
	}), http.StatusBadRequest, "invalid_request")
	if w := post(with("token", "unknown")); w.Code != http.StatusOK {
		t.Errorf("an unknown token: %d, want 200", w.Code)
	}
	if _, err := h.bearer(token); err != nil || len(ended) != 0 {
		t.Fatalf("after refusals the token gives %v, announced %v", err, ended)
	}
	w := post(url.Values{"token": {token}}, func(r *http.Request) { r.SetBasicAuth(c.ClientID, c.ClientSecret) })
	if w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("revocation: %d %q", w.Code, w.Body)
	}
	if _, err := h.bearer(token); err != ErrInvalidToken {
		t.Errorf("a revoked token: %v", err)
	}
	if w := post(own); w.Code != http.StatusOK { // the second time is as good
		t.Errorf("again: %d, want 200", w.Code)
	}
	if !slices.Equal(ended, []string{grant.ID}) {
		t.Errorf("announced %q, want %q once", ended, grant.ID)
	}
}

// The owner sees who is logged in, and ends one login or all. Each end is announced,
// and so is the end of a token whose code was used twice.
func TestLogins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended []string
		h := open(t, trading, func(o *Options) { o.OnRevoke = func(id string) { ended = append(ended, id) } })
		start := time.Now()
		first := h.login()
		time.Sleep(time.Hour)
		second := h.login()
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.RemoteAddr = "198.51.100.7:1"
		r.Header.Set("Authorization", "Bearer "+first)
		if _, err := h.Authenticate(r, h.ClientIP(r)); err != nil {
			t.Fatal(err)
		}
		list := h.Logins()
		if len(list) != 2 {
			t.Fatalf("%d logins, want 2", len(list))
		}
		got := list[0]
		if got.Name != "test" || got.Scope != "charts trade" || !got.Since.Equal(start) || !got.Used.Equal(start.Add(time.Hour)) ||
			got.From != netip.MustParseAddr("198.51.100.7") || !got.Expires.Equal(start.Add(7*24*time.Hour)) || len(got.ShortID()) != 8 {
			t.Errorf("login %+v", got)
		}
		if list[1].From != netip.MustParseAddr("127.0.0.1") { // that exchanged the code
			t.Errorf("a token not yet used is from %v", list[1].From)
		}
		for _, id := range []string{"", "12", "no such id", got.ID + "0", "zzzzzzzz"} {
			if _, err := h.Revoke(id); err == nil || len(h.Logins()) != 2 {
				t.Errorf("Revoke(%q): %v", id, err)
			}
		}
		if grant, err := h.Revoke(got.ShortID()); err != nil || grant.ID != got.ID {
			t.Errorf("Revoke(%q): %v", got.ShortID(), err)
		}
		if _, err := h.bearer(first); err != ErrInvalidToken {
			t.Errorf("the revoked token: %v", err)
		}
		if _, err := h.bearer(second); err != nil {
			t.Errorf("the other one: %v", err)
		}
		c := h.registerURIs(callback)
		form := exchangeForm(c, h.code(query(c, callback)), callback)
		third := reply[tokenReply](t, h.exchange(form), http.StatusOK).AccessToken
		h.exchange(form) // a replay
		if n, err := h.RevokeAll(); n != 1 || err != nil {
			t.Errorf("%d tokens revoked, want 1", n)
		}
		want := []string{got.ID, digestOf(third).String(), list[1].ID}
		if !slices.Equal(ended, want) {
			t.Errorf("announced %q, want %q", ended, want)
		}
	})
}

// TestPieceTexts: a text stands where its place is, is escaped, and is no place for another.
func TestPieceTexts(t *testing.T) {
	got := piece("fact", "{name}", "{value}", "{value}", `<b title="{name}">`)
	if want := "<dt>{value}</dt><dd><bdi>&lt;b title=&#34;{name}&#34;&gt;</bdi></dd>\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
