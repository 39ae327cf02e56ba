package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// modern returns a request of the newer era. Params end in a comma, or are empty.
func modern(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, id, method, params)
}

// counted is a server with one resource that changes when n does, and one that
// needs a scope.
func counted(n *atomic.Int64, ring func(caller string)) *Server {
	state := func(Reading) (string, error) { return fmt.Sprint("at ", n.Load()), nil }
	read := func(_ context.Context, r Reading) ([]Content, error) {
		return r.Text(fmt.Append(nil, "at ", n.Load())), nil
	}
	return NewServer(Options{Name: "test", May: tradersOnly, Version: "1", Ring: ring, Resources: []Resource{
		{URI: "x://n", Name: "n", Read: read, State: state},
		{URI: "x://of/{name}", Name: "of", Read: read, State: state},
		{URI: "x://secret", Name: "secret", Read: read, State: state},
	}})
}

func subscribeTo(s *Server, c Caller, uri string) string {
	return string(s.handle(context.Background(), c, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":%q}}`, uri)))
}

// A token that watches a resource is told once per change, until it says that it
// no longer wants to be, its token ends or is revoked.
func TestSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		var mu sync.Mutex
		told := make(map[string]int)
		var s *Server
		s = counted(&n, func(caller string) {
			mu.Lock()
			defer mu.Unlock()
			told[caller]++
			lines, wrote := s.Changes(caller)
			if want := `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x://n"}}`; len(lines) != 1 || string(lines[0]) != want {
				t.Errorf("told %s", lines)
			}
			wrote(len(lines))
		})
		ctx, cancel := context.WithCancel(t.Context())
		go s.Watch(ctx)
		for _, c := range []Caller{{ID: "stays"}, {ID: "leaves"}, {ID: "expires", Expires: time.Now().Add(3 * time.Second)}, {ID: "revoked"}} {
			if got := subscribeTo(s, c, "x://n"); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
				t.Fatalf("%s: %s", c.ID, got)
			}
		}
		change := func(want map[string]int) {
			t.Helper()
			n.Add(1)
			time.Sleep(2 * watchPeriod)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if fmt.Sprint(told) != fmt.Sprint(want) {
				t.Errorf("told %v, want %v", told, want)
			}
		}
		change(map[string]int{"stays": 1, "leaves": 1, "expires": 1, "revoked": 1})
		s.handle(ctx, Caller{ID: "leaves"}, []byte(`{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{"uri":"x://n"}}`))
		s.Sessions.Revoke("revoked")
		time.Sleep(2 * time.Second) // the third token ends
		change(map[string]int{"stays": 2, "leaves": 1, "expires": 1, "revoked": 1})
		s.Sessions.Revoke("stays")
		s.Sessions.Revoke("leaves")
		synctest.Wait()
		if s.watch.count != 0 || len(s.watch.uris) != 0 || len(s.watch.own) != 0 || len(s.Sessions.open) != 0 {
			t.Errorf("left over: %d, %v, %v", s.watch.count, s.watch.uris, s.watch.own)
		}
		cancel()
	})
}

// A token cannot make the server watch without end, nor watch what it may not
// read.
func TestSubscriptionBounds(t *testing.T) {
	s := counted(new(atomic.Int64), func(string) {})
	c := Caller{ID: "a"}
	for i := range maxWatchedToken {
		if got := subscribeTo(s, c, fmt.Sprint("x://of/", i)); !strings.Contains(got, `"result":{}`) {
			t.Fatalf("subscription %d: %s", i, got)
		}
	}
	if got := subscribeTo(s, c, "x://of/one-more"); !strings.Contains(got, `"code":-32000`) {
		t.Errorf("one more: %s", got)
	}
	if got := subscribeTo(s, Caller{ID: "b"}, "x://secret"); !strings.Contains(got, `"code":-32001`) {
		t.Errorf("without the scope: %s", got)
	}
	if got := subscribeTo(s, Caller{ID: "b"}, "x://of/"+strings.Repeat("x", maxURI)); !strings.Contains(got, `"code":-32002`) {
		t.Errorf("a long URI: %s", got)
	}
}

// TestWatchNothing: nobody can watch what cannot be. A subscription is refused as a read
// would be, a listener is told what was accepted, and nothing is kept for either.
func TestWatchNothing(t *testing.T) {
	read := func(_ context.Context, r Reading) ([]Content, error) { return r.Text(nil), nil }
	s := NewServer(Options{Name: "test", Version: "1", Ring: func(string) {}, Resources: []Resource{{URI: "x://of/{name}", Name: "of", Read: read, State: func(r Reading) (string, error) {
		switch r.Parts["name"] {
		case "none":
			return "", fmt.Errorf("%w: there is no none", ErrNoResource)
		case "boom":
			panic("inner")
		}
		return "fine", nil
	}}}})
	for uri, want := range map[string]string{
		"x://of/some": `"result":{}}`,
		"x://of/none": `"error":{"code":-32002,"message":"no such resource: there is no none: \"x://of/none\"; resources/list and resources/templates/list have the URIs"}}`,
		"x://of/boom": `"error":{"code":-32603,"message":"x://of/{name} failed inside the server, which is a bug and is in its log; the same call would most likely fail again"}}`,
	} {
		if got := subscribeTo(s, Caller{ID: "a"}, uri); got != `{"jsonrpc":"2.0","id":1,`+want {
			t.Errorf("%s: %s, want %s", uri, got, want)
		}
	}
	if s.watch.count != 1 {
		t.Errorf("%d are watched, want 1", s.watch.count)
	}
	next, _ := openListener(t, testHTTP(s), modern("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["x://of/none","x://of/boom","x://of/some"]},`))
	if got := next(); !strings.Contains(got, `"notifications":{"resourceSubscriptions":["x://of/some"]}`) {
		t.Errorf("the listener is told %s", got)
	}
	s.Close()
}

// All tokens and listeners together are bounded too.
func TestWatchedBounds(t *testing.T) {
	s := counted(new(atomic.Int64), func(string) {})
	listening := func() *request { return &request{events: true} }
	n := 0
	for i := 0; n < maxWatched; i++ {
		for j := range maxWatchedToken {
			if subscribeTo(s, Caller{ID: fmt.Sprint(i)}, fmt.Sprint("x://of/", j)); s.watch.count == n {
				t.Fatalf("%d are watched", n)
			}
			if n++; n == maxWatched {
				break
			}
		}
	}
	if got := subscribeTo(s, Caller{ID: "one more"}, "x://n"); !strings.Contains(got, `"code":-32000`) {
		t.Errorf("one more: %s", got)
	}
	for i := range maxAllListeners {
		if reply := s.listen(t.Context(), Caller{ID: fmt.Sprint(i)}, listening()); reply.err != nil {
			t.Fatalf("listener %d: %v", i, reply.err)
		}
	}
	if reply := s.listen(t.Context(), Caller{ID: "one more"}, listening()); reply.err == nil {
		t.Error("one listener more is served")
	}
}

// A completion has at most so many values as MCP allows, and says that there are
// more.
func TestCompletionBound(t *testing.T) {
	text := wholeServer().handle(t.Context(), Caller{}, []byte(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"how","value":""}}}`))
	var reply struct {
		Result struct {
			Completion struct {
				Values  []string
				Total   int
				HasMore bool
			}
		}
	}
	if err := json.Unmarshal(text, &reply); err != nil {
		t.Fatal(err)
	}
	if c := reply.Result.Completion; len(c.Values) != maxCompletions || c.Total != 120 || !c.HasMore {
		t.Errorf("%d values of %d, more %v", len(c.Values), c.Total, c.HasMore)
	}
}

// What a resource returns and what a prompt is told are bounded.
func TestContentBounds(t *testing.T) {
	for _, c := range []struct {
		what, params, method string
		n                    int
	}{
		{"contents", `{"uri":"x://huge"}`, "resources/read", maxContents},
		{"an argument", `{"name":"greet","arguments":{"name":"` + strings.Repeat("x", maxArgument+1) + `"}}`, "prompts/get", maxArgument},
		{"a value", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"name","value":"` + strings.Repeat("x", maxArgument+1) + `"}}`, "completion/complete", maxArgument},
	} {
		text := wholeServer().handle(t.Context(), Caller{}, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, c.method, c.params))
		if !strings.Contains(string(text), `"error"`) || !strings.Contains(string(text), fmt.Sprint(c.n)) {
			t.Errorf("%s: %s", c.what, text)
		}
	}
}

// openListener posts a subscriptions/listen and returns the lines of its events.
func openListener(t *testing.T, h *HTTP, body string) (lines func() string, closeBody func()) {
	t.Helper()
	h.Listen = func(ctx context.Context, w http.ResponseWriter, l *Stream) error {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			done := ctx.Err() != nil
			next := l.Next()
			for _, line := range next {
				fmt.Fprintf(w, "data: %s\n\n", line)
			}
			http.NewResponseController(w).Flush()
			if l.Wrote(len(next)); done {
				return nil
			}
			select {
			case <-l.Bell():
			case <-ctx.Done():
			}
		}
	}
	mux := http.NewServeMux()
	h.Routes(mux)
	site := httptest.NewServer(mux)
	t.Cleanup(func() { h.Server.Close(); site.Close() })
	r, err := http.NewRequest("POST", site.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", testToken)
	setModern(r.Header, body)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("status %d, %s", response.StatusCode, response.Header)
	}
	events := bufio.NewScanner(response.Body)
	return func() string {
		for events.Scan() {
			if line, ok := strings.CutPrefix(events.Text(), "data: "); ok {
				return line
			}
		}
		return "end"
	}, func() { response.Body.Close() }
}

// A listener is told what was accepted, then of changes, and at a graceful end
// gets its reply. What it may not read is not accepted.
func TestListen(t *testing.T) {
	var n atomic.Int64
	s := counted(&n, nil)
	next, _ := openListener(t, testHTTP(s), modern(`"l"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["x://n","x://secret","x://none","x://n"]},`))
	id := `"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}`
	want := []string{`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + id + `,"notifications":{"resourceSubscriptions":["x://n"]}}}`}
	if got := next(); got != want[0] {
		t.Errorf("first\ngot  %s\nwant %s", got, want[0])
	}
	n.Add(1)
	s.tellChanges()
	if got, want := next(), `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{`+id+`,"uri":"x://n"}}`; got != want {
		t.Errorf("change\ngot  %s\nwant %s", got, want)
	}
	s.Close()
	named := strings.Replace(id, `:{`, `:{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"},`, 1)
	if got, want := next(), `{"jsonrpc":"2.0","id":"l","result":{"resultType":"complete",`+named+`}}`; got != want {
		t.Errorf("end\ngot  %s\nwant %s", got, want)
	}
	if got := next(); got != "end" {
		t.Errorf("after the end: %s", got)
	}
}

// TestListenerKeepsNoMessage: a listener lives on with its id alone: its message may be a line of
// 4 MiB, which nothing would count.
func TestListenerKeepsNoMessage(t *testing.T) {
	var n atomic.Int64
	s := counted(&n, nil)
	text := []byte(modern(`"l"`, "subscriptions/listen", `"notifications":{"resourceSubscriptions":["x://n"]},`))
	all, _, _ := parse(text)
	all[0].events = true
	stream := s.reply(t.Context(), Caller{ID: "a"}, &all[0]).stream
	clear(text)
	stream.add("x://n")
	const want = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"},"uri":"x://n"}}`
	if lines := stream.Next(); len(lines) != 2 || string(lines[1]) != want {
		t.Errorf("%q, want %s", lines, want)
	}
}

// TestListenRefused: a listener whose filter has the wrong form is refused; otherwise it
// would wait and never be told anything.
func TestListenRefused(t *testing.T) {
	s := counted(new(atomic.Int64), nil)
	site := testSite(t, testHTTP(s))
	for _, filter := range []string{`5`, `"x://n"`, `["x://n"]`, `{"resourceSubscriptions":5}`, `{"resourceSubscriptions":"x://n"}`, `{"resourceSubscriptions":["x://n",5]}`, `{"resourceSubscriptions":[null,"x://n"]}`, `{"resourceSubscriptions":{}}`} {
		body := modern("1", "subscriptions/listen", `"notifications":`+filter+`,`)
		want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params.notifications must be an object, and its resourceSubscriptions an array of URIs"}}`
		if w := do(t, site, "POST", "/mcp", body, "Mcp-Protocol-Version", modernVersion, "Mcp-Method", "subscriptions/listen"); w.Code != 400 || w.Body.String() != want {
			t.Errorf("%s: %d %s", filter, w.Code, w.Body)
		}
		if got := talk(t, s, body); len(got) != 1 || got[0] != want {
			t.Errorf("%s over stdio: %s", filter, got)
		}
	}
}

// TestListenerPending: if a listener is read slowly, no more lines wait for it than there
// are resources.
func TestListenerPending(t *testing.T) {
	w := &Stream{watch: new(watch), bell: make(chan struct{}, 1), ctx: t.Context(), last: []byte("reply")}
	for range 100 {
		for i := range 64 {
			w.add(fmt.Sprint("wick://", i))
		}
		w.Next()
		for i := range 64 { // all change again while one line is written
			w.add(fmt.Sprint("wick://", i))
		}
		w.Wrote(1)
		if n := len(w.pending); n > 64 {
			t.Fatalf("%d changes of 64 resources wait", n)
		}
	}
}

// A panic in a resource, a prompt or a completion fails one request and not the process. A
// resource whose State panics is not asked again every second.
func TestPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		var bug atomic.Bool
		var log bytes.Buffer
		s := NewServer(Options{
			Ring: func(string) {}, Log: slog.New(slog.NewTextHandler(&log, nil)),
			Resources: []Resource{{URI: "x://n", Name: "n", State: func(Reading) (string, error) {
				if asked.Add(1); bug.Load() {
					panic("secret inner state")
				}
				return "fine", nil
			}}},
			Prompts:  []Prompt{{Name: "greet", Arguments: []Argument{{Name: "how", Read: asTyped}}, Text: func(map[string]string) string { panic("secret inner state") }}},
			Complete: func(context.Context, Completion) []string { panic("secret inner state") },
		})
		subscribeTo(s, Caller{ID: "a"}, "x://n") // while all is well
		bug.Store(true)
		if got := subscribeTo(s, Caller{ID: "b"}, "x://n"); !strings.Contains(got, `"code":-32603`) || s.watch.count != 1 {
			t.Errorf("a subscription whose State panics: %s, and %d are kept", got, s.watch.count)
		}
		asked.Store(1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Watch(ctx); err != nil || asked.Load() != 2 {
			t.Errorf("%v, and the state was asked for %d times in a minute, want 2", err, asked.Load())
		}
		lines := strings.Join([]string{
			`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"greet"}}`,
			`{"jsonrpc":"2.0","id":2,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"how","value":""}}}`,
			`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"x://n"}}`,
			`{"jsonrpc":"2.0","id":4,"method":"ping"}`,
			modern("5", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["x://n"]},`),
		}, "\n")
		var out bytes.Buffer
		if err := s.ServeStdio(t.Context(), strings.NewReader(lines), &out, Caller{ID: "stdio"}, nil); err != nil {
			t.Fatal(err)
		}
		const failed = `,"error":{"code":-32603,"message":"%s failed inside the server, which is a bug and is in its log; the same call would most likely fail again"}}`
		for i, want := range []string{fmt.Sprintf(failed, "greet"), fmt.Sprintf(failed, "completion"), fmt.Sprintf(failed, "x://n"), `,"result":{}}`} {
			if want = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d%s`+"\n", i+1, want); !strings.Contains(out.String(), want) {
				t.Errorf("no %s in %s", want, out.String())
			}
		}
		if n := strings.Count(log.String(), "secret inner state"); n != 6 || strings.Contains(out.String(), "secret") {
			t.Errorf("%d panics are in the log, want 6: %s", n, log.String())
		}
	})
}

// A token that is revoked while its request begins to watch something watches nothing, and
// its client is told what is wrong with the token.
func TestWatchRevoked(t *testing.T) {
	for method, body := range map[string]string{
		"resources/subscribe":  `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x://n"}}`,
		"subscriptions/listen": modern("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["x://n"]},`),
	} {
		s := counted(new(atomic.Int64), func(string) {})
		s.Sessions.valid = func(string) bool { return false }
		h, revoked, said := testHTTP(s), false, error(nil)
		h.Authenticate = func(*http.Request) (Caller, error) {
			if revoked {
				return Caller{}, errors.New("revoked")
			}
			revoked = true // once the request is accepted
			return Caller{ID: "a"}, nil
		}
		h.Challenge = func(_ http.ResponseWriter, _ *http.Request, err error) { said = err }
		headers := make(http.Header)
		if strings.Contains(body, "_meta") {
			setModern(headers, body)
		}
		r := httptest.NewRequest("POST", "http://localhost/mcp", strings.NewReader(body))
		r.Header = headers
		r.Header.Set("Authorization", testToken)
		w := httptest.NewRecorder()
		testSite(t, h).ServeHTTP(w, r)
		if w.Code != 401 || !strings.Contains(w.Body.String(), `"code":-32001`) || said == nil {
			t.Errorf("%s: %d %s, %v", method, w.Code, w.Body, said)
		}
		if s.watch.count != 0 || len(s.watch.own)+len(s.watch.listeners) != 0 {
			t.Errorf("%s: %d resources are watched for %v", method, s.watch.count, s.watch.own)
		}
	}
}

// Closing the response is the cancellation: nothing is watched for it any longer.
// One listener more than a token may have ends its oldest.
func TestListenerLeaves(t *testing.T) {
	s := counted(new(atomic.Int64), nil)
	body := modern("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["x://n"]},`)
	h := testHTTP(s)
	first, _ := openListener(t, h, body)
	first()
	var last func()
	for range maxListeners {
		next, closeBody := openListener(t, h, body)
		next()
		last = closeBody
	}
	if got := first(); !strings.Contains(got, `"resultType":"complete"`) {
		t.Errorf("the oldest goes on: %s", got)
	}
	last()
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		s.watch.mu.Lock()
		left := s.watch.listening
		s.watch.mu.Unlock()
		if left == maxListeners-1 {
			break
		}
		if time.Since(start) > 10*time.Second {
			t.Fatalf("%d listeners", left)
		}
	}
}

// Over stdio a listener writes between the replies, and ends when it is
// cancelled, without a reply, or with the conversation, with one.
func TestListenStdio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		s := counted(&n, nil)
		ctx, cancel := context.WithCancel(t.Context())
		go s.Watch(ctx)
		in, send := io.Pipe()
		receive, out := io.Pipe()
		done := make(chan error)
		go func() { done <- s.ServeStdio(ctx, in, out, Caller{ID: "stdio"}, nil); out.Close() }()
		lines := bufio.NewScanner(receive)
		expect := func(parts ...string) {
			t.Helper()
			lines.Scan()
			for _, part := range parts {
				if !strings.Contains(lines.Text(), part) {
					t.Errorf("got %s, want %s", lines.Text(), part)
				}
			}
		}
		for _, id := range []string{"1", "2"} {
			fmt.Fprintln(send, modern(id, "subscriptions/listen", `"notifications":{"resourceSubscriptions":["x://n"]},`))
			expect("acknowledged", `subscriptionId":`+id)
		}
		fmt.Fprintln(send, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		time.Sleep(time.Second)
		n.Add(1)
		expect("updated", `subscriptionId":2`)
		fmt.Fprintln(send, modern("3", "resources/read", `"uri":"x://n",`))
		expect(`"id":3`, "at 1")
		go send.Close()
		expect(`"id":2`, `"resultType":"complete"`)
		<-done
		cancel()
	})
}

// A listener over stdio that is cancelled gets no reply, even if the cancellation comes just
// when it collects the lines to write.
func TestListenCancelled(t *testing.T) {
	s := counted(new(atomic.Int64), nil)
	in, send := io.Pipe()
	receive, out := io.Pipe()
	go func() { s.ServeStdio(t.Context(), in, out, Caller{ID: "stdio"}, nil); out.Close() }()
	lines := bufio.NewScanner(receive)
	fmt.Fprintln(send, modern("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["x://n"]},`))
	lines.Scan() // what was accepted
	s.watch.mu.Lock()
	l := s.watch.listeners["stdio"][0]
	// It wakes, if it does not wait for the lock already, and comes to wait for it.
	l.wake()
	for range 1000 {
		runtime.Gosched()
	}
	s.Sessions.cancelCall(Caller{ID: "stdio"}, json.RawMessage("1"))
	s.watch.mu.Unlock()
	go send.Close()
	for lines.Scan() {
		t.Errorf("got %s", lines.Text())
	}
}

// Headers that do not agree with the body are refused before anything is done.
func TestHeaderMismatch(t *testing.T) {
	call := modern("1", "tools/call", `"name":"echo",`)
	for _, c := range []struct {
		what, header, value string
		ok                  bool
	}{
		{"all agree", "X-Other", "1", true},
		{"another version", "MCP-Protocol-Version", "2025-11-25", false},
		{"another method", "Mcp-Method", "tools/list", false},
		{"the method in another case", "Mcp-Method", "Tools/Call", false},
		{"another name", "Mcp-Name", "order", false},
		{"the name as it is", "Mcp-Name", "echo", true},
		{"the name encoded", "Mcp-Name", "=?base64?ZWNobw==?=", true},
		{"another name encoded", "Mcp-Name", "=?base64?b3JkZXI=?=", false},
		{"broken base64", "Mcp-Name", "=?base64?!?=", false},
		{"no version", "MCP-Protocol-Version", "", false},
		{"no method", "Mcp-Method", "", false},
		{"no name", "Mcp-Name", "", false},
	} {
		r := httptest.NewRequest("POST", "http://localhost/mcp", strings.NewReader(call))
		r.Header.Set("Authorization", testToken)
		setModern(r.Header, call)
		if r.Header.Set(c.header, c.value); c.value == "" {
			r.Header.Del(c.header)
		}
		w := httptest.NewRecorder()
		testSite(t, testHTTP(testServer())).ServeHTTP(w, r)
		if refused := w.Code == 400 && strings.Contains(w.Body.String(), `"code":-32020`); refused == c.ok || c.ok && w.Code != 200 {
			t.Errorf("%s: %d %s", c.what, w.Code, w.Body)
		}
	}
}

// Whatever a URI is, a template that it matches has a part for each of its segments.
func FuzzTemplate(f *testing.F) {
	f.Add("x://part/a%20b")
	f.Add("wick://chart/BTC%2FUSD/4h")
	f.Fuzz(func(t *testing.T, uri string) {
		for _, template := range []string{"x://part/{name}", "wick://chart/{symbol}/{interval}", "x://n"} {
			parts, ok := match((&Resource{URI: template}).pattern(), uri)
			if ok && (strings.Count(template, "/") != strings.Count(uri, "/") || len(parts) != strings.Count(template, "{")) {
				t.Fatalf("%q matches %q", template, uri)
			}
			for name, text := range parts {
				if text == "" {
					t.Fatalf("%q of %q has an empty part %q", uri, template, name)
				}
			}
		}
	})
}

// However a header is encoded, it stands for what was encoded.
func FuzzDecodeHeader(f *testing.F) {
	f.Add("=?base64?ZWNobw==?=")
	f.Add("plain")
	f.Fuzz(func(t *testing.T, v string) {
		if got := decodeHeader(v); !strings.HasPrefix(v, "=?base64?") && got != v {
			t.Fatalf("%q stands for %q", v, got)
		}
	})
}

// Whatever is sent in the newer era: a reply is one line of JSON-RPC, and a result
// says that it is complete.
func FuzzModern(f *testing.F) {
	for _, method := range []string{"server/discover", "tools/list", "tools/call", "resources/list", "resources/read", "prompts/get", "completion/complete"} {
		f.Add(method, `"name":"greet","uri":"x://part/a","arguments":{"name":"a"},"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"how"},`)
	}
	s := wholeServer()
	f.Fuzz(func(t *testing.T, method, params string) {
		name, _ := json.Marshal(method)
		sent := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%s,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`, name, params)
		text := s.handle(t.Context(), Caller{ID: "fuzz"}, sent)
		if text == nil {
			return
		}
		if strings.ContainsAny(string(text), "\r\n") {
			t.Fatalf("the reply to %q has a line break: %q", sent, text)
		}
		r := checkReply(t, sent, text)
		var result struct{ ResultType string }
		if r.Result != nil && (json.Unmarshal(r.Result, &result) != nil || result.ResultType != "complete") && strings.Contains(string(sent), modernVersion) {
			if all, _, refused := parse(sent); refused == nil && all[0].modern {
				t.Fatalf("%q: %s", sent, text)
			}
		}
	})
}

// TestWatchedOnce: the state of a resource is asked for once a second, however many callers
// watch it.
func TestWatchedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		s := NewServer(Options{Ring: func(string) {}, Resources: []Resource{{URI: "x://of/{name}", Name: "of", State: func(Reading) (string, error) {
			asked.Add(1)
			return "fine", nil
		}}}})
		for i := range 100 {
			subscribeTo(s, Caller{ID: fmt.Sprint(i)}, "x://of/all")
			subscribeTo(s, Caller{ID: fmt.Sprint(i)}, fmt.Sprint("x://of/", i))
		}
		asked.Store(0)
		ctx, cancel := context.WithTimeout(t.Context(), 10*watchPeriod+watchPeriod/2)
		defer cancel()
		if err := s.Watch(ctx); err != nil || asked.Load() != 10*101 {
			t.Errorf("%v, and the states of 101 resources were asked for %d times in ten seconds", err, asked.Load())
		}
		for i := range 100 {
			s.Sessions.Revoke(fmt.Sprint(i))
		}
	})
}

// TestStreamEndsByTheClock: a stream whose token has ended by the clock tells of no change any
// more, and a listener its reply, though the timer of its context has not noticed.
func TestStreamEndsByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, reply := range []string{"", "the reply"} {
			one := &Stream{watch: new(watch), caller: Caller{Expires: time.Now().Add(time.Minute)}, ctx: context.Background(), bell: make(chan struct{}, 1)}
			if reply != "" {
				one.last = []byte(reply)
			}
			one.add("wick://orders")
			if lines := one.Next(); len(lines) != 1 {
				t.Fatalf("while the token lasts: %q", lines)
			}
			time.Sleep(time.Minute)
			if got := string(bytes.Join(one.Next(), nil)); got != reply {
				t.Errorf("after the token: %q, want %q", got, reply)
			}
		}
	})
}
