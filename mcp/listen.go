package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
)

// Listener is the stream of one subscriptions/listen. Whoever writes it calls
// Next and Wrote from one goroutine, and ends it by ending its context.
type Listener struct {
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
	// What was taken and not written may have changed again meanwhile; it is told once.
	seen := make(map[string]bool, len(l.pending))
	l.pending = slices.DeleteFunc(l.pending, func(uri string) bool {
		twice := seen[uri]
		seen[uri] = true
		return twice
	})
	l.taken = 0
}

// accepted returns the line that says what the listener will be told of.
func (l *Listener) accepted() []byte {
	b := []byte(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`)
	b = append(appendSubscription(b, l.id), `,"notifications":`...)
	return append(append(b, Encode(filter{Resources: l.uris})...), "}}"...)
}

// reply returns the reply to the request, which ends the stream.
func (l *Listener) reply() []byte {
	b := append(appendHead(nil, l.id, "result"), `{"resultType":"complete",`...)
	return append(appendSubscription(b, l.id), "}}"...)
}

// updatedLine returns the notification that a resource has changed. A listener's
// carries the id of its request.
func updatedLine(uri string, listen json.RawMessage) []byte {
	b := []byte(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{`)
	if listen != nil {
		b = append(appendSubscription(b, listen), ',')
	}
	return append(appendText(append(b, `"uri":`...), []byte(uri)), "}}"...)
}

// appendSubscription appends the _meta by which a client knows its listener.
func appendSubscription(b []byte, listen json.RawMessage) []byte {
	return append(append(append(b, `"_meta":{"io.modelcontextprotocol/subscriptionId":`...), listen...), '}')
}
