package sse

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

// taken is a response whose connection can be taken: one end of a pipe, which
// holds nothing, so that a write waits for its reader.
type taken struct {
	*httptest.ResponseRecorder
	conn   net.Conn
	before func() // called by Hijack
}

func (w *taken) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if w.before != nil {
		w.before()
	}
	w.conn.SetDeadline(time.Time{}) // as net/http does
	return w.conn, nil, nil
}

// take opens a stream of alice over a pipe and returns the client's end, and
// where the error of Serve will be.
func take(t *testing.T, h *Hub, before func()) (net.Conn, <-chan error) {
	t.Helper()
	client, server := net.Pipe()
	t.Cleanup(func() { client.Close() })
	w := &taken{httptest.NewRecorder(), server, before}
	w.Header().Set("Mcp-Session-Id", "seven")
	r := request(t.Context(), "")
	done := make(chan error, 1)
	go func() { done <- h.Serve(w, r, "alice", time.Time{}) }()
	return client, done
}

// readHead reads a response's head and the comment that opens its stream.
func readHead(t *testing.T, client net.Conn) *http.Response {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReaderSize(client, 16), nil)
	if err != nil {
		t.Fatal(err)
	}
	opening := make([]byte, len(": open\n\n"))
	if _, err := io.ReadFull(res.Body, opening); err != nil || string(opening) != ": open\n\n" {
		t.Fatalf("the stream opens with %q, %v", opening, err)
	}
	return res
}

// What goes over the wire, byte for byte: the head with what others have put
// into it, and each write a chunk, its length in hexadecimal.
func TestWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Hub{}
		h.Open("alice")
		client, done := take(t, h, nil)
		wire := make(chan string)
		go func() {
			text, _ := io.ReadAll(client)
			wire <- string(text)
		}()
		synctest.Wait()
		h.Send(Entry{Seq: 7, Frame: []byte(`{"n":7}`)}, "alice")
		synctest.Wait()
		time.Sleep(heartbeat)
		synctest.Wait()
		<-h.Close()
		want := strings.ReplaceAll(`HTTP/1.1 200 OK
Cache-Control: no-store
Connection: close
Content-Type: text/event-stream
Date: Sat, 01 Jan 2000 00:00:00 GMT
Mcp-Session-Id: seven
X-Accel-Buffering: no
Transfer-Encoding: chunked

8
`, "\n", "\r\n") + ": open\n\n\r\n" +
			"2a\r\nid: alice-7\nevent: message\ndata: {\"n\":7}\n\n\r\n" +
			"3\r\n:\n\n\r\n" +
			"d\r\nretry: 2000\n\n\r\n0\r\n\r\n"
		if got := <-wire; got != want {
			t.Errorf("on the wire:\n%q\nwant\n%q", got, want)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A long batch is one chunk too, which a reader of HTTP takes apart.
func TestLongChunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Hub{}
		h.Open("alice")
		long := `"` + strings.Repeat("x", maxBatch) + `"`
		h.Send(Entry{Seq: 1, Frame: []byte(long)}, "alice")
		client, done := take(t, h, nil)
		res := readHead(t, client)
		want := "id: alice-1\nevent: message\ndata: " + long + "\n\n"
		got := make([]byte, len(want))
		if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != want {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		go io.Copy(io.Discard, res.Body) // the end of the chunk
		synctest.Wait()
		client.Close()
		if err := <-done; err != nil {
			t.Errorf("the client has left, Serve says %v", err)
		}
	})
}

// What a client says on a stream is thrown away, and when it hangs up, the
// stream is over at once, not at the next heartbeat.
func TestClientTalksAndLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Hub{}
		client, done := take(t, h, nil)
		readHead(t, client)
		if _, err := client.Write([]byte(strings.Repeat("GET / HTTP/1.1\r\n\r\n", 1000))); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if n := h.Streams(); n != 1 {
			t.Errorf("%d streams after the client has talked", n)
		}
		start := time.Now()
		client.Close()
		if err := <-done; err != nil || time.Since(start) != 0 || h.Streams() != 0 {
			t.Errorf("after %v: %v, %d streams", time.Since(start), err, h.Streams())
		}
	})
}

// A client that goes on talking loses its stream: nobody is kept reading.
func TestClientTalksTooMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Hub{}
		client, done := take(t, h, nil)
		readHead(t, client)
		if _, err := client.Write(make([]byte, 64<<10)); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if n := h.Streams(); n != 1 {
			t.Errorf("%d streams after 64 KiB", n)
		}
		client.Write([]byte{0})
		if err := <-done; err != nil || h.Streams() != 0 {
			t.Errorf("one byte more: %v, %d streams", err, h.Streams())
		}
	})
}

// A client that does not read is cut off after its time, with the entry kept.
func TestStalledConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Hub{}
		h.Open("alice")
		client, done := take(t, h, nil)
		readHead(t, client)
		start := time.Now()
		send(h, 1, 1, "alice")
		if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != writeTimeout {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		if n := h.Pending("alice"); n != 1 {
			t.Errorf("%d pending, want 1", n)
		}
	})
}

// Close waits a second for one that does not read, and no longer, even if it
// comes while the connection changes hands.
func TestCloseWhileTaken(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		synctest.Test(t, func(t *testing.T) {
			h := &Hub{}
			var before func()
			if when == "before" {
				before = func() { h.Close() }
			}
			_, done := take(t, h, before)
			synctest.Wait()
			start := time.Now()
			<-h.Close()
			if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != farewellTimeout {
				t.Errorf("closed %s: after %v: %v", when, time.Since(start), err)
			}
		})
	}
}

// A client of HTTP/1.0, such as nginx when it is not told otherwise, gets no
// chunks: the end of the connection is the end of the stream.
func TestOldHTTP(t *testing.T) {
	h := &Hub{}
	h.Open("alice")
	send(h, 1, 1, "alice")
	srv := serve(t, h)
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /alice HTTP/1.0\r\nHost: localhost\r\n\r\n")
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.TransferEncoding != nil {
		t.Fatalf("%v, %v", res, err)
	}
	if id := nextID(t, bufio.NewScanner(res.Body)); id != "alice-1" {
		t.Errorf("the event is %q", id)
	}
}
