package sse

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// queue is the plainest source: a list, of which all that was written is cut
// off at the front.
type queue struct {
	bell chan struct{}

	mu     sync.Mutex
	events []Event
	wrote  []int // the calls of Wrote
}

func newQueue(events ...Event) *queue { return &queue{bell: make(chan struct{}, 1), events: events} }

func (q *queue) Bell() chan struct{} { return q.bell }

func (q *queue) Next(events []Event) []Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append(events, q.events...)
}

func (q *queue) Wrote(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.events = slices.Clone(q.events[n:])
	q.wrote = append(q.wrote, n)
	if len(q.events) > 0 {
		Ring(q.bell)
	}
}

// add queues events with the ids from first to last and wakes the stream.
func (q *queue) add(first, last int) {
	q.mu.Lock()
	for i := first; i <= last; i++ {
		q.events = append(q.events, Event{"a-" + strconv.Itoa(i), []byte(`{"n":` + strconv.Itoa(i) + `}`)})
	}
	q.mu.Unlock()
	Ring(q.bell)
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.events)
}

// client is the far end of a stream: it reads what is written, can stop
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

// stall makes writes block for ever, or until their deadline.
func (c *client) stall() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stalled = make(chan struct{})
}

func (c *client) breakConnection() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = true
}

// read returns all that the client has received.
func (c *client) read() string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// leave ends the stream and waits for its handler.
func (c *client) leave() {
	c.cancel()
	<-c.done
}

func newClient() *client {
	return &client{header: make(http.Header), done: make(chan struct{}), moved: make(chan struct{})}
}

// connect opens a stream and waits until it is idle.
func connect(t *testing.T, source Source, comments ...string) *client {
	t.Helper()
	c := newClient()
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(t.Context())
	go func() {
		defer close(c.done)
		c.err = Serve(ctx, c, source, comments...)
	}()
	synctest.Wait()
	return c
}
