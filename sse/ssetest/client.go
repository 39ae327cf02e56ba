// Package ssetest is the far end of an event stream in tests. It stands in for a
// connection because a bubble of testing/synctest cannot wait for a real one.
package ssetest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// ErrBroken is what writes to a broken connection return.
var ErrBroken = errors.New("connection reset")

// Client is an http.ResponseWriter that remembers what was written to it. It can stop
// reading, and it can vanish. It must be used in a bubble.
type Client struct {
	Cancel context.CancelFunc // ends the request
	Done   chan struct{}      // closed when the handler has returned
	Err    error              // of the handler; read it after Done
	Status int                // of the reply
	Writes int                // calls of Write
	header http.Header

	mu       sync.Mutex    // guards the fields below, Status and Writes
	text     bytes.Buffer  // flushed
	pending  bytes.Buffer  // written, not flushed
	stalled  chan struct{} // not nil: writes block until it is closed
	broken   bool          // writes fail
	deadline time.Time
	moved    chan struct{} // closed when the deadline changes
}

// New returns a client that no handler serves yet.
func New() *Client {
	return &Client{header: make(http.Header), Done: make(chan struct{}), moved: make(chan struct{})}
}

// Open returns a client that serve serves until ctx ends or it returns. It waits until
// the stream is idle.
func Open(t *testing.T, serve func(ctx context.Context, w http.ResponseWriter) error) *Client {
	c := New()
	var ctx context.Context
	ctx, c.Cancel = context.WithCancel(t.Context())
	go func() {
		defer close(c.Done)
		c.Err = serve(ctx, c)
	}()
	synctest.Wait()
	return c
}

// Header is part of http.ResponseWriter.
func (c *Client) Header() http.Header { return c.header }

// WriteHeader is part of http.ResponseWriter.
func (c *Client) WriteHeader(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Status = status
}

// Write takes p in once the client reads, or fails at the deadline.
func (c *Client) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Writes++
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
		return 0, ErrBroken
	}
	c.pending.Write(p)
	return len(p), nil
}

// FlushError lets the client see what was written.
func (c *Client) FlushError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		return ErrBroken
	}
	c.text.Write(c.pending.Bytes())
	c.pending.Reset()
	return nil
}

// SetWriteDeadline is what http.ResponseController looks for.
func (c *Client) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	close(c.moved)
	c.moved = make(chan struct{})
	return nil
}

// Stall makes writes block until their deadline, or until resume is called.
func (c *Client) Stall() (resume func()) {
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

// Break lets all that is written from now on fail.
func (c *Client) Break() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = true
}

// Read returns all that the client has received.
func (c *Client) Read() string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// Leave ends the connection and waits for the handler.
func (c *Client) Leave() {
	c.Cancel()
	<-c.Done
}

// Ended reports whether the handler has returned.
func (c *Client) Ended() bool {
	synctest.Wait()
	select {
	case <-c.Done:
		return true
	default:
		return false
	}
}
