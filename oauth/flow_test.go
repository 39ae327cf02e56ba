package oauth

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// The verifier and challenge of RFC 7636 appendix B.
const (
	rfcVerifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	rfcChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

	callback = "http://127.0.0.1:41001/callback"
	phrase   = "correct horse battery staple"
)

// fixture is a server under test, with the calls a client makes.
type fixture struct {
	t testing.TB
	*Server
	mux   *http.ServeMux
	codes *atomic.Int32 // how many codes were sent to clients
}

// with returns the same server for another test's failures.
func (h *fixture) with(t testing.TB) *fixture { return &fixture{t, h.Server, h.mux, h.codes} }

// open returns a server on loopback without a passphrase, or as change makes it.
func open(t testing.TB, change ...func(*Options)) *fixture {
	t.Helper()
	o := Options{BaseURL: "http://localhost:9315", Loopback: true, FewRounds: 10}
	for _, f := range change {
		f(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	h := &fixture{t, s, http.NewServeMux(), new(atomic.Int32)}
	s.Routes(h.mux)
	return h
}

// public makes a server that strangers reach, with a passphrase.
func public(o *Options) {
	o.BaseURL, o.Passphrase, o.Loopback = "https://wick.example", []byte(phrase), false
}

func trading(o *Options) { o.Trade = true }

// do sends a request; change may alter it before it goes.
func (h *fixture) do(method, target, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, h.base+target, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:50000"
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	h.mux.ServeHTTP(w, r)
	if to, err := url.Parse(w.Header().Get("Location")); err == nil && to.Query().Has("code") {
		h.codes.Add(1)
	}
	return w
}

// header returns a change that sets a header.
func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// from returns a change that sets the peer's address.
func from(addr string) func(*http.Request) {
	return func(r *http.Request) { r.RemoteAddr = addr }
}

// reply decodes a JSON body, failing unless the status is as wanted.
func reply[T any](t testing.TB, w *httptest.ResponseRecorder, status int) (v T) {
	t.Helper()
	if w.Code != status {
		t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Fatalf("Content-Type %q, want application/json", got)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return v
}

// wantError fails unless w is the JSON refusal with that status and code.
func wantError(t testing.TB, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	if got := reply[refusalJSON](t, w, status); got.Error != code || got.Description == "" {
		t.Errorf("refusal %+v, want code %s and a description", got, code)
	}
}

func (h *fixture) register(body string) registered {
	h.t.Helper()
	return reply[registered](h.t, h.do("POST", "/register", body, header("Content-Type", "application/json")), http.StatusCreated)
}

// registerURIs registers a public client.
func (h *fixture) registerURIs(uris ...string) registered {
	h.t.Helper()
	body, _ := json.Marshal(map[string]any{"client_name": "test", "redirect_uris": uris, "token_endpoint_auth_method": "none"})
	return h.register(string(body))
}

// query is a good authorization request of c, to be changed by tests.
func query(c registered, redirect string) url.Values {
	return url.Values{
		"response_type": {"code"}, "client_id": {c.ClientID}, "redirect_uri": {redirect}, "state": {"xyz"},
		"code_challenge": {rfcChallenge}, "code_challenge_method": {"S256"},
	}
}

func (h *fixture) authorize(q url.Values, change ...func(*http.Request)) *httptest.ResponseRecorder {
	return h.do("GET", "/authorize?"+q.Encode(), "", change...)
}

// location returns the parameters of the redirect in w to redirect.
func location(t testing.TB, w *httptest.ResponseRecorder, redirect string) url.Values {
	t.Helper()
	rest, ok := strings.CutPrefix(w.Header().Get("Location"), redirect)
	if w.Code != http.StatusSeeOther || !ok {
		t.Fatalf("status %d, Location %q, want 303 to %s: %s", w.Code, w.Header().Get("Location"), redirect, w.Body)
	}
	v, err := url.ParseQuery(strings.TrimLeft(rest, "?&"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// field returns the value of a hidden field of a consent page.
func field(t testing.TB, w *httptest.ResponseRecorder, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(w.Body.String(), `name="`+name+`" value="`)
	if !ok {
		t.Fatalf("status %d: no field %s on the page: %s", w.Code, name, w.Body)
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// cookies returns a change that sends the cookies that an answer set.
func cookies(w *httptest.ResponseRecorder) func(*http.Request) {
	// Not by w.Result, which writes to w: tests answer one page many times at once.
	set := (&http.Response{Header: w.Header()}).Cookies()
	return func(r *http.Request) {
		for _, c := range set {
			if c.MaxAge >= 0 {
				r.AddCookie(c)
			}
		}
	}
}

// cookieOf returns the value of the cookie that an answer set.
func cookieOf(w *httptest.ResponseRecorder) string {
	return (&http.Response{Header: w.Header()}).Cookies()[0].Value
}

// answer fills in the form on page, in the browser that it was shown in.
func (h *fixture) answer(page *httptest.ResponseRecorder, extra url.Values, change ...func(*http.Request)) *httptest.ResponseRecorder {
	h.t.Helper()
	form := url.Values{"request": {field(h.t, page, "request")}}
	for k, v := range extra {
		form[k] = v
	}
	return h.do("POST", "/authorize", form.Encode(), append([]func(*http.Request){cookies(page)}, change...)...)
}

// code goes through consent, whatever the server asks for, and returns the code.
func (h *fixture) code(q url.Values) string {
	h.t.Helper()
	w := h.authorize(q)
	if w.Code == http.StatusOK {
		w = h.answer(w, url.Values{"decision": {"allow"}, "grant": {"trade"}, "passphrase": {phrase}})
	}
	code := location(h.t, w, q.Get("redirect_uri")).Get("code")
	if code == "" {
		h.t.Fatalf("no code in %q", w.Header().Get("Location"))
	}
	return code
}

// exchangeForm is a good token request, to be changed by tests.
func exchangeForm(c registered, code, redirect string) url.Values {
	return url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirect},
		"client_id": {c.ClientID}, "code_verifier": {rfcVerifier},
	}
}

func (h *fixture) exchange(form url.Values, change ...func(*http.Request)) *httptest.ResponseRecorder {
	return h.do("POST", "/token", form.Encode(), change...)
}

// login runs the whole flow for a new client and returns its token.
func (h *fixture) login() string {
	h.t.Helper()
	c := h.registerURIs(callback)
	return reply[tokenReply](h.t, h.exchange(exchangeForm(c, h.code(query(c, callback)), callback)), http.StatusOK).AccessToken
}

// bearer asks who holds token.
func (h *fixture) bearer(token string) (Grant, error) {
	r := httptest.NewRequest("POST", "/mcp", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	return h.Authenticate(r, h.ClientIP(r))
}

// TestFlow is the shortest way through: register, authorize, exchange, use.
func TestFlow(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"loopback without a passphrase": func(*Options) {},
		"public with a passphrase":      public,
	} {
		h := open(t, change, trading)
		grant, err := h.bearer(h.login())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if grant.Scope != "charts trade" || !h.Valid(grant.ID) {
			t.Errorf("%s: grant %+v, want both scopes and a valid id", name, grant)
		}
	}
	// The vector of RFC 7636, computed once more here.
	sum := sha256.Sum256([]byte(rfcVerifier))
	if got := base64.RawURLEncoding.EncodeToString(sum[:]); got != rfcChallenge {
		t.Errorf("challenge %s, want %s", got, rfcChallenge)
	}
}

// TestOnLogin: a client that gets a token is announced once, one that is refused
// is not.
func TestOnLogin(t *testing.T) {
	var logins []string
	h := open(t, trading, func(o *Options) {
		o.OnLogin = func(name, scope string, from netip.Addr) {
			logins = append(logins, name+" "+scope+" "+from.String())
		}
	})
	c := h.register(`{"client_name":"Claude","redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"none"}`)
	form := exchangeForm(c, h.code(query(c, callback)), callback)
	wrong := exchangeForm(c, form.Get("code"), callback)
	wrong.Set("code_verifier", strings.Repeat("x", 43))
	wantError(t, h.exchange(wrong), http.StatusBadRequest, "invalid_grant")
	if len(logins) != 0 {
		t.Errorf("a refusal was announced: %q", logins)
	}
	scope := reply[tokenReply](t, h.exchange(form, from("203.0.113.7:1")), http.StatusOK).Scope
	wantError(t, h.exchange(form), http.StatusBadRequest, "invalid_grant")
	if want := "Claude " + scope + " 203.0.113.7"; len(logins) != 1 || logins[0] != want {
		t.Errorf("announced %q, want %q once", logins, want)
	}
}
