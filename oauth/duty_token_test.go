package oauth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Duty 24: a code is bound to its client, its redirect URI and its challenge, lives
// five minutes and gives one token. Unbound, a code stolen from one client could be
// used by another.
func TestDuty24Binding(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	other := h.registerURIs(callback)
	code := h.code(query(c, "http://127.0.0.1:5/callback"))
	for name, change := range map[string]func(url.Values){
		"another client":         func(f url.Values) { f.Set("client_id", other.ClientID) },
		"the registered URI":     func(f url.Values) { f.Set("redirect_uri", callback) }, // not the one used
		"another verifier":       func(f url.Values) { f.Set("code_verifier", rfcVerifier[1:]+"A") },
		"another code":           func(f url.Values) { f.Set("code", code[1:]+"A") },
		"the challenge as proof": func(f url.Values) { f.Set("code_verifier", rfcChallenge) },
	} {
		t.Run(name, func(t *testing.T) {
			form := exchangeForm(c, code, "http://127.0.0.1:5/callback")
			change(form)
			wantError(t, h.exchange(form), http.StatusBadRequest, "invalid_grant")
		})
	}
	reply[tokenReply](t, h.exchange(exchangeForm(c, code, "http://127.0.0.1:5/callback")), http.StatusOK)
}

func TestDuty24FiveMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		c := h.registerURIs(callback)
		early, late := h.code(query(c, callback)), h.code(query(c, callback))
		time.Sleep(5*time.Minute - time.Nanosecond)
		reply[tokenReply](t, h.exchange(exchangeForm(c, early, callback)), http.StatusOK)
		time.Sleep(time.Nanosecond)
		wantError(t, h.exchange(exchangeForm(c, late, callback)), http.StatusBadRequest, "invalid_grant")
	})
}

// Duty 25: the second use of a code fails and ends the token of the first: one
// of the two users is a thief, and we cannot tell which.
func TestDuty25Replay(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	form := exchangeForm(c, h.code(query(c, callback)), callback)
	token := reply[tokenReply](t, h.exchange(form), http.StatusOK).AccessToken
	grant, err := h.bearer(token)
	if err != nil {
		t.Fatal(err)
	}

	// A second use with something wrong in it proves nothing, and ends nothing.
	wrong := url.Values{}
	for k, v := range form {
		wrong[k] = v
	}
	wrong.Set("code_verifier", rfcVerifier[1:]+"A")
	wantError(t, h.exchange(wrong), http.StatusBadRequest, "invalid_grant")
	if !h.Valid(grant.ID) {
		t.Fatal("a wrong attempt revoked the token")
	}
	wantError(t, h.exchange(form), http.StatusBadRequest, "invalid_grant")
	if _, err := h.bearer(token); err != ErrInvalidToken || h.Valid(grant.ID) {
		t.Errorf("after a replay the token gives %v, want it revoked", err)
	}
}

// Duty 25, the other half: whatever a stranger does wrong with a code, it still
// works for its client.
func TestDuty25WrongAttemptsBurnNothing(t *testing.T) {
	h := open(t)
	c := h.register(`{"redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"client_secret_post"}`)
	good := exchangeForm(c, h.code(query(c, callback)), callback)
	good.Set("client_secret", c.ClientSecret)
	for _, change := range []func(url.Values){
		func(f url.Values) { f.Del("client_secret") },
		func(f url.Values) { f.Set("client_secret", "wrong") },
		func(f url.Values) { f.Set("client_id", "nobody") },
		func(f url.Values) { f.Del("code_verifier") },
		func(f url.Values) { f.Set("code_verifier", "short") },
		func(f url.Values) { f.Set("code_verifier", rfcChallenge) },
		func(f url.Values) { f.Set("redirect_uri", "http://127.0.0.1:41001/other") },
		func(f url.Values) { f.Set("grant_type", "password") },
		func(f url.Values) { f.Set("resource", "https://other.example/") },
		func(f url.Values) { f.Add("code", "x") },
	} {
		form := url.Values{}
		for k, v := range good {
			form[k] = slices.Clone(v)
		}
		change(form)
		if w := h.exchange(form); w.Code/100 != 4 {
			t.Errorf("%v: status %d, want 4xx", form, w.Code)
		}
	}
	basic := url.Values{"grant_type": {"authorization_code"}, "code": good["code"], "redirect_uri": good["redirect_uri"], "code_verifier": {rfcVerifier}}
	w := h.exchange(basic, func(r *http.Request) { r.SetBasicAuth(c.ClientID, "wrong") })
	wantError(t, w, http.StatusUnauthorized, "invalid_client")
	reply[tokenReply](t, h.exchange(good), http.StatusOK)
}

// Of many exchanges at once at most one wins, and none if another came while it was under
// way. If the code were not taken in one step, two would pass the check before either marks
// it as spent.
func TestDuty25Parallel(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	for range 20 {
		form := exchangeForm(c, h.code(query(c, callback)), callback)
		var won, lost atomic.Int32
		var wg sync.WaitGroup
		start := make(chan struct{})
		for range 24 {
			wg.Go(func() {
				<-start
				switch w := h.exchange(form); w.Code {
				case http.StatusOK:
					won.Add(1)
				case http.StatusBadRequest:
					lost.Add(1)
				}
			})
		}
		close(start)
		wg.Wait()
		if won.Load() > 1 || won.Load()+lost.Load() != 24 {
			t.Fatalf("%d exchanges won and %d lost, want at most 1 and all others", won.Load(), lost.Load())
		}
		if n := len(h.Logins()); n != 0 {
			t.Fatalf("%d tokens outlive the replay of their code", n)
		}
	}
}

// Duty 26: verifiers have 43 to 128 characters of an alphabet (shorter ones can
// be guessed from the challenge), and no challenge means no exchange.
func TestDuty26Verifier(t *testing.T) {
	for text, want := range map[string]bool{
		rfcVerifier: true, strings.Repeat("a", 43): true, strings.Repeat("~", 128): true, strings.Repeat("a", 42): false, strings.Repeat("a", 129): false,
		"": false, rfcVerifier + "=": false, rfcVerifier + "+": false, rfcVerifier + "/": false, rfcVerifier + " ": false, rfcVerifier + "\x00": false, rfcVerifier + "é": false,
	} {
		if got := verifier.MatchString(text); got != want {
			t.Errorf("%q is a verifier: %v, want %v", text, got, want)
		}
	}
	if !verifies(rfcChallenge, rfcVerifier) { // RFC 7636 appendix B
		t.Error("the RFC's verifier does not fit the RFC's challenge")
	}
	if verifies("", rfcVerifier) || verifies("", "") || verifies(rfcVerifier, rfcVerifier) {
		t.Error("no challenge, or the plain method, is accepted")
	}
	// How long a comparison takes must say nothing: that cannot be measured in a
	// test, but it can be read by what each place that is asked for a secret compares.
	for name, asked := range map[string]string{"token.go": "func verifies(", "passphrase.go": ") check(", "register.go": ") hasSecret(", "form.go": "func hasCookie(|) admits("} {
		for place := range strings.SplitSeq(asked, "|") {
			_, body, found := strings.Cut(sources(t)[name], place)
			body, _, _ = strings.Cut(body, "\n}\n")
			if !found || !strings.Contains(body, "subtle.ConstantTimeCompare(") {
				t.Errorf("%s: %s...) does not compare in constant time", name, place)
			}
		}
	}
}

// Duty 27: POST, in the body. What stands in an address ends up in logs.
func TestDuty27Body(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	form := exchangeForm(c, h.code(query(c, callback)), callback)
	wantError(t, h.do("GET", "/token?"+form.Encode(), ""), http.StatusMethodNotAllowed, "invalid_request")
	wantError(t, h.do("POST", "/token?"+form.Encode(), ""), http.StatusBadRequest, "invalid_request")
	for _, kind := range []string{"text/plain", "multipart/form-data; boundary=x", "application/xml"} {
		wantError(t, h.exchange(form, header("Content-Type", kind)), http.StatusBadRequest, "invalid_request")
	}
	wantError(t, h.do("POST", "/token", "%zz"), http.StatusBadRequest, "invalid_request")
	for _, missing := range []string{"grant_type", "code", "code_verifier"} {
		less := url.Values{}
		for k, v := range form {
			if k != missing {
				less[k] = v
			}
		}
		wantError(t, h.exchange(less), http.StatusBadRequest, "invalid_request")
	}
	form.Del("redirect_uri") // may be absent
	reply[tokenReply](t, h.exchange(form), http.StatusOK)
}

// Some clients send JSON; it is read as strictly as a form.
func TestTokenJSON(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	form := exchangeForm(c, h.code(query(c, callback)), callback)
	flat := map[string]any{"unknown": nil}
	for k := range form {
		flat[k] = form.Get(k)
	}
	good, _ := json.Marshal(flat)
	for _, bad := range []string{"", "null", "[]", `"x"`, "{", `{"a":1}`, `{"a":true}`, `{"a":["b"]}`, `{"a":{"b":"c"}}`, `{"a":"b"} {}`,
		string(good[:len(good)-1]) + `,"code":"x"}`} {
		wantError(t, h.do("POST", "/token", bad, header("Content-Type", asJSON)), http.StatusBadRequest, "invalid_request")
	}
	reply[tokenReply](t, h.do("POST", "/token", string(good), header("Content-Type", "application/json; charset=utf-8")), http.StatusOK)
}

// Duty 28: two ways of authentication are an error, since two readers could
// disagree on which counts. HTTP Basic alone is taken though it is not announced:
// some libraries use nothing else once they hold a secret.
func TestDuty28Basic(t *testing.T) {
	h := open(t)
	c := h.register(`{"redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"client_secret_basic"}`)
	other := h.registerURIs(callback)
	form := exchangeForm(c, h.code(query(c, callback)), callback)
	basic := func(id, secret string) func(*http.Request) {
		return func(r *http.Request) { r.SetBasicAuth(id, secret) }
	}
	for _, tc := range []struct {
		name         string
		id, secret   string // of HTTP Basic
		body, bodyID string
		status       int
		code         string
	}{
		{"both ways", c.ClientID, c.ClientSecret, c.ClientSecret, c.ClientID, 400, "invalid_request"},
		{"another client in the body", c.ClientID, c.ClientSecret, "", other.ClientID, 400, "invalid_request"},
		{"a wrong secret", c.ClientID, c.ClientSecret + "x", "", "", 401, "invalid_client"},
		{"no secret", c.ClientID, "", "", "", 401, "invalid_client"},
		{"another's secret", c.ClientID, other.ClientSecret, "", "", 401, "invalid_client"},
		{"an unknown client", "nobody", c.ClientSecret, "", "", 401, "invalid_client"},
		{"not form-encoded", "%zz", c.ClientSecret, "", "", 401, "invalid_client"},
	} {
		form.Set("client_secret", tc.body)
		form.Set("client_id", tc.bodyID)
		w := h.exchange(form, basic(tc.id, tc.secret))
		wantError(t, w, tc.status, tc.code)
		if got := w.Header().Get("WWW-Authenticate"); tc.status == 401 && !strings.HasPrefix(got, "Basic ") {
			t.Errorf("%s: WWW-Authenticate %q, want Basic", tc.name, got)
		}
	}
	form.Del("client_secret")
	form.Del("client_id")
	wantError(t, h.exchange(form, header("Authorization", "Basic !")), http.StatusUnauthorized, "invalid_client")
	for _, second := range []string{"Basic bm9ib2R5OndoYXRldmVy", "Bearer x", ""} { // whichever of the two comes first
		again := func(r *http.Request) { r.Header.Add("Authorization", second) }
		wantError(t, h.exchange(form, basic(c.ClientID, c.ClientSecret), again), http.StatusBadRequest, "invalid_request")
		wantError(t, h.exchange(form, again, func(r *http.Request) {
			sole := &http.Request{Header: http.Header{}}
			sole.SetBasicAuth(c.ClientID, c.ClientSecret)
			r.Header.Add("Authorization", sole.Header.Get("Authorization"))
		}), http.StatusBadRequest, "invalid_request")
	}
	reply[tokenReply](t, h.exchange(form, basic(url.QueryEscape(c.ClientID), url.QueryEscape(c.ClientSecret))), http.StatusOK)

	public := h.registerURIs(callback) // no client authentication: another scheme is not looked at
	form = exchangeForm(public, h.code(query(public, callback)), callback)
	reply[tokenReply](t, h.exchange(form, header("Authorization", "Bearer old")), http.StatusOK)
}

// Duty 29: nothing that holds a secret is cached.
func TestDuty29NoStore(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	answers := map[string]http.Header{
		"register": h.do("POST", "/register", `{"redirect_uris":["https://a.example/"]}`, header("Content-Type", asJSON)).Header(),
		"code":     h.authorize(query(c, callback)).Header(),
		"page":     h.authorize(query(c, callback), header("Sec-Fetch-Site", "cross-site")).Header(),
		"token":    h.exchange(exchangeForm(c, h.code(query(c, callback)), callback)).Header(),
		"refusal":  h.do("POST", "/token", "x=y").Header(),
	}
	for name, header := range answers {
		if got := header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control %q, want no-store", name, got)
		}
	}
}

// Duty 30: no two codes or tokens are equal, none shows what it holds, and no store
// holds one as it was given out.
func TestDuty30Secrets(t *testing.T) {
	seen := make(map[string]bool)
	s := open(t)
	for range 1000 {
		text := s.seal(forCode, code{Challenge: rfcChallenge, Scope: ScopeCharts, Issued: time.Now()})
		plain, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil || seen[text] || bytes.Contains(plain, []byte(rfcChallenge)) || bytes.Contains(plain, []byte(ScopeCharts)) {
			t.Fatalf("code %q is odd, repeated or readable: %v", text, err)
		}
		seen[text] = true
	}
	h := open(t)
	token := h.login()
	grant, err := h.bearer(token)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(grant.ID+grant.Client+grant.Scope, token) {
		t.Error("the grant holds the token itself")
	}
	h.tokens.m.Range(func(key, _ any) bool {
		if key != digestOf(token) {
			t.Errorf("the token is stored under %v", key)
		}
		return true
	})
}

// Duty 31: no secret in the log, whatever happens on the way.
func TestDuty31Log(t *testing.T) {
	var lines lockedBuffer
	h := open(t, public, trading, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	var secrets []string
	keep := func(s ...string) { secrets = append(secrets, s...) }

	c := h.register(`{"client_name":"evil\nlevel=ERROR msg=forged","redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"client_secret_post"}`)
	h.do("POST", "/register", `{"redirect_uris":["javascript:x"]}`, header("Content-Type", asJSON))
	keep(c.ClientID, c.ClientSecret)
	q := query(c, callback)
	q.Set("state", "state-of-the-client")
	keep("state-of-the-client", rfcChallenge, q.Encode())
	h.do("GET", "/authorize?client_id=unknown-client-id&state=stray-state", "")
	keep("unknown-client-id", "stray-state")
	page := h.authorize(q)
	keep(field(t, page, "request"), page.Result().Cookies()[0].Value)
	h.answer(page, url.Values{"decision": {"allow"}, "passphrase": {"a-wrong-guess"}})
	h.answer(page, url.Values{"decision": {"deny"}})
	h.answer(page, url.Values{"decision": {"allow"}})
	h.answer(page, url.Values{"decision": {"allow"}, "request": {"forged-form"}})
	keep("a-wrong-guess", phrase, "forged-form")
	code := h.code(q)
	form := exchangeForm(c, code, callback)
	keep(code, rfcVerifier)
	h.exchange(form, func(r *http.Request) { r.SetBasicAuth(c.ClientID, "a-wrong-password") })
	keep("a-wrong-password")
	form.Set("client_secret", "a-wrong-secret")
	h.exchange(form)
	form.Set("client_secret", c.ClientSecret)
	form.Set("code_verifier", strings.Repeat("wrong-verifier", 4))
	h.exchange(form)
	keep("a-wrong-secret", "wrong-verifier")
	form.Set("code_verifier", rfcVerifier)
	token := reply[tokenReply](t, h.exchange(form), http.StatusOK).AccessToken
	keep(token)
	h.bearer(token)
	h.exchange(form) // replay
	h.do("GET", serverDocument, "")
	h.RevokeAll()

	log := lines.String()
	for _, secret := range secrets {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	for _, want := range []string{"metadata served", "client registered", "registration refused", "authorization asked", "authorization refused", "wrong passphrase",
		"form refused", "consent given", "code issued", `msg="pkce verified"`, "ok=true", "ok=false", "token issued", "client refused", "code used twice", "all tokens revoked"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	if strings.Contains(log, "\nlevel=ERROR") {
		t.Error("a client's name forged a line")
	}
}

// lockedBuffer is a log for many goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Duty 32: the code grant is the only one. A password grant would make every
// client a place where the passphrase is typed.
func TestDuty32Grants(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	for _, kind := range []string{"password", "client_credentials", "refresh_token", "implicit", "urn:ietf:params:oauth:grant-type:jwt-bearer", "AUTHORIZATION_CODE"} {
		form := exchangeForm(c, h.code(query(c, callback)), callback)
		form.Set("grant_type", kind)
		wantError(t, h.exchange(form), http.StatusBadRequest, "unsupported_grant_type")
	}
}

// Duty 33: a token for another server is not ours to give: a client tricked
// into asking for one would hand it to that server.
func TestDuty33Resource(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	for resource, ok := range map[string]bool{
		h.base: true, h.base + "/": true, h.base + "/mcp": true, h.base + "/mcp/": true, h.base + "/message": true, h.base + "/sse": true,
		h.base + "/other": false, "https://other.example/mcp": false, h.base + ".evil.example": false, h.base + "/mcp/x": false, "mcp": false, h.base + "//": false, "http://localhost:9315@evil.example": false,
	} {
		q := query(c, callback)
		q.Set("resource", resource)
		v := location(t, h.authorize(q), callback)
		if v.Has("code") != ok || !ok && v.Get("error") != "invalid_target" {
			t.Errorf("resource %q answered %v, want a code: %v", resource, v, ok)
		}
		form := exchangeForm(c, h.code(query(c, callback)), callback)
		form.Set("resource", resource)
		if w := h.exchange(form); ok {
			reply[tokenReply](t, w, http.StatusOK)
		} else {
			wantError(t, w, http.StatusBadRequest, "invalid_target")
		}
	}
	q := query(c, callback) // RFC 8707 section 2: more than one
	q["resource"] = []string{h.base, h.base + "/mcp"}
	if v := location(t, h.authorize(q), callback); !v.Has("code") {
		t.Errorf("two resources of ours answered %v", v)
	}
	q["resource"] = []string{h.base, "https://other.example"}
	if v := location(t, h.authorize(q), callback); v.Get("error") != "invalid_target" {
		t.Errorf("ours and another's answered %v", v)
	}
}

// Duty 34: tokens live seven days as specified, so the owner can end them all.
func TestDuty34RevokeAll(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	waiting := exchangeForm(c, h.code(query(c, callback)), callback)
	tokens := []string{h.login(), h.login()}
	h.RevokeAll()
	for _, token := range tokens {
		if _, err := h.bearer(token); err != ErrInvalidToken {
			t.Errorf("after RevokeAll: %v", err)
		}
	}
	wantError(t, h.exchange(waiting), http.StatusBadRequest, "invalid_grant")
	if _, err := h.bearer(h.login()); err != nil {
		t.Errorf("a login after RevokeAll: %v", err)
	}
	form := exchangeForm(c, h.code(query(c, callback)), callback) // the registration is kept
	reply[tokenReply](t, h.exchange(form), http.StatusOK)
}

// An exchange that is under way when everything is revoked leaves no token behind: its
// code was the owner's permission, which is withdrawn.
func TestDuty34RevokeAllRace(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	for range 50 {
		form := exchangeForm(c, h.code(query(c, callback)), callback)
		var wg sync.WaitGroup
		var got tokenReply
		wg.Go(func() { json.Unmarshal(h.exchange(form).Body.Bytes(), &got) })
		wg.Go(func() { h.RevokeAll() })
		wg.Wait()
		if _, err := h.bearer(got.AccessToken); err == nil || len(h.Logins()) != 0 {
			t.Fatalf("the token of an exchange works after everything was revoked; %d logins", len(h.Logins()))
		}
	}
}
