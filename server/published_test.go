package server

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"wick/mcp"
)

// published has spellings of an origin and the one that browsers make of it.
var published = map[string]string{
	"https://wick.example":                        "https://wick.example",
	"https://WICK.Example/":                       "https://wick.example",
	"HTTPS://wick.example:443":                    "https://wick.example",
	"https://wick.example:0443":                   "https://wick.example",
	"https://wick.example:":                       "https://wick.example",
	"https://wick.example:08443/":                 "https://wick.example:8443",
	"https://xn--wck-qma.example":                 "https://xn--wck-qma.example",
	"https://wick_1.internal":                     "https://wick_1.internal",
	"https://[2001:DB8:0:0:0:0:0:1]":              "https://[2001:db8::1]",
	"https://[2001:0db8:0000::0001]:443":          "https://[2001:db8::1]",
	"https://[2001:db8:0:0:1:0:0:1]:8443":         "https://[2001:db8::1:0:0:1]:8443",
	"https://192.0.2.1":                           "https://192.0.2.1",
	"http://localhost:80":                         "http://localhost",
	"http://LOCALHOST:9315":                       "http://localhost:9315",
	"http://127.0.0.1:09315":                      "http://127.0.0.1:9315",
	"http://[0:0:0:0:0:0:0:1]:9315":               "http://[::1]:9315",
	"http://[0000:0000:0000:0000::0001]:80":       "http://[::1]",
	"https://" + strings.Repeat("a.", 20) + "com": "https://" + strings.Repeat("a.", 20) + "com",
}

// TestPublishedSpelling: the base URL is published as browsers spell it, and a request for
// that spelling is let in.
func TestPublishedSpelling(t *testing.T) {
	for text, want := range published {
		c := parse(t, env("HOME", "/"), "--serve", "--base-url", text)
		if c.baseURL != want {
			t.Errorf("--base-url %s is published as %s, want %s", text, c.baseURL, want)
			continue
		}
		policy, err := mcp.NewPolicy(c.baseURL, nil)
		if err != nil {
			t.Error(err)
			continue
		}
		u, err := url.Parse(want)
		if err != nil {
			t.Fatal(err)
		}
		r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
		r.Host = u.Host
		r.Header.Set("Origin", want)
		policy.Wrap(http.NotFoundHandler()).ServeHTTP(w, r)
		if w.Code != http.StatusNotFound {
			t.Errorf("--base-url %s: Host %s is answered with %d", text, r.Host, w.Code)
		}
	}
}

// TestAllowedSpelling: an origin is allowed in any spelling of it, and not refused when it
// comes in the one of browsers.
func TestAllowedSpelling(t *testing.T) {
	for text, want := range published {
		text = strings.TrimSuffix(text, "/")
		c := parse(t, env("HOME", "/"), "--serve", "--allow-origin", text)
		policy, err := mcp.NewPolicy("http://localhost:9315", c.origins)
		if err != nil {
			t.Error(err)
			continue
		}
		r, w := httptest.NewRequest("GET", "http://localhost:9315/", nil), httptest.NewRecorder()
		r.Header.Set("Origin", want)
		policy.Wrap(http.NotFoundHandler()).ServeHTTP(w, r)
		if w.Code != http.StatusNotFound {
			t.Errorf("--allow-origin %s: Origin %s is answered with %d", text, want, w.Code)
		}
	}
}

// TestUnreachableName: a host that browsers send in another spelling, or not at all, is
// refused with how to write it: wick would answer every request with 403.
func TestUnreachableName(t *testing.T) {
	for host, want := range map[string]string{
		"wíck.example":                      "xn--",
		"w%C3%ADck.example":                 "xn--",
		"wick。example":                      "xn--",
		"wick.example.":                     "dot",
		"localhost.":                        "dot",
		"wick..example":                     "name",
		".example":                          "name",
		"wick!.example":                     "name",
		"127.1":                             "four numbers",
		"127.0.0.01":                        "four numbers",
		"0x7f000001":                        "four numbers",
		"0x7f.1":                            "four numbers",
		"2130706433":                        "four numbers",
		"192.0.2.256":                       "four numbers",
		"wick.0x1f":                         "four numbers",
		"[::ffff:192.0.2.1]":                "four numbers",
		"[::ffff:c000:201]":                 "four numbers",
		"[fe80::1%25eth0]":                  "zone",
		"[v1.x]":                            "",
		"wick.example:0":                    "1 to 65535",
		"wick.example:65536":                "1 to 65535",
		"wick.example:99999999999999999999": "1 to 65535",
	} {
		for _, flag := range []string{"--base-url", "--allow-origin"} {
			_, err := parseConfig([]string{"--serve", flag, "https://" + host}, env("HOME", "/"), &bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), flag) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s https://%s: %v, want one line with %q", flag, host, err, want)
			}
		}
	}
}
