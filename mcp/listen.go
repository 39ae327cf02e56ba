package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
)

// filter is what a subscriptions/listen asks for. Our lists do not change while
// the program runs, so of its members only the resources mean anything here.
type filter struct {
	Resources []string `json:"resourceSubscriptions,omitempty"`
}

// Listener is the stream of one subscriptions/listen. Whoever writes it calls
// Next and Wrote from one goroutine, and ends it by ending its context.
type Listener struct {
	server *Server
	caller string
	id     json.RawMessage // of the request
	uris   []string
	bell   chan struct{}
	ctx    context.Context
	end    context.CancelFunc

	mu      sync.Mutex
	acked   bool     // guarded by mu, like all below
	pending []string // URIs to tell of, oldest first
	taken   int      // of pending: being written
	over    bool     // the last line was written
}

// listen opens a listener. It is closed by its close method, which must be called
// once its context has ended.
func (s *Server) listen(ctx context.Context, c Caller, m *message) (*Listener, *Error) {
	l := &Listener{server: s, caller: c.Key(), id: m.ID, bell: make(chan struct{}, 1)}
	l.ctx, l.end = context.WithCancel(ctx)
	// A listener lives no longer than the token that opened it.
	if !c.Expires.IsZero() {
		l.ctx, l.end = context.WithDeadline(ctx, c.Expires)
	}
	if refused := s.watch.join(l); refused != nil {
		l.end()
		return nil, refused
	}
	// What is unknown or not allowed is left out, not refused: the first line says what
	// was accepted.
	for _, uri := range m.Params.Notifications.Resources {
		r, reading := s.find(uri)
		if r != nil && c.Has(r.Scope) && s.watch.listen(l, r, reading) {
			s.watch.begin(uri, r, reading)
		}
	}
	l.ring()
	return l, nil
}

// join counts a listener, ending the caller's oldest if it has too many.
func (w *watch) join(l *Listener) *Error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.listeners) >= maxAllListeners {
		return &Error{CodeBusy, "no further listener can be served now: try again later"}
	}
	var own []*Listener
	for _, other := range w.listeners {
		if other.caller == l.caller && other.ctx.Err() == nil {
			own = append(own, other)
		}
	}
	if len(own) >= maxListeners {
		// Ended by its context: it leaves the list when its own stream closes it.
		own[0].end()
	}
	w.listeners = append(w.listeners, l)
	return nil
}

// listen makes a listener watch a resource. It reports whether it does.
func (w *watch) listen(l *Listener, r *Resource, reading Reading) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Contains(l.uris, reading.URI) || len(l.uris) >= maxWatchedToken || !w.add(reading.URI, r, reading) {
		return false
	}
	l.uris = append(l.uris, reading.URI)
	return true
}

// close ends the listener and what it watched.
func (l *Listener) close() {
	l.end()
	w := &l.server.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, uri := range l.uris {
		w.remove(uri)
	}
	w.listeners = slices.DeleteFunc(w.listeners, func(other *Listener) bool { return other == l })
}

// Close ends all listeners, which tell their clients so, and lets none begin.
func (s *Server) Close() {
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, l := range w.listeners {
		l.end()
	}
}

// add notes that a resource has changed. One that is about to be told anyway is
// not told twice; one that is being written is, since the client may have read
// it by then.
func (l *Listener) add(uri string) {
	l.mu.Lock()
	if !slices.Contains(l.pending[l.taken:], uri) {
		l.pending = append(l.pending, uri)
	}
	l.mu.Unlock()
	l.ring()
}

// ring wakes whoever writes the stream.
func (l *Listener) ring() {
	select {
	case l.bell <- struct{}{}:
	default: // it has not heard the last one yet
	}
}

// Bell returns a channel that receives a value when Next may have lines. Who
// writes the stream may put one in as well.
func (l *Listener) Bell() chan struct{} { return l.bell }

// Next returns the lines to be written now: first of all what was accepted, then
// what has changed, and last, once the context has ended, the reply.
func (l *Listener) Next() (lines [][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	if !l.acked {
		lines = append(lines, l.accepted())
	}
	l.taken = len(l.pending)
	for _, uri := range l.pending {
		lines = append(lines, updatedLine(uri, l.id))
	}
	if l.ctx.Err() != nil {
		lines = append(lines, l.reply())
	}
	return lines
}

// Wrote says that the first n lines of the last Next are written. They count in the
// order of Next: what was accepted, the changes, the reply; what was not written comes
// again.
func (l *Listener) Wrote(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > 0 && !l.acked {
		l.acked = true
		n--
	}
	told := min(n, l.taken)
	l.pending = slices.Delete(l.pending, 0, told)
	l.over = n > told
	if l.taken -= told; l.taken > 0 {
		l.ring()
	}
	l.taken = 0
}

// accepted returns the line that says what the listener will be told of.
func (l *Listener) accepted() []byte {
	b := []byte(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`)
	b = append(appendSubscription(b, l.id), `,"notifications":`...)
	return append(append(b, Encode(filter{l.uris})...), "}}"...)
}

// reply returns the reply to the request, which ends the stream.
func (l *Listener) reply() []byte {
	b := append(appendHead(nil, l.id, "result"), `{"resultType":"complete",`...)
	return append(appendSubscription(b, l.id), "}}"...)
}

// isListen reports whether m opens a listener: a request of the newer era that
// nothing speaks against.
func (s *Server) isListen(m *message) bool {
	return m.Method == "subscriptions/listen" && len(s.resources) > 0 && m.refused == nil && !m.odd && !m.isNotification() && m.modern()
}
