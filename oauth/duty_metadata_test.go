package oauth

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Duty 6: the issuer is the base URL, byte for byte. Clients compare it with the
// address they asked and stop at a difference, so a bad one is refused at start.
func TestDuty06Issuer(t *testing.T) {
	for _, base := range []string{
		"", "wick.example", "https://wick.example/", "https://wick.example/path", "https://wick.example?a=b", "https://wick.example#f",
		"https://user@wick.example", "http://wick.example", "ftp://localhost", "https://", "HTTPS://wick.example", "://", "https:wick.example",
		"http://localhost.example:80", "http://127.0.0.1.example",
	} {
		if _, err := New(Options{BaseURL: base, Passphrase: []byte("x")}); err == nil {
			t.Errorf("New took the base URL %q", base)
		}
	}
	for _, base := range []string{"https://wick.example", "https://wick.example:8443", "http://localhost:9315", "http://127.0.0.1:1", "http://127.0.0.2:1", "http://[::1]:1"} {
		h := open(t, func(o *Options) { o.BaseURL, o.Passphrase = base, []byte("x") })
		for _, path := range []string{"/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/mcp"} {
			if got := reply[serverMetadata](t, h.do("GET", path, ""), 200).Issuer; got != base {
				t.Errorf("issuer %q at %s, want %q", got, path, base)
			}
		}
	}
}

// The document has the nine specified members with the specified values, the
// two that the contract adds and where to revoke a token; nothing else.
func TestServerMetadata(t *testing.T) {
	for trade, scopes := range map[bool]string{false: `["charts"]`, true: `["charts","trade"]`} {
		h := open(t, func(o *Options) { o.Trade = trade })
		var want any
		json.Unmarshal([]byte(`{
			"issuer": "http://localhost:9315",
			"authorization_endpoint": "http://localhost:9315/authorize",
			"token_endpoint": "http://localhost:9315/token",
			"registration_endpoint": "http://localhost:9315/register",
			"response_types_supported": ["code"],
			"grant_types_supported": ["authorization_code"],
			"code_challenge_methods_supported": ["S256"],
			"token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
			"logo_uri": "http://localhost:9315/favicon.svg",
			"revocation_endpoint": "http://localhost:9315/revoke",
			"revocation_endpoint_auth_methods_supported": ["none", "client_secret_post"],
			"scopes_supported": `+scopes+`,
			"authorization_response_iss_parameter_supported": true}`), &want)
		if got := reply[any](t, h.do("GET", serverDocument, ""), 200); !reflect.DeepEqual(got, want) {
			t.Errorf("metadata\n%v, want\n%v", got, want)
		}
	}
}

// Duty 7: without S256 in the document newer clients refuse to go on.
func TestDuty07ChallengeMethods(t *testing.T) {
	got := reply[serverMetadata](t, open(t).do("GET", serverDocument, ""), 200).ChallengeMethods
	if !slices.Equal(got, []string{"S256"}) {
		t.Errorf("code_challenge_methods_supported %v", got)
	}
}

// Duty 8: a document per address, each naming that address: clients that find
// another resource in it abort before they register.
func TestDuty08ResourceMetadata(t *testing.T) {
	h := open(t)
	for _, path := range []string{"", "/mcp", "/message", "/sse"} {
		got := reply[resourceMetadata](t, h.do("GET", "/.well-known/oauth-protected-resource"+path, ""), 200)
		want := resourceMetadata{h.base + path, []string{h.base}, []string{"charts"}, []string{"header"}, "wick"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", path, got, want)
		}
	}
}

// Documents we do not have are 404 in JSON: a 401 would send a client that only
// probes into a login.
func TestOtherDocuments(t *testing.T) {
	h := open(t)
	for _, path := range []string{"/.well-known/openid-configuration", "/.well-known/openid-configuration/mcp", "/.well-known/",
		"/.well-known/oauth-protected-resource/other", "/.well-known/oauth-authorization-server/sse"} {
		wantError(t, h.do("GET", path, ""), http.StatusNotFound, "not_found")
	}
}

// Duty 9: iss in every answer that goes back, or a client of several servers
// can be made to send one server's code to another.
func TestDuty09Iss(t *testing.T) {
	h := open(t)
	c := h.registerURIs(callback)
	q := query(c, callback)
	if got := location(t, h.authorize(q), callback).Get("iss"); got != h.base {
		t.Errorf("iss %q with a code, want %q", got, h.base)
	}
	q.Del("code_challenge")
	if v := location(t, h.authorize(q), callback); v.Get("iss") != h.base || v.Get("error") == "" {
		t.Errorf("error answer %v, want iss %q", v, h.base)
	}
}

// Duty 10: what we do not know is ignored, or every new extension of OAuth
// would lock its clients out.
func TestDuty10UnknownIgnored(t *testing.T) {
	h := open(t)
	c := h.register(`{"redirect_uris":["` + callback + `"],"software_id":7,"x":{"y":[null]},"scope":"openid","grant_types":["authorization_code","refresh_token"],
		"response_types":"code","contacts":null,"application_type":"native","jwks":{"keys":[]},"client_name#ja":"x"}`)
	q := query(c, callback)
	q.Set("prompt", "consent")
	q.Set("nonce", "1")
	form := exchangeForm(c, h.code(q), callback)
	form.Set("audience", "x")
	reply[tokenReply](t, h.exchange(form), http.StatusOK)
}

// A wrong method is told the right ones, in JSON.
func TestMethods(t *testing.T) {
	h := open(t)
	for _, tc := range []struct{ method, path, allow string }{
		{"GET", "/token", "POST"}, {"PUT", "/token", "POST"}, {"GET", "/revoke", "POST"}, {"GET", "/register", "POST"}, {"DELETE", "/register", "POST"},
		{"PUT", "/authorize", "GET, POST"}, {"HEAD", "/authorize", "GET, POST"}, {"POST", "/favicon.svg", "GET, HEAD"},
		{"POST", serverDocument, "GET, HEAD"}, {"DELETE", resourceDocument + "/mcp", "GET, HEAD"},
	} {
		w := h.do(tc.method, tc.path, "")
		wantError(t, w, http.StatusMethodNotAllowed, "invalid_request")
		if got := w.Header().Get("Allow"); got != tc.allow {
			t.Errorf("%s %s: Allow %q, want %q", tc.method, tc.path, got, tc.allow)
		}
	}
}

func TestFavicon(t *testing.T) {
	w := open(t).do("GET", "/favicon.svg", "")
	if w.Code != 200 || w.Header().Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(w.Body.String(), "<svg") {
		t.Errorf("status %d, type %q: %.40s", w.Code, w.Header().Get("Content-Type"), w.Body)
	}
	for _, banned := range []string{"<script", "href", "<style"} { // it opens as a page too
		if strings.Contains(w.Body.String(), banned) {
			t.Errorf("the icon holds %q", banned)
		}
	}
}
