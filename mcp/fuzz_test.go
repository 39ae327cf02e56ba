package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// seed adds every message of the conversations to a corpus.
func seed(f *testing.F) {
	f.Helper()
	for _, file := range conversations(f) {
		for _, s := range readConversation(f, file) {
			f.Add([]byte(s.message))
		}
	}
}

// reply is what a reply must look like.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *Error          `json:"error"`
}

// checkReply holds one reply against JSON-RPC 2.0.
func checkReply(t *testing.T, message, text []byte) (r reply) {
	t.Helper()
	if !utf8.Valid(text) || json.Unmarshal(text, &r) != nil {
		t.Fatalf("reply to %q is not JSON: %q", message, text)
	}
	if r.Version != "2.0" || (r.Result == nil) == (r.Error == nil) {
		t.Fatalf("reply to %q has not one of result and error: %s", message, text)
	}
	if string(r.ID) != "null" {
		if !legalID(r.ID) || !bytes.Contains(message, r.ID) {
			t.Fatalf("the id of the reply %s is not in %q", text, message)
		}
	} else if r.Result != nil {
		t.Fatalf("a result without an id to %q: %s", message, text)
	}
	return r
}

// Whatever is sent: the reply is JSON-RPC, repeats an id that was sent, and is
// one line. The tool that waits is left out, or fuzzing would wait with it.
func FuzzHandle(f *testing.F) {
	seed(f)
	tools := slices.DeleteFunc(testTools(), func(t Tool) bool { return t.Name == "wait" })
	s := NewServer(Options{Tools: tools})
	f.Fuzz(func(t *testing.T, message []byte) {
		text := s.handle(t.Context(), Caller{ID: "fuzz", Scope: "trade"}, message)
		if text == nil {
			if !json.Valid(message) {
				t.Fatalf("no reply to %q", message)
			}
			return
		}
		if bytes.ContainsAny(text, "\r\n") {
			t.Fatalf("the reply to %q has a line break: %q", message, text)
		}
		if text[0] != '[' {
			checkReply(t, message, text)
			return
		}
		var replies []json.RawMessage
		if err := json.Unmarshal(text, &replies); err != nil || len(replies) == 0 || len(replies) > maxBatch {
			t.Fatalf("the replies to %q: %q", message, text)
		}
		for _, r := range replies {
			checkReply(t, message, r)
		}
	})
}

// A stranger gets results of initialize and tools/list and of nothing else, whatever the
// message looks like, and nothing that he sends causes a panic.
func FuzzStranger(f *testing.F) {
	seed(f)
	h := testHTTP(testServer())
	site := testSite(f, h)
	var open []string
	for _, method := range []string{"initialize", "tools/list"} {
		var reply struct{ Result json.RawMessage }
		text := h.Server.handle(f.Context(), Caller{}, []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`))
		if err := json.Unmarshal(text, &reply); err != nil || reply.Result == nil {
			f.Fatalf("%s: %s", method, text)
		}
		open = append(open, string(reply.Result))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		w := httptest.NewRecorder()
		site.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost/mcp", bytes.NewReader(message)))
		text := w.Body.Bytes()
		if len(text) == 0 {
			if w.Code != 202 {
				t.Fatalf("%q: status %d without a body", message, w.Code)
			}
			return
		}
		replies := []json.RawMessage{text}
		if text[0] == '[' && json.Unmarshal(text, &replies) != nil {
			t.Fatalf("%q: %q", message, text)
		}
		for _, text := range replies {
			if r := checkReply(t, message, text); r.Result != nil && !slices.Contains(open, string(r.Result)) {
				t.Fatalf("a stranger's %q got %s", message, text)
			}
		}
		if (w.Code == 401) != (w.Header().Get("WWW-Authenticate") != "") {
			t.Fatalf("%q: status %d, challenge %q", message, w.Code, w.Header().Get("WWW-Authenticate"))
		}
	})
}

// The members of a batch, which must not be initialize, get the same replies as if each were sent
// alone.
func FuzzBatch(f *testing.F) {
	f.Add([]byte(ping), []byte(`{"jsonrpc":"2.0","method":"x"}`), []byte(`7`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"<","method":"tools/call","params":{"name":"echo","arguments":{"a":[1]}}}`), []byte(`[]`), []byte(`{}`))
	s := NewServer(Options{Tools: testTools()[:4]})
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		var want []string
		for _, member := range [][]byte{a, b, c} {
			if !json.Valid(member) || !utf8.Valid(member) || bytes.Contains(member, []byte("initialize")) {
				return
			}
			if first := bytes.TrimSpace(member)[0]; first == '[' {
				return // alone it would be a batch itself
			}
			if r := s.handle(t.Context(), Caller{}, member); r != nil {
				want = append(want, string(r))
			}
		}
		batch := "[" + string(bytes.Join([][]byte{a, b, c}, []byte(","))) + "]"
		got := string(s.handle(t.Context(), Caller{}, []byte(batch)))
		joined := ""
		if want != nil {
			joined = "[" + strings.Join(want, ",") + "]"
		}
		if got != joined {
			t.Fatalf("%s\ngot  %s\nwant %s", batch, got, joined)
		}
	})
}

// Accept: a type with a weight is accepted and one of weight zero is not,
// whatever other types stand around it.
func FuzzAccept(f *testing.F) {
	f.Add("text/html;q=0.5, image/*", "*/*;q=0.1")
	f.Add("application/json;q=0", "application/*")
	f.Add(",,;q", "a/b/c;;=")
	f.Fuzz(func(t *testing.T, before, after string) {
		accepts([]string{before, after}, "application/json") // any answer, no panic
		if strings.Contains(strings.ToLower(before+after), "json") {
			return
		}
		if !accepts([]string{before, "application/json;q=0.5", after}, "application/json") {
			t.Errorf("%q and %q hide application/json", before, after)
		}
		if accepts([]string{before, "application/json;q=0", after}, "application/json") {
			t.Errorf("%q and %q outweigh a refusal", before, after)
		}
	})
}

// The arguments of a tool arrive as they were sent, and only as an object.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, `null`, `[1]`, `"x"`, ` { "symbol" : "BTCUSDT" } `, `{"a":"\ud800"}`} {
		f.Add([]byte(s))
	}
	var got json.RawMessage
	called := false
	s := NewServer(Options{Tools: []Tool{{Name: "f", Schema: json.RawMessage(`{}`), Cost: Cheap,
		Handle: func(_ context.Context, c Call) (*Result, error) {
			got, called = c.Arguments, true
			return Text(string(c.Arguments)), nil
		}}}})
	f.Fuzz(func(t *testing.T, arguments []byte) {
		if !json.Valid(arguments) || !utf8.Valid(arguments) {
			return
		}
		called = false
		message := slices.Concat([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","arguments":`), arguments, []byte(`}}`))
		r := checkReply(t, message, s.handle(t.Context(), Caller{}, message))
		trimmed := bytes.TrimSpace(arguments)
		switch {
		case string(trimmed) == "null":
			if !called || got != nil {
				t.Fatalf("null arrived as %q", got)
			}
		case trimmed[0] == '{':
			if !called || !bytes.Equal(got, trimmed) {
				t.Fatalf("sent %q, got %q", trimmed, got)
			}
		case called || r.Error == nil || r.Error.Code != codeInvalidParams:
			t.Fatalf("%q was not refused: %v", arguments, r.Error)
		}
	})
}

// Framing: however the input is cut, each line is read once, in order, as it was sent.
func FuzzStdio(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n\nc"), uint8(3))
	f.Add([]byte("\n"), uint8(16))
	f.Add(bytes.Repeat([]byte("x"), 200), uint8(1))
	f.Fuzz(func(t *testing.T, input []byte, size uint8) {
		r := lineReader{r: bufio.NewReaderSize(bytes.NewReader(input), int(size))}
		var got [][]byte
		for {
			line, err := r.next()
			if err != nil {
				break
			}
			got = append(got, bytes.Clone(line))
		}
		want := bytes.Split(input, []byte("\n"))
		if len(want[len(want)-1]) == 0 {
			want = want[:len(want)-1]
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("%q: got %q, want %q", input, got, want)
		}
	})
}

// FuzzHeaders: whatever a stranger writes into the headers that decide, a host or
// page that is not ours is not served, and what comes back in a header is what was
// sent, in visible ASCII.
func FuzzHeaders(f *testing.F) {
	f.Add("wick.example", "https://app.example", "session-1", "2025-03-26", "application/json")
	f.Add("localhost:9315", "http://localhost:6274", "", "", "")
	f.Add("evil.example:80", "null", "a b\r\nX: y", "2025-13-99", "text/plain; charset=\"")
	f.Add("[::1]", "https://app.example@evil.example", "\xff", "9999-12-31", "application/json; a")
	f.Fuzz(func(t *testing.T, host, origin, session, version, kind string) {
		r := httptest.NewRequest("POST", "http://localhost/mcp", strings.NewReader(ping))
		r.Host = host
		r.Header.Set("Authorization", testToken)
		for name, value := range map[string]string{"Origin": origin, "Mcp-Session-Id": session, "Mcp-Protocol-Version": version, "Content-Type": kind} {
			if value != "" {
				r.Header[name] = []string{value}
			}
		}
		w := httptest.NewRecorder()
		testSite(t, testHTTP(testServer())).ServeHTTP(w, r)
		hidden := func(c rune) bool { return c <= ' ' || c > '~' }
		if got := w.Header().Get("Mcp-Session-Id"); got != "" && (got != session || strings.ContainsFunc(got, hidden)) {
			t.Errorf("session %q comes back as %q", session, got)
		}
		if got := w.Header().Get("Access-Control-Allow-Origin"); got != "" && got != origin {
			t.Errorf("origin %q asks, but %q may read", origin, got)
		}
		if w.Code != http.StatusOK {
			return
		}
		name, _, err := net.SplitHostPort(host)
		if err != nil {
			name = host
		}
		if !oneOf(strings.Trim(name, "[]"), "wick.example") {
			t.Errorf("host %q is served", host)
		}
		if page, err := url.Parse(origin); origin != "" && (err != nil || !oneOf(page.Hostname(), "wick.example", "app.example")) {
			t.Errorf("a page of %q is served", origin)
		}
		if kind != "" && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(kind)), "application/json") {
			t.Errorf("a body of type %q is served", kind)
		}
	})
}

// oneOf reports whether name, in any case, is this machine or one of names.
func oneOf(name string, names ...string) bool {
	name = strings.ToLower(name)
	addr, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && addr.IsLoopback() || slices.Contains(names, name)
}
