package sse

import (
	"context"
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
	expires time.Time // zero for never

	// deadline bounds the write that is under way or comes next; nil when
	// writes need none. It does not block.
	deadline func(time.Time)

	bell  sync.Cond // of box.mu: rung when there may be something to do
	until time.Time // the deadline as it stands; guarded by box.mu, like all below
	over  bool      // it is to end
	gone  bool      // nobody is there any more to say goodbye to
	beat  bool      // it is to say something
	older *stream   // the next of the box
}

// leave tells the stream that its client is gone.
func (s *stream) leave() {
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	s.gone = true
	s.bell.Signal()
}

// quit ends the stream, unless it has ended: then its connection is another's.
func (s *stream) quit() {
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	if !s.gone {
		s.finish()
	}
}

// finish tells the stream to end, soon even if it is stuck in a write. The
// lock of its box is held: a stream in the box has a connection to speak of.
func (s *stream) finish() {
	s.over = true
	s.limit(time.Now().Add(farewellTimeout))
	s.bell.Signal()
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

// work is what a stream is to write next: with nothing in it, a sign of life.
type work struct {
	items []*item
	label string // of their ids
	end   bool   // to say goodbye
	text  []byte // room to write it in
}

// works holds what is not in use: an idle stream keeps none.
var works = sync.Pool{New: func() any { return new(work) }}

// release gives the work back. What a large one grew to is let go.
func (w *work) release() {
	clear(w.items) // lets go of the items
	*w = work{items: w.items[:0], text: w.text[:0]}
	if cap(w.text) <= 2*maxBatch {
		works.Put(w)
	}
}

// next waits for the stream's work and returns it, or nil when there will be
// none any more. It sets the deadline of what will be written, under the lock,
// so that finish has the last word.
func (s *stream) next() (w *work, dropped []uint64) {
	b := s.box
	b.mu.Lock()
	defer b.mu.Unlock()
	for !s.gone && !s.over && !s.beat && !b.readyFor(s) {
		s.bell.Wait()
	}
	if s.gone {
		return nil, nil
	}
	w, now := works.Get().(*work), time.Now()
	if s.over || !s.expires.IsZero() && !now.Before(s.expires) {
		s.over, w.end = true, true
		s.limit(now.Add(farewellTimeout))
		return w, nil
	}
	dropped = b.trim(now)
	if b.readyFor(s) {
		w.items, w.label = b.take(w.items), b.label
		b.writer = s
	}
	s.beat = false
	s.allow(now)
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
	s.chain, s.box, s.bell.L = h.lastChain, b, &b.mu
	if b.open && lastEventID != "" {
		var known bool
		s.chain, known = b.resume(lastEventID, s.chain, time.Now())
		gap = !known
	}
	b.makeRoom()
	s.older, b.reader = b.reader, s
	s.limit(time.Now().Add(writeTimeout)) // for the head
	return gap, nil
}

// makeRoom ends the oldest stream when the name has as many as it may have.
func (b *box) makeRoom() {
	alive := 0
	var oldest *stream
	for s := range b.streams {
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
	h.end()
	at := &b.reader
	for *at != s {
		at = &(*at).older
	}
	*at = s.older
	s.gone = true
	b.ring()
	h.prune(b)
}

// run does the stream's work until it is to end or ctx does. write says how
// many of the items it wrote.
func (h *Hub) run(ctx context.Context, s *stream, write func(*work) (int, error)) error {
	stop := context.AfterFunc(ctx, s.quit)
	defer stop()
	for {
		w, dropped := s.next()
		h.drop(s.box.name, dropped)
		if w == nil {
			return nil
		}
		n, err := write(w)
		if len(w.items) > 0 && s.wrote(w.items[:n]) && n > 0 && h.Delivered != nil {
			h.Delivered(s.box.name, w.items[n-1].seq)
		}
		end := w.end
		w.release()
		if end {
			return nil // if the goodbye failed, the stream ends all the same
		}
		if err != nil {
			return err
		}
	}
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
	return h.run(ctx, s, func(w *work) (int, error) {
		for n, it := range w.items {
			if err := write(string(appendID(nil, w.label, it.seq)), it.frame); err != nil {
				return n, err
			}
		}
		return len(w.items), nil
	})
}
