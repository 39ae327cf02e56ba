package delivery

import (
	"errors"
	"time"
)

// Errors of a stream that was not opened.
var (
	ErrClosed  = errors.New("the server is stopping")
	ErrTooMany = errors.New("too many streams are open")
)

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
