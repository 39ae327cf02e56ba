package sse

import (
	"context"
	"slices"
	"sync"
	"time"
)

// How long one write may take, and the last one of a stream that is being
// ended: a shutdown must not wait for a client that does not read.
const (
	writeTimeout    = 10 * time.Second
	farewellTimeout = time.Second
)

// deadlineStep is how much of writeTimeout a write may lack, so that a stream
// that speaks often does not move the connection's timer with every word.
const deadlineStep = time.Second

// stream is one open stream. Its handler alone writes it.
type stream struct {
	chain   uint64 // of streams, of which it is the newest
	box     *box
	wake    chan struct{} // buffered by one; of its own, or a leaving stream could swallow another's
	expires time.Time     // zero for never

	// deadline bounds the write that is under way or comes next; nil when
	// writes need none. It does not block.
	deadline func(time.Time)

	until time.Time // the deadline as it stands; guarded by box.mu, like all below
	over  bool      // it is to end
	beat  bool      // it is to say something
}

// ring wakes the stream's goroutine.
func (s *stream) ring() {
	select {
	case s.wake <- struct{}{}:
	default: // it is rung already
	}
}

// finish tells the stream to end, soon even if it is stuck in a write. The
// lock of its box is held: a stream in the box has a connection to speak of.
func (s *stream) finish() {
	s.over = true
	s.limit(time.Now().Add(farewellTimeout))
	s.ring()
}

// limit sets the deadline of writes. The lock of the box is held.
func (s *stream) limit(deadline time.Time) {
	s.until = deadline
	if s.deadline != nil {
		s.deadline(deadline)
	}
}

// allow gives the next write its time. The lock of the box is held.
func (s *stream) allow(now time.Time) {
	if until := now.Add(writeTimeout); until.Sub(s.until) >= deadlineStep {
		s.limit(until)
	}
}

// work is what a stream is to write next; the zero value is nothing.
type work struct {
	items []*item
	label string // of their ids
	beat  bool   // to show that the stream is alive
	end   bool   // to say goodbye
}

// next returns the stream's work, appending to items. It sets the deadline of
// what will be written, under the lock, so that finish has the last word.
func (s *stream) next(items []*item) (w work, dropped []uint64) {
	b := s.box
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.over || !s.expires.IsZero() && !now.Before(s.expires) {
		s.over = true
		s.limit(now.Add(farewellTimeout))
		return work{end: true}, nil
	}
	dropped = b.trim(now)
	if b.reader() == s && b.writer == nil && b.waiting > 0 {
		w.items, w.label = b.take(items), b.label
		b.writer = s
	}
	w.beat, s.beat = s.beat, false
	if w.beat || len(w.items) > 0 {
		s.allow(now)
	}
	return w, dropped
}

// wrote notes which of the items taken were written, and lets others take. It
// reports false when the client has given the stream up meanwhile, so that
// what was written counts for nothing.
func (s *stream) wrote(items []*item) bool {
	b := s.box
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.writer != s {
		return false
	}
	b.given(items, s.chain)
	b.writer = nil
	b.ring() // there may be more, and a newer stream may have come and had to wait
	return true
}

// attach opens a stream of name. It reports whether the client named an event
// that is not held, so that it may have missed something.
func (h *Hub) attach(name, lastEventID string, s *stream) (gap bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	most := h.MaxStreams
	if most == 0 {
		most = DefaultMaxStreams
	}
	switch {
	case h.closed:
		return false, ErrClosed
	case h.streams >= most:
		return false, ErrTooMany
	}
	h.streams++
	h.lastChain = max(h.lastChain, nobody) + 1
	if h.beats == nil {
		h.beats = time.AfterFunc(heartbeat, h.beat)
	}
	b := h.box(name)
	b.mu.Lock()
	defer b.mu.Unlock()
	s.chain, s.box, s.wake = h.lastChain, b, make(chan struct{}, 1)
	if b.open && lastEventID != "" {
		var known bool
		s.chain, known = b.resume(lastEventID, s.chain, time.Now())
		gap = !known
	}
	b.makeRoom()
	b.streams = append(b.streams, s)
	s.limit(time.Now().Add(writeTimeout)) // for the head
	return gap, nil
}

// makeRoom ends the oldest stream when the name has as many as it may have.
func (b *box) makeRoom() {
	alive := 0
	var oldest *stream
	for _, s := range slices.Backward(b.streams) {
		if !s.over {
			alive++
			oldest = s
		}
	}
	if alive >= MaxPerName {
		oldest.finish()
	}
}

// detach takes the stream, and no other, out of its box; the next takes over.
func (h *Hub) detach(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := s.box
	b.mu.Lock()
	defer b.mu.Unlock()
	h.streams--
	b.streams = slices.DeleteFunc(b.streams, func(other *stream) bool { return other == s })
	b.ring()
	h.prune(b)
}

// batches holds slices for the items of one write: an idle stream keeps none.
var batches = sync.Pool{New: func() any { return new([]*item) }}

// run does the stream's work until it is to end or ctx does. write says how
// many of the items it wrote.
func (h *Hub) run(ctx context.Context, s *stream, write func(work) (int, error)) error {
	stop := context.AfterFunc(ctx, s.ring) // one bell for all: a select would cost each delivery more
	defer stop()
	for {
		if end, err := h.step(s, write); end || err != nil {
			return err
		}
		if <-s.wake; ctx.Err() != nil {
			return nil
		}
	}
}

// step does what there is to do now, which may be nothing, and reports whether
// the stream has come to its end. What turns up later rings the bell.
func (h *Hub) step(s *stream, write func(work) (int, error)) (end bool, err error) {
	batch := batches.Get().(*[]*item)
	defer func() {
		clear(*batch) // lets go of the items
		batches.Put(batch)
	}()
	w, dropped := s.next((*batch)[:0])
	h.drop(s.box.name, dropped)
	switch {
	case w.end:
		write(w) // if it fails, the stream ends all the same
		return true, nil
	case len(w.items) > 0:
		*batch = w.items
		n, err := write(w)
		if s.wrote(w.items[:n]) && n > 0 && h.Delivered != nil {
			h.Delivered(s.box.name, w.items[n-1].seq)
		}
		return false, err
	case w.beat:
		_, err := write(w)
		return false, err
	}
	return false, nil
}

// Deliver is a stream without HTTP: it calls write for each entry of name, in
// order, until ctx ends, the hub is closed, or write fails, which leaves the
// entry waiting and is the error returned. The frame is shared: write must not
// change it.
func (h *Hub) Deliver(ctx context.Context, name string, write func(id string, frame []byte) error) error {
	s := &stream{}
	if _, err := h.attach(name, "", s); err != nil {
		return err
	}
	defer h.detach(s)
	return h.run(ctx, s, func(w work) (int, error) {
		for n, it := range w.items {
			if err := write(string(appendID(nil, w.label, it.seq)), it.frame); err != nil {
				return n, err
			}
		}
		return len(w.items), nil
	})
}
