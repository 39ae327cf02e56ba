package mcp

import (
	"encoding/json"
	"sync"
	"time"
)

const (
	// progressAfter is how long a call runs before its progress is told: most are
	// over by then, and their reply stays one plain document.
	progressAfter = time.Second

	progressEvery = 250 * time.Millisecond // between two notifications
)

// progress tells a client how far its call has got.
type progress struct {
	token  json.RawMessage
	notify func(line []byte)
	start  time.Time

	mu   sync.Mutex
	done int       // told last; guarded by mu, like the next two
	told time.Time //
	over bool      // the call has returned
}

// newProgress returns nil if the client asked for no progress or cannot be told.
func newProgress(m *message) *progress {
	if m.notify == nil || !legalID(m.Params.Meta.ProgressToken) {
		return nil
	}
	return &progress{token: m.Params.Meta.ProgressToken, notify: m.notify, start: time.Now()}
}

// update tells the client, unless it is too early or was told a moment ago. What
// is told only ever rises, as MCP asks, whatever order goroutines report in.
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

// end makes sure that nothing is told after the reply.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
