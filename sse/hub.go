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
	boxes  map[string]*box  // by subscription
	peers  map[string]*peer // by caller, if it has a box or a stream
	open   int              // streams in all
	chains uint64           // the last number given to a chain of streams
	closed bool
	ended  chan struct{} // made by Close, closed with the last stream
}

// peer is a caller as the hub knows it. Boxes and streams point to their peer, which
// saves a lookup in a map: an entry may go to thousands of callers at once, and the
// memory of a map is then slow to read.
type peer struct {
	caller  string
	box     *box      // of its subscription, or nil
	streams []*stream // the newest last
}

// reader returns the newest stream that is not ending, or nil. Only this one may take
// entries and write them.
func (p *peer) reader() *stream {
	for _, s := range slices.Backward(p.streams) {
		if !s.over {
			return s
		}
	}
	return nil
}

// reader returns the reader of a caller's peer, or nil. mu is held.
func (h *Hub) reader(caller string) *stream {
	if p := h.peers[caller]; p != nil {
		return p.reader()
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

	chain   uint64    // see box.resume; guarded by the hub's lock, like all below
	taken   []*Entry  // entries that are being written
	told    func(int) // to be called with how many of the lines of Changes, which come after them, are written
	changes int       // how many of these there are
	box     *box      // where the entries in taken are from
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

// box is a subscription's queue while the program runs. For each entry it knows whether
// it waits, or to which stream it was written. The hub's lock guards everything in it.
type box struct {
	id      string
	peer    *peer   // the owner of the subscription
	queue   *queue  // the queue in the book
	grants  []grant // one for each entry of queue, in the same order
	waiting int     // number of grants without a stream
	writer  *stream // the stream that is writing; no other stream may take entries meanwhile
}

// grant says to which stream an entry was written, and when. Without a stream
// the entry waits.
type grant struct {
	to *stream
	at time.Time
}

// settled reports whether the entry counts as delivered: its stream was open for at
// least settleAfter after the write.
func (g grant) settled(now time.Time) bool {
	if !g.to.ended.IsZero() {
		now = g.to.ended
	}
	return now.Sub(g.at) >= settleAfter
}

// earlier stands for all streams of previous runs of the program, and for those of
// other processes. Its chain is 0, which no open stream has.
var earlier = &stream{}

// NewHub returns a hub with no subscriptions. encode turns an entry's note into one line
// of text; it is called once for each entry that is sent.
func NewHub(encode func(note any) []byte) *Hub {
	h := &Hub{encode: encode, peers: make(map[string]*peer)}
	h.Load(NewBook())
	return h
}

// Load replaces the hub's book by one that a start has read. The hub owns it from then
// on. Open streams end, because of the new book nobody knows what was written to them:
// their clients come back and say what they saw last.
func (h *Hub) Load(b *Book) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.boxes {
		h.remove(b)
	}
	h.book, h.boxes = b, make(map[string]*box, len(b.queues))
	for _, s := range b.subs {
		h.own(s)
	}
	for _, p := range h.peers {
		p.finish()
	}
}

// own gives the box of a subscription to its caller, and returns it. It makes the box if
// there is none. mu is held.
func (h *Hub) own(s *Subscription) *box {
	b := h.boxes[s.ID]
	if b == nil {
		b = newBox(s.ID, h.book.queues[s.ID])
	} else {
		h.remove(b)
	}
	h.boxes[s.ID] = b
	b.peer = h.peer(s.Caller)
	b.peer.box = b
	return b
}

// remove takes a box out of the hub and away from its caller. mu is held.
func (h *Hub) remove(b *box) {
	delete(h.boxes, b.id)
	b.peer.box = nil
	h.forget(b.peer)
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

// forget removes a peer that has neither a box nor a stream. mu is held.
func (h *Hub) forget(p *peer) {
	if p.box == nil && len(p.streams) == 0 {
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
	if err := h.book.Apply(r); err != nil {
		return nil, err
	}
	switch {
	case r.Fired != nil:
		for _, id := range r.To {
			// The book has the entry already; align adds a grant for it.
			b := h.boxes[id]
			b.align(1)
			if s := h.ready(b); s != nil {
				ready = append(ready, s)
			}
		}
	case r.Subscribed != nil:
		b := h.own(r.Subscribed)
		if s := h.ready(b); s != nil { // the caller's streams may have been there first
			ready = append(ready, s)
		}
	case r.Unsubscribed != "":
		b := h.boxes[r.Unsubscribed]
		h.remove(b)
	// Marks, or nothing: old entries have left the queues.
	default:
		for _, b := range h.boxes {
			b.align(0)
		}
		for id := range r.Marks {
			if b := h.boxes[id]; b != nil {
				b.passed()
			}
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

// ready returns the stream that may write what waits in a box now, or nil. mu is held.
func (h *Hub) ready(b *box) *stream {
	if b.waiting == 0 || b.writer != nil { // a stream that writes wakes the next one when it has finished
		return nil
	}
	return b.peer.reader()
}

// wake wakes the stream that ready returns, if there is one. mu is held.
func (h *Hub) wake(b *box) {
	if s := h.ready(b); s != nil {
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
	for id, b := range h.boxes {
		if through, more := b.delivered(now); more && len(marks) < most {
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
	if p := h.peers[caller]; p != nil && p.box != nil {
		waiting = len(p.box.waits(time.Now(), nil))
	}
	return h.book.Of(caller), waiting, h.reader(caller) != nil
}

// Stats returns how many subscriptions there are, how many streams are open,
// and how many notifications wait to be written.
func (h *Hub) Stats() (subscriptions, streams, waiting int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.boxes {
		waiting += b.waiting
	}
	return len(h.boxes), h.open, waiting
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
