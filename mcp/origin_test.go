package mcp

import (
	"strings"
	"testing"
)

// Without the check of Host, a page could rebind its own name to 127.0.0.1 and
// talk to a local server as to its own; without that of Origin, any page could
// post to it.
func TestHostAndOrigin(t *testing.T) {
	site := testSite(t, testHTTP(testServer()))
	tests := []struct {
		host, origin string
		status       int
	}{
		{"wick.example", "", 200},
		{"WICK.example:443", "", 200},
		{"wick.example:9315", "", 200},
		{"localhost", "", 200},
		{"LocalHost:9315", "", 200},
		{"127.0.0.1:9315", "", 200},
		{"127.9.9.9", "", 200},
		{"[::1]:9315", "", 200},
		{"[::1]", "", 200},
		{"evil.example.com", "", 403},
		{"evil.example.com:9315", "", 403},
		{"wick.example.evil.com", "", 403},
		{"localhost.evil.com", "", 403},
		{"127.0.0.1.evil.com", "", 403},
		{"192.0.2.1", "", 403},
		{"", "", 403},

		{"wick.example", "https://wick.example", 200},
		{"wick.example", "https://WICK.example:443", 200},
		{"wick.example", "https://app.example", 200},
		{"wick.example", "http://localhost:6274", 200},
		{"wick.example", "http://127.0.0.1:80", 200},
		{"wick.example", "https://[::1]:8443", 200},
		{"wick.example", "http://wick.example", 403}, // another scheme is another origin
		{"wick.example", "https://wick.example:8443", 403},
		{"wick.example", "https://app.example:8443", 403},
		{"wick.example", "https://evil.example.com", 403},
		{"wick.example", "https://app.example.evil.com", 403},
		{"wick.example", "https://app.example@evil.com", 403},
		{"wick.example", "http://localhost.evil.com", 403},
		{"wick.example", "http://localhost/path", 403},
		{"wick.example", "http://localhost?x", 403},
		{"wick.example", "null", 403}, // any page can have this origin by sandboxing itself
		{"wick.example", "file://", 403},
		{"wick.example", "chrome-extension://abc", 403},
		{"wick.example", "::", 403},
	}
	// Nothing but the base URL decides on hosts, so nothing else is advised.
	if w := do(t, site, "POST", "/mcp", ping, "Host", "evil.example.com"); !strings.Contains(w.Body.String(), `is not this server's: use its base URL"`) {
		t.Errorf("a strange host is told %s", w.Body)
	}
	for _, tt := range tests {
		headers := []string{"Host", tt.host}
		if tt.origin != "" {
			headers = append(headers, "Origin", tt.origin)
		}
		for _, path := range []string{"/mcp", "/message", "/"} {
			w := do(t, site, "POST", path, ping, headers...)
			if w.Code != tt.status {
				t.Errorf("host %q, origin %q, %s: %d, want %d: %s", tt.host, tt.origin, path, w.Code, tt.status, w.Body)
			}
			allowed := w.Header().Get("Access-Control-Allow-Origin")
			if want := tt.origin; tt.status == 200 && allowed != want || tt.status != 200 && allowed != "" {
				t.Errorf("host %q, origin %q: allows %q", tt.host, tt.origin, allowed)
			}
		}
	}
	if w := do(t, site, "POST", "/mcp", ping, "Origin", "http://localhost", "Origin", "https://evil.example"); w.Code != 403 {
		t.Errorf("two origins: %d", w.Code)
	}
}

// A browser asks first, without a token, and is told what it may do; a stranger
// is told nothing.
func TestPreflight(t *testing.T) {
	site := testSite(t, testHTTP(testServer()))
	w := do(t, site, "OPTIONS", "/mcp", "", "Authorization", "", "Origin", "https://app.example",
		"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type")
	h := w.Header()
	if w.Code != 204 || w.Body.Len() != 0 || h.Get("Access-Control-Allow-Origin") != "https://app.example" || h.Get("Vary") != "Origin" {
		t.Errorf("%d %q %v", w.Code, w.Body, h)
	}
	for _, name := range []string{"Authorization", "Content-Type", "Accept", "Mcp-Protocol-Version", "Mcp-Session-Id", "Last-Event-ID", "Mcp-Method", "Mcp-Name"} {
		if !strings.Contains(h.Get("Access-Control-Allow-Headers"), name) {
			t.Errorf("%s may not be sent: %v", name, h)
		}
	}
	for _, method := range []string{"GET", "POST", "DELETE"} {
		if !strings.Contains(h.Get("Access-Control-Allow-Methods"), method) {
			t.Errorf("%s may not be sent: %v", method, h)
		}
	}
	if h.Get("Access-Control-Allow-Credentials") != "" {
		t.Error("cookies are allowed")
	}
	if w := do(t, site, "OPTIONS", "/mcp", "", "Origin", "https://evil.example"); w.Code != 403 || w.Header().Get("Access-Control-Allow-Headers") != "" {
		t.Errorf("a stranger: %d %v", w.Code, w.Header())
	}
	w = do(t, site, "POST", "/mcp", ping, "Authorization", "", "Origin", "https://app.example")
	if exposed := w.Header().Get("Access-Control-Expose-Headers"); w.Code != 401 || !strings.Contains(exposed, "WWW-Authenticate") || !strings.Contains(exposed, "Mcp-Session-Id") {
		t.Errorf("a page cannot read the challenge: %d %v", w.Code, w.Header())
	}
}

// The page of the login has no CORS at all, whoever asks, and its form may be
// posted with the origin "null"; the Host is checked even there.
func TestPrivatePath(t *testing.T) {
	site := testSite(t, testHTTP(testServer()))
	for _, origin := range []string{"https://app.example", "null", "https://evil.example"} {
		w := do(t, site, "GET", "/authorize", "", "Origin", origin)
		if w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("origin %q: %d %v", origin, w.Code, w.Header())
		}
		if w := do(t, site, "OPTIONS", "/authorize", "", "Origin", origin); w.Code != 405 || w.Header().Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("preflight by %q: %d %v", origin, w.Code, w.Header())
		}
	}
	if w := do(t, site, "GET", "/authorize", "", "Host", "evil.example"); w.Code != 403 {
		t.Errorf("wrong host: %d", w.Code)
	}
}

func TestNewPolicyRefuses(t *testing.T) {
	for _, base := range []string{"", "wick.example", "ftp://wick.example", "https://", "https://u:p@wick.example", "http://[::1"} {
		if _, err := NewPolicy(base, nil); err == nil {
			t.Errorf("base URL %q was accepted", base)
		}
	}
	if _, err := NewPolicy("http://localhost", []string{"*"}); err == nil || !strings.Contains(err.Error(), `"*"`) {
		t.Errorf("the origin * was accepted, or not named: %v", err)
	}
}
