package sse

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// serve runs a hub behind a real server; the name is the path.
func serve(t testing.TB, h *Hub) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.Serve(w, r, strings.TrimPrefix(r.URL.Path, "/"), time.Time{})
	}))
	t.Cleanup(func() {
		h.Close()
		srv.Close()
	})
	return srv
}

// get opens a stream over a real connection.
func get(t testing.TB, url, lastEventID string) (*http.Response, *bufio.Scanner) {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	return res, bufio.NewScanner(res.Body)
}

// nextID reads up to the next event and returns its id.
func nextID(t testing.TB, lines *bufio.Scanner) string {
	t.Helper()
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			return id
		}
	}
	t.Fatalf("the stream ended: %v", lines.Err())
	return ""
}

// Five hundred events, and a client that is cut off without goodbye in the
// middle of them: with Last-Event-ID it gets all, in order, none twice.
func TestCutOffOverRealConnections(t *testing.T) {
	const events, cut = 500, 200
	h := &Hub{}
	h.Open("alice")
	srv := serve(t, h)
	res, lines := get(t, srv.URL+"/alice", "")
	send(h, 1, events, "alice")
	last := ""
	for i := 1; i <= cut; i++ {
		if last = nextID(t, lines); last != fmt.Sprint("alice-", i) {
			t.Fatalf("event %d has the id %q", i, last)
		}
	}
	res.Body.Close() // what the server has written meanwhile is lost

	res, lines = get(t, srv.URL+"/alice", last)
	defer res.Body.Close()
	for i := cut + 1; i <= events; i++ {
		if id := nextID(t, lines); id != fmt.Sprint("alice-", i) {
			t.Fatalf("event %d has the id %q", i, id)
		}
	}
}

// The head arrives before any event, and Close ends the response in order.
func TestHeadAndCloseOverRealConnections(t *testing.T) {
	h := &Hub{}
	srv := serve(t, h)
	res, _ := get(t, srv.URL+"/alice", "")
	defer res.Body.Close()
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" || res.ContentLength != -1 {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	h.Close()
	text, err := io.ReadAll(res.Body)
	if got, want := string(text), ": open\n\nretry: 2000\n\n"; err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
