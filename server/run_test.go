package server

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"wick/market"

	"wick/indicators"
)

// running is a wick started for a test.
type running struct {
	base      string
	published string // what it says its address is, if that is not base

	scope string // that login asks for; empty for none, which gives all there is
	name  string // that login registers; empty means test

	jar  *cookiejar.Jar // of the owner's browser; nil before its first login
	log  *syncBuffer
	stop func() error // ends it and returns what run returned
}

// syncBuffer is a log that a test reads while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

var servingAt = regexp.MustCompile(`msg=serving url=(http://localhost:\d+)/mcp`)

// start serves on a free port and waits for the start-up line.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	h := &running{log: &syncBuffer{}}
	ended := make(chan error, 1)
	home := t.TempDir()
	go func() {
		ended <- Run(ctx, append(args, "--port", "0"), env("HOME", home), nil, io.Discard, h.log)
	}()
	h.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if err := h.stop(); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	for h.base == "" {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("wick did not start: %v\n%s", err, h.log)
		case <-time.After(5 * time.Millisecond):
			if m := servingAt.FindStringSubmatch(h.log.String()); m != nil {
				h.base = m[1]
			}
		}
	}
	return h
}

// login goes from registration to a token, as a command-line client does.
func (h *running) login(t *testing.T) string {
	t.Helper()
	var id string
	return h.loginAs(t, &id)
}

// loginAs is like login and also tells the client's id.
func (h *running) loginAs(t *testing.T, id *string) string {
	t.Helper()
	const redirect = "http://127.0.0.1:1/callback"
	var client struct {
		ID string `json:"client_id"`
	}
	h.post(t, "/register", "application/json", `{"client_name":"`+cmp.Or(h.name, "test")+`","redirect_uris":["`+redirect+`"]}`, 201, &client)
	*id = client.ID
	verifier := strings.Repeat("v", 43)
	challenge := sha256.Sum256([]byte(verifier))
	query := url.Values{
		"client_id": {client.ID}, "redirect_uri": {redirect}, "response_type": {"code"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(challenge[:])}, "code_challenge_method": {"S256"},
	}
	if h.scope != "" {
		query.Set("scope", h.scope)
	}
	once := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := once.Do(h.browse(t, "GET", "/authorize?"+query.Encode(), nil))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	back, err := r.Location()
	if err != nil {
		t.Fatalf("authorize: %s, %v", r.Status, err)
	}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "client_id": {client.ID}, "redirect_uri": {redirect}, "code_verifier": {verifier}}
	var token struct {
		Token string `json:"access_token"`
	}
	h.post(t, "/token", "application/x-www-form-urlencoded", form.Encode(), 200, &token)
	return token.Token
}

// browse returns a request of a browser at the published address, which for a replica is not
// where it listens.
func (h *running) browse(t *testing.T, method, path string, form url.Values) *http.Request {
	t.Helper()
	r, err := http.NewRequest(method, h.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if h.published != "" {
		r.Host = strings.TrimPrefix(h.published, "http://")
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

func (h *running) post(t *testing.T, path, kind, body string, status int, into any) {
	t.Helper()
	r, err := http.Post(h.base+path, kind, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != status || json.Unmarshal(text, into) != nil {
		t.Fatalf("POST %s: %s %s, %v", path, r.Status, text, err)
	}
}

// call runs a tool over HTTP and returns its first text.
func (h *running) call(t *testing.T, token, tool, arguments string) string {
	t.Helper()
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
	request, err := http.NewRequest("POST", h.base+"/mcp", strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var reply struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	text, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(text, &reply) != nil || len(reply.Result.Content) == 0 || reply.Result.IsError {
		t.Fatalf("%s %s: %s %s", tool, arguments, r.Status, text)
	}
	return reply.Result.Content[0].Text
}

// TestUnreadVariables: a misspelled variable of the environment is named in the log, without
// what it holds; one that is a flag's twin, and one of others, is not.
func TestUnreadVariables(t *testing.T) {
	for name, value := range map[string]string{"WICK_PASPHRASE": "hidden", "WICK_BASE_ULR": "hidden", "WICK_SYMBOLS": "ETHUSDT", "WICK_PASSPHRASE": "a good passphrase", "WICKED": "x"} {
		t.Setenv(name, value)
	}
	log := start(t, "--serve").log.String()
	line := regexp.MustCompile(`level=WARN msg="variables of the environment are not read; perhaps a name is misspelled" names="(.*)"\n`).FindStringSubmatch(log)
	if line == nil || line[1] != "WICK_BASE_ULR WICK_PASPHRASE" || strings.Contains(log, "hidden") {
		t.Errorf("the log has %q", log)
	}
}

// TestKnownVariables: what the sources of bars ask for is known, whichever is used.
func TestKnownVariables(t *testing.T) {
	for _, source := range market.Sources() {
		if strings.HasPrefix(source, "csv:") {
			continue
		}
		_, err := market.Open(source, func(name string) string {
			if len(unknown([]string{name + "=x"})) > 0 {
				t.Errorf("--source %s asks for %s, which market.Variables does not name: it would be called misspelled", source, name)
			}
			return ""
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestHealth: the fields of the contract, and nothing of what the owner does.
func TestHealth(t *testing.T) {
	h := start(t, "--serve", "--trade")
	r, err := http.Get(h.base)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var got map[string]any
	if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"name": "wick", "version": version, "status": "ok", "protocol": "MCP", "protocolVersion": "2025-03-26",
		"trade": true, "source": "sample", "trading": "active", "journal": "ok",
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if endpoints, ok := got["endpoints"].(map[string]any); !ok || endpoints["mcp"] != h.base+"/mcp" {
		t.Errorf("endpoints %v", got["endpoints"])
	}
	base, err := url.Parse(h.base)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Run(t.Context(), []string{"--healthcheck", "--port", base.Port()}, env("HOME", t.TempDir()), nil, &out, &out); err != nil {
		t.Errorf("--healthcheck: %v", err)
	}
	if err := Run(t.Context(), []string{"--healthcheck", "--port", "1"}, env("HOME", t.TempDir()), nil, &out, &out); err == nil {
		t.Error("--healthcheck of nothing succeeds")
	}
}

// TestAlertReachesStream goes the whole way: login, stream, subscription, an
// alert that is true already, and the event on the stream, in the shape of the
// specification's table.
func TestAlertReachesStream(t *testing.T) {
	t.Parallel()
	h := start(t, "--serve", "--trade")
	token := h.login(t)
	stream := h.openStream(t, token)
	h.call(t, token, "subscribe_notifications", `{"symbols":["btcusdt"]}`)
	var alert struct {
		ID string `json:"alert_id"`
	}
	if err := json.Unmarshal([]byte(h.call(t, token, "set_alert", `{"symbol":"btcusdt","condition":{"price_above":0.5}}`)), &alert); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stream)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		want := regexp.MustCompile(`^\{"jsonrpc":"2\.0","method":"notifications/alert_triggered","params":\{"alert_id":"` + alert.ID +
			`","symbol":"BTCUSDT","interval":"","condition":\{"type":"price_above","threshold":0\.5\},"value":[0-9.]+,"triggered_at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","synthetic":true,"message":"BTCUSDT is at [0-9.]+, at or above 0\.5\. The data is invented\."\}\}$`)
		if !want.MatchString(data) {
			t.Errorf("event %s", data)
		}
		return
	}
	t.Fatalf("the stream ended: %v\n%s", lines.Err(), h.log)
}

// TestInstructions: a model that reads nothing but what the server says of itself,
// in either era, learns that conditions of its own can be charted, scanned, waited
// for and tested, and how one is written.
func TestInstructions(t *testing.T) {
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
`)
	var out strings.Builder
	if err := Run(t.Context(), []string{"--mcp"}, env("HOME", t.TempDir()), in, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	replies := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(replies) != 2 {
		t.Fatalf("replies %q", replies)
	}
	for _, reply := range replies {
		var m struct{ Result struct{ Instructions string } }
		if err := json.Unmarshal([]byte(reply), &m); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"rule", "scan", "set_alert", "backtest"} {
			if !strings.Contains(m.Result.Instructions, want) {
				t.Errorf("%q does not speak of %s", m.Result.Instructions, want)
			}
		}
		_, rest, _ := strings.Cut(m.Result.Instructions, "such as ")
		condition, _, _ := strings.Cut(rest, ",")
		if _, err := indicators.New("rule", map[string]json.RawMessage{"when": json.RawMessage(strconv.Quote(condition))}); err != nil {
			t.Errorf("the example %q: %v", condition, err)
		}
	}
}

// TestStdioTrade: the same over stdio; the push is a line between replies, and
// standard output carries nothing but JSON.
func TestStdioTrade(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, writeIn := io.Pipe()
	readOut, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, []string{"--mcp", "--trade"}, env("HOME", t.TempDir()), in, out, io.Discard)
		out.Close()
	}()
	send := func(id int, tool, arguments string) {
		fmt.Fprintf(writeIn, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, tool, arguments)
	}
	lines := bufio.NewScanner(readOut)
	lines.Buffer(nil, 1<<20)
	go send(1, "subscribe_notifications", `{}`)
	var seen []string
	for lines.Scan() {
		var m struct {
			ID     int
			Method string
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatalf("%q on standard output: %v", lines.Text(), err)
		}
		seen = append(seen, fmt.Sprint(m.ID, m.Method))
		switch {
		case m.ID == 1:
			go send(2, "set_alert", `{"symbol":"BTCUSDT","condition":{"price_above":0.5}}`)
		case m.Method == "notifications/alert_triggered":
			writeIn.Close() // the end of input ends the process
		}
	}
	if err := <-ended; err != nil {
		t.Errorf("run: %v", err)
	}
	if got := strings.Join(seen, " "); got != "1 2 0notifications/alert_triggered" && got != "1 0notifications/alert_triggered 2" {
		t.Errorf("lines: %s", got)
	}
}

// TestRender: one chart to a file, the numbers to standard output.
func TestRender(t *testing.T) {
	name := filepath.Join(t.TempDir(), "chart.png")
	var out bytes.Buffer
	err := Run(t.Context(), []string{"--symbol", "BTCUSDT", "--interval", "1h", "--indicators", "ema_stack,rsi,macd", "--width", "800", "--height", "500", "--output", name},
		env("HOME", t.TempDir()), nil, &out, &out)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if img, err := png.Decode(f); err != nil || img.Bounds().Dx() != 800 || img.Bounds().Dy() != 500 {
		t.Errorf("picture: %v", err)
	}
	if err := Run(t.Context(), []string{"--symbol", "X", "--format", "summary", "--output", "-"}, env("HOME", t.TempDir()), nil, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Bytes()) || !strings.Contains(out.String(), `"synthetic":true`) {
		t.Errorf("summary: %s", out.String())
	}
	for _, args := range [][]string{nil, {"--format", "both", "--output", "-"}, {"--output", "-", "--bars", "0"}, {"--source", "nonsense", "--serve"}} {
		if err := Run(t.Context(), args, env("HOME", t.TempDir()), nil, io.Discard, io.Discard); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, want one line", args, err)
		}
	}
}

// TestSecondProcess: a port and a data directory have one owner, and the second
// one is told so in one line.
func TestSecondProcess(t *testing.T) {
	dir := t.TempDir()
	h := start(t, "--serve", "--trade", "--data-dir", dir)
	base, err := url.Parse(h.base)
	if err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"in use":             {"--serve", "--port", base.Port()},
		"--listen 300.1.1.1": {"--serve", "--listen", "300.1.1.1", "--port", "0", "--base-url", "http://localhost"},
		dir:                  {"--serve", "--trade", "--port", "0", "--data-dir", dir},
	} {
		err := Run(t.Context(), args, env("HOME", t.TempDir()), nil, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, want one line with %q", args, err, want)
		}
	}
}

// full is a standard output that takes nothing, as /dev/full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestFullOutput: what could not print what it was asked for ends with an error.
func TestFullOutput(t *testing.T) {
	dir := t.TempDir()
	start(t, "--trade", "--data-dir", dir)
	for _, args := range []string{"--version", "--help", "config cursor", "audit", "audit verify", "audit head", "export orders csv", "clients", "halt off", "--output -"} {
		err := Run(t.Context(), strings.Fields(args), env("HOME", dir, "WICK_DATA_DIR", dir), nil, full{}, io.Discard)
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v, want that its output cannot be written", args, err)
		}
	}
}

// TestNoSuchDirectory: a source of files in a directory that is not there ends the start with
// one line that names the flag.
func TestNoSuchDirectory(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, args := range [][]string{{"--serve", "--port", "0"}, {"--mcp"}, {"--output", "-"}} {
		err := Run(t.Context(), append(args, "--source", "csv:"+missing), env("HOME", t.TempDir()), strings.NewReader(""), io.Discard, io.Discard)
		if err == nil || !strings.HasPrefix(err.Error(), "--source: ") || !strings.Contains(err.Error(), missing) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
