package mcp

import (
	"encoding/json"
	"sync"
	"time"
)

const (
	// progressAfter is how long a call runs before its progress is reported: most are
	// over by then, and their reply stays one plain JSON document.
	progressAfter = time.Second

	progressEvery = 250 * time.Millisecond // between two notifications
)

// progress tells a client how far its call has got.
type progress struct {
	token  json.RawMessage
	notify func(line []byte)
	start  time.Time

	mu   sync.Mutex
	done int       // what was reported last; guarded by mu, like the next two
	told time.Time // when that was
	over bool      // the call has returned
}

// newProgress returns the progress of the call r, or nil if the client did not ask for it
// or the transport cannot send it.
func newProgress(r *request) *progress {
	if !r.events || !legalID(r.Params.Meta.ProgressToken) {
		return nil
	}
	return &progress{token: r.Params.Meta.ProgressToken, notify: r.by.notify, start: time.Now()}
}

// update tells the client that done of total is done, unless that would be too early or
// too soon after the last time. The reported numbers only rise, as MCP asks, in whatever
// order the goroutines of a call report.
func (p *progress) update(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.over || done <= p.done || now.Sub(p.start) < progressAfter || now.Sub(p.told) < progressEvery && done < total {
		return
	}
	p.done, p.told = done, now
	p.notify(Notification("notifications/progress", struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress int             `json:"progress"`
		Total    int             `json:"total,omitempty"`
	}{p.token, done, total}))
}

// end makes sure that no progress is written after the reply.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
