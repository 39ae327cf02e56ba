package oauth

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// present asks for the grant of a request with these Authorization headers.
func (h *fixture) present(target string, authorization ...string) (Grant, error) {
	r := httptest.NewRequest("POST", target, nil)
	r.Header["Authorization"] = authorization
	return h.Authenticate(r, h.ClientIP(r))
}

// Duty 35: the token comes in the header and nowhere else; in the query it would
// be in every log on the way. The scheme's case does not matter.
func TestDuty35Header(t *testing.T) {
	h := open(t)
	token := h.login()
	for _, value := range []string{"Bearer " + token, "bearer " + token, "BEARER  " + token} {
		if _, err := h.present("/mcp", value); err != nil {
			t.Errorf("%.7s…: %v", value, err)
		}
	}
	for _, tc := range []struct {
		name, target string
		header       []string
		want         error
	}{
		{"query", "/mcp?access_token=" + token, nil, ErrNoToken},
		{"nothing", "/mcp", nil, ErrNoToken},
		{"basic", "/mcp", []string{"Basic " + token}, ErrNoToken},
		{"no scheme", "/mcp", []string{token}, ErrNoToken},
		{"empty", "/mcp", []string{"Bearer"}, ErrInvalidToken},
		{"two tokens", "/mcp", []string{"Bearer " + token, "Bearer " + token}, ErrInvalidToken},
		{"token and more", "/mcp", []string{"Bearer " + token + ", Bearer x"}, ErrInvalidToken},
		{"one letter off", "/mcp", []string{"Bearer " + token[:42] + "!"}, ErrInvalidToken},
	} {
		if _, err := h.present(tc.target, tc.header...); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
}

// Duty 36: what a refusal says. The metadata is that of the address asked for;
// invalid_token only if there was one (or a client without a token throws away
// its registration); insufficient_scope names what is needed.
func TestDuty36Challenge(t *testing.T) {
	h := open(t)
	for _, tc := range []struct {
		path string
		err  error
		want string
	}{
		{"/mcp", ErrNoToken, `Bearer resource_metadata="http://localhost:9315/.well-known/oauth-protected-resource/mcp"`},
		{"/", ErrNoToken, `Bearer resource_metadata="http://localhost:9315/.well-known/oauth-protected-resource"`},
		{"/sse", ErrNoToken, `Bearer resource_metadata="http://localhost:9315/.well-known/oauth-protected-resource/sse"`},
		{"/message", fmt.Errorf("wrapped: %w", ErrNoToken), `Bearer resource_metadata="http://localhost:9315/.well-known/oauth-protected-resource/message"`},
		{"/\" x=\"", ErrNoToken, `Bearer resource_metadata="http://localhost:9315/.well-known/oauth-protected-resource"`},
		{"/mcp", ErrInvalidToken, `Bearer resource_metadata="http://localhost:9315/.well-known/oauth-protected-resource/mcp", error="invalid_token", error_description="the bearer token is unknown, expired or revoked: log in again"`},
		{"/mcp", ErrInsufficientScope, `Bearer resource_metadata="http://localhost:9315/.well-known/oauth-protected-resource/mcp", error="insufficient_scope", scope="charts trade"`},
	} {
		header := make(http.Header)
		h.Challenge(header, tc.path, tc.err)
		if got := header.Get("WWW-Authenticate"); got != tc.want {
			t.Errorf("%s, %v:\n%s, want\n%s", tc.path, tc.err, got, tc.want)
		}
	}
}

// TestTokenEndsAsleep: a token ends by the wall clock, also while the machine sleeps. A time
// with m= in it is compared by a clock that stops then.
func TestTokenEndsAsleep(t *testing.T) {
	h := open(t)
	if grant, err := h.bearer(h.login()); err != nil || strings.Contains(grant.Expires.String(), "m=") {
		t.Errorf("%v; the token ends at %s, after so many seconds awake", err, grant.Expires)
	}
}

// Every request is judged by its own token, at its own time: a token good a
// moment ago is not good for ever. 604800 seconds are specified.
func TestDuty36EveryRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		old := h.login()
		grant, err := h.bearer(old)
		if err != nil || !grant.Expires.Equal(time.Now().Add(604800*time.Second)) {
			t.Fatalf("grant %+v, %v", grant, err)
		}
		time.Sleep(604800*time.Second - time.Nanosecond)
		young := h.login()
		if _, err := h.bearer(old); err != nil || !h.Valid(grant.ID) {
			t.Errorf("in its last moment: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if _, err := h.bearer(young); err != nil || len(h.Logins()) != 1 {
			t.Errorf("the next request, of another: %v, logins %v", err, h.Logins())
		}
		if _, err := h.bearer(old); err != ErrInvalidToken || h.Valid(grant.ID) {
			t.Errorf("after seven days: %v", err)
		}
	})
}

// Duty 37: only tokens of this server, and of this run of it, are accepted.
func TestDuty37OnlyOurs(t *testing.T) {
	h, other := open(t), open(t)
	foreign := other.login()
	for _, token := range []string{foreign, "", "null", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJvd25lciJ9.", h.registerURIs(callback).ClientSecret} {
		if _, err := h.bearer(token); !errors.Is(err, ErrInvalidToken) {
			t.Errorf("token %.8q…: %v", token, err)
		}
	}
	for _, id := range []string{"", "00", foreign, fmt.Sprintf("%064d", 0), fmt.Sprintf("%066d", 0), "zz" + fmt.Sprintf("%062d", 0)} {
		if h.Valid(id) {
			t.Errorf("Valid(%q)", id)
		}
	}
}

// Duty 38: a session id gives no access. If it did, whoever read it in a log would
// be the user.
func TestDuty38Sessions(t *testing.T) {
	h := open(t)
	token := h.login()
	r := httptest.NewRequest("POST", "/mcp", nil)
	r.Header.Set("Mcp-Session-Id", token)
	r.AddCookie(&http.Cookie{Name: "session", Value: token})
	if _, err := h.Authenticate(r, h.ClientIP(r)); !errors.Is(err, ErrNoToken) {
		t.Errorf("a session id instead of a token: %v, want ErrNoToken", err)
	}
}

// Duty 39: what a token's holder can learn here is a grant of digests and a
// scope; no key of the owner's is anywhere in reach of this package.
func TestDuty39NoKeys(t *testing.T) {
	h := open(t, trading)
	grant, err := h.bearer(h.login())
	if err != nil {
		t.Fatal(err)
	}
	want := Grant{ID: grant.ID, Client: grant.Client, Name: "test", Scope: "charts trade", Expires: grant.Expires, Login: grant.Login}
	if grant != want || len(grant.ID) != 64 || len(grant.Client) != 64 {
		t.Errorf("grant %+v", grant)
	}
	for name, text := range sources(t) {
		for _, banned := range []string{"os.Getenv", "os.Environ", "os.ReadFile", "os.Open", "\"os\""} {
			if strings.Contains(text, banned) {
				t.Errorf("%s reads the configuration: %s", name, banned)
			}
		}
	}
}
