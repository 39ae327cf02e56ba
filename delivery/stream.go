package delivery

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"wick/sse"
)

// Bell is part of sse.Source.
func (s *stream) Bell() chan struct{} { return s.bell }

// Next takes what waits for the caller, if the stream is its newest and no other
// is writing. A stream that has ended takes nothing: a connection that its client has
// closed still takes a write, and swallows it.
func (s *stream) Next(events []sse.Event) []sse.Event {
	h, now := s.hub, time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.peer.reader() != s || !now.Before(s.expires) || s.ctx.Err() != nil {
		return events
	}
	if b := s.peer.box; b != nil && b.waiting > 0 && b.writer == nil {
		events = s.take(b, events, now)
	}
	s.remarks = append(s.remarks[:0], h.remarks[s.peer.caller]...)
	for _, r := range s.remarks {
		events = append(events, sse.Event{Data: r.line})
	}
	return events
}

// take appends what waits in the caller's box. The hub's lock is held.
func (s *stream) take(b *box, events []sse.Event, now time.Time) []sse.Event {
	s.taken = b.waits(now, s.taken[:0])
	for _, e := range s.taken {
		if e.data == nil {
			e.data = s.hub.encode(e.Note)
		}
		events = append(events, sse.Event{ID: e.eventID(b.id), Data: e.data})
	}
	if len(s.taken) > 0 {
		s.box, b.writer = b, s
	}
	return events
}

// Wrote notes that the first n entries taken are written, and lets others take.
func (s *stream) Wrote(n int) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	entries := min(n, len(s.taken))
	if s.box != nil && s.box.writer == s { // else the client has given the stream up meanwhile
		s.box.given(s.taken[:entries], s, time.Now())
	}
	if len(s.remarks) > 0 {
		s.hub.said(s.peer.caller, s.remarks[:n-entries])
	}
	if n < len(s.taken)+len(s.remarks) {
		s.ring()
	}
	s.release()
}

// release gives back what was taken and the right to write. The hub's lock is
// held.
func (s *stream) release() {
	if b := s.box; b != nil && b.writer == s {
		b.writer = nil
		s.hub.wake(b) // there may be more, and a newer stream may have come and had to wait
	}
	s.box = nil
	if clear(s.taken); cap(s.taken) > 16 {
		s.taken = nil // an idle stream keeps little
	}
	s.taken, s.remarks = s.taken[:0], nil
}

// never is when a token ends that does not end.
var never = time.Unix(1<<40, 0)

// Serve answers a request with a stream of the caller's notifications until the
// request ends, the token does, or the hub ends the stream. With Last-Event-ID
// it begins after that event, without with what waits. A stream that cannot be
// opened is answered with 503, and the error says why.
//
// The claim, if there is one, gives the caller the subscription it had under an
// earlier token. That takes as long as a disk does, so the stream is counted
// before: of two that are opened together the second is to be the newer.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, c Caller, claim func() error) error {
	c.Expires = cmp.Or(c.Expires, never)
	ctx, end := context.WithDeadline(r.Context(), c.Expires)
	defer end()
	s, err := h.attach(ctx, c, MaxPerCaller, end)
	if err == nil {
		defer h.detach(s)
		if claim != nil {
			err = claim()
		}
	}
	if err != nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "no stream can be opened now: try again", http.StatusServiceUnavailable)
		return err
	}
	if !c.valid() { // revoked before it was in the list
		h.Revoke(c.ID)
	}
	var comments []string
	if id := sse.LastEventID(r); id != "" && !h.resume(s, id) {
		comments = []string{"resumed-from earliest"} // the client may have missed something
	}
	return sse.Serve(ctx, w, s, comments...)
}

// Push is a stream without HTTP: it calls write for each event until ctx ends,
// the hub ends the stream, or write fails, which leaves the entry waiting. Whoever
// reads it is on this machine, where an end is noticed at once, so that
// MaxPerCaller does not bound such streams.
func (h *Hub) Push(ctx context.Context, caller string, write func(sse.Event) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	s, err := h.attach(ctx, Caller{ID: caller, Expires: never}, MaxStreams, end)
	if err != nil {
		return err
	}
	defer h.detach(s)
	return sse.Push(ctx, s, write)
}

// attach opens a stream, which is the caller's newest from then on and lives as long as
// ctx, which end ends. With as many as most before it, the oldest ends.
func (h *Hub) attach(ctx context.Context, c Caller, most int, end context.CancelFunc) (*stream, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, ErrClosed
	case h.open >= MaxStreams:
		return nil, ErrTooMany
	}
	h.open++
	h.chains++
	p := h.peer(c.ID)
	going := slices.DeleteFunc(slices.Clone(p.streams), func(s *stream) bool { return s.over })
	if len(going) >= most {
		going[0].finish()
	}
	s := &stream{hub: h, peer: p, expires: c.Expires, ctx: ctx, bell: make(chan struct{}, 1), end: end, chain: h.chains}
	p.streams = append(p.streams, s)
	return s, nil
}

// resume lets a stream that writes nothing yet begin after an event. It reports
// false if that event is not held.
func (h *Hub) resume(s *stream, lastEventID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := s.peer.box
	if b == nil {
		return true
	}
	known := b.resume(lastEventID, s, s.peer.streams, time.Now())
	h.wake(b) // a stream that was opened since is the one to write
	return known
}

// detach takes the stream, and no other, out; the next newest takes over.
func (h *Hub) detach(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open--
	p := s.peer
	i := slices.Index(p.streams, s)
	p.streams = slices.Delete(p.streams, i, i+1)
	s.over, s.ended = true, time.Now()
	s.ctx, s.end = nil, nil // a grant keeps the stream for an hour, and must not keep the request
	s.release()
	if p.box != nil {
		h.wake(p.box)
	}
	if next := p.reader(); next != nil && len(h.remarks[p.caller]) > 0 {
		next.ring()
	}
	h.forget(p)
	h.finished()
}
