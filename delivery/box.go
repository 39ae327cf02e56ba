package delivery

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// newBox returns the box of a queue. What the queue's mark covers was written
// in an earlier run; the rest waits.
func newBox(id string, q *queue) *box {
	b := &box{id: id, queue: q}
	b.align(len(q.entries))
	for i := range q.search(q.mark + 1) {
		b.grants[i].to = earlier
		b.waiting--
	}
	return b
}

// align follows a change of the queue, which gains entries at its end and loses
// them at its front. It must be called after each.
func (b *box) align(added int) {
	for range added {
		b.grants = append(b.grants, grant{})
		b.waiting++
	}
	lost := b.grants[:len(b.grants)-len(b.queue.entries)]
	for _, g := range lost {
		if g.to == nil {
			b.waiting--
		}
	}
	clear(lost) // lets go of the streams
	b.grants = b.grants[len(lost):]
}

// passed takes what the mark covers out of what waits: another process that has
// the same book has delivered it.
func (b *box) passed() {
	for i := range b.queue.search(b.queue.mark + 1) {
		if b.grants[i].to == nil {
			b.grants[i].to = earlier
			b.waiting--
		}
	}
}

// waits returns the entries that wait and are not too old, oldest first. They
// stand at the end of the queue, or nearly, so the search begins there.
func (b *box) waits(now time.Time, entries []*Entry) []*Entry {
	first := len(b.grants)
	for left := b.waiting; left > 0; {
		first--
		if b.grants[first].to == nil {
			left--
		}
	}
	for i := first; i < len(b.grants); i++ {
		if e := b.queue.entries[i]; b.grants[i].to == nil && !e.old(now) {
			entries = append(entries, e)
		}
	}
	return entries
}

// given notes that entries were written to a stream. They are looked for again:
// the queue may have lost some meanwhile.
func (b *box) given(entries []*Entry, to *stream, at time.Time) {
	for _, e := range entries {
		i := b.queue.search(e.Seq)
		if i < len(b.grants) && b.queue.entries[i] == e && b.grants[i].to == nil {
			b.grants[i] = grant{to, at}
			b.waiting--
		}
	}
}

// delivered returns the sequence up to which the subscriber has everything, and
// whether that is beyond the queue's mark: the newest settled entry with none
// waiting before it. An older one that is not settled, because its stream ended
// too early, does not hold it back: the client has read on since.
func (b *box) delivered(now time.Time) (through uint64, more bool) {
	for i := b.queue.search(b.queue.mark + 1); i < len(b.grants); i++ {
		e, g := b.queue.entries[i], b.grants[i]
		switch {
		case g.to == nil && !e.old(now):
			return through, more
		case g.to != nil && g.settled(now):
			through, more = e.Seq, true
		}
	}
	return through, more
}

// find returns the index of the entry with an event id.
func (b *box) find(id string) (int, bool) {
	seq, err := strconv.ParseUint(id[strings.LastIndexByte(id, '-')+1:], 10, 64)
	if err != nil {
		return 0, false
	}
	i := b.queue.search(seq)
	return i, i < len(b.queue.entries) && b.queue.entries[i].eventID(b.id) == id
}

// resume makes the entries after the event that a client saw last wait again,
// for its new stream s; streams are all of the caller. It reports whether that
// event is held. If it is not, it tells nothing, and all that is
// held waits again: twice is better than never.
//
// A stream and those that resume it form a chain. What was written to the chain
// after that event is lost, even if its connection seems open: the client would
// else have named a later event. So its streams are ended. What was written to
// another chain that is open stays there, since no event may go to two.
func (b *box) resume(id string, s *stream, streams []*stream, now time.Time) (known bool) {
	at, known := b.find(id)
	by, chain := b.bringer(at), s.chain
	switch {
	case !known:
		at, b.writer = -1, nil // what is being written does not count any more
	case slices.Index(streams, by) > slices.Index(streams, s):
		return true // a newer stream of the client was quicker and goes on from here
	case by != nil && by != earlier:
		chain = by.chain
		b.supersede(chain, at, streams)
	}
	b.waiting = 0
	for i := range b.grants {
		switch g := &b.grants[i]; {
		case i <= at:
			// Seen, also if the write failed or has not returned: the client
			// says so itself. If the new stream is lost before it brings
			// anything, the client will name this event again.
			if g.to == nil || i == at {
				*g = grant{s, now.Add(-settleAfter)}
			}
		case g.to != nil && (b.queue.entries[i].old(now) || known && isOpen(g.to.chain, streams)):
		default:
			*g = grant{}
			b.waiting++
		}
	}
	s.chain = chain // only now: s itself does not make its chain an open one
	return known
}

// bringer returns the stream that brought the entry at an index to its client,
// or nil. If that is not noted, the client has it from a write that has not
// returned yet, or that failed.
func (b *box) bringer(at int) *stream {
	if at < len(b.grants) && b.grants[at].to != nil {
		return b.grants[at].to
	}
	return b.writer
}

// supersede ends the streams of a chain if they got anything after the entry at
// an index, or are writing it. If not, they stay: two clients that saw the same
// event would else throw each other out for ever.
func (b *box) supersede(chain uint64, at int, streams []*stream) {
	more := b.writer != nil && b.writer.chain == chain
	if more {
		b.writer = nil
	}
	for _, g := range b.grants[at+1:] {
		more = more || g.to != nil && g.to.chain == chain
	}
	for _, s := range streams {
		if more && s.chain == chain {
			s.finish()
		}
	}
}

// isOpen reports whether a chain has a stream that is to go on.
func isOpen(chain uint64, streams []*stream) bool {
	return slices.ContainsFunc(streams, func(s *stream) bool { return s.chain == chain && !s.over })
}
