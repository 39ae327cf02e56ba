package server

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/market"
	"wick/oauth"
	"wick/trade"
)

// socketless is a server without sockets, so that days can pass in a test.
type socketless struct {
	t       *testing.T
	dir     string
	base    string
	keys    []oauth.Key
	app     *app
	handler http.Handler
}

// newKeys returns a key as --key-file has it.
func newKeys(t *testing.T) []oauth.Key {
	t.Helper()
	keys, err := oauth.ParseKeys(oauth.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// start starts the server on its directory.
func (s *socketless) start() {
	s.t.Helper()
	c := &config{serve: true, trade: true, noApp: true, dataDir: s.dir, listen: "127.0.0.1", baseURL: s.base, login: oauth.Options{Keys: s.keys}, source: "sample", engine: trade.Options{Symbols: []string{"BTCUSDT"}, Intervals: []market.Interval{market.Hour1}}}
	logs := newLoggers(io.Discard, "text")
	var err error
	if s.app, err = openApp(s.t.Context(), c, market.Sample{}, logs); err != nil {
		s.t.Fatal(err)
	}
	site, err := s.app.newSite()
	if err != nil {
		s.t.Fatal(err)
	}
	s.handler = site.Handler
}

// stop stops it, as a restart does.
func (s *socketless) stop() {
	s.t.Helper()
	err := s.app.close(nil)
	s.app.logs.flush()
	if err != nil {
		s.t.Fatal(err)
	}
}

// do sends a request and returns the reply.
func (s *socketless) do(method, path, kind, body, token string) *http.Response {
	r := httptest.NewRequest(method, s.base+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:1"
	r.Header.Set("Content-Type", kind)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w.Result()
}

// read decodes the JSON of a reply.
func (s *socketless) read(r *http.Response, status int, into any) {
	s.t.Helper()
	text, err := io.ReadAll(r.Body)
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, into)
	}
	if err != nil || r.StatusCode != status {
		s.t.Fatalf("%s %s, %v", r.Status, text, err)
	}
}

// login logs the one program of these tests in, and returns its client id and token.
func (s *socketless) login() (id, token string) {
	s.t.Helper()
	const redirect = "http://127.0.0.1:1/callback"
	var client struct {
		ID string `json:"client_id"`
	}
	s.read(s.do("POST", "/register", "application/json", `{"client_name":"test","redirect_uris":["`+redirect+`"],"token_endpoint_auth_method":"none"}`, ""), 201, &client)
	verifier := strings.Repeat("v", 43)
	challenge := sha256.Sum256([]byte(verifier))
	back, err := s.do("GET", "/authorize?"+url.Values{
		"client_id": {client.ID}, "redirect_uri": {redirect}, "response_type": {"code"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"},
	}.Encode(), "", "", "").Location()
	if err != nil {
		s.t.Fatal(err)
	}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "client_id": {client.ID}, "redirect_uri": {redirect}, "code_verifier": {verifier}}
	var got struct {
		Token string `json:"access_token"`
	}
	s.read(s.do("POST", "/token", "application/x-www-form-urlencoded", form.Encode(), ""), 200, &got)
	return client.ID, got.Token
}

// call runs a tool and returns its first text.
func (s *socketless) call(token, tool string) string {
	s.t.Helper()
	var reply struct {
		Result struct{ Content []struct{ Text string } }
	}
	s.read(s.do("POST", "/mcp", "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, tool), token), 200, &reply)
	if len(reply.Result.Content) == 0 {
		s.t.Fatal(errors.New(tool + ": no content"))
	}
	return reply.Result.Content[0].Text
}

// TestSubscriptionReturns: a program that logs in again has its subscription back as soon as
// its earlier token has ended, in whatever way and however often wick was started since; and
// not before.
func TestSubscriptionReturns(t *testing.T) {
	const day = 24 * time.Hour
	revoke := func(s *socketless, client, token string) {
		s.t.Helper()
		s.read(s.do("POST", "/revoke", "application/x-www-form-urlencoded", url.Values{"client_id": {client}, "token": {token}}.Encode(), ""), 200, new(any))
	}
	all := func(s *socketless) {
		s.t.Helper()
		if _, err := s.app.login.RevokeAll(); err != nil {
			s.t.Fatal(err)
		}
	}
	restart := func(s *socketless) { s.stop(); s.start() }
	for _, tc := range []struct {
		name    string
		between func(s *socketless, client, token string)
		returns bool
	}{
		{"its token works", func(s *socketless, _, _ string) { restart(s) }, false},
		{"its token works to the end", func(s *socketless, _, _ string) { time.Sleep(6 * day); restart(s); time.Sleep(day - time.Second) }, false},
		{"its token has ended", func(s *socketless, _, _ string) { time.Sleep(6 * day); restart(s); time.Sleep(day) }, true},
		{"its token ended before the start", func(s *socketless, _, _ string) { time.Sleep(7 * day); restart(s) }, true},
		{"revoked before the start", func(s *socketless, client, token string) { revoke(s, client, token); restart(s) }, true},
		{"revoked after the start, and not used since", func(s *socketless, client, token string) { restart(s); revoke(s, client, token) }, true},
		{"all revoked before the start", func(s *socketless, _, _ string) { all(s); restart(s) }, true},
		{"all revoked after the start", func(s *socketless, _, _ string) { restart(s); all(s) }, true},
		{"another key", func(s *socketless, _, _ string) { s.keys = newKeys(s.t); restart(s) }, true},
		{"another address", func(s *socketless, _, _ string) { s.base = "http://localhost:2"; restart(s) }, true},
		{"no key any more", func(s *socketless, _, _ string) { s.keys = nil; restart(s) }, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &socketless{t: t, dir: t.TempDir(), base: "http://localhost:1", keys: newKeys(t)}
				s.start()
				client, token := s.login()
				s.call(token, "subscribe_notifications")
				tc.between(s, client, token)
				_, again := s.login()
				if got := s.call(again, "list_subscriptions"); strings.Contains(got, `"subscribed":true`) != tc.returns {
					t.Errorf("the same program has %s", got)
				}
				if _, third := s.login(); tc.returns {
					if got := s.call(third, "list_subscriptions"); strings.Contains(got, `"subscribed":true`) {
						t.Errorf("a third login, while the second holds the subscription, has %s", got)
					}
				}
				s.stop()
			})
		})
	}
}
