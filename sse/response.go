package sse

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// heartbeat is how often a stream sends a comment.
	heartbeat = 15 * time.Second

	// writeTimeout is how long a client may take to accept one write;
	// farewellTimeout is the same for a stream that is being ended.
	writeTimeout    = 10 * time.Second
	farewellTimeout = time.Second

	// maxBatch bounds the bytes of one write, so that a slow connection can accept them
	// within writeTimeout.
	maxBatch = 64 << 10

	// maxKept bounds the bytes that a stream keeps for its next write: of ten thousand
	// streams that had a burst, none may keep it.
	maxKept = 1 << 10
)

// Event is one event: an id, and data of one line.
type Event struct {
	ID   string // empty for an event that a stream cannot be resumed after
	Data []byte
}

// Source is what a stream writes. Serve calls Next and Wrote from one goroutine.
type Source interface {
	// Bell returns a channel with room for one value, the same on every call. The
	// source puts a value into it, if there is room, when Next may have events:
	// after new ones came, and after Wrote if there are more. Serve does the same
	// when it has something to do itself.
	Bell() chan struct{}

	// Next returns the events that are to be written now, oldest first.
	Next() []Event

	// Wrote says that the first n events of the last Next are written and flushed. The
	// source has to return the others again. If the write failed, the stream ends, and Wrote
	// may not be called.
	Wrote(n int)
}

// Serve writes the head of a response and then the source's events. It returns nil when
// ctx ends, or the error of a write that failed because the client is gone. The ctx must be
// the request's or made from it.
func Serve(ctx context.Context, w http.ResponseWriter, source Source) error {
	s := &response{w: w, control: http.NewResponseController(w)}
	defer s.leave()
	bell := source.Bell()
	defer context.AfterFunc(ctx, func() { s.hurry(); Ring(bell) })()
	if err := s.head(); err != nil {
		return err
	}
	var silent atomic.Bool // a comment is due
	beat := time.AfterFunc(heartbeat, func() { silent.Store(true); Ring(bell) })
	defer beat.Stop()
	for ctx.Err() == nil && !past(ctx) {
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
	s.send(source)                     // what the source still has; an error changes nothing now
	s.write([]byte("retry: 2000\n\n")) // the client is to come back, but not at once
	return nil
}

// past reports whether the deadline of ctx is over by the clock. The timer that ends ctx does
// not count the time for which the machine slept.
func past(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ok && !time.Now().Before(end)
}

// Ring puts a value into a bell unless there is one already: one signal is enough,
// however much is new. It never blocks.
func Ring(bell chan<- struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// response is the answer to a request, while its stream is written.
type response struct {
	w       http.ResponseWriter
	control *http.ResponseController

	text []byte // empty: memory that send uses again

	mu     sync.Mutex
	ending bool // hurry has set the last deadline, which stays; guarded by mu, like gone
	gone   bool // Serve has returned: the connection is no longer ours
}

// head writes the headers and a first comment, so that the client gets its 200 at once
// and not with the first event.
func (s *response) head() error {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // otherwise nginx holds events back
	h.Set("Connection", "close")     // the connection serves nothing after the stream
	// A server's ReadTimeout would end the request in the middle of the stream.
	s.control.SetReadDeadline(time.Time{})
	s.w.WriteHeader(http.StatusOK)
	return s.write([]byte(": open\n\n"))
}

// hurry gives the stream, and a write that is under way, one second more.
func (s *response) hurry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.gone {
		s.ending = true
		s.control.SetWriteDeadline(time.Now().Add(farewellTimeout))
	}
}

// leave makes sure that hurry no longer touches the connection. It also limits the wait
// for a request body that was announced and not sent: net/http waits for it after the
// handler has returned, and head has removed the deadline.
func (s *response) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	s.control.SetReadDeadline(time.Now().Add(farewellTimeout))
}

// write writes and flushes b within the time that a write may take. It ignores an error
// of setting the deadline, because the writers in tests have none.
func (s *response) write(b []byte) error {
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

// send writes what the source has, if anything, up to maxBatch bytes and at
// least one event.
func (s *response) send(source Source) error {
	events, size, n := source.Next(), 0, 0
	for _, e := range events {
		size += len(e.ID) + len(e.Data) + len(frame)
	}
	text := slices.Grow(s.text, min(size, maxBatch))
	for _, e := range events {
		if n > 0 && len(text)+len(e.Data) > maxBatch {
			break
		}
		text = appendEvent(text, e)
		n++
	}
	if n == 0 {
		return nil
	}
	if err := s.write(text); err != nil {
		return err
	}
	source.Wrote(n)
	if s.text = text[:0]; cap(text) > maxKept {
		s.text = nil
	}
	return nil
}

// frame is what the standard writes around the id and the data of an event.
const frame = "id: \nevent: message\ndata: \n\n"

// appendEvent appends an event as the standard writes it.
func appendEvent(b []byte, e Event) []byte {
	b = slices.Grow(b, len(e.ID)+len(e.Data)+len(frame))
	start, lineBreaks := len(b), 3 // so many are written here
	if e.ID != "" {                // an empty id would make the client forget the last one
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
