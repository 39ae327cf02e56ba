package delivery

import (
	"context"
	"slices"
	"sync"
	"time"

	"wick/sse"
)

// This file has what there is while the program runs: the hub, its callers with their
// streams and boxes, and how each is ended or woken. One lock, the hub's, guards it all.
// What is done with it stands in box.go, remark.go, hub.go and stream.go.

// Hub brings what is queued to whoever is connected. Its methods may be called
// from many goroutines. No lock is held while a connection is written, so
// whoever applies a record never waits for a client.
type Hub struct {
	encode func(note any) []byte

	mu       sync.Mutex
	book     *Book                // guarded by mu, like all below
	boxes    map[string]*box      // by subscription
	peers    map[string]*peer     // by caller, if it has a box or a stream
	open     int                  // streams in all
	chains   uint64               // the last number given to a chain of streams
	alive    map[string]time.Time // callers that hold their subscription, and until when
	remarks  map[string][]remark  // by caller, oldest first
	remarked uint64               // how many remarks there were
	closed   bool
	ended    chan struct{} // made by Close, closed with the last stream
}

// peer is a caller as the hub knows it. A box and a stream lead to theirs without
// a look into a map: an entry may go to thousands at once, and what is found there
// has long left the processor's caches.
type peer struct {
	caller  string
	box     *box      // of its subscription, or nil
	streams []*stream // the newest last
}

// reader returns the newest stream that is not ending, or nil: the one that may
// write.
func (p *peer) reader() *stream {
	for _, s := range slices.Backward(p.streams) {
		if !s.over {
			return s
		}
	}
	return nil
}

// reader returns the stream of a caller that may write, or nil. mu is held.
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

// stream is one open stream of a caller. It is an [sse.Source], whose methods
// are called by the goroutine that writes the stream.
type stream struct {
	hub     *Hub
	peer    *peer
	expires time.Time          // when its token ends
	ctx     context.Context    // ends when the stream is to, also because its client has gone
	bell    chan struct{}      // rung when there may be something to write
	end     context.CancelFunc // ends the stream

	chain   uint64    // see box.resume; guarded by the hub's lock, like all below
	taken   []*Entry  // being written, and after them
	remarks []remark  //
	box     *box      // what taken was taken from
	over    bool      // it is to end, or has ended
	ended   time.Time // zero while it is open
}

// finish ends the stream soon, also if it is stuck in a write. The hub's lock
// is held.
func (s *stream) finish() {
	s.over = true
	s.end()
}

// ring wakes the stream's writer.
func (s *stream) ring() { sse.Ring(s.bell) }

// box is a subscription's queue while the program runs: the durable entries,
// and for each of them whether it waits or to which stream it was written.
// Everything in it is guarded by the hub's lock.
type box struct {
	id      string
	peer    *peer   // whose it is
	queue   *queue  // the book's
	grants  []grant // one for each entry of queue, in the same order
	waiting int     // grants without a stream
	writer  *stream // is writing what it took; no other stream may take meanwhile
}

// grant says to which stream an entry was written, and when. Without a stream
// the entry waits.
type grant struct {
	to *stream
	at time.Time
}

// settled reports whether the entry counts as delivered: its stream stayed open
// for settleAfter, until now or until it ended.
func (g grant) settled(now time.Time) bool {
	if !g.to.ended.IsZero() {
		now = g.to.ended
	}
	return now.Sub(g.at) >= settleAfter
}

// earlier stands for all streams of previous runs of the program. Its chain is
// that of no open stream.
var earlier = &stream{}

// remark is a line for a caller that nothing is lost with: of several with one key
// the last is enough, none is written down, and none has an id.
type remark struct {
	key    string
	line   []byte
	number uint64 // counts all remarks
}
