package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"wick/permit"

	"wick/mcp/tools"
	"wick/trade"
)

// ask posts one message and returns the response with its body read.
func (h *running) ask(t *testing.T, path, token, message string, headers ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequest("POST", h.base+path, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		}
	}
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(body)
}

// toolNames returns the names of all tools, and of those that trade.
func toolNames() (all, trading []string) {
	for _, tool := range tools.All(tools.Deps{Engine: new(trade.Engine)}) {
		all = append(all, tool.Name)
		if permit.Needs(tool.Name) != permit.Charts {
			trading = append(trading, tool.Name)
		}
	}
	return all, trading
}

// TestTradingToolsWithoutTrade: they answer a tool error, since no login could
// help; with 403 clients would go round in a login loop.
func TestTradingToolsWithoutTrade(t *testing.T) {
	h := start(t, "--serve")
	token := h.login(t)
	_, list := h.ask(t, "/mcp", token, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var listed struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(list), &listed); err != nil {
		t.Fatalf("%v in %.200s", err, list)
	}
	var names []string
	for _, tool := range listed.Result.Tools {
		names = append(names, tool.Name)
	}
	all, trading := toolNames()
	if !slices.Equal(names, all) {
		t.Errorf("listed are %v, want %v", names, all)
	}
	for _, name := range trading {
		r, body := h.ask(t, "/mcp", token, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, name))
		if r.StatusCode != 200 || !strings.Contains(body, `"isError":true`) || !strings.Contains(body, "--trade") {
			t.Errorf("%s: %s %s", name, r.Status, body)
		}
	}
}

// TestAnonymousBatch: without a token a batch is refused as a whole, with the
// challenge that makes a client log in; with one it is answered.
func TestAnonymousBatch(t *testing.T) {
	h := start(t, "--serve")
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	batch := "[" + strings.Repeat(list+",", 19) + list + "]"
	for _, path := range []string{"/mcp", "/", "/message"} {
		r, body := h.ask(t, path, "", batch)
		if r.StatusCode != 401 || !strings.Contains(r.Header.Get("WWW-Authenticate"), "resource_metadata=") || len(body) > 500 {
			t.Errorf("%s: %s, %q, %d bytes", path, r.Status, r.Header.Get("WWW-Authenticate"), len(body))
		}
	}
	if r, body := h.ask(t, "/mcp", h.login(t), batch); r.StatusCode != 200 || strings.Count(body, `"result"`) != 20 {
		t.Errorf("with a token: %s, %d bytes", r.Status, len(body))
	}
}

// TestRequestLog: the line of a call says which client made it, by name and
// short id, and from which address; nothing of it is the token.
func TestRequestLog(t *testing.T) {
	t.Parallel()
	h := start(t, "--serve")
	token := h.login(t)
	h.call(t, token, "list_indicators", `{"query":"rsi"}`)
	want := regexp.MustCompile(`(?m)^\[MCP\] .* method=tools/call status=200 .* tool=list_indicators name=test id=[0-9a-f]{8} from=127\.0\.0\.1$`)
	for range 1000 { // the line is written when the reply is on its way
		if want.MatchString(h.log.String()) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if !want.MatchString(h.log.String()) || strings.Contains(h.log.String(), token) {
		t.Errorf("no such line, or the token, in\n%s", h.log)
	}
}

// TestHostAndOriginEverywhere: no path of the site is served under another host's name, and none
// to a page of another site that says so. The login page judges the origin itself.
func TestHostAndOriginEverywhere(t *testing.T) {
	h := start(t, "--serve")
	for _, path := range append(paths, "/nothing", "/.well-known/oauth-protected-resource/mcp") {
		if r, _ := h.ask(t, path, "", "{}", "Host", "rebound.example.com"); r.StatusCode != 403 {
			t.Errorf("%s as another host: %s, want 403", path, r.Status)
		}
		if r, _ := h.ask(t, path, "", "{}", "Origin", "https://evil.example.com"); r.StatusCode < 400 || path != "/authorize" && r.StatusCode != 403 {
			t.Errorf("%s for a page of another site: %s, want 403", path, r.Status)
		}
	}
}

// TestForeignPagesUseUpNothing: what a page of another site posts to the endpoints of clients
// is refused before it counts, so it cannot use up what the owner's address may ask there.
// The metadata it can ask for, as an image, with which browsers send no Origin.
func TestForeignPagesUseUpNothing(t *testing.T) {
	h := start(t, "--serve")
	for path, want := range map[string]int{"/register": 201, "/token": 400, "/revoke": 400} {
		for range 60 { // more than an address may ask
			if r, body := h.ask(t, path, "", "{}", "Origin", "https://evil.example.com"); r.StatusCode != 403 {
				t.Fatalf("%s for a page of another site: %s %s, want 403", path, r.Status, body)
			}
		}
		if r, body := h.ask(t, path, "", `{"redirect_uris":["http://127.0.0.1/cb"]}`); r.StatusCode != want {
			t.Errorf("%s for a client after that: %s %s, want %d", path, r.Status, body, want)
		}
	}
	request, err := http.NewRequest("GET", h.base+"/.well-known/oauth-authorization-server", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Sec-Fetch-Site", "cross-site")
	request.Header.Set("Sec-Fetch-Dest", "image")
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if r.Body.Close(); r.StatusCode != 200 {
		t.Errorf("the metadata as an image: %s, want 200", r.Status)
	}
}

// TestOptionsOfServer: OPTIONS *, which asks about the server and not a path, is judged as any
// other request. net/http would answer 200 by itself, whatever host the request names.
func TestOptionsOfServer(t *testing.T) {
	h := start(t, "--serve", "--metrics", "127.0.0.1:0")
	metrics := regexp.MustCompile(`address=http://([0-9.:]+)/metrics`).FindStringSubmatch(h.log.String())
	if metrics == nil {
		t.Fatalf("no address of the metrics in\n%s", h.log)
	}
	site := strings.TrimPrefix(h.base, "http://")
	for _, tc := range []struct {
		address, host string
		status        int
	}{
		{site, "evil.example", 403}, {site, site, 204}, // as OPTIONS of any path
		{metrics[1], "evil.example", 403}, {metrics[1], metrics[1], 400},
	} {
		conn, err := net.Dial("tcp", tc.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "OPTIONS * HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", tc.host)
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Body.Close(); r.StatusCode != tc.status {
			t.Errorf("OPTIONS * at %s as %s: %s, want %d", tc.address, tc.host, r.Status, tc.status)
		}
	}
}

// TestSession: an initialize without a session id gets one, which nobody
// remembers: any other, or none, works as well.
func TestSession(t *testing.T) {
	h := start(t, "--serve")
	r, _ := h.ask(t, "/mcp", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	if got := r.Header.Get("Mcp-Session-Id"); len(got) < 20 {
		t.Errorf("the session id is %q", got)
	}
	r, _ = h.ask(t, "/mcp", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, "Mcp-Session-Id", "mine")
	if got := r.Header.Get("Mcp-Session-Id"); got != "mine" {
		t.Errorf("the session id %q comes back as %q", "mine", got)
	}
	r, body := h.ask(t, "/mcp", h.login(t), `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Mcp-Session-Id", "never-given")
	if r.StatusCode != 200 || r.Header.Get("Mcp-Session-Id") != "never-given" {
		t.Errorf("an unknown session: %s %s", r.Status, body)
	}
}

// TestNoHome: charts over stdio keep no state and need no home directory;
// trading does, and says so.
func TestNoHome(t *testing.T) {
	t.Setenv("HOME", "")
	var out bytes.Buffer
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if err := Run(t.Context(), []string{"--mcp"}, env(), in, &out, io.Discard); err != nil || out.String() != `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n" {
		t.Errorf("--mcp: %v, %q", err, out.String())
	}
	err := Run(t.Context(), []string{"--mcp", "--trade"}, env(), strings.NewReader(""), io.Discard, io.Discard)
	if err == nil || err.Error() != "no home directory for state: set --data-dir" {
		t.Errorf("--mcp --trade: %v", err)
	}
}
