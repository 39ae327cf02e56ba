package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
)

// Listener is the stream of one subscriptions/listen. The transport that writes it calls
// Next and Wrote from one goroutine, until the listener's context has ended.
type Listener struct {
	caller string
	id     json.RawMessage // of the request
	meta   []byte          // the _meta of results
	uris   []string
	bell   chan struct{}
	ctx    context.Context
	end    context.CancelFunc

	mu      sync.Mutex
	acked   bool     // guarded by mu, like all below
	pending []string // URIs of changed resources that the client has not been told of, oldest first
	taken   int      // how many of pending, from the start, are being written
	over    bool     // the last line was written
}

// add notes that a resource has changed. If its line still waits, one line is enough. If
// its line is being written, another one follows: the client may read the resource
// before this change.
func (l *Listener) add(uri string) {
	l.mu.Lock()
	if !slices.Contains(l.pending[l.taken:], uri) {
		l.pending = append(l.pending, uri)
	}
	l.mu.Unlock()
	l.ring()
}

// ring wakes the goroutine that writes the stream.
func (l *Listener) ring() {
	select {
	case l.bell <- struct{}{}:
	default: // a value is in the channel already
	}
}

// Bell returns a channel that receives a value when Next may have lines. The goroutine
// that writes the stream may also send to it.
func (l *Listener) Bell() chan struct{} { return l.bell }

// Next returns the lines to be written now: first the acknowledgement, which says what
// was accepted; then a line for each change; and last, once the context has ended, the
// reply.
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

// Wrote tells the listener that the first n lines which the last Next returned have been
// written. The next Next returns the others again.
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
	// A resource whose line was not written may have changed again meanwhile: one line is
	// enough.
	seen := make(map[string]bool, len(l.pending))
	l.pending = slices.DeleteFunc(l.pending, func(uri string) bool {
		twice := seen[uri]
		seen[uri] = true
		return twice
	})
	l.taken = 0
}

// accepted returns the line that says which resources the listener watches.
func (l *Listener) accepted() []byte {
	b := []byte(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`)
	b = append(appendSubscription(b, l.id), `,"notifications":`...)
	return append(append(b, Encode(filter{Resources: l.uris})...), "}}"...)
}

// reply returns the reply to the request, which ends the stream. Its _meta names the server,
// as that of every result, and the listener.
func (l *Listener) reply() []byte {
	b := append(appendHead(nil, l.id, "result"), `{"resultType":"complete",`...)
	b = append(append(b, bytes.TrimSuffix(l.meta, []byte("}"))...), ',')
	return append(appendSubscriptionID(b, l.id), "}}}"...)
}

// updatedLine returns the notification that a resource has changed. For a listener,
// listen is the id of its request; for a subscriber of the older era it is nil.
func updatedLine(uri string, listen json.RawMessage) []byte {
	b := []byte(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{`)
	if listen != nil {
		b = append(appendSubscription(b, listen), ',')
	}
	return append(appendText(append(b, `"uri":`...), []byte(uri)), "}}"...)
}

// appendSubscription appends the _meta that tells a client which of its listeners a line
// belongs to.
func appendSubscription(b []byte, listen json.RawMessage) []byte {
	return append(appendSubscriptionID(append(b, `"_meta":{`...), listen), '}')
}

// appendSubscriptionID appends the member of a _meta that names a listener.
func appendSubscriptionID(b []byte, listen json.RawMessage) []byte {
	return append(append(b, `"io.modelcontextprotocol/subscriptionId":`...), listen...)
}
