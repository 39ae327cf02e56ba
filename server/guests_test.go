package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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

// TestGuestBound: one connection more than there is room for, and the oldest is
// closed, no other.
func TestGuestBound(t *testing.T) {
	g := newGuests(maxGuests)
	var ours, theirs []net.Conn
	for range maxGuests + 1 {
		here, there := net.Pipe()
		ours, theirs = append(ours, here), append(theirs, there)
		g.state(there, http.StateNew)
	}
	if _, err := theirs[0].Write(nil); err != io.ErrClosedPipe {
		t.Errorf("the oldest of %d guests is still there: %v", len(ours), err)
	}
	if g.count() != 1024 || g.dropped.Load() != 1 {
		t.Errorf("%d guests and %d dropped, want 1024 and 1", g.count(), g.dropped.Load())
	}
}

// TestGuests: of connections without a token the oldest goes when there is no
// room, whether it sent nothing, half a head or half a body; one that has shown
// a token stays, however many come.
func TestGuests(t *testing.T) {
	const room = 3
	g := newGuests(room)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			g.known(r)
		}
		io.Copy(io.Discard, r.Body)
	}))
	srv.Config.ConnState, srv.Config.ConnContext = g.state, g.context
	srv.Start()
	defer srv.Close()
	address := srv.Listener.Addr().String()

	const ask = "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: yes\r\n\r\n"
	owner := dial(t, address, ask)
	answers := bufio.NewReader(owner)
	answer := func() {
		t.Helper()
		r, err := http.ReadResponse(answers, nil)
		if err != nil || r.StatusCode != 200 {
			t.Fatalf("the owner's call: %v", err)
		}
	}
	answer()
	strangers := []net.Conn{
		dial(t, address, ""),
		dial(t, address, "GET / HTTP/1.1\r\nHo"),
		dial(t, address, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf"),
	}
	for range room {
		dial(t, address, "")
	}
	for i, c := range strangers {
		if _, err := c.Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "timeout") {
			t.Errorf("stranger %d is still there: %v", i, err)
		}
	}
	if n := g.count(); n > room {
		t.Errorf("%d guests, room for %d", n, room)
	}
	if n := g.dropped.Load(); n < room {
		t.Errorf("%d dropped, want at least %d", n, room)
	}
	if _, err := io.WriteString(owner, ask); err != nil {
		t.Fatal(err)
	}
	answer()
}
