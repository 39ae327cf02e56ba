package sse

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// serve runs streams of q behind a real server, which has a timeout for
// reading requests as every public server has.
func serve(t testing.TB, q *list) *httptest.Server {
	t.Helper()
	stop := make(chan struct{})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, end := context.WithCancel(r.Context())
		defer end()
		go func() { <-stop; end() }()
		Serve(ctx, w, q)
	}))
	srv.Config.ReadTimeout = 100 * time.Millisecond
	srv.Start()
	t.Cleanup(func() {
		close(stop)
		srv.Close()
	})
	return srv
}

// TestUnsentBody: a client that announces a body for its stream and does not send it
// keeps its connection no longer than the stream.
func TestUnsentBody(t *testing.T) {
	over := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, end := context.WithCancel(r.Context())
		go func() { <-over; end() }()
		Serve(ctx, w, newList())
	}))
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n")
	close(over)
	conn.SetReadDeadline(time.Now().Add(30 * time.Second)) // it would stay for ever
	if text, err := io.ReadAll(conn); err != nil || !strings.Contains(string(text), "retry: 2000") {
		t.Errorf("%v, %q; want the farewell and the end", err, text)
	}
}

// dial sends a request of the given version and returns the connection.
func dial(t testing.TB, srv *httptest.Server, version string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET / HTTP/%s\r\nHost: localhost\r\n\r\n", version)
	return conn
}

// TestOverHTTP: the head arrives before any event; the server's ReadTimeout
// does not end the stream; what the client sends on it changes nothing.
func TestOverHTTP(t *testing.T) {
	q := newList()
	conn := dial(t, serve(t, q), "1.1")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" || res.ContentLength != -1 || !res.Close {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	time.Sleep(300 * time.Millisecond) // past the ReadTimeout
	q.add(1, 1)
	want := ": open\n\nid: a-1\nevent: message\ndata: {\"n\":1}\n\n"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// TestOldHTTP: a client of HTTP/1.0, such as nginx when it is not told
// otherwise, gets no chunks: the end of the connection is the end of the stream.
func TestOldHTTP(t *testing.T) {
	q := newList()
	q.add(1, 1)
	lines := bufio.NewScanner(dial(t, serve(t, q), "1.0"))
	var got []string
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: ") {
		got = append(got, lines.Text())
	}
	text := strings.Join(got, "\n")
	if !strings.HasPrefix(text, "HTTP/1.0 200 OK") || strings.Contains(text, "chunked") || !strings.HasSuffix(text, "\n\n: open\n\nid: a-1\nevent: message") {
		t.Errorf("got %q", text)
	}
}

// TestClientLeaves: a client that hangs up ends its stream at once, not at the
// next comment.
func TestClientLeaves(t *testing.T) {
	over := make(chan error, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { over <- Serve(r.Context(), w, newList()) }))
	defer srv.Close()
	conn := dial(t, srv, "1.1")
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if err := <-over; err != nil {
		t.Errorf("Serve: %v", err)
	}
}
