package mcp

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// testTools are one tool for each way a tool can behave.
func testTools() []Tool {
	object := json.RawMessage(`{"type":"object"}`)
	return []Tool{{
		Name: "echo", Title: "Echo", Description: "Says <what> it heard.", Cost: Cheap,
		Schema:      json.RawMessage(` { "type":"object", "properties":{"say":{"type":"string"}} } `),
		Annotations: Annotations{ReadOnly: true, Idempotent: true},
		Handle:      func(_ context.Context, c Call) (*Result, error) { return Text(string(c.Arguments)), nil },
	}, {
		Name: "picture", Schema: object, Cost: Heavy, MaxResult: 300_000,
		Handle: func(context.Context, Call) (*Result, error) {
			return &Result{Content: []Content{
				{Data: []byte("\x89PNG\r\n\x1a\n"), MIME: "image/png"}, {Text: []byte("eight bytes")},
			}}, nil
		},
	}, {
		Name: "fail", Schema: object,
		Handle: func(context.Context, Call) (*Result, error) {
			return nil, errors.New("bars must be 1 to 5000: ask for fewer")
		},
	}, {
		Name: "refuse", Schema: object,
		Handle: func(context.Context, Call) (*Result, error) { return nil, InvalidParams("not like this") },
	}, {
		Name: "boom", Schema: object,
		Handle: func(context.Context, Call) (*Result, error) { panic("secret inner state") },
	}, {
		Name: "empty", Schema: object,
		Handle: func(context.Context, Call) (*Result, error) { return nil, nil },
	}, {
		Name: "order", Schema: object, Annotations: Annotations{Destructive: true},
		Handle: func(context.Context, Call) (*Result, error) { return Text("placed"), nil },
	}, {
		Name: "wait", Schema: object,
		Handle: func(ctx context.Context, _ Call) (*Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}}
}

// tradersOnly lets only callers with the scope trade place orders and read secrets.
func tradersOnly(_ context.Context, c Caller, action string) error {
	if (action == "order" || action == "x://secret") && !slices.Contains(strings.Fields(c.Scope), "trade") {
		return ScopeError(fmt.Sprintf("%s needs the scope %q, which this token does not hold", action, "trade"))
	}
	return nil
}

func testServer() *Server {
	return NewServer(Options{Name: "test", May: tradersOnly, Version: "1.2.3", Instructions: "Call <echo> & see.", Tools: testTools()})
}

// wholeServer has a resource, a template and a prompt for each way they can
// behave, beside the tools.
func wholeServer() *Server {
	read := func(text string) func(context.Context, Reading) ([]Content, error) {
		return func(_ context.Context, r Reading) ([]Content, error) {
			if r.Parts["name"] == "none" {
				return nil, fmt.Errorf("%w: there is no none", ErrNoResource)
			}
			return r.Text([]byte(text + r.Parts["name"])), nil
		}
	}
	return NewServer(Options{
		May: tradersOnly, Name: "test", Title: "A test", Version: "1.2.3", Icons: []Icon{{Src: "data:,", MIME: "image/png", Sizes: []string{"any"}}},
		Tools: testTools()[:4], Ring: func(string) {},
		Resources: []Resource{
			{URI: "x://plain", Name: "plain", Title: "Plain", Description: "A <text>.", MIME: "text/plain", Cost: Cheap, Fresh: time.Minute, Public: true, Read: read("plain ")},
			{URI: "x://part/{name}", Name: "part", MIME: "application/json", Meta: json.RawMessage(`{"a":1}`), Read: read("part ")},
			{URI: "x://secret", Name: "secret", MIME: "text/plain", Read: read("secret")},
			{URI: "x://picture", Name: "picture", MIME: "image/png", Read: func(context.Context, Reading) ([]Content, error) {
				return []Content{{Data: []byte("\x89PNG")}, {Text: []byte("four"), MIME: "text/plain"}}, nil
			}},
			{URI: "x://broken", Name: "broken", MIME: "text/plain", Read: func(context.Context, Reading) ([]Content, error) {
				return nil, errors.New("the source did not answer: try again")
			}},
			{URI: "x://huge", Name: "huge", MIME: "text/plain", Read: func(_ context.Context, r Reading) ([]Content, error) {
				return r.Text(make([]byte, maxContents+1)), nil
			}},
			{URI: "x://boom", Name: "boom", MIME: "text/plain", Read: func(context.Context, Reading) ([]Content, error) { panic("inner") }},
		},
		Prompts: []Prompt{{
			Name: "greet", Title: "Greet", Description: "Say hello", Arguments: []Argument{{Name: "name", Description: "Whom", Required: true, Read: asTyped}, {Name: "how", Read: asTyped}},
			Text: func(a map[string]string) string { return "Greet " + a["name"] + " " + a["how"] },
		}},
		Complete: func(_ context.Context, c Completion) []string {
			if c.Argument == "how" {
				return make([]string, 120)
			}
			return []string{c.Value + "a", c.Value}
		},
	})
}

// asTyped reads an argument of a prompt that takes any text.
func asTyped(value string) (string, error) { return value, nil }

const testToken = "Bearer right"

// testHTTP is a transport with one valid token, which holds no scope.
func testHTTP(s *Server) *HTTP {
	return &HTTP{
		Server: s,
		Authenticate: func(r *http.Request) (Caller, error) {
			if got := r.Header.Get("Authorization"); got != testToken {
				return Caller{}, errors.New("no such token")
			}
			return Caller{ID: "caller-1234", Client: "client", Name: "Test <Client>"}, nil
		},
		Challenge: func(w http.ResponseWriter, r *http.Request, err error) {
			if err == ErrScope {
				w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope"`)
				return
			}
			w.Header().Set("WWW-Authenticate", "Bearer realm=test")
		},
		Stream: func(w http.ResponseWriter, r *http.Request, c Caller) error {
			w.Header().Set("Content-Type", "text/event-stream")
			_, err := io.WriteString(w, "data: "+c.ID+" after "+r.Header.Get("Last-Event-ID")+"\n\n")
			return err
		},
		Health: func() any { return map[string]string{"status": "ok"} },
		Log:    slog.New(slog.DiscardHandler),
	}
}

// testSite serves the transport behind its policy, as main does.
func testSite(t testing.TB, h *HTTP) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	h.Routes(mux)
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "a page") })
	p, err := NewPolicy("https://wick.example/", []string{"https://app.example"})
	if err != nil {
		t.Fatal(err)
	}
	return p.Wrap(mux, "/authorize")
}

// step is a message of a conversation and what must come back.
type step struct {
	line      int // in the file
	message   string
	anonymous bool
	status    int
	reply     string
}

// readConversation reads a file as testdata/conversations/README.md says.
func readConversation(t testing.TB, file string) (steps []step) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '>' || line[0] == '?':
			steps = append(steps, step{line: n, message: line[2:], anonymous: line[0] == '?'})
		default:
			last := &steps[len(steps)-1]
			code, reply, _ := strings.Cut(line, " ")
			if last.status, err = strconv.Atoi(code); err != nil || last.reply != "" {
				t.Fatalf("%s:%d: neither a message nor its reply: %q", file, n, line)
			}
			last.reply = reply
		}
	}
	return steps
}

func conversations(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	return files
}

// The same conversations over both transports give the same replies.
func TestConversations(t *testing.T) {
	for _, file := range conversations(t) {
		steps := readConversation(t, file)
		t.Run("http/"+filepath.Base(file), func(t *testing.T) { converseHTTP(t, testServer(), steps) })
		t.Run("stdio/"+filepath.Base(file), func(t *testing.T) { converseStdio(t, testServer(), steps) })
	}
}

// TestWholeConversations: the conversations with a server that has everything are as recorded,
// over both transports and in both eras.
func TestWholeConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/conversations/whole/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		steps := readConversation(t, file)
		t.Run("http/"+filepath.Base(file), func(t *testing.T) { converseHTTP(t, wholeServer(), steps) })
		t.Run("stdio/"+filepath.Base(file), func(t *testing.T) { converseStdio(t, wholeServer(), steps) })
	}
}

// setModern sets the headers that a request of the newer era must have.
func setModern(h http.Header, message string) {
	var m request
	if json.Unmarshal([]byte(message), &m); m.Params.Meta.Version == nil { // what is no message names no version
		return
	}
	h.Set("MCP-Protocol-Version", *m.Params.Meta.Version)
	h.Set("Mcp-Method", m.Method)
	if name := m.Params.Name + m.Params.URI; name != "" {
		h.Set("Mcp-Name", "=?base64?"+base64.StdEncoding.EncodeToString([]byte(name))+"?=")
	}
}

func converseHTTP(t *testing.T, server *Server, steps []step) {
	site := testSite(t, testHTTP(server))
	paths := []string{"/mcp", "/", "/message"}
	for i, s := range steps {
		r := httptest.NewRequest("POST", "http://localhost:9315"+paths[i%len(paths)], strings.NewReader(s.message))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		setModern(r.Header, s.message)
		if !s.anonymous {
			r.Header.Set("Authorization", testToken)
		}
		w := httptest.NewRecorder()
		site.ServeHTTP(w, r)
		if w.Code != s.status || w.Body.String() != s.reply {
			t.Errorf("line %d: %s\ngot  %d %s\nwant %d %s", s.line, s.message, w.Code, w.Body, s.status, s.reply)
		}
		challenged := w.Header().Get("WWW-Authenticate") != ""
		if refused := s.status == 401 || s.status == 403; challenged != refused {
			t.Errorf("line %d: status %d with WWW-Authenticate %q", s.line, s.status, w.Header().Get("WWW-Authenticate"))
		}
		if kind := w.Header().Get("Content-Type"); s.reply != "" && kind != "application/json" || s.reply == "" && kind != "" {
			t.Errorf("line %d: Content-Type %q", s.line, kind)
		}
	}
}

// converseStdio sends each message as a line. Where no reply is due, a ping
// with an id of its own must be the next thing answered.
func converseStdio(t *testing.T, server *Server, steps []step) {
	in, send := io.Pipe()
	receive, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- server.ServeStdio(t.Context(), in, out, Caller{ID: "stdio"}, nil)
		out.Close()
	}()
	replies := bufio.NewScanner(receive)
	replies.Buffer(nil, maxLine)
	ask := func(message string) string {
		if _, err := io.WriteString(send, message+"\n"); err != nil {
			t.Fatal(err)
		}
		if !replies.Scan() {
			t.Fatalf("no reply to %s: %v", message, replies.Err())
		}
		return replies.Text()
	}
	for _, s := range steps {
		if s.anonymous {
			continue
		}
		message, want := s.message, s.reply
		if want == "" {
			message += "\n" + `{"jsonrpc":"2.0","id":"after","method":"ping"}`
			want = `{"jsonrpc":"2.0","id":"after","result":{}}`
		}
		if got := ask(message); got != want {
			t.Errorf("line %d: %s\ngot  %s\nwant %s", s.line, s.message, got, want)
		}
	}
	send.Close()
	if err := <-done; err != nil {
		t.Errorf("at the end of input: %v", err)
	}
}

// Two tools or prompts with one name, or two resources with one URI, are refused at the
// start: one of them could never be reached.
func TestNoTwins(t *testing.T) {
	tool := Tool{Name: "a", Schema: json.RawMessage(`{}`)}
	for want, o := range map[string]Options{
		"mcp: two tools named a":                 {Tools: []Tool{tool, tool}},
		"mcp: the schema of b is no JSON object": {Tools: []Tool{{Name: "b", Schema: json.RawMessage(`[]`)}}},
		"mcp: two prompts named a":               {Prompts: []Prompt{{Name: "a"}, {Name: "a"}}},
		"mcp: two resources at x://a":            {Resources: []Resource{{URI: "x://a"}, {URI: "x://a"}}},
		"mcp: two resources at x://of/{other}":   {Resources: []Resource{{URI: "x://of/{name}"}, {URI: "x://of/{other}"}}},
		"mcp: two resources at x://of/one":       {Resources: []Resource{{URI: "x://of/{name}"}, {URI: "x://of/one"}}},
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("got %v, want %s", got, want)
				}
			}()
			NewServer(o)
		}()
	}
	NewServer(Options{Resources: []Resource{{URI: "x://of/one"}, {URI: "x://of/{name}"}, {URI: "x://of"}}})
}

// handle answers one message or batch of an authenticated caller. It returns
// nil when there is nothing to answer: notifications, responses, and calls
// that the caller cancelled meanwhile.
func (s *Server) handle(ctx context.Context, c Caller, msg []byte) []byte {
	all, batch, refused := parse(msg)
	if refused != nil {
		return refusal(&request{}, refused)
	}
	var b output
	s.writeAll(&b, all, batch, func(r *request) Reply {
		reply := s.reply(ctx, c, r)
		if reply.err == errCancelled {
			return Reply{}
		}
		return reply
	})
	return append(b.Bytes(), b.tail...)
}
