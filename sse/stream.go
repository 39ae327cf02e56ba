package sse

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"
)

// Bell is part of Source.
func (s *stream) Bell() chan struct{} { return s.bell }

// Next takes what waits for the caller, if the stream is its newest and no other is
// writing. A stream whose context has ended takes nothing: a write to a connection that
// the client has closed may succeed, and what was written would be lost.
func (s *stream) Next() (events []Event) {
	h, now := s.hub, time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reader(s.caller) != s || !now.Before(s.expires) || s.ctx.Err() != nil {
		return events
	}
	if q := h.book.callers[s.caller]; q != nil && q.waiting > 0 && q.writer == nil {
		s.taken = q.waits(now, s.taken[:0])
		events = slices.Grow(events, len(s.taken))
		for _, e := range s.taken {
			if e.data == nil {
				e.data = h.encode(e.Note)
			}
			events = append(events, Event{ID: e.eventID(q.sub.ID), Data: e.data})
		}
		if len(s.taken) > 0 {
			s.queue, q.writer = q, s
		}
	}
	if h.Changes != nil {
		var lines [][]byte
		lines, s.told = h.Changes(s.caller)
		s.changes = len(lines)
		for _, line := range lines {
			events = append(events, Event{Data: line})
		}
	}
	return events
}

// Wrote notes that the first n of the events that Next returned are written, and lets
// other streams take entries again.
func (s *stream) Wrote(n int) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	entries := min(n, len(s.taken))
	if s.queue != nil && s.queue.writer == s { // a client that resumed elsewhere has given this stream up
		s.queue.given(s.taken[:entries], s, time.Now())
	}
	if s.changes > 0 {
		s.told(n - entries)
	}
	if n < len(s.taken)+s.changes {
		s.ring()
	}
	s.release()
}

// release gives up the right to write, and forgets what was taken. The hub's lock is
// held.
func (s *stream) release() {
	if q := s.queue; q != nil && q.writer == s {
		q.writer = nil
		s.hub.wake(q) // there may be more entries, and a newer stream may have had to wait
	}
	s.queue = nil
	if clear(s.taken); cap(s.taken) > 16 {
		s.taken = nil // an idle stream keeps little
	}
	s.taken, s.changes, s.told = s.taken[:0], 0, nil
}

// never is the end of a token that does not end.
var never = time.Unix(1<<40, 0)

// Serve answers a request with a stream of the caller's notifications until the
// request ends, the token ends, or the hub ends the stream. If the request has a
// Last-Event-ID the stream begins after that event; otherwise it begins with what waits.
// If no stream can be opened, Serve answers with 503 and returns the reason.
//
// The function claim, if it is not nil, gives the caller the subscription that it had
// under an earlier token. It may wait for the disk, so the stream is opened before it is
// called: of two streams that are opened together the second one stays the newer.
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
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		h.resume(s, id)
	}
	return Serve(ctx, w, s)
}

// Push is a stream without HTTP: it calls write for each event until ctx ends or the hub
// ends the stream, and returns nil, or until write fails. After a failed write the entry waits
// again. The reader is on this machine, where the end of a connection is noticed at once, so
// MaxPerCaller does not apply to such streams.
func (h *Hub) Push(ctx context.Context, caller string, write func(Event) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	s, err := h.attach(ctx, Caller{ID: caller, Expires: never}, MaxStreams, end)
	if err != nil {
		return err
	}
	defer h.detach(s)
	for ctx.Err() == nil {
		events := s.Next()
		for n, e := range events {
			if err := write(e); err != nil {
				s.Wrote(n)
				return err
			}
		}
		if len(events) > 0 {
			s.Wrote(len(events))
		}
		select {
		case <-s.bell:
		case <-ctx.Done():
		}
	}
	return nil
}

// attach opens a stream, which is the caller's newest from then on. It lives as long as
// ctx; the function end ends ctx. If the caller has as many streams as most already, its
// oldest one ends.
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
	going := slices.DeleteFunc(slices.Clone(h.streams[c.ID]), func(s *stream) bool { return s.over })
	if len(going) >= most {
		going[0].finish()
	}
	s := &stream{hub: h, caller: c.ID, expires: c.Expires, ctx: ctx, bell: make(chan struct{}, 1), end: end, chain: h.chains}
	h.streams[c.ID] = append(h.streams[c.ID], s)
	return s, nil
}

// resume makes a stream that has not written anything yet begin after an event.
func (h *Hub) resume(s *stream, lastEventID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if q := h.book.callers[s.caller]; q != nil {
		q.resume(lastEventID, s, h.streams[s.caller], time.Now())
		h.wake(q) // it may be another stream that has to write now, if one was opened since
	}
}

// detach takes a stream out of the hub. The newest one of those that are left takes
// over.
func (h *Hub) detach(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open--
	left := slices.DeleteFunc(h.streams[s.caller], func(other *stream) bool { return other == s })
	if h.streams[s.caller] = left; len(left) == 0 {
		delete(h.streams, s.caller)
	}
	s.over, s.ended = true, time.Now()
	s.ctx, s.end = nil, nil // grants keep the stream for an hour: it must not keep the request in memory
	s.release()
	if next := h.reader(s.caller); next != nil {
		next.ring()
	}
	h.finished()
}
