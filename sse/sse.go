// Package sse delivers frames to subscribers over server-sent events.
//
// A [Hub] holds one mailbox per subscription: a bounded log of entries, each
// of which is waiting or was given to a stream. An open stream takes what
// waits; with no stream it simply stays there. There is no second queue for
// absent subscribers and so no moment of handing over in which an entry could
// be lost or doubled. Entries leave by age ([QueueTTL]) or number ([QueueCap],
// [QueueBytes]) alone, never by being delivered: a client that comes back with
// Last-Event-ID is given again what came after.
//
// Delivery is at least once, in order. A write that fails leaves its entries
// waiting, and a client that names the event it saw last gets all that came
// after, whatever was written meanwhile to a connection that was dead already.
// (One that has seen no event has nothing to name: what goes down with its
// first connection is lost to the stream.)
//
// Of several streams of one name the newest reads; the others are kept alive,
// and the next newest takes over when it ends. A stream may be open before
// there is a mailbox, and starts to receive once there is.
//
// Publishers never touch a socket: they append to mailboxes under a short lock
// and ring a bell. Each stream is written by its own handler's goroutine, all
// that waits in one write, under a deadline. Over HTTP/1.1 it takes its
// connection from the server and writes there itself.
//
// # Security considerations
//
// The caller has authenticated the subscriber: names are taken as given. A
// stranger can hold no more than MaxStreams connections and a name no more
// than [MaxPerName] of them; a mailbox holds a bounded number of bytes; a
// stream that reads too slowly is cut, so no client can hold up another.
// Last-Event-ID moves a reader within its own mailbox and nowhere else. What a
// client says on a connection that was taken is thrown away unread.
package sse

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What the specification fixes, and what bounds a mailbox beyond it.
const (
	QueueTTL   = time.Hour // an entry's life
	QueueCap   = 1000      // entries in a mailbox, the oldest out first
	QueueBytes = 1 << 20   // of frames in a mailbox, the oldest out first

	// MaxPerName is how many streams a name may have. One more ends the oldest:
	// after a broken connection the server may believe for minutes in streams
	// that are gone, and they must not keep their owner out.
	MaxPerName = 4

	// DefaultMaxStreams is how many streams a hub holds when not told.
	DefaultMaxStreams = 16384
)

// heartbeat is how often a stream hears something: MCP clients and proxies
// drop a silent one.
const heartbeat = 15 * time.Second

// Why a stream was not opened.
var (
	ErrClosed  = errors.New("the hub is closed")
	ErrTooMany = errors.New("too many streams are open")
)

// Entry is one thing to deliver.
type Entry struct {
	// Seq orders the entries of all mailboxes. The caller gives it, from a
	// journal that survives restarts, and each is higher than the last.
	Seq uint64

	At    time.Time // the age counts from here; zero means now
	Frame []byte    // one line, no line break; the hub keeps it, unchanged
}

// Hub holds mailboxes and streams. The zero value is ready; set its fields
// before use. It must not be copied.
type Hub struct {
	// MaxStreams bounds the streams of all names; zero means DefaultMaxStreams.
	MaxStreams int

	// Delivered, if set, is told after a write how far the subscriber has got:
	// all its entries up to seq have been written.
	Delivered func(name string, seq uint64)

	// Dropped, if set, is told of an entry that left by age or number without
	// ever having been written.
	Dropped func(name string, seq uint64)

	// mu guards what follows. Both hooks are called with no lock held. A box
	// has a lock of its own, taken after mu where both are needed.
	mu      sync.RWMutex
	boxes   map[string]*box
	streams int
	beats   *time.Timer // runs while there are streams
	closed  bool
	ended   chan struct{} // made by Close, closed with the last stream

	lastChain uint64 // the newest number of a chain of streams
}

// Open makes a mailbox for name, if it has none. The name becomes part of
// event ids: it must be visible ASCII, or Open panics.
func (h *Hub) Open(name string) {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		panic("sse: the name of a mailbox must be visible ASCII: " + strconv.Quote(name))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.box(name)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = true
}

// box returns the box of name, making it if there is none. h.mu is held.
func (h *Hub) box(name string) *box {
	b := h.boxes[name]
	if b == nil {
		b = &box{name: name, label: name}
		if h.boxes == nil {
			h.boxes = make(map[string]*box)
		}
		h.boxes[name] = b
	}
	return b
}

// lookup returns the box of name, or nil.
func (h *Hub) lookup(name string) *box {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.boxes[name]
}

// prune forgets a box that nobody needs. h.mu and b.mu are held.
func (h *Hub) prune(b *box) {
	if !b.open && b.reader == nil {
		delete(h.boxes, b.name)
	}
}

// Forget drops the mailbox of name and all it holds. Its streams stay open.
func (h *Hub) Forget(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.boxes[name]; b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.clear()
		h.prune(b)
	}
}

// Move gives the mailbox of from to to, which may have one already: then the
// two become one, in order. The events keep their ids. Streams stay with the
// name under which they were opened.
func (h *Hub) Move(from, to string) {
	if from == to {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.boxes[from]
	if old == nil {
		return
	}
	old.mu.Lock()
	entries, label, open := old.log, old.label, old.open
	old.clear()
	h.prune(old)
	old.mu.Unlock()
	if !open {
		return
	}
	b := h.box(to)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		b.label = label
	}
	b.open = true
	for i := range entries.len {
		b.insert(*entries.at(i))
	}
	b.ring()
}

// Send appends e to the mailboxes of the names; names without one are passed
// over, and so is an entry that a mailbox has already.
func (h *Hub) Send(e Entry, names ...string) {
	for name, dropped := range h.send(newItem(e), names) {
		h.drop(name, dropped)
	}
}

// send does the work of Send and returns what left the mailboxes for it, by
// name: the hook may not be called under the lock, which all names share.
func (h *Hub) send(it *item, names []string) (dropped map[string][]uint64) {
	now := time.Now()
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, name := range names {
		b := h.boxes[name]
		if b == nil {
			continue
		}
		b.mu.Lock()
		if b.open {
			b.insert(slot{item: it})
			if seqs := b.trim(now); seqs != nil {
				if dropped == nil {
					dropped = make(map[string][]uint64)
				}
				dropped[name] = seqs
			}
			b.ring()
		}
		b.mu.Unlock()
	}
	return dropped
}

// drop tells the hook of dropped entries.
func (h *Hub) drop(name string, seqs []uint64) {
	if h.Dropped != nil {
		for _, seq := range seqs {
			h.Dropped(name, seq)
		}
	}
}

// Restore fills the mailbox of name, made if need be, with what a journal
// holds of it. Entries up to the sequence number delivered have been written
// before; they are kept for a client that comes back with Last-Event-ID.
func (h *Hub) Restore(name string, entries []Entry, delivered uint64) {
	h.Open(name)
	b := h.lookup(name)
	b.mu.Lock()
	for _, e := range entries {
		s := slot{item: newItem(e)}
		if e.Seq <= delivered {
			s.to = nobody
		}
		b.insert(s)
	}
	dropped := b.trim(time.Now())
	b.ring()
	b.mu.Unlock()
	h.drop(name, dropped)
}

// Pending returns how many entries of name are waiting to be written.
func (h *Hub) Pending(name string) int {
	b := h.lookup(name)
	if b == nil {
		return 0
	}
	b.mu.Lock()
	dropped := b.trim(time.Now())
	n := b.waiting
	b.mu.Unlock()
	h.drop(name, dropped)
	return n
}

// Connected reports whether name has a stream.
func (h *Hub) Connected(name string) bool {
	b := h.lookup(name)
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reader != nil
}

// Streams returns how many streams are open.
func (h *Hub) Streams() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.streams
}

// Waiting returns how many entries of all names wait to be written.
func (h *Hub) Waiting() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	n := 0
	for _, b := range h.boxes {
		b.mu.Lock()
		n += b.waiting
		b.mu.Unlock()
	}
	return n
}

// Close ends every stream and lets none begin. It returns at once; the streams
// say goodbye in their own goroutines, and when the last has, ended is closed.
// Mailboxes keep what they hold.
func (h *Hub) Close() (ended <-chan struct{}) {
	h.mu.Lock()
	h.closed = true
	if h.ended == nil {
		h.ended = make(chan struct{})
		h.end()
	}
	if h.beats != nil {
		h.beats.Stop()
	}
	h.mu.Unlock()
	h.eachStream(func(s *stream) { s.finish() })
	return h.ended
}

// end tells who waits for the last stream of a closed hub. h.mu is held.
func (h *Hub) end() {
	if h.closed && h.streams == 0 {
		close(h.ended)
	}
}

// beat reminds every stream to say something, and itself to do so again.
func (h *Hub) beat() {
	h.eachStream(func(s *stream) {
		s.beat = true
		s.bell.Signal()
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.streams == 0 {
		h.beats = nil // the next stream starts it again
		return
	}
	h.beats.Reset(heartbeat)
}

// eachStream calls f for every stream, with its box locked.
func (h *Hub) eachStream(f func(*stream)) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, b := range h.boxes {
		b.mu.Lock()
		for s := range b.streams {
			f(s)
		}
		b.mu.Unlock()
	}
}
