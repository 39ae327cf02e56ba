package sse

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// newBox returns the box of a queue. Entries up to the queue's mark were delivered in an
// earlier run of the program; the others wait.
func newBox(id string, q *queue) *box {
	b := &box{id: id, queue: q}
	b.align(len(q.entries))
	b.passed()
	return b
}

// align brings grants into line with the queue, to whose end so many entries were added
// and which may have lost entries at its front. It must be called after each change of
// the queue.
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
	clear(lost) // so that the streams in it can be freed
	b.grants = b.grants[len(lost):]
}

// passed makes the entries up to the queue's mark wait no longer: an earlier run of the
// program, or another process that has the same book, has delivered them.
func (b *box) passed() {
	for i := range b.queue.search(b.queue.mark + 1) {
		if b.grants[i].to == nil {
			b.grants[i].to = earlier
			b.waiting--
		}
	}
}

// waits appends the entries that wait and are not too old to entries, oldest first. Most
// of them are at the end of the queue, so the search begins there.
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

// given notes that entries, oldest first, were written to a stream at a time. It looks
// each of them up again, because the queue may have lost some since they were taken. They
// are at its end or not far from it, so the search begins there.
func (b *box) given(entries []*Entry, to *stream, at time.Time) {
	i := len(b.grants) - 1
	for _, e := range slices.Backward(entries) {
		for i >= 0 && b.queue.entries[i].Seq > e.Seq {
			i--
		}
		if i >= 0 && b.queue.entries[i] == e && b.grants[i].to == nil {
			b.grants[i] = grant{to, at}
			b.waiting--
		}
	}
}

// delivered returns the sequence up to which the subscriber has everything, and
// whether that is beyond the queue's mark. It is that of the newest settled entry with
// none waiting before it. An older entry that was written but is not settled, because
// its stream ended too early, does not count: the client has read later ones since.
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

// resume makes the entries after the event id, which a client saw last, wait again
// for its new stream s. Streams are all streams of the caller. It reports whether the
// queue still holds that event. If not, nobody knows what the client has seen, and
// every entry waits again: to get an alert twice is better than never.
//
// A stream and those that resume it form a chain. Entries that were written to the
// chain after that event are lost, even if its connection seems open: otherwise the
// client would have named a later event. So the streams of the chain are ended.
// Entries that were written to another chain with an open stream stay there, because
// no event may go to two chains.
func (b *box) resume(id string, s *stream, streams []*stream, now time.Time) (known bool) {
	at, known := b.find(id)
	by, chain := b.bringer(at), s.chain
	switch {
	case !known:
		at, b.writer = -1, nil // what a stream is writing now does not count as delivered
	case slices.Index(streams, by) > slices.Index(streams, s):
		return true // a newer stream has brought this event already, and goes on after it
	case by != nil && by != earlier:
		chain = by.chain
		b.supersede(chain, at, streams)
	}
	b.waiting = 0
	for i := range b.grants {
		switch g := &b.grants[i]; {
		case i <= at:
			// The client has seen these, since it says so, even if the write failed or has
			// not returned yet. The event itself now belongs to s: if s is lost before
			// it brings anything, the client names this event again.
			if g.to == nil || i == at {
				*g = grant{s, now.Add(-settleAfter)}
			}
		case g.to != nil && (b.queue.entries[i].old(now) || known && isOpen(g.to.chain, streams)):
		default:
			*g = grant{}
			b.waiting++
		}
	}
	s.chain = chain // only now: isOpen must not count s itself
	return known
}

// bringer returns the stream that brought the entry at an index to its client, or nil
// if that is not known. If no stream is noted for the entry, it may have come with a
// write that has not returned yet, so bringer returns the stream that is writing.
func (b *box) bringer(at int) *stream {
	if at < len(b.grants) && b.grants[at].to != nil {
		return b.grants[at].to
	}
	return b.writer
}

// supersede ends the streams of a chain if one of them got anything after the entry at
// an index, or is writing now. If not, they stay: otherwise two clients that saw the
// same event would end each other's streams for ever.
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

// isOpen reports whether a chain has a stream that is not ending.
func isOpen(chain uint64, streams []*stream) bool {
	return slices.ContainsFunc(streams, func(s *stream) bool { return s.chain == chain && !s.over })
}
