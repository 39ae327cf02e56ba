package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// dial connects and, if request is not empty, sends it.
func dial(t *testing.T, address, request string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	return c
}

// site serves requests on connections that c knows, see answers.
func site(t *testing.T, c *connections) (address string) {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil)
	c.answers(t, srv.Config)
	srv.Listener = c.listener(srv.Listener)
	srv.Start()
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}

// answers makes srv a server on connections that c knows. Authorization is the token
// and its client, "TOKEN@CLIENT". A request to /wait lasts until the test ends;
// one that is refused is answered with 429.
func (c *connections) answers(t *testing.T, srv *http.Server) {
	srv.Handler = c.handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, client, ok := strings.Cut(r.Header.Get("Authorization"), "@")
		if ok && !c.claim(r, token, client) {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.WriteHeader(http.StatusOK)
		if r.URL.Path == "/wait" {
			http.NewResponseController(w).Flush()
			<-t.Context().Done()
		}
		io.Copy(io.Discard, r.Body)
	}))
	srv.ConnState, srv.ConnContext = c.state, c.context
}

// dial connects in a bubble, sends a request, if it is not empty, and returns when the server
// has done with it what it can.
func (p pipes) dial(t *testing.T, request string) net.Conn {
	t.Helper()
	here, there := net.Pipe()
	p <- there
	if _, err := io.WriteString(here, request); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return here
}

// caller is a client's end of a connection.
type caller struct {
	net.Conn
	answers *bufio.Reader
}

// ask sends a request and returns the status of its answer, or 0 when the
// connection is closed.
func (c caller) ask(path, token string) int {
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\n\r\n", path, token)
	r, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return 0
	}
	if path != "/wait" {
		io.Copy(io.Discard, r.Body)
	}
	return r.StatusCode
}

// enter connects and asks once.
func enter(t *testing.T, address, path, token string) (c caller, status int) {
	t.Helper()
	c.Conn = dial(t, address, "")
	c.answers = bufio.NewReader(c.Conn)
	return c, c.ask(path, token)
}

// closed reports whether the server has closed a connection on which nothing is
// under way. It waits for it.
func (c caller) closed() bool {
	_, err := c.answers.ReadByte()
	return err != nil
}

// awaitIdle waits until the server has noticed that a connection of whose is
// idle, which is a moment after its client has the answer.
func (c *connections) awaitIdle(whose holder) {
	for {
		c.mu.Lock()
		idle := oldest(c.open[whose], func(one *conn) bool { return one.idle.Load() }) != nil
		c.mu.Unlock()
		if idle {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// awaitAsking waits until of the strangers' requests this many are being worked on
// and this many wait for their peer. The server notices both a moment later than the
// client: that an answer was written, and that half a body is there.
func (c *connections) awaitAsking(t *testing.T, working, waiting int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		var n [2]int
		c.mu.Lock()
		for _, one := range c.open[asking] {
			if one.waits.Load() {
				n[1]++
			} else {
				n[0]++
			}
		}
		c.mu.Unlock()
		if n == [2]int{working, waiting} {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d requests are worked on and %d wait, want %d and %d", n[0], n[1], working, waiting)
		}
	}
}

// TestAnonymousConnections: of connections without a token the oldest goes when
// there is no room, whether it sent nothing, half a head or half a body; one
// that has shown a token stays, however many come.
func TestAnonymousConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConnections(manyFiles)
		c.anonymous = 6 // three that are silent and three that ask
		site, srv := make(pipes), new(http.Server)
		c.answers(t, srv)
		go srv.Serve(c.listener(site))
		defer srv.Close()
		gone := func(one net.Conn) bool { // nothing is under way any more when it is called
			one.SetReadDeadline(time.Now().Add(time.Second))
			_, err := one.Read(make([]byte, 1))
			return !errors.Is(err, os.ErrDeadlineExceeded)
		}
		owner := caller{Conn: site.dial(t, "")}
		owner.answers = bufio.NewReader(owner)
		if status := owner.ask("/", "a@one"); status != 200 {
			t.Fatalf("the owner's call: %d", status)
		}
		const half = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf"
		silent, head, body := site.dial(t, ""), site.dial(t, "GET / HTTP/1.1\r\nHo"), site.dial(t, half)
		for range c.anonymous {
			site.dial(t, "")
		}
		// Connections that say nothing push out no request in progress: it may be
		// the owner's login. Further requests do.
		if !gone(silent) || !gone(head) || gone(body) {
			t.Errorf("after silent ones: the silent stranger has gone: %t, half a head: %t, half a body: %t; want true, true, false", gone(silent), gone(head), gone(body))
		}
		for range c.anonymous {
			site.dial(t, half)
		}
		if !gone(body) {
			t.Error("after many requests the oldest is still there")
		}
		if n, _ := c.count(); n > c.anonymous {
			t.Errorf("%d anonymous connections, room for %d", n, c.anonymous)
		}
		if n := c.dropped.Load(); n < 3 {
			t.Errorf("%d dropped, want at least 3", n)
		}
		if status := owner.ask("/", "a@one"); status != 200 {
			t.Errorf("the owner's next call: %d", status)
		}
	})
}

// TestUnreadConnections: however many come, those that this process has not yet
// read from stay, and no more are accepted until it has. Otherwise a busy machine
// would close an owner's connection before it looks at the request that is there.
func TestUnreadConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConnections(manyFiles)
		ln := c.listener(endless{})
		var accepted []net.Conn
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range maxUnread + 2 {
				one, _ := ln.Accept()
				accepted = append(accepted, one)
			}
		}()
		synctest.Wait()
		if len(accepted) != maxUnread || c.dropped.Load() != 0 {
			t.Fatalf("%d accepted and %d dropped, want %d and 0", len(accepted), c.dropped.Load(), maxUnread)
		}
		go accepted[0].Read(make([]byte, 1)) // it waits for the peer
		synctest.Wait()
		if len(accepted) != maxUnread+1 {
			t.Errorf("%d accepted after one was read from, want %d", len(accepted), maxUnread+1)
		}
		accepted[1].Close() // before it was read from
		<-done
		accepted[1].Close()
		for _, one := range accepted {
			one.Close()
		}
		if anonymous, all := c.count(); anonymous != 0 || all != 0 || len(c.unread) != 0 {
			t.Errorf("after all were closed: %d anonymous, %d in all, %d unread", anonymous, all, len(c.unread))
		}
	})
}

// endless is a listener to which connections come without end.
type endless struct{}

func (endless) Accept() (net.Conn, error) { _, there := net.Pipe(); return there, nil }
func (endless) Close() error              { return nil }
func (endless) Addr() net.Addr            { return nil }

// TestWorkIsFinished: requests that wait for their peer, for the rest of a body or for
// their answer to be read, push out each other, and not an older request that the server
// works on, such as the owner's login while it is checked. Only if there is no other to
// push out does the oldest of those go.
func TestWorkIsFinished(t *testing.T) {
	c := newConnections(manyFiles)
	c.anonymous = 6 // three that are silent and three that ask
	address := site(t, c)
	first, status := enter(t, address, "/wait", "")
	if status != 200 {
		t.Fatalf("the first request: %d", status)
	}
	c.awaitAsking(t, 1, 0)
	for n := range 10 {
		dial(t, address, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf")
		for end := time.Now().Add(time.Minute); int(c.dropped.Load()) < n-1; time.Sleep(time.Millisecond) { // all but the first and two more
			if time.Now().After(end) {
				t.Fatalf("%d connections were dropped, want %d", c.dropped.Load(), n-1)
			}
		}
		c.awaitAsking(t, 1, min(n+1, 2))
	}
	first.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if _, err := first.answers.ReadByte(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the request that the server is at work on: %v", err)
	}
	first.SetReadDeadline(time.Time{})
	for n := range 3 {
		if _, status := enter(t, address, "/wait", ""); status != 200 {
			t.Fatalf("a further request: %d", status)
		}
		c.awaitAsking(t, min(n+2, 3), max(0, 1-n))
	}
	if !first.closed() {
		t.Error("the oldest of four requests at work is still there, with room for three")
	}
}

// TestConnectionBounds: by default, and where the process may open few files:
// strangers never get more than a quarter of them.
func TestConnectionBounds(t *testing.T) {
	for files, want := range map[int][4]int{ // room, anonymous, token, client
		manyFiles: {65536 - reservedFiles, maxAnonymousConns, maxTokenConns, maxClientConns},
		1024:      {896, 224, 112, 224},
		128:       {64, 16, 8, 16},
	} {
		c := newConnections(files)
		if got := [4]int{c.known.All + c.anonymous, c.anonymous, c.known.Token, c.known.Client}; got != want {
			t.Errorf("%d files: room, anonymous, token, client = %v, want %v", files, got, want)
		}
	}
	c := newConnections(manyFiles)
	enter := func() *http.Request {
		_, there := net.Pipe()
		one := &conn{Conn: there, registry: c}
		c.strange(one, holder{}, silent)
		return httptest.NewRequestWithContext(c.context(t.Context(), one), "GET", "/", nil)
	}
	for n := range maxClientConns {
		if !c.claim(enter(), fmt.Sprint("token", n/maxTokenConns), "client") {
			t.Fatalf("connection %d of the client was refused", n+1)
		}
	}
	if c.claim(enter(), "token0", "client") || c.claim(enter(), "token2", "client") {
		t.Errorf("more than %d connections of a token, or %d of a client, are taken", maxTokenConns, maxClientConns)
	}
	for range maxAnonymousConns/2 + 1 {
		enter()
	}
	if n, _ := c.count(); n != maxAnonymousConns/2 || c.dropped.Load() != 1 {
		t.Errorf("%d silent connections and %d dropped, want %d and 1", n, c.dropped.Load(), maxAnonymousConns/2)
	}
}

// TestTokenConnections: a token that has as many connections as it may loses
// its oldest idle one for a new one. When none is idle, the new one is refused.
// Other tokens notice nothing. Without the bound, the idle connections of one
// token would use up the files of the process and shut everybody out.
func TestTokenConnections(t *testing.T) {
	c := newConnections(manyFiles)
	c.known.Token, c.known.Client = 3, 4
	address := site(t, c)
	other, _ := enter(t, address, "/", "b@two")
	first, _ := enter(t, address, "/", "a@one")
	c.awaitIdle(holder{"one", "a"})
	for range 3 {
		if _, status := enter(t, address, "/wait", "a@one"); status != 200 {
			t.Fatalf("a call while one connection is idle: %d", status)
		}
	}
	if !first.closed() {
		t.Error("the idle connection is still there")
	}
	refused, status := enter(t, address, "/", "a@one")
	if status != http.StatusTooManyRequests || !refused.closed() { // it counts until it is closed
		t.Errorf("one more than the token may have: %d, want 429 and the end", status)
	}
	if _, status := enter(t, address, "/wait", "a2@one"); status != 200 {
		t.Errorf("another token of the client: %d", status)
	}
	if _, status := enter(t, address, "/", "a3@one"); status != http.StatusTooManyRequests {
		t.Errorf("one more than the client may have: %d, want 429", status)
	}
	if status := other.ask("/", "b@two"); status != 200 {
		t.Errorf("another client: %d", status)
	}
}

// TestRoomForAll: when the files of the process are used up, whoever has most
// connections gives one, and the newcomer is served.
func TestRoomForAll(t *testing.T) {
	c := newConnections(manyFiles)
	c.known.All, c.anonymous = 5, 3
	address := site(t, c)
	var busy []caller
	for range 4 {
		one, _ := enter(t, address, "/wait", "a@one")
		busy = append(busy, one)
	}
	small, _ := enter(t, address, "/", "b@two")
	if _, status := enter(t, address, "/", "c@three"); status != 200 {
		t.Errorf("the newcomer: %d", status)
	}
	busy[0].SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.ReadAll(busy[0]); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the oldest connection of the largest holder is still there")
	}
	if status := small.ask("/", "b@two"); status != 200 {
		t.Errorf("a client with one connection: %d", status)
	}
	if anonymous, all := c.count(); all-anonymous != 5 {
		t.Errorf("%d connections of tokens, want 5", all-anonymous)
	}
}

// TestKnownAreCounted: the number of connections with a token is passed on when
// one comes and when one goes, and nothing is left when all are closed.
func TestKnownAreCounted(t *testing.T) {
	c := newConnections(manyFiles)
	told := make(chan int, 10)
	c.changed = func(known int) { told <- known }
	address := site(t, c)
	one, _ := enter(t, address, "/", "a@one")
	if got := <-told; got != 1 {
		t.Errorf("told %d, want 1", got)
	}
	if status := one.ask("/", "b@one"); status != 200 { // the same connection, now another token's: still one
		t.Errorf("another token on the same connection: %d", status)
	}
	one.Close()
	if got := <-told; got != 0 {
		t.Errorf("told %d, want 0", got)
	}
	if len(c.open)+c.known.InUse() != 0 {
		t.Errorf("left over: %v %d", c.open, c.known.InUse())
	}
}
