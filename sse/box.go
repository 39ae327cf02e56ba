package sse

import (
	"bytes"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// item is an entry as all mailboxes that hold it share it.
type item struct {
	seq   uint64
	at    time.Time
	frame []byte
}

// newItem panics when the frame would break the framing of events: it comes
// from a JSON encoder of ours, which writes no line breaks.
func newItem(e Entry) *item {
	if bytes.ContainsAny(e.Frame, "\r\n") {
		panic("sse: a frame holds a line break")
	}
	if e.At.IsZero() {
		e.At = time.Now()
	}
	return &item{e.Seq, e.At, e.Frame}
}

func (it *item) old(now time.Time) bool { return now.Sub(it.at) >= QueueTTL }

// slot is an item in a mailbox and the chain of streams it was given to: 0
// while it is waiting, nobody when that chain is not known any more. A client
// that loses its stream and comes back with Last-Event-ID goes on with the
// chain of the stream it lost.
type slot struct {
	item *item
	to   uint64
}

const nobody = 1 // no chain has this number

// box is a mailbox and the streams of its name. While open is false it is a
// place for the streams alone. What each delivery needs stands together: of
// many boxes little else is in the processor's cache.
type box struct {
	mu      sync.Mutex
	waiting int     // slots with to == 0; guarded by mu, like all below but name
	writer  *stream // it is writing what it took; nobody else may take
	reader  *stream // the newest, which takes what waits; the others hang on it
	oldest  *item   // of the log's first slot
	log     slots   // by rising seq
	size    int     // bytes of frames
	open    bool
	label   string
	name    string
}

// clear makes the box one without a mailbox.
func (b *box) clear() {
	b.open, b.log, b.oldest, b.waiting, b.size, b.label = false, slots{}, nil, 0, 0, b.name
}

// insert adds a slot at its place. Nearly always that is the end.
func (b *box) insert(s slot) {
	i := b.log.len
	for i > 0 && b.log.at(i-1).item.seq >= s.item.seq {
		i--
	}
	if i < b.log.len && b.log.at(i).item.seq == s.item.seq {
		return
	}
	b.log.insert(i, s)
	if i == 0 {
		b.oldest = s.item
	}
	b.size += len(s.item.frame)
	if s.to == 0 {
		b.waiting++
	}
}

// full reports whether the oldest entry is too old or one too many.
func (b *box) full(now time.Time) bool {
	return b.oldest != nil && (b.log.len > QueueCap || b.size > QueueBytes || b.oldest.old(now))
}

// trim drops what is too old or too much and returns the sequence numbers of
// those that were never written.
func (b *box) trim(now time.Time) (dropped []uint64) {
	for b.full(now) {
		s := b.log.at(0)
		b.size -= len(s.item.frame)
		if s.to == 0 {
			b.waiting--
			dropped = append(dropped, s.item.seq)
		}
		b.log.shift()
		b.oldest = nil
		if b.log.len > 0 {
			b.oldest = b.log.at(0).item
		}
	}
	return dropped
}

// streams yields the streams of the name, the newest first.
func (b *box) streams(yield func(*stream) bool) {
	for s := b.reader; s != nil && yield(s); s = s.older {
	}
}

// readyFor reports whether there is something that the stream may take.
func (b *box) readyFor(s *stream) bool {
	return b.waiting > 0 && b.writer == nil && b.reader == s
}

// ring wakes the reader if there is something for it.
func (b *box) ring() {
	if b.reader != nil && b.readyFor(b.reader) {
		b.reader.bell.Signal()
	}
}

// maxBatch bounds what goes out in one write, in bytes of frames: the deadline
// is for a write, and a slow link must be able to keep it.
const maxBatch = 64 << 10

// take appends what waits to items, up to maxBatch bytes and at least one.
func (b *box) take(items []*item) []*item {
	i, left := b.log.len, b.waiting
	for left > 0 { // what waits stands at the end, but after a replay not all of it
		i--
		if b.log.at(i).to == 0 {
			left--
		}
	}
	size := 0
	for ; i < b.log.len; i++ {
		s := b.log.at(i)
		if s.to != 0 {
			continue
		}
		if size += len(s.item.frame); size > maxBatch && len(items) > 0 {
			break
		}
		items = append(items, s.item)
	}
	return items
}

// given notes that the items were written to a chain. They are found by
// sequence number: the bound may have moved the log meanwhile.
func (b *box) given(items []*item, chain uint64) {
	i := b.log.len
	for n := len(items) - 1; n >= 0; n-- {
		for i > 0 && b.log.at(i-1).item.seq > items[n].seq {
			i--
		}
		if i == 0 {
			return
		}
		if s := b.log.at(i - 1); s.item == items[n] && s.to == 0 {
			s.to = chain
			b.waiting--
		}
	}
}

// resume makes the entries after the event that the client saw last wait
// again, and returns the chain that its new stream goes on with, which is fresh
// if there is none. A stream of that chain which was given more is gone,
// whatever its connection says: the client did not see what it was given, or
// it would have named that. What another open stream was given stays given,
// since no event may go to two. An event that is not held tells nothing, so
// all that is held goes out: twice is better than never.
func (b *box) resume(lastEventID string, fresh uint64, now time.Time) (chain uint64, known bool) {
	at, known := b.find(lastEventID)
	chain = fresh
	if known {
		chain = b.chain(at, fresh)
		b.supersede(chain, at)
	} else {
		at, b.writer = -1, nil
	}
	for i := range b.log.len {
		s := b.log.at(i)
		switch {
		case i <= at && s.to == 0: // seen, though the write failed or has not returned
			s.to = chain
			b.waiting--
		case i == at:
			s.to = chain
		case i < at || s.to == 0 || s.item.old(now) || known && b.isOpen(s.to):
		default:
			s.to = 0
			b.waiting++
		}
	}
	return chain, known
}

// chain returns the chain to which the event at a place in the log was given.
// If it was given to none, the client can only have it from a write that has
// not returned yet, or that failed.
func (b *box) chain(at int, fresh uint64) uint64 {
	switch to := b.log.at(at).to; {
	case to > nobody:
		return to
	case to == 0 && b.writer != nil:
		return b.writer.chain
	}
	return fresh
}

// supersede ends the streams of a chain if it was given anything after a place
// in the log, or is writing it. Streams that were given nothing stay: to end
// them would gain nothing, and two clients that saw the same event would throw
// each other out for ever.
func (b *box) supersede(chain uint64, at int) {
	writing := b.writer != nil && b.writer.chain == chain
	if writing {
		b.writer = nil // what it writes does not count any more
	}
	more := writing
	for i := at + 1; i < b.log.len && !more; i++ {
		more = b.log.at(i).to == chain
	}
	if !more {
		return
	}
	for s := range b.streams {
		if s.chain == chain {
			s.finish()
		}
	}
}

// find returns the place of the event with the given id. The part before the
// number is not compared: it was the name of the mailbox when the event was
// written, and a mailbox may change its name.
func (b *box) find(id string) (int, bool) {
	dash := strings.LastIndexByte(id, '-')
	seq, err := strconv.ParseUint(id[dash+1:], 10, 64)
	if dash < 0 || err != nil {
		return 0, false
	}
	at := sort.Search(b.log.len, func(i int) bool { return b.log.at(i).item.seq >= seq })
	return at, at < b.log.len && b.log.at(at).item.seq == seq
}

// isOpen reports whether a chain has a stream that is to go on.
func (b *box) isOpen(chain uint64) bool {
	for s := range b.streams {
		if s.chain == chain && !s.over {
			return true
		}
	}
	return false
}

// appendID appends the id of an event: opaque to clients, unique among all
// streams of a client, and the same whenever the entry is sent.
func appendID(b []byte, label string, seq uint64) []byte {
	b = append(b, label...)
	b = append(b, '-')
	return strconv.AppendUint(b, seq, 10)
}
