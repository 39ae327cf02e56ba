// Package sse writes server-sent events over net/http.
//
// [Serve] answers a request with a stream: it asks a [Source] what to write,
// writes all of it at once, flushes, and reports that back. A stream that has
// nothing to say sends a comment every 15 seconds, because clients and proxies
// drop a silent connection. The package keeps no queue: what is not yet written
// is the source's, and so is the decision what a client has missed. It only
// reads from the request which event that was ([LastEventID]).
//
// A stream is written by the goroutine of its handler alone. A source never
// touches the connection; it rings a bell when it has something. The heartbeat and
// the end of the stream ring the same bell, so that the goroutine waits for one
// channel: with thousands of streams to wake, that is what a delivery costs.
//
// # Security considerations
//
// The caller has authenticated the client. A client that does not read is cut
// off when a write takes longer than ten seconds, or one second when the stream
// is being ended, so nobody can hold up a shutdown. Nothing that a client sends
// on an open stream is read. Ids and data with line breaks, which could forge
// events, make Serve panic: both are made by this program.
package sse

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// heartbeat is how often a stream sends a comment.
	heartbeat = 15 * time.Second

	// writeTimeout is how long a client may take to accept one write, and
	// farewellTimeout the same for a stream that is being ended.
	writeTimeout    = 10 * time.Second
	farewellTimeout = time.Second

	// maxBatch bounds the bytes of one write: the deadline is for a write, and
	// a slow link must be able to keep it.
	maxBatch = 64 << 10
)

// Event is one event: an id, and data of one line.
type Event struct {
	ID   string // empty for an event that a client need not have seen when it comes back
	Data []byte
}

// Source is what a stream writes. Serve calls Next and Wrote from one goroutine.
type Source interface {
	// Bell returns a channel with room for one value, the same on every call. The
	// source puts a value into it, if there is room, when Next may have events:
	// after new ones came, and after Wrote if there are more. Serve does the same
	// when it has something to do itself.
	Bell() chan struct{}

	// Next appends the events that are to be written now, oldest first, and
	// returns the extended slice.
	Next(events []Event) []Event

	// Wrote says that the first n events of the last Next are written and
	// flushed; the others will be asked for again. It need not be called for a
	// write that failed: then the stream ends.
	Wrote(n int)
}

// LastEventID returns the id of the last event that the client saw, or "".
func LastEventID(r *http.Request) string { return r.Header.Get("Last-Event-ID") }

// Serve writes the head of a response, the comments if there are any, and then
// the source's events until ctx ends, which returns nil, or the client is gone.
// The ctx must be the request's or made from it.
func Serve(ctx context.Context, w http.ResponseWriter, source Source, comments ...string) error {
	s := &stream{w: w, control: http.NewResponseController(w)}
	defer s.leave()
	bell := source.Bell()
	defer context.AfterFunc(ctx, func() { s.hurry(); Ring(bell) })()
	if err := s.head(comments); err != nil {
		return err
	}
	var silent atomic.Bool // a comment is due
	beat := time.AfterFunc(heartbeat, func() { silent.Store(true); Ring(bell) })
	defer beat.Stop()
	for ctx.Err() == nil {
		if err := s.send(source); err != nil {
			return err
		}
		if silent.Swap(false) {
			beat.Reset(heartbeat)
			if err := s.write([]byte(":\n\n")); err != nil {
				return err
			}
		}
		<-bell
	}
	s.send(source)                     // a source may have a last word for the end; it is lost if the client is gone
	s.write([]byte("retry: 2000\n\n")) // come back, but not at once; the stream ends even if this fails
	return nil
}

// Ring puts a value into a bell unless one is there: one signal that waits is
// enough, however much is new. It never blocks.
func Ring(bell chan<- struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// Push is a stream without HTTP: it calls write for each event of the source
// until ctx ends, which returns nil, or write fails.
func Push(ctx context.Context, source Source, write func(Event) error) error {
	for ctx.Err() == nil {
		events := source.Next(nil)
		for n, e := range events {
			if err := write(e); err != nil {
				source.Wrote(n)
				return err
			}
		}
		if len(events) > 0 {
			source.Wrote(len(events))
		}
		select {
		case <-source.Bell():
		case <-ctx.Done():
		}
	}
	return nil
}

// stream is the response being written.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController

	mu     sync.Mutex
	ending bool // the deadline is that of the farewell and stays; guarded by mu, like gone
	gone   bool // Serve has returned: the connection is no longer ours
}

// head begins the response with a comment, so that it goes out at once: the
// client waits for its 200.
func (s *stream) head(comments []string) error {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would collect events
	h.Set("Connection", "close")     // the connection serves nothing after the stream
	// A server's ReadTimeout would end the request in the middle of the stream.
	s.control.SetReadDeadline(time.Time{})
	s.w.WriteHeader(http.StatusOK)
	text := ": open\n\n"
	for _, c := range comments {
		text += ": " + c + "\n\n"
	}
	return s.write([]byte(text))
}

// hurry gives the stream one more second, also to a write that is under way.
func (s *stream) hurry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.gone {
		s.ending = true
		s.control.SetWriteDeadline(time.Now().Add(farewellTimeout))
	}
}

// leave makes sure that hurry no longer touches the connection. A body that the request
// announced and did not send gets a second more: net/http waits for it, and head has
// lifted its deadline.
func (s *stream) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	s.control.SetReadDeadline(time.Now().Add(farewellTimeout))
}

// write writes and flushes b within the time that a write may take. Deadlines
// that cannot be set are no error: a test's writer has none.
func (s *stream) write(b []byte) error {
	s.mu.Lock()
	if !s.ending {
		s.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	}
	s.mu.Unlock()
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	return s.control.Flush()
}

// batch is memory for one write. Idle streams hold none, since there may be
// ten thousand of them.
type batch struct {
	events []Event
	text   []byte
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// send writes what the source has, if anything, up to maxBatch bytes and at
// least one event.
func (s *stream) send(source Source) (err error) {
	b := batches.Get().(*batch)
	b.events, b.text = source.Next(b.events[:0]), b.text[:0]
	n := 0
	for _, e := range b.events {
		if n > 0 && len(b.text)+len(e.Data) > maxBatch {
			break
		}
		b.text = appendEvent(b.text, e)
		n++
	}
	if n > 0 {
		if err = s.write(b.text); err == nil {
			source.Wrote(n)
		}
	}
	clear(b.events) // the data must not live on in the pool
	if cap(b.text) <= 2*maxBatch {
		batches.Put(b)
	}
	return err
}

// appendEvent appends an event as the standard writes it.
func appendEvent(b []byte, e Event) []byte {
	start, lineBreaks := len(b), 3 // those written here
	if e.ID != "" {                // an empty one would make the client forget the last
		b = append(append(append(b, "id: "...), e.ID...), '\n')
		lineBreaks++
	}
	b = append(b, "event: message\ndata: "...)
	b = append(append(b, e.Data...), "\n\n"...)
	text := b[start:]
	if bytes.Count(text, []byte("\n")) != lineBreaks || bytes.IndexByte(text, '\r') >= 0 || bytes.IndexByte(text, 0) >= 0 {
		panic("sse: an event with a line break in it")
	}
	return b
}
