package mcp

import (
	"context"
	"slices"
	"time"
)

// Watch checks the watched resources once a second and tells the watchers of those that
// have changed, until ctx ends. Polling is simpler than having every part of a program
// announce what it changes, and costs nothing while nobody watches.
func (s *Server) Watch(ctx context.Context) error {
	tick := time.NewTicker(watchPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-tick.C:
			s.watch.tellChanges(now, s.state)
		}
	}
}

// Forget ends all subscriptions and listeners of the caller with this key. It is called
// when the caller's token or conversation has ended.
func (s *Server) Forget(caller string) {
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropToken(caller)
	for _, l := range w.listeners {
		if l.caller == caller {
			l.end()
		}
	}
}

// Close ends all listeners, each with its reply, and refuses new ones.
func (s *Server) Close() {
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, l := range w.listeners {
		l.end()
	}
}

// state returns the state of a resource that is watched, "" for one that never changes.
func (s *Server) state(r *Resource, reading Reading) (state string, bug error) {
	if r.State == nil {
		return "", nil
	}
	bug = s.guard(r.URI, func() { state = r.State(reading) })
	return state, bug
}

// check returns an error if there can be nothing to watch under the URI of a reading.
func (s *Server) check(r *Resource, reading Reading) (err error) {
	if r.Check == nil {
		return nil
	}
	if bug := s.guard(r.URI, func() { err = r.Check(reading) }); bug != nil {
		return bug
	}
	return err
}

// subscribe answers resources/subscribe, which is of the older era.
func (s *Server) subscribe(ctx context.Context, b []byte, c Caller, m *message) ([]byte, verdict) {
	r, reading := s.find(m.Params.URI)
	if r == nil {
		return s.noResource(b, m, ErrNoResource), verdict{outcome: answered}
	}
	if err := s.may(ctx, c, r.URI); err != nil {
		return forbid(b, m, r.URI, err)
	}
	if err := s.check(r, reading); err != nil {
		return s.appendRead(b, m, r, nil, err), verdict{outcome: answered, name: r.URI}
	}
	if refused := s.watch.subscribe(c, r, reading); refused != nil {
		return appendError(b, m.ID, refused), verdict{outcome: answered}
	}
	// If the token was revoked since the request came in, that may have been before the
	// subscription existed, and Forget did not end it. So the token is checked again.
	if s.revoked(c) {
		s.Forget(c.Key())
		return appendError(b, m.ID, &Error{codeUnauthorized, unauthorizedText}), verdict{outcome: unauthorized, name: r.URI}
	}
	state, bug := s.state(r, reading)
	if bug != nil {
		return appendError(b, m.ID, &Error{codeInternal, bug.Error()}), verdict{outcome: answered, name: r.URI}
	}
	s.watch.begin(reading.URI, state)
	return s.result(b, m, nil, []byte("{}")), verdict{outcome: answered, name: r.URI}
}

// unsubscribe answers resources/unsubscribe. A URI that is not watched is no error.
func (s *Server) unsubscribe(_ context.Context, b []byte, c Caller, m *message) ([]byte, verdict) {
	w := &s.watch
	w.mu.Lock()
	if sub := w.tokens[c.Key()]; sub != nil {
		if i := slices.Index(sub.uris, m.Params.URI); i >= 0 {
			sub.uris = slices.Delete(sub.uris, i, i+1)
			w.remove(m.Params.URI)
		}
		if len(sub.uris) == 0 {
			delete(w.tokens, c.Key())
		}
	}
	w.mu.Unlock()
	return s.result(b, m, nil, []byte("{}")), verdict{outcome: answered}
}

// isListen reports whether m opens a listener: it is a well-formed request of the newer
// era for subscriptions/listen, and the server has resources.
func (s *Server) isListen(m *message) bool {
	return m.Method == "subscriptions/listen" && len(s.resources) > 0 && m.refused == nil && !m.Params.odd && !m.isNotification() && m.modern()
}

// listen opens a listener. The transport must call s.watch.leave when the listener's
// context has ended.
func (s *Server) listen(ctx context.Context, c Caller, m *message) (*Listener, *Error) {
	l := &Listener{caller: c.Key(), id: m.ID, meta: s.meta, bell: make(chan struct{}, 1)}
	l.ctx, l.end = context.WithCancel(ctx)
	// A listener lives no longer than the token that opened it.
	if !c.Expires.IsZero() {
		l.ctx, l.end = context.WithDeadline(ctx, c.Expires)
	}
	if refused := s.watch.join(l); refused != nil {
		l.end()
		return nil, refused
	}
	// Resources that are unknown, not allowed or cannot be are left out, not refused: the
	// first line tells the client which ones were accepted.
	for _, uri := range m.Params.Notifications.Value.Resources {
		r, reading := s.find(uri)
		if r == nil || s.may(ctx, c, r.URI) != nil || s.check(r, reading) != nil || !s.watch.listen(l, r, reading) {
			continue
		}
		if state, bug := s.state(r, reading); bug == nil { // a bug is in the log
			s.watch.begin(reading.URI, state)
		}
	}
	l.ring()
	return l, nil
}
