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

	mu     sync.Mutex
	book   *Book            // guarded by mu, like all below
	peers  map[string]*peer // by caller, if it has a queue or a stream
	open   int              // streams in all
	chains uint64           // the last number given to a chain of streams
	closed bool
	ended  chan struct{} // made by Close, closed with the last stream
}

// peer is a caller as the hub knows it. Queues and streams point to their peer, which
// saves a lookup in a map: an entry may go to thousands of callers at once, and the
// memory of a map is then slow to read.
type peer struct {
	caller  string
	queue   *queue    // of its subscription, or nil
	streams []*stream // the newest last
}

// reader returns the newest stream that is not ending, or nil. Only this one may take
// entries and write them. A nil peer has none.
func (p *peer) reader() *stream {
	if p == nil {
		return nil
	}
	for _, s := range slices.Backward(p.streams) {
		if !s.over {
			return s
		}
	}
	return nil
}

// finish ends the streams of a peer. mu is held.
func (p *peer) finish() {
	for _, s := range p.streams {
		s.finish()
	}
}

// stream is one open stream of a caller. It is a [Source], whose methods
// are called by the goroutine that writes the stream.
type stream struct {
	hub     *Hub
	peer    *peer
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
	return &Hub{encode: encode, book: NewBook(), peers: make(map[string]*peer)}
}

// Load replaces the hub's book by one that a start has read. The hub owns it from then
// on. Open streams end, because of the new book nobody knows what was written to them:
// their clients come back and say what they saw last.
func (h *Hub) Load(b *Book) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, q := range h.book.queues {
		h.disown(q)
	}
	h.book = b
	for _, q := range b.queues {
		h.own(q)
	}
	for _, p := range h.peers {
		p.finish()
	}
}

// own gives a queue to the caller of its subscription. mu is held.
func (h *Hub) own(q *queue) {
	h.disown(q)
	q.peer = h.peer(q.sub.Caller)
	q.peer.queue = q
}

// disown takes a queue away from the caller that has it. mu is held.
func (h *Hub) disown(q *queue) {
	if p := q.peer; p != nil {
		p.queue, q.peer = nil, nil
		h.forget(p)
	}
}

// peer returns the peer of a caller, and makes it if there is none. mu is held.
func (h *Hub) peer(caller string) *peer {
	p := h.peers[caller]
	if p == nil {
		p = &peer{caller: caller}
		h.peers[caller] = p
	}
	return p
}

// forget removes a peer that has neither a queue nor a stream. mu is held.
func (h *Hub) forget(p *peer) {
	if p.queue == nil && len(p.streams) == 0 {
		delete(h.peers, p.caller)
	}
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
	ended := h.book.queues[r.Unsubscribed]
	if err := h.book.Apply(r); err != nil {
		return nil, err
	}
	to := r.To
	switch {
	case ended != nil:
		h.disown(ended)
	case r.Subscribed != nil:
		to = []string{r.Subscribed.ID} // the caller's streams may have been there first
		h.own(h.book.queues[to[0]])
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
	return q.peer.reader()
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
	if s := h.peers[caller].reader(); s != nil {
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
	return s, waiting, h.peers[caller].reader() != nil
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
		for _, p := range h.peers {
			p.finish()
		}
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
