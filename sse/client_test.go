package sse

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// client is the far end of a stream: it reads what the hub writes, can stop
// reading, and can vanish. It stands in for a connection because a bubble of
// synctest cannot wait for a real one.
type client struct {
	header http.Header
	cancel context.CancelFunc
	done   chan struct{} // closed when Serve has returned
	err    error         // of Serve; read after done

	mu       sync.Mutex
	status   int
	text     bytes.Buffer  // flushed
	pending  bytes.Buffer  // written, not flushed
	writes   int           // calls of Write
	stalled  chan struct{} // not nil: writes block until it is closed
	broken   bool          // writes fail
	deadline time.Time
	moved    chan struct{} // closed when the deadline changes
}

var errBroken = errors.New("connection reset")

func (c *client) Header() http.Header { return c.header }

func (c *client) WriteHeader(status int) { c.status = status }

func (c *client) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes++
	for c.stalled != nil {
		stalled, moved, left := c.stalled, c.moved, time.Until(c.deadline)
		if left <= 0 {
			return 0, os.ErrDeadlineExceeded
		}
		c.mu.Unlock()
		select {
		case <-stalled:
		case <-moved:
		case <-time.After(left):
		}
		c.mu.Lock()
	}
	if c.broken {
		return 0, errBroken
	}
	c.pending.Write(p)
	return len(p), nil
}

func (c *client) FlushError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		return errBroken
	}
	c.pending.WriteTo(&c.text)
	return nil
}

func (c *client) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	close(c.moved)
	c.moved = make(chan struct{})
	return nil
}

// stall makes writes block until the function returned is called.
func (c *client) stall() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stalled := make(chan struct{})
	c.stalled = stalled
	return func() {
		c.mu.Lock()
		c.stalled = nil
		c.mu.Unlock()
		close(stalled)
	}
}

func (c *client) breakConnection() {
	c.mu.Lock()
	c.broken = true
	c.mu.Unlock()
}

// read returns all that the client has received.
func (c *client) read() string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// ids returns the ids of the events received, without their label.
func (c *client) ids() string {
	var seqs []string
	for line := range strings.Lines(c.read()) {
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			seqs = append(seqs, strings.TrimSpace(id[strings.LastIndexByte(id, '-')+1:]))
		}
	}
	return strings.Join(seqs, " ")
}

// leave ends the connection and waits for the handler.
func (c *client) leave() {
	c.cancel()
	<-c.done
}

func (c *client) ended() bool {
	synctest.Wait()
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// connect opens a stream and waits until it is idle.
func connect(t *testing.T, h *Hub, name, lastEventID string, expires time.Time) *client {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &client{header: make(http.Header), cancel: cancel, done: make(chan struct{}), moved: make(chan struct{})}
	r := request(ctx, lastEventID)
	go func() {
		defer close(c.done)
		c.err = h.Serve(c, r, name, expires)
	}()
	synctest.Wait()
	return c
}

// request returns one for a stream.
func request(ctx context.Context, lastEventID string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	return r
}

func open(t *testing.T, h *Hub, name string) *client {
	t.Helper()
	return connect(t, h, name, "", time.Time{})
}

// send sends entries with the sequence numbers from first to last.
func send(h *Hub, first, last uint64, names ...string) {
	for seq := first; seq <= last; seq++ {
		h.Send(Entry{Seq: seq, Frame: []byte(`{"n":` + strconv.FormatUint(seq, 10) + `}`)}, names...)
	}
}

// span writes the numbers from first to last as ids does.
func span(first, last int) string {
	var b []string
	for i := first; i <= last; i++ {
		b = append(b, strconv.Itoa(i))
	}
	return strings.Join(b, " ")
}

// want compares the events a client received.
func (c *client) want(t *testing.T, what, ids string) {
	t.Helper()
	if got := c.ids(); got != ids {
		t.Errorf("%s: received %q, want %q", what, got, ids)
	}
}
