package sse

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// queue is a subscription and its entries, oldest first. For each entry it knows whether it
// waits, or to which stream of a hub it was written.
type queue struct {
	sub     *Subscription
	entries []queued
	mark    uint64 // entries up to this sequence count as delivered
	waiting int    // entries without a stream

	writer *stream // of a hub, guarded by its lock: the one that is writing; no other stream may take entries meanwhile
}

// queued is an entry in a queue, the stream to which it was written, and when. Without a
// stream it waits.
type queued struct {
	*Entry
	to *stream
	at time.Time
}

// settled reports whether the entry counts as delivered: its stream was open for at
// least settleAfter after the write.
func (e queued) settled(now time.Time) bool {
	if !e.to.ended.IsZero() {
		now = e.to.ended
	}
	return now.Sub(e.at) >= settleAfter
}

// earlier stands for all streams of previous runs of the program, and for those of
// other processes. Its chain is 0, which no open stream has.
var earlier = &stream{}

// drop removes the entries that are too old, and the oldest if there are too many.
func (q *queue) drop(now time.Time) {
	n := max(0, len(q.entries)-QueueCap)
	for n < len(q.entries) && q.entries[n].old(now) {
		n++
	}
	for _, e := range q.entries[:n] {
		if e.to == nil {
			q.waiting--
		}
	}
	clear(q.entries[:n]) // the array stays, and would keep entries and streams in memory
	q.entries = q.entries[n:]
}

// search returns the index of the first entry with at least this sequence.
func (q *queue) search(seq uint64) int {
	i, _ := slices.BinarySearchFunc(q.entries, seq, func(e queued, seq uint64) int { return cmp.Compare(e.Seq, seq) })
	return i
}

// settle sets the mark. The entries up to it wait no longer: an earlier run of the program, or
// another process that has the same book, has delivered them.
func (q *queue) settle(mark uint64) {
	q.mark = mark
	for i := range q.search(mark + 1) {
		if q.entries[i].to == nil {
			q.entries[i].to = earlier
			q.waiting--
		}
	}
}

// waits appends the entries that wait and are not too old to entries, oldest first. Most
// of them are at the end of the queue, so the search begins there.
func (q *queue) waits(now time.Time, entries []*Entry) []*Entry {
	first := len(q.entries)
	for left := q.waiting; left > 0; {
		first--
		if q.entries[first].to == nil {
			left--
		}
	}
	for _, e := range q.entries[first:] {
		if e.to == nil && !e.old(now) {
			entries = append(entries, e.Entry)
		}
	}
	return entries
}

// given notes that entries, oldest first, were written to a stream at a time. It looks
// each of them up again, because the queue may have lost some since they were taken. They
// are at its end or not far from it, so the search begins there.
func (q *queue) given(entries []*Entry, to *stream, at time.Time) {
	i := len(q.entries) - 1
	for _, e := range slices.Backward(entries) {
		for i >= 0 && q.entries[i].Seq > e.Seq {
			i--
		}
		if i >= 0 && q.entries[i].Entry == e && q.entries[i].to == nil {
			q.entries[i].to, q.entries[i].at = to, at
			q.waiting--
		}
	}
}

// delivered returns the sequence up to which the subscriber has everything, and
// whether that is beyond the queue's mark. It is that of the newest settled entry with
// none waiting before it. An older entry that was written but is not settled, because
// its stream ended too early, does not count: the client has read later ones since.
func (q *queue) delivered(now time.Time) (through uint64, more bool) {
	for _, e := range q.entries[q.search(q.mark+1):] {
		switch {
		case e.to == nil && !e.old(now):
			return through, more
		case e.to != nil && e.settled(now):
			through, more = e.Seq, true
		}
	}
	return through, more
}

// find returns the index of the entry with an event id.
func (q *queue) find(id string) (int, bool) {
	seq, err := strconv.ParseUint(id[strings.LastIndexByte(id, '-')+1:], 10, 64)
	if err != nil {
		return 0, false
	}
	i := q.search(seq)
	return i, i < len(q.entries) && q.entries[i].eventID(q.sub.ID) == id
}

// resume makes the entries after the event id, which a client saw last, wait again
// for its new stream s. Streams are all streams of the caller. If the queue does not hold
// that event any longer, nobody knows what the client has seen, and every entry waits again:
// to get an alert twice is better than never.
//
// A stream and those that resume it form a chain. Entries that were written to the
// chain after that event are lost, even if its connection seems open: otherwise the
// client would have named a later event. So the streams of the chain are ended.
// Entries that were written to another chain with an open stream stay there, because
// no event may go to two chains.
func (q *queue) resume(id string, s *stream, streams []*stream, now time.Time) {
	at, known := q.find(id)
	// Which stream brought the event to the client: one that is writing, if none is noted.
	by, chain := q.writer, s.chain
	if at < len(q.entries) && q.entries[at].to != nil {
		by = q.entries[at].to
	}
	switch {
	case !known:
		at, q.writer = -1, nil // what a stream is writing now does not count as delivered
	case slices.Index(streams, by) > slices.Index(streams, s):
		return // a newer stream has brought this event already, and goes on after it
	case by != nil && by != earlier:
		chain = by.chain
		q.supersede(chain, at, streams)
	}
	q.waiting = 0
	for i := range q.entries {
		switch e := &q.entries[i]; {
		case i <= at:
			// The client has seen these, since it says so, even if the write failed or has
			// not returned yet. The event itself now belongs to s: if s is lost before
			// it brings anything, the client names this event again.
			if e.to == nil || i == at {
				e.to, e.at = s, now.Add(-settleAfter)
			}
		case e.to != nil && (e.old(now) || known && isOpen(e.to.chain, streams)):
		default:
			e.to = nil
			q.waiting++
		}
	}
	s.chain = chain // only now: isOpen must not count s itself
}

// supersede ends the streams of a chain if one of them got anything after the entry at
// an index, or is writing now. If not, they stay: otherwise two clients that saw the
// same event would end each other's streams for ever.
func (q *queue) supersede(chain uint64, at int, streams []*stream) {
	more := q.writer != nil && q.writer.chain == chain
	if more {
		q.writer = nil
	}
	for _, e := range q.entries[at+1:] {
		more = more || e.to != nil && e.to.chain == chain
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
