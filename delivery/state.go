package delivery

import (
	"context"
	"slices"
	"sync"
	"time"

	"wick/sse"
)

// This file has the types of the running half: the hub, its callers with their streams
// and boxes, and how a stream is ended or woken. One lock, the hub's, guards them all.
// The rest of their methods is in box.go, remark.go, hub.go and stream.go.

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

// stream is one open stream of a caller. It is an [sse.Source], whose methods
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
func (s *stream) ring() { sse.Ring(s.bell) }

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
