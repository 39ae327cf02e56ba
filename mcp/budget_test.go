package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// crowdSite serves tools of which one answers a mebibyte, to callers whose token
// is "TOKEN@CLIENT". It returns the transport and a way to connect. The
// connections have no buffer: a reply that nobody reads stays with the server.
func crowdSite(t *testing.T, tools ...Tool) (*HTTP, func() net.Conn) {
	t.Helper()
	big := make([]byte, 1<<20)
	for i := range big {
		big[i] = 'x'
	}
	tools = append(tools, Tool{Name: "big", Schema: json.RawMessage(`{}`), Cost: Cheap,
		Handle: func(context.Context, Call) (*Result, error) { return &Result{Content: []Content{{Text: big}}}, nil }})
	tools = append(tools, benchTools(100)...)
	h := testHTTP(NewServer(Options{Tools: tools}))
	h.Authenticate = func(r *http.Request) (Caller, error) {
		token, client, ok := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), "@")
		if !ok {
			return Caller{}, errors.New("no such token")
		}
		return Caller{ID: token, Client: client}, nil
	}
	srv := &http.Server{Handler: testSite(t, h), ReadTimeout: 10 * time.Second, IdleTimeout: time.Hour}
	ln := make(pipe)
	ended := make(chan error)
	go func() { ended <- srv.Serve(ln) }()
	var open []net.Conn
	t.Cleanup(func() {
		for _, c := range open {
			c.Close()
		}
		close(ln)
		<-ended
		time.Sleep(time.Second) // net/http lingers on a connection that it closes
	})
	return h, func() net.Conn {
		here, there := net.Pipe()
		ln <- there
		open = append(open, here)
		return here
	}
}

// postHead returns the head of a POST of so many bytes. An empty token leaves the
// Authorization header out.
func postHead(token string, length int) string {
	authorization := ""
	if token != "" {
		authorization = "Authorization: Bearer " + token + "\r\n"
	}
	return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n", authorization, length)
}

// send posts a message and does not read the reply.
func send(c net.Conn, token, message string) {
	io.WriteString(c, postHead(token, len(message))+message)
}

// ask posts a message and returns status, headers and body of the reply.
func ask(t *testing.T, c net.Conn, token, message string) (int, http.Header, string) {
	t.Helper()
	send(c, token, message)
	return readReply(t, c)
}

func readReply(t *testing.T, c net.Conn) (int, http.Header, string) {
	t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, r.Header, string(body)
}

func callOf(tool string) string {
	return `{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{"name":"` + tool + `"}}`
}

// wantBusy checks a refusal: its status, when to come back, and the request's id.
func wantBusy(t *testing.T, what string, status, want int, h http.Header, body, id string) {
	t.Helper()
	if status != want || h.Get("Retry-After") != "1" || !strings.Contains(body, `"id":`+id) || !strings.Contains(body, `"code":-32000`) {
		t.Errorf("%s: %d, Retry-After %q, %.200s; want %d with the id %s", what, status, h.Get("Retry-After"), body, want, id)
	}
}

// Replies that a token does not read are bounded: past its share it is refused,
// other tokens are served, and when the replies are gone it is served again.
// Without the bound one token fills memory with series that it never reads.
func TestHeldReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, dial := crowdSite(t)
		var unread []net.Conn
		for range maxHeldToken >> 20 {
			c := dial()
			send(c, "a@one", callOf("big"))
			unread = append(unread, c)
		}
		synctest.Wait()
		status, header, body := ask(t, dial(), "a@one", callOf("big"))
		wantBusy(t, "past the token's share", status, 429, header, body, `"mine"`)
		if status, _, _ := ask(t, dial(), "b@two", callOf("big")); status != 200 {
			t.Errorf("another token: %d", status)
		}
		for _, c := range unread {
			c.Close()
		}
		synctest.Wait()
		if status, _, _ := ask(t, dial(), "a@one", callOf("big")); status != 200 {
			t.Errorf("after its replies are gone: %d", status)
		}
		synctest.Wait()
		if h.holders.all != 0 || h.strangers.all != 0 || len(h.holders.tokens)+len(h.holders.clients) != 0 {
			t.Errorf("%d and %d bytes are still counted", h.holders.all, h.strangers.all)
		}
	})
}

// Calls that waited for a slot while there was room do not all run once their token's
// share is used up. At most twice as many as there are slots may still run.
func TestHeldInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		long := bytes.Repeat([]byte("x"), maxHeldToken)
		h, dial := crowdSite(t, Tool{Name: "line", Schema: json.RawMessage(`{}`), Handle: func(context.Context, Call) (*Result, error) {
			runs.Add(1)
			time.Sleep(time.Second) // by when the replies before are counted
			return &Result{Content: []Content{{Text: long}}}, nil
		}})
		const slots, calls = 2, 12
		h.Server.gates[Normal] = newGate(slots)
		var unread []net.Conn
		for range calls {
			c := dial()
			send(c, "a@one", callOf("line"))
			unread = append(unread, c)
		}
		time.Sleep(calls * time.Second)
		if n := runs.Load(); n > 2*slots {
			t.Errorf("%d calls ran, want at most %d", n, 2*slots)
		}
		refused := int32(0)
		for _, c := range unread {
			if status, header, body := readReply(t, c); status != 200 {
				wantBusy(t, "a call that stood in line", status, 429, header, body, `"mine"`)
				refused++
			}
		}
		if refused+runs.Load() != calls {
			t.Errorf("%d calls ran and %d were refused, want %d in all", runs.Load(), refused, calls)
		}
	})
}

// One batch holds no more than that either: its later members are refused.
func TestHeldBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, dial := crowdSite(t)
		batch := "[" + strings.Repeat(callOf("big")+",", maxBatch-1) + callOf("big") + "]"
		status, _, body := ask(t, dial(), "a@one", batch)
		if good, bad := strings.Count(body, `"result"`), strings.Count(body, `"code":-32000`); status != 200 || good < 2 || good > 4 || good+bad != maxBatch {
			t.Errorf("%d with %d results and %d refusals", status, good, bad)
		}
	})
}

// The tokens of one client share a bound, and so do all tokens.
func TestHeldTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, dial := crowdSite(t)
		fill := func(n int, name func(int) string) {
			for i := range n {
				send(dial(), name(i), callOf("big"))
				synctest.Wait() // or they would all be admitted at once
			}
		}
		fill(maxHeldClient>>20, func(i int) string { return fmt.Sprintf("t%d@one", i) })
		status, header, body := ask(t, dial(), "new@one", callOf("big"))
		wantBusy(t, "a new token of the client", status, 429, header, body, `"mine"`)
		fill((maxHeld-maxHeldClient)>>20, func(i int) string { return fmt.Sprintf("u%d@c%d", i, i) })
		status, header, body = ask(t, dial(), "new@two", callOf("big"))
		wantBusy(t, "when all of it is used", status, 503, header, body, `"mine"`)
		if status, _, _ := ask(t, dial(), "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); status != 200 {
			t.Errorf("a stranger, who has a share of his own: %d", status)
		}
	})
}

// Bodies that do not arrive completely count too, with the bytes that have come.
func TestHeldBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, dial := crowdSite(t)
		stall := func(token string) net.Conn {
			c := dial()
			go io.WriteString(c, postHead(token, maxBody)+strings.Repeat(" ", maxBody-1))
			synctest.Wait()
			return c
		}
		for range maxHeldToken >> 20 {
			stall("a@one")
		}
		status, header, body := readReply(t, stall("a@one"))
		wantBusy(t, "a body past the token's share", status, 429, header, body, "null")
		if status, _, _ := ask(t, dial(), "b@two", ping+strings.Repeat(" ", 900<<10)); status != 200 {
			t.Errorf("another token's long body: %d", status)
		}
	})
}

// What strangers hold is bounded for all of them together, and takes nothing
// from the holders of tokens. The lists that they read slowly are nobody's bytes: there is
// one copy for all.
func TestHeldByStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, dial := crowdSite(t)
		list := `{"jsonrpc":"2.0","id":"mine","method":"tools/list"}`
		for range 50 {
			send(dial(), "", list)
		}
		synctest.Wait()
		if h.strangers.all != 0 {
			t.Errorf("strangers who do not read the list of tools hold %d bytes of it", h.strangers.all)
		}
		for range 50 {
			go io.WriteString(dial(), postHead("", maxAnonymous)+strings.Repeat(" ", maxAnonymous-1))
		}
		synctest.Wait()
		if h.strangers.all == 0 || h.holders.all != 0 {
			t.Errorf("strangers hold %d bytes, and %d are counted as those of tokens", h.strangers.all, h.holders.all)
		}
		h.strangers.Add(Caller{}, maxHeldAnonymous-h.strangers.all)
		status, header, body := ask(t, dial(), "", list)
		wantBusy(t, "a stranger past the share of all", status, 503, header, body, `"mine"`)
		if status, _, _ := ask(t, dial(), "a@one", callOf("big")); status != 200 {
			t.Errorf("a token: %d", status)
		}
	})
}

// A stranger's connection that does not take its reply is cut off sooner than
// one with a token; a slow telephone still gets it.
func TestAnonymousWriteTimeout(t *testing.T) {
	for pause, want := range map[time.Duration]bool{anonymousWriteTimeout - time.Second: true, anonymousWriteTimeout + time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			_, dial := crowdSite(t)
			c := dial()
			send(c, "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			time.Sleep(pause)
			r, err := http.ReadResponse(bufio.NewReader(c), nil)
			if got := err == nil && r.StatusCode == 200; got != want {
				t.Errorf("a reply that is read after %v comes: %v, want %v", pause, got, want)
			}
		})
	}
}

// A valid token whose holder has too many connections open is refused, on POST and GET.
func TestTooMany(t *testing.T) {
	h := testHTTP(testServer())
	h.Authenticate = func(*http.Request) (Caller, error) { return Caller{}, ErrTooMany }
	site := testSite(t, h)
	for _, method := range []string{"POST", "GET"} {
		w := do(t, site, method, "/mcp", ping)
		wantBusy(t, method, w.Code, 429, w.Header(), w.Body.String(), "null")
	}
}
