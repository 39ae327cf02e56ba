package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// do sends a request with a token to a fresh site. Headers are pairs; an empty
// value removes one.
func do(t testing.TB, site http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, "http://localhost:9315"+path, strings.NewReader(body))
	r.Header.Set("Authorization", testToken)
	for i := 0; i < len(headers); i += 2 {
		switch {
		case headers[i] == "Host":
			r.Host = headers[i+1]
		case headers[i+1] == "":
			r.Header.Del(headers[i])
		default:
			r.Header.Add(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	site.ServeHTTP(w, r)
	return w
}

// Paths and methods: every alias, every wrong method, everything unknown.
func TestRoutes(t *testing.T) {
	site := testSite(t, testHTTP(testServer()))
	tests := []struct {
		method, path string
		status       int
		allow        string
	}{
		{"POST", "/mcp", 200, ""},
		{"POST", "/", 200, ""},
		{"POST", "/message", 200, ""},
		{"GET", "/", 200, ""},
		{"HEAD", "/", 200, ""},
		{"GET", "/mcp", 200, ""},
		{"GET", "/sse", 200, ""},
		{"HEAD", "/mcp", 405, "GET, POST, OPTIONS"}, // it would leave a stream running that nobody reads
		{"HEAD", "/sse", 405, "GET, OPTIONS"},
		{"DELETE", "/mcp", 405, "GET, POST, OPTIONS"},
		{"PUT", "/mcp", 405, "GET, POST, OPTIONS"},
		{"DELETE", "/", 405, "GET, POST, OPTIONS"},
		{"BREW", "/", 405, "GET, POST, OPTIONS"},
		{"POST", "/sse", 405, "GET, OPTIONS"},
		{"GET", "/message", 405, "POST, OPTIONS"},
		{"POST", "/authorize", 405, "GET, OPTIONS"}, // a route of another package
		{"GET", "/nothing", 404, ""},
		{"POST", "/nothing", 404, ""},
		{"POST", "/mcp/", 404, ""},
		{"GET", "//", 404, ""},
		{"POST", "//mcp", 404, ""}, // ServeMux would redirect, and clients drop the token
		{"POST", "/./mcp", 404, ""},
		{"POST", "/x/../mcp", 404, ""},
		{"GET", "/.well-known/openid-configuration", 404, ""},
	}
	for _, tt := range tests {
		w := do(t, site, tt.method, tt.path, ping)
		if w.Code != tt.status || w.Header().Get("Allow") != tt.allow {
			t.Errorf("%s %s: %d, Allow %q; want %d, %q", tt.method, tt.path, w.Code, w.Header().Get("Allow"), tt.status, tt.allow)
		}
		if kind := w.Header().Get("Content-Type"); w.Code >= 400 && kind != "application/json" {
			t.Errorf("%s %s: Content-Type %q", tt.method, tt.path, kind)
		}
	}
}

// Headers of a POST: what is refused, with which status. In every case the
// body is a JSON-RPC error that says what would be right.
func TestPostHeaders(t *testing.T) {
	site := testSite(t, testHTTP(testServer()))
	tests := []struct {
		name    string
		status  int
		headers []string
	}{
		{"none at all", 200, nil},
		{"Accept of the specification", 200, []string{"Accept", "application/json, text/event-stream"}},
		{"Accept JSON only", 200, []string{"Accept", "application/json"}},
		{"Accept anything", 200, []string{"Accept", "*/*"}},
		{"Accept text", 406, []string{"Accept", "text/plain"}},
		{"Accept a stream only", 406, []string{"Accept", "text/event-stream"}},
		{"Accept JSON in a second header", 200, []string{"Accept", "text/plain", "Accept", "application/json"}},
		{"Accept all but JSON", 406, []string{"Accept", "application/json;q=0, */*"}},
		{"type JSON", 200, []string{"Content-Type", "application/json"}},
		{"type JSON with charset", 200, []string{"Content-Type", "Application/JSON; charset=utf-8"}},
		{"type JSON with an empty parameter", 200, []string{"Content-Type", "application/json;"}},
		{"type text", 415, []string{"Content-Type", "text/plain"}}, // what a page may post without asking
		{"type text that contains JSON", 415, []string{"Content-Type", "text/plain; application/json"}},
		{"type form", 415, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"type multipart", 415, []string{"Content-Type", "multipart/form-data; boundary=x"}},
		{"two types", 415, []string{"Content-Type", "application/json", "Content-Type", "application/json"}},
		{"our version", 200, []string{"Mcp-Protocol-Version", "2025-03-26"}},
		{"an older version", 200, []string{"Mcp-Protocol-Version", "2024-11-05"}},
		{"a newer version", 200, []string{"Mcp-Protocol-Version", "2026-07-28"}},
		{"no version", 400, []string{"Mcp-Protocol-Version", "nonsense"}},
		{"a date that is none", 400, []string{"Mcp-Protocol-Version", "9999-99-99"}},
		{"a date before the first version", 400, []string{"Mcp-Protocol-Version", "1999-01-01"}},
		{"two versions", 400, []string{"Mcp-Protocol-Version", "2025-03-26", "Mcp-Protocol-Version", "2025-03-26"}},
	}
	for _, tt := range tests {
		w := do(t, site, "POST", "/mcp", ping, tt.headers...)
		if w.Code != tt.status {
			t.Errorf("%s: %d, want %d: %s", tt.name, w.Code, tt.status, w.Body)
		}
		if tt.status != 200 && !strings.Contains(w.Body.String(), `"code":-32600`) {
			t.Errorf("%s: %s", tt.name, w.Body)
		}
	}
}

// A session id is repeated if it is harmless, on every kind of answer. A new one is made
// only for an initialize without one.
func TestSessionEcho(t *testing.T) {
	site := testSite(t, testHTTP(testServer()))
	long := strings.Repeat("x", maxSession)
	tests := []struct{ sent, want string }{
		{"", ""}, {"abc-123~!", "abc-123~!"}, {long, long}, {long + "x", ""},
		{"a b", ""}, {"a\tb", ""}, {"é", ""}, {"a\x7f", ""},
	}
	for _, tt := range tests {
		for _, method := range []string{"POST", "GET"} {
			w := do(t, site, method, "/mcp", ping, "Mcp-Session-Id", tt.sent)
			if got := w.Header().Get("Mcp-Session-Id"); got != tt.want {
				t.Errorf("%s: sent %q, got %q, want %q", method, tt.sent, got, tt.want)
			}
		}
	}
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
	if got := do(t, site, "POST", "/mcp", initialize, "Mcp-Session-Id", "abc").Header().Get("Mcp-Session-Id"); got != "abc" {
		t.Errorf("initialize: sent abc, got %q", got)
	}
	made := make(map[string]bool)
	for range 3 {
		made[do(t, site, "POST", "/mcp", initialize, "Authorization", "").Header().Get("Mcp-Session-Id")] = true
	}
	if len(made) != 3 || made[""] {
		t.Errorf("initialize without a session id: got %v, want three of them", made)
	}
	if got := do(t, site, "POST", "/mcp", strings.Replace(initialize, "2.0", "1.0", 1)).Header().Get("Mcp-Session-Id"); got != "" {
		t.Errorf("a refused initialize got the session %q", got)
	}
	w := do(t, site, "POST", "/mcp", ping, "Mcp-Session-Id", "a", "Authorization", "")
	if w.Code != 401 || w.Header().Get("Mcp-Session-Id") != "a" {
		t.Errorf("on a refusal: %d, %v", w.Code, w.Header())
	}
}

// Bodies: the bound itself passes, one byte more does not, and a stranger's
// share is smaller still, since nothing open to strangers is long.
func TestBodyBounds(t *testing.T) {
	site := testSite(t, testHTTP(testServer()))
	padded := func(body string, size int) string { return body + strings.Repeat(" ", size-len(body)) }
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize"}`
	tests := []struct {
		name, body, token string
		chunked           bool
		status            int
	}{
		{"at the bound", padded(ping, maxBody), testToken, false, 200},
		{"over the bound, announced", padded(ping, maxBody+1), testToken, false, 413},
		{"over the bound, in chunks", padded(ping, maxBody+1), testToken, true, 413},
		{"empty", "", testToken, false, 400},
		{"a stranger's", padded(initialize, maxAnonymous), "", false, 200},
		{"a stranger's, too long", padded(initialize, maxAnonymous+1), "", false, 401},
		{"a stranger's, far too long", padded(initialize, maxBody+1), "", false, 413},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", testToken, false, 400},
	}
	for _, tt := range tests {
		body := io.Reader(strings.NewReader(tt.body))
		if tt.chunked {
			body = io.MultiReader(body) // hides the length
		}
		r := httptest.NewRequest("POST", "http://localhost/mcp", body)
		if tt.token != "" {
			r.Header.Set("Authorization", tt.token)
		}
		w := httptest.NewRecorder()
		site.ServeHTTP(w, r)
		if w.Code != tt.status {
			t.Errorf("%s: %d, want %d: %s", tt.name, w.Code, tt.status, w.Body)
		}
		if challenged := w.Header().Get("WWW-Authenticate") != ""; challenged != (tt.status == 401) {
			t.Errorf("%s: WWW-Authenticate is %q", tt.name, w.Header().Get("WWW-Authenticate"))
		}
	}
}

// failingBody fails as a connection does.
type failingBody struct{ err error }

func (b failingBody) Read([]byte) (int, error) { return 0, b.err }

func TestBodyUnreadable(t *testing.T) {
	for err, status := range map[error]int{io.ErrUnexpectedEOF: 400, os.ErrDeadlineExceeded: 408} {
		r := httptest.NewRequest("POST", "http://localhost/mcp", failingBody{err})
		w := httptest.NewRecorder()
		testSite(t, testHTTP(testServer())).ServeHTTP(w, r)
		if w.Code != status {
			t.Errorf("%v: %d, want %d", err, w.Code, status)
		}
	}
}

// A stream needs a token and hands the caller and Last-Event-ID on.
func TestStream(t *testing.T) {
	site := testSite(t, testHTTP(testServer()))
	for _, tt := range []struct {
		name    string
		status  int
		body    string
		headers []string
	}{
		{"with a token", 200, "data: caller-1234 after x-7\n\n", []string{"Last-Event-ID", "x-7", "Accept", "text/event-stream"}},
		{"without Accept", 200, "data: caller-1234 after \n\n", nil},
		{"with JSON only", 406, "", []string{"Accept", "application/json"}},
		{"without a token", 401, "", []string{"Authorization", ""}},
		{"with a wrong version", 400, "", []string{"Mcp-Protocol-Version", "x"}},
	} {
		for _, path := range []string{"/mcp", "/sse"} {
			w := do(t, site, "GET", path, "", tt.headers...)
			if w.Code != tt.status || tt.body != "" && w.Body.String() != tt.body {
				t.Errorf("%s %s: %d %q; want %d %q", path, tt.name, w.Code, w.Body, tt.status, tt.body)
			}
			if challenged := w.Header().Get("WWW-Authenticate") != ""; challenged != (tt.status == 401) {
				t.Errorf("%s %s: WWW-Authenticate %q", path, tt.name, w.Header().Get("WWW-Authenticate"))
			}
		}
	}
}

// A person who typed the stream's address into a client is told the right one.
func TestPostToTheStream(t *testing.T) {
	site := testSite(t, testHTTP(testServer()))
	if w := do(t, site, "POST", "/sse", ping); w.Code != 405 || !strings.Contains(w.Body.String(), "post to /mcp") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A client that was given the bare address asks there for its stream, taking
// events only; everybody else gets the health document.
func TestStreamAtTheBareAddress(t *testing.T) {
	site := testSite(t, testHTTP(testServer()))
	const stream, health = "data: caller-1234 after \n\n", "{"
	for _, tt := range []struct {
		method, accept, token string
		status                int
		body                  string // how it begins
	}{
		{"GET", "text/event-stream", "Bearer right", 200, stream},
		{"GET", "text/event-stream", "", 401, `{"jsonrpc"`},
		{"HEAD", "text/event-stream", "Bearer right", 200, health},
		{"GET", "application/json, text/event-stream", "Bearer right", 200, health},
		{"GET", "*/*", "Bearer right", 200, health},
		{"GET", "", "", 200, health},
		{"GET", "text/html", "", 200, health},
	} {
		w := do(t, site, tt.method, "/", "", "Accept", tt.accept, "Authorization", tt.token)
		if w.Code != tt.status || !strings.HasPrefix(w.Body.String(), tt.body) {
			t.Errorf("%s / with Accept %q, Authorization %q: %d %q; want %d %q", tt.method, tt.accept, tt.token, w.Code, w.Body, tt.status, tt.body)
		}
	}
}

// A token counts in the header alone: in the query it would end up in logs
// and histories. This package does not even look there.
func TestTokenInQueryIsIgnored(t *testing.T) {
	site := testSite(t, testHTTP(testServer()))
	w := do(t, site, "POST", "/mcp?access_token=right&token=right", ping, "Authorization", "")
	if w.Code != 401 {
		t.Errorf("%d, want 401", w.Code)
	}
}

// The token of a request whose body comes slowly is checked again when the whole body has
// come: if it was revoked meanwhile, the request does nothing.
func TestRevokedWhileSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := testHTTP(testServer())
		revoked := time.Now().Add(5 * time.Second)
		h.Authenticate = func(*http.Request) (Caller, error) {
			if time.Now().After(revoked) {
				return Caller{}, errors.New("revoked")
			}
			return Caller{ID: "a"}, nil
		}
		site := testSite(t, h)
		for wait, want := range map[time.Duration]int{time.Second: 200, 7 * time.Second: 401} {
			revoked = time.Now().Add(5 * time.Second)
			time.AfterFunc(5*time.Second+1, func() { h.Server.Sessions.Revoke("a") })
			r := httptest.NewRequest("POST", "/mcp", io.MultiReader(strings.NewReader(ping[:5]), &late{wait}, strings.NewReader(ping[5:])))
			r.Host = "localhost"
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer right")
			w := httptest.NewRecorder()
			site.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("a body that takes %v: %d %s, want %d", wait, w.Code, w.Body, want)
			}
		}
	})
}

// A batch goes on for as long as its calls take: from a revocation on, none of its
// messages does anything. Nor does a call that has waited for its slot meanwhile.
func TestRevokedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran, revoked := 0, false
		var s *Server
		handler := func(ctx context.Context, c Call) (*Result, error) {
			ran++
			time.Sleep(time.Second)
			if ran == 2 {
				revoked = true
				s.Sessions.Revoke("a")
			}
			return Text("done"), nil
		}
		s = NewServer(Options{Name: "test", Version: "1", Tools: []Tool{{Name: "slow", Schema: json.RawMessage(`{}`), Cost: Cheap, Handle: handler},
			{Name: "line", Schema: json.RawMessage(`{}`), Handle: handler}}, Valid: func(string) bool { return !revoked }})
		h := testHTTP(s)
		h.Authenticate = func(*http.Request) (Caller, error) {
			if revoked {
				return Caller{}, errors.New("revoked")
			}
			return Caller{ID: "a"}, nil
		}
		site := testSite(t, h)
		call := func(tool string) string {
			return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `"}}`
		}
		w := do(t, site, "POST", "/mcp", "["+call("slow")+","+call("slow")+","+call("slow")+"]")
		if denied := strings.Count(w.Body.String(), `"code":-32001`); ran != 2 || denied != 1 {
			t.Errorf("%d calls ran and %d were refused: %s; want 2 and 1", ran, denied, w.Body)
		}
		revoked = false
		h.Authenticate = func(*http.Request) (Caller, error) {
			was := revoked
			revoked = true // once the request is accepted
			if was {
				return Caller{}, errors.New("revoked")
			}
			return Caller{ID: "a"}, nil
		}
		if w := do(t, site, "POST", "/mcp", call("line")); w.Code != 401 || ran != 2 || w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("after the line: %d %s, %d calls ran; want 401, 2", w.Code, w.Body, ran)
		}
	})
}

// An id comes back with everything that is said about a request, so a long one is
// refused; so is a request that names very many things.
func TestLongNames(t *testing.T) {
	site := testSite(t, testHTTP(testServer()))
	many := strings.TrimSuffix(strings.Repeat(`"a",`, 65), ",")
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", maxID) + `","method":"ping"}`:                                                  `"result":{}`,
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", maxID+1) + `","method":"ping"}`:                                                "at most 256 bytes",
		`{"jsonrpc":"2.0","id":` + strings.Repeat("7", maxID) + `,"method":"ping"}`:                                                    `"result":{}`,
		`{"jsonrpc":"2.0","id":` + strings.Repeat("7", maxID+1) + `,"method":"ping"}`:                                                  "at most 256 bytes",
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":[` + many + `]}}}`: "at most 64",
	} {
		if w := do(t, site, "POST", "/mcp", body); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%.60s…: %s, want %q", body, w.Body, want)
		}
	}
}

// A client that names one method in the header, which proxies read, and another in the
// body is not served in the older era either.
func TestMethodHeader(t *testing.T) {
	site := testSite(t, testHTTP(testServer()))
	for header, want := range map[string]int{"ping": 200, "tools/list": 400} {
		if w := do(t, site, "POST", "/mcp", ping, "Mcp-Method", header); w.Code != want {
			t.Errorf("header %s with the body of a ping: %d %s, want %d", header, w.Code, w.Body, want)
		}
	}
}

// TestNameHeader: a body without _meta is of the older era, which needs no Mcp-Name. One that
// does not agree is refused all the same, before anything is done.
func TestNameHeader(t *testing.T) {
	site := testSite(t, testHTTP(wholeServer()))
	const call, read, get = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://plain"}}`, `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"greet","arguments":{"name":"x"}}}`
	for _, c := range []struct {
		body, name string
		want       int
	}{
		{call, "echo", 200}, {call, "=?base64?ZWNobw==?=", 200}, {call, "fail", 400}, {call, "Echo", 400}, {call, "", 200}, {call, "=?base64?b3JkZXI=?=", 400},
		{read, "x://plain", 200}, {read, "x://part/a", 400}, {get, "greet", 200}, {get, "echo", 400},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, "echo", 400}, // the body names nothing
		{ping, "echo", 200}, // it has no name to agree with
		{`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, "echo", 202},
	} {
		for _, version := range []string{modernVersion, ProtocolVersion} {
			w := do(t, site, "POST", "/mcp", c.body, "Mcp-Name", c.name, "MCP-Protocol-Version", version)
			if w.Code != c.want || (c.want == 400) != strings.Contains(w.Body.String(), `"code":-32020,"message":"the header Mcp-Name `) {
				t.Errorf("%s with the name %q, version %s: %d %s, want %d", c.body, c.name, version, w.Code, w.Body, c.want)
			}
		}
	}
	if w := do(t, site, "POST", "/mcp", "["+call+","+strings.Replace(call, "echo", "fail", 1)+"]", "Mcp-Name", "echo"); strings.Count(w.Body.String(), `"code":-32020`) != 1 {
		t.Errorf("a batch: %s", w.Body)
	}
}

// late is a part of a body that is empty and takes its time.
type late struct{ wait time.Duration }

func (l *late) Read([]byte) (int, error) { time.Sleep(l.wait); return 0, io.EOF }

// Every request is checked by itself: a token that was good a moment ago is
// asked about again, once a request.
func TestAuthenticatePerRequest(t *testing.T) {
	var asked atomic.Int32
	h := testHTTP(testServer())
	h.Authenticate = func(*http.Request) (Caller, error) {
		if asked.Add(1) > 2 {
			return Caller{}, errors.New("revoked")
		}
		return Caller{ID: "a"}, nil
	}
	site := testSite(t, h)
	for i, want := range []int{200, 200, 401} {
		body := "[" + ping + "," + ping + "]"
		if w := do(t, site, "POST", "/mcp", body); w.Code != want || int(asked.Load()) != i+1 {
			t.Errorf("request %d: %d after %d questions; want %d after %d", i, w.Code, asked.Load(), want, i+1)
		}
	}
	do(t, site, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if asked.Load() != 4 {
		t.Error("whose token it is was not asked before tools/list was served")
	}
}

// A caller with the scope may call the tool, and the missing one is named.
func TestScope(t *testing.T) {
	h := testHTTP(testServer())
	site := testSite(t, h)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"order"}}`
	w := do(t, site, "POST", "/mcp", call)
	if got := w.Header().Get("WWW-Authenticate"); w.Code != 403 || got != `Bearer error="insufficient_scope"` || !strings.Contains(w.Body.String(), `needs the scope \"trade\"`) {
		t.Errorf("%d, %q", w.Code, got)
	}
	h.Authenticate = func(*http.Request) (Caller, error) { return Caller{ID: "a", Scope: "charts trade"}, nil }
	if w := do(t, site, "POST", "/mcp", call); w.Code != 200 || !strings.Contains(w.Body.String(), "placed") {
		t.Errorf("with the scope: %d %s", w.Code, w.Body)
	}
}

// The log says what was asked, never a token, a body or a stranger's raw text.
func TestLog(t *testing.T) {
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	whole := wholeServer()
	read, prompt := *whole.resources[1], *whole.prompts["greet"]
	h := testHTTP(NewServer(Options{Tools: testTools(), Resources: []Resource{read}, Prompts: []Prompt{prompt}, Log: log}))
	h.Log = log
	h.Address = func(*http.Request) string { return "192.0.2.7" }
	site := testSite(t, h)
	line := func(body string, headers ...string) string {
		text.Reset()
		do(t, site, "POST", "/mcp", body, headers...)
		return text.String()
	}
	for _, tt := range []struct {
		got  string
		want []string
	}{
		{line(ping), []string{"method=ping", "status=200", "authorization=true", "took=", `name="Test <Client>"`, "id=caller-1 ", "from=192.0.2.7"}},
		{line(ping, "Authorization", ""), []string{"method=ping", "status=401", "authorization=false", "from=192.0.2.7", `error="no such token"`}},
		{line(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail","arguments":{"pin":"hunter2"}}}`), []string{"method=tools/call", "tool=fail", `name="Test <Client>"`, "id=caller-1 ", "from=192.0.2.7"}},
		{line(`[` + ping + `]`), []string{`method="batch of 1"`}},
		{line(`[` + ping + `,{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail"}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}]`),
			[]string{`method="batch of 3"`, "tool=fail", "tool=echo"}},
		{line(`{"jsonrpc":"2.0","id":7,"result":{}}`), []string{"method=response"}},
		{line(`{}`), []string{"method=invalid", "status=400"}},
		{line(`{"jsonrpc":"2.0","id":1,"method":"a\nlevel=ERROR forged=yes"}`), []string{"method=unknown status=200"}},
		{line(`{"jsonrpc":"2.0","id":1,"method":"right"}`), []string{"method=unknown status=200"}}, // a token in the wrong place
		{line(`{"jsonrpc":"2.0","method":"notifications/right"}`), []string{"method=unknown status=202"}},
		{line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), []string{"method=notifications/initialized status=202"}},
		{line(`{"jsonrpc":"2.0","id":1,"method":"right","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
			"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "right"), []string{"method=unknown status=404"}},
		{line(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"right"}}`), []string{"method=tools/call status=200"}},
		{line(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://part/right"}}`), []string{"method=resources/read status=200", "tool=x://part/{name}"}},
		{line(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://right"}}`), []string{"method=resources/read status=200"}},
		{line(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"right"}}`), []string{"method=prompts/get status=200"}},
		{line(`[{"jsonrpc":"2.0","id":1,"method":"right"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"right"}}]`), []string{`method="batch of 2"`}},
		{line(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"boom"}}`), []string{"handler panicked", "of=boom", "secret inner state", "mcp/call.go"}},
	} {
		for _, want := range tt.want {
			if !strings.Contains(tt.got, want) {
				t.Errorf("no %s in %s", want, tt.got)
			}
		}
		for _, never := range []string{"right", "hunter2", "forged"} {
			if strings.Contains(tt.got, never) {
				t.Errorf("%s in %s", never, tt.got)
			}
		}
	}
	text.Reset()
	do(t, site, "GET", "/mcp", "")
	if got := text.String(); !strings.Contains(got, "method=stream status=200") || !strings.Contains(got, `method="end of stream"`) {
		t.Errorf("a stream: %s", got)
	}
	h = testHTTP(testServer())
	h.Log = nil // discards, and nothing breaks
	do(t, testSite(t, h), "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"boom"}}`)
}

// With all slots taken and the queue full a call is refused with 503 and told
// when to come back; what takes no time is answered all the same.
func TestBusy(t *testing.T) {
	s := testServer()
	crowd(s.gates[Normal])
	if s.gates[Normal].waiting.all != maxWaiting {
		t.Errorf("%d wait, want %d", s.gates[Normal].waiting.all, maxWaiting)
	}
	site := testSite(t, testHTTP(s))
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail"}}`
	w := do(t, site, "POST", "/mcp", call)
	if w.Code != 503 || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), `"code":-32000`) {
		t.Errorf("%d, %v, %s", w.Code, w.Header(), w.Body)
	}
	w = do(t, site, "POST", "/mcp", "["+ping+","+call+"]")
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"code":-32000`) {
		t.Errorf("beside a ping: %d, %s", w.Code, w.Body)
	}
	cheap := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`
	for _, body := range []string{ping, cheap, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`} {
		if w := do(t, site, "POST", "/mcp", body); w.Code != 200 {
			t.Errorf("%s: %d", body, w.Code)
		}
	}
}

// A batch of as many messages as are allowed is answered whole, one more is
// refused whole.
func TestBatchBound(t *testing.T) {
	site := testSite(t, testHTTP(testServer()))
	batch := func(n int) string { return "[" + strings.Repeat(ping+",", n-1) + ping + "]" }
	if w := do(t, site, "POST", "/mcp", batch(maxBatch)); w.Code != 200 || strings.Count(w.Body.String(), `"result"`) != 20 {
		t.Errorf("20 messages: %d, %s", w.Code, w.Body)
	}
	if w := do(t, site, "POST", "/mcp", batch(maxBatch+1)); w.Code != 400 || strings.Contains(w.Body.String(), `"result"`) {
		t.Errorf("21 messages: %d, %s", w.Code, w.Body)
	}
}

// crowd takes every slot of a gate and every place in its lines, each for
// another client.
func crowd(g *gate) {
	for i := range g.free + maxWaiting {
		name := strconv.Itoa(i)
		if c := (Caller{ID: name, Client: name}); g.free > 0 {
			g.free--
		} else {
			g.queue(c, false)
		}
	}
}

// occupy takes every slot of a gate.
func occupy(g *gate) {
	g.free = 0
}

// A crowd of heavy calls holds up no other, and is not held up by them.
func TestHeavyHasItsOwnQueue(t *testing.T) {
	heavy := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"picture"}}`
	light := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail"}}`
	s := testServer()
	site := testSite(t, testHTTP(s))
	crowd(s.gates[Heavy])
	if a, b := do(t, site, "POST", "/mcp", heavy).Code, do(t, site, "POST", "/mcp", light).Code; a != 503 || b != 200 {
		t.Errorf("in a crowd of heavy calls a heavy one got %d, another %d; want 503, 200", a, b)
	}
	s = testServer()
	site = testSite(t, testHTTP(s))
	crowd(s.gates[Normal])
	if a, b := do(t, site, "POST", "/mcp", heavy).Code, do(t, site, "POST", "/mcp", light).Code; a != 200 || b != 503 {
		t.Errorf("in a crowd of others a heavy call got %d, another %d; want 200, 503", a, b)
	}
}

// A call for which there is room in the queue waits for a slot and runs.
func TestWaitForSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testServer()
		occupy(s.gates[Normal])
		site := testSite(t, testHTTP(s))
		done := make(chan int, 1)
		go func() {
			done <- do(t, site, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail"}}`).Code
		}()
		synctest.Wait()
		if len(done) != 0 || s.gates[Normal].waiting.all != 1 {
			t.Errorf("%d answered, %d waiting; want 0, 1", len(done), s.gates[Normal].waiting.all)
		}
		s.gates[Normal].leave()
		if code := <-done; code != 200 {
			t.Errorf("after waiting: %d", code)
		}
	})
}

// pipe is a listener with one connection in memory, so that a synctest bubble controls its
// time.
type pipe chan net.Conn

func (p pipe) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipe) Close() error   { return nil }
func (p pipe) Addr() net.Addr { return &net.TCPAddr{} }

// connect serves h as main does and returns the client's end of a connection.
// net.Pipe has no buffer: a write waits until the other end reads.
func connect(t *testing.T, h *HTTP) net.Conn {
	srv := &http.Server{Handler: testSite(t, h), ReadTimeout: 10 * time.Second, IdleTimeout: time.Hour}
	ln := make(pipe)
	here, there := net.Pipe()
	ended := make(chan error)
	go func() { ended <- srv.Serve(ln) }()
	ln <- there
	t.Cleanup(func() {
		here.Close()
		close(ln)
		<-ended
	})
	return here
}

func rawPost(body string) string {
	return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: " + testToken + "\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// A client that does not take its reply is cut off when its time is up, and no
// sooner.
func TestWriteTimeout(t *testing.T) {
	for pause, want := range map[time.Duration]string{writeTimeout - time.Second: "HTTP/1.1 200 OK", writeTimeout + time.Second: ""} {
		synctest.Test(t, func(t *testing.T) {
			conn := connect(t, testHTTP(testServer()))
			io.WriteString(conn, rawPost(ping))
			time.Sleep(pause)
			if line, _ := bufio.NewReader(conn).ReadString('\r'); strings.TrimSpace(line) != want {
				t.Errorf("after %v: %q, want %q", pause, line, want)
			}
		})
	}
}

// A body that does not arrive is refused when the server's ReadTimeout is up.
// Without it a connection that sends a byte at a time would be held for ever.
func TestSlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := connect(t, testHTTP(testServer()))
		start := time.Now()
		text := rawPost(ping)
		io.WriteString(conn, text[:len(text)-1])
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != 408 || time.Since(start) != 10*time.Second {
			t.Errorf("after %v: %v %v", time.Since(start), res, err)
		}
	})
}

// No deadline of a request affects a call that takes long, or the next requests on the
// same connection.
func TestDeadlinesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewServer(Options{Tools: []Tool{{Name: "long", Schema: json.RawMessage(`{}`), Handle: func(ctx context.Context, _ Call) (*Result, error) {
			select {
			case <-ctx.Done():
				return Text("cut off"), nil
			case <-time.After(10 * time.Minute):
				return Text("done"), nil
			}
		}}}})
		conn := connect(t, testHTTP(s))
		replies := bufio.NewReader(conn)
		for _, exchange := range []struct{ request, want string }{
			{rawPost(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"long"}}`), `"text":"done"`},
			{rawPost(ping), `"result":{}`},
			{"GET /sse HTTP/1.1\r\nHost: localhost\r\nAuthorization: " + testToken + "\r\n\r\n", "data: caller"}, // sets no deadline of its own
		} {
			io.WriteString(conn, exchange.request)
			res, err := http.ReadResponse(replies, nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(body), exchange.want) {
				t.Errorf("%q, %v; want %q", body, err, exchange.want)
			}
			time.Sleep(2 * writeTimeout)
		}
	})
}

// A cancelled call over HTTP is answered, or its client would wait on; other
// callers' calls and ids are not touched.
func TestCancelHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testServer()
		h := testHTTP(s)
		h.Authenticate = func(r *http.Request) (Caller, error) { return Caller{ID: r.Header.Get("Authorization")}, nil }
		site := testSite(t, h)
		wait := `{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"wait"}}`
		cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}}`
		replies := make(chan *httptest.ResponseRecorder)
		go func() { replies <- do(t, site, "POST", "/mcp", wait) }()
		synctest.Wait()
		do(t, site, "POST", "/mcp", cancel, "Authorization", "", "Authorization", "Bearer other")
		do(t, site, "POST", "/mcp", strings.Replace(cancel, `"w"`, `"v"`, 1))
		synctest.Wait()
		if cancellable(s) != 1 {
			t.Error("a stranger, or another id, cancelled the call")
		}
		if w := do(t, site, "POST", "/mcp", cancel); w.Code != 202 {
			t.Errorf("cancelling: %d", w.Code)
		}
		w := <-replies
		want := `{"jsonrpc":"2.0","id":"w","error":{"code":-32800,"message":"the client cancelled the call; what it had done by then stays done"}}`
		if w.Code != 200 || w.Body.String() != want {
			t.Errorf("%d %s; want 200 %s", w.Code, w.Body, want)
		}
		if cancellable(s) != 0 {
			t.Errorf("%d calls are still registered", cancellable(s))
		}
	})
}

// Two clients with one token may use the same id at the same time. Then nobody can tell
// which call a cancellation means: both go on, and each ends when its own client leaves.
func TestCancelAmbiguous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testServer()
		ctx, leave := context.WithCancel(t.Context())
		wait := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`)
		replies := make(chan []byte)
		for range 2 {
			go func() { replies <- s.handle(ctx, Caller{ID: "a"}, wait) }()
		}
		synctest.Wait()
		s.handle(ctx, Caller{ID: "a"}, []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
		synctest.Wait()
		if len(replies) != 0 || cancellable(s) != 2 {
			t.Error("a call was cancelled although two could be meant")
		}
		leave()
		for range 2 {
			if got := string(<-replies); !strings.Contains(got, "context canceled") {
				t.Errorf("got %s", got)
			}
		}
	})
}

// A call that waits for a slot can be cancelled as well.
func TestCancelWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testServer()
		occupy(s.gates[Normal])
		reply := make(chan []byte)
		go func() {
			reply <- s.handle(t.Context(), Caller{ID: "a"}, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`))
		}()
		synctest.Wait()
		s.handle(t.Context(), Caller{ID: "a"}, []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
		if got := <-reply; got != nil || s.gates[Normal].waiting.all != 0 {
			t.Errorf("reply %q, %d waiting; want none", got, s.gates[Normal].waiting.all)
		}
	})
}

// A client that goes away ends its call.
func TestClientGone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, "POST", "http://localhost/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`))
	r.Header.Set("Authorization", testToken)
	cancel()
	testSite(t, testHTTP(testServer())).ServeHTTP(httptest.NewRecorder(), r) // returns
}

// cancellable returns how many calls can be cancelled.
func cancellable(s *Server) (n int) {
	for _, all := range s.Sessions.open {
		for _, one := range all {
			if one.call != "" {
				n++
			}
		}
	}
	return n
}
