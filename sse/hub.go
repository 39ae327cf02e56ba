package sse

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Errors of a stream that was not opened.
var (
	ErrClosed  = errors.New("the server is stopping")
	ErrTooMany = errors.New("too many streams are open")
)

// Hub brings queued notifications to the callers that are connected. Its methods may be
// called from many goroutines. No lock is held while a connection is written, so
// applying a record never waits for a client.
type Hub struct {
	encode func(note any) []byte

	// Changes returns lines for the stream of a caller beside its notifications, and the
	// function to be called once the first n of them are written. [Hub.Ring] says that there
	// are some. It is set before the first stream; nil is none.
	Changes func(caller string) (lines [][]byte, wrote func(n int))

	mu      sync.Mutex
	book    *Book                // guarded by mu, like all below
	streams map[string][]*stream // by caller, the newest last
	open    int                  // streams in all
	chains  uint64               // the last number given to a chain of streams
	closed  bool
	ended   chan struct{} // made by Close, closed with the last stream
}

// reader returns the newest stream of a caller that is not ending, or nil. Only this one may take
// entries and write them. mu is held.
func (h *Hub) reader(caller string) *stream {
	for _, s := range slices.Backward(h.streams[caller]) {
		if !s.over {
			return s
		}
	}
	return nil
}

// finish ends all streams. mu is held.
func (h *Hub) finish() {
	for _, streams := range h.streams {
		for _, s := range streams {
			s.finish()
		}
	}
}

// stream is one open stream of a caller. It is a [Source], whose methods
// are called by the goroutine that writes the stream.
type stream struct {
	hub     *Hub
	caller  string
	expires time.Time          // when its token ends
	ctx     context.Context    // ends when the stream has to, or when its client is gone
	bell    chan struct{}      // rung when there may be something to write
	end     context.CancelFunc // ends the stream

	chain   uint64    // see queue.resume; guarded by the hub's lock, like all below
	taken   []*Entry  // entries that are being written
	told    func(int) // to be called with how many of the lines of Changes, which come after them, are written
	changes int       // how many of these there are
	queue   *queue    // where the entries in taken are from
	over    bool      // the stream is ending or has ended
	ended   time.Time // when it ended; zero while it is open
}

// finish makes the stream end soon, even if a write is under way. The hub's lock is
// held.
func (s *stream) finish() {
	s.over = true
	s.end()
}

// ring wakes the stream's writer.
func (s *stream) ring() { Ring(s.bell) }

// NewHub returns a hub with no subscriptions. encode turns an entry's note into one line
// of text; it is called once for each entry that is sent.
func NewHub(encode func(note any) []byte) *Hub {
	return &Hub{encode: encode, book: NewBook(), streams: make(map[string][]*stream)}
}

// Load replaces the hub's book by one that a start has read. The hub owns it from then
// on. Open streams end, because of the new book nobody knows what was written to them:
// their clients come back and say what they saw last.
func (h *Hub) Load(b *Book) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.book = b
	h.finish()
}

// Apply takes one step in the hub's book and wakes the streams that now have something
// to write. It is called after the record is on disk.
func (h *Hub) Apply(r Record) error {
	ready, err := h.apply(r)
	// The lock is not held here. A stream that wakes on another processor needs it at
	// once; thousands of streams would each have to wait for it.
	for _, s := range ready {
		s.ring()
	}
	return err
}

// apply takes the step and returns the streams to wake.
func (h *Hub) apply(r Record) (ready []*stream, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.book.Apply(r); err != nil {
		return nil, err
	}
	to := r.To
	if r.Subscribed != nil {
		to = []string{r.Subscribed.ID} // the caller's streams may have been there first
	}
	for _, id := range to {
		if s := h.ready(h.book.queues[id]); s != nil {
			ready = append(ready, s)
		}
	}
	return ready, nil
}

// Clone returns a copy of the hub's book.
func (h *Hub) Clone() *Book {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.book.Clone()
}

// ready returns the stream that may write what waits in a queue now, or nil. mu is held.
func (h *Hub) ready(q *queue) *stream {
	if q.waiting == 0 || q.writer != nil { // a stream that writes wakes the next one when it has finished
		return nil
	}
	return h.reader(q.sub.Caller)
}

// wake wakes the stream that ready returns, if there is one. mu is held.
func (h *Hub) wake(q *queue) {
	if s := h.ready(q); s != nil {
		s.ring()
	}
}

// Settled returns, by subscription, the sequence up to which the subscriber has
// everything, if that is beyond its mark in the book. It returns at most as many as
// most. The caller writes them into the next record of marks.
func (h *Hub) Settled(most int) map[string]uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	marks := make(map[string]uint64)
	for id, q := range h.book.queues {
		if through, more := q.delivered(now); more && len(marks) < most {
			marks[id] = through
		}
	}
	return marks
}

// Ring wakes the stream of a caller.
func (h *Hub) Ring(caller string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.reader(caller); s != nil {
		s.ring()
	}
}

// Subscribed reports whether a caller has a subscription.
func (h *Hub) Subscribed(caller string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.book.Of(caller) != nil
}

// Status returns the caller's subscription, nil if it has none, how many
// notifications wait for it, and whether it has a stream.
func (h *Hub) Status(caller string) (s *Subscription, waiting int, connected bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if q := h.book.callers[caller]; q != nil {
		s, waiting = q.sub, len(q.waits(time.Now(), nil))
	}
	return s, waiting, h.reader(caller) != nil
}

// Stats returns how many subscriptions there are, how many streams are open,
// and how many notifications wait to be written.
func (h *Hub) Stats() (subscriptions, streams, waiting int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, q := range h.book.queues {
		waiting += q.waiting
	}
	return h.book.Len(), h.open, waiting
}

// Close ends every stream and lets none begin. It returns at once; the channel
// is closed when the last stream has ended. Queues keep what they hold.
func (h *Hub) Close() (ended <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed, h.ended = true, make(chan struct{})
		h.finish()
		h.finished()
	}
	return h.ended
}

// finished closes the channel of Close if the hub is closed and has no stream left. mu
// is held.
func (h *Hub) finished() {
	if h.closed && h.open == 0 {
		close(h.ended)
	}
}
