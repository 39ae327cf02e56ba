//go:build !core

package server

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestWelcome: at the bare address, and at a path that does not exist, a browser gets a page
// that leads to the owner's page, and a program JSON. A path that is served by another method
// only answers both with the same JSON.
func TestWelcome(t *testing.T) {
	h := start(t, "--serve", "--trade")
	for _, tc := range []struct {
		path, accept string
		status       int
		kind, says   string
	}{
		{"/", "text/html,application/xhtml+xml,*/*;q=0.8", 200, "text/html; charset=utf-8", "<h1>wick is running</h1>"},
		{"/", "text/html", 200, "text/html; charset=utf-8", "<dt>Address for MCP clients</dt><dd><bdi>" + h.base + "/mcp</bdi></dd>"},
		{"/", "text/html", 200, "text/html; charset=utf-8", "<dt>Bars from</dt><dd><bdi>sample: invented, for trying out</bdi></dd>\n<dt>Paper trading</dt><dd><bdi>active</bdi></dd>"},
		{"/", "*/*", 200, "application/json", `"status":"ok"`},
		{"/", "", 200, "application/json", `"status":"ok"`},
		{"/", "text/html", 200, "text/html; charset=utf-8", `<a href="` + h.base + `/app">`},
		{"/no/such", "text/html", 404, "text/html; charset=utf-8", "<h1>There is nothing at this path</h1>"},
		{"/no/such", "text/html", 404, "text/html; charset=utf-8", `<a href="` + h.base + `/app">`},
		{"/no/such", "application/json", 404, "application/json", "there is nothing at this path"},
		{"/mcp", "text/html", 406, "application/json", "text/event-stream"},
		{"/message", "text/html", 405, "application/json", "GET is not served at this path"},
		{"/app/no/such", "text/html", 404, "text/html; charset=utf-8", "<h1>There is nothing at this path</h1>"},
		{"/%3Cscript%3E", "text/html", 404, "text/html; charset=utf-8", "<h1>There is nothing at this path</h1>"},
		{"/%3Cscript%3E", "application/json", 404, "application/json", "there is nothing at this path"},
	} {
		r, err := http.NewRequest("GET", h.base+tc.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tc.accept != "" {
			r.Header.Set("Accept", tc.accept)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != tc.status || answer.Header.Get("Content-Type") != tc.kind || !strings.Contains(string(body), tc.says) {
			t.Errorf("%s for %q: %d %s\n%s", tc.path, tc.accept, answer.StatusCode, answer.Header.Get("Content-Type"), body)
		}
		if page := strings.HasPrefix(tc.kind, "text/html"); page && (!strings.Contains(answer.Header.Get("Content-Security-Policy"), "default-src 'none'") || answer.Header.Get("X-Frame-Options") != "DENY" || strings.Contains(string(body), "<script")) {
			t.Errorf("%s: headers %v\n%s", tc.path, answer.Header, body)
		}
	}
}
