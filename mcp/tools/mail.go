package tools

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"wick/mcp"
	"wick/sse"
	"wick/trade"
)

// StdioCaller is the single local client of a conversation over stdio.
var StdioCaller = mcp.Caller{ID: "stdio", Client: "stdio", Scope: "charts " + ScopeTrade}

// Mail brings fired alerts to subscribers. The engine decides and remembers
// what goes to whom, by subscription; the hub delivers, by the name under which
// streams are opened, which is the caller's. Mail keeps the two together: a
// subscription's mailbox lies under its own id until a caller owns it.
type Mail struct {
	Hub sse.Hub

	claims singleflight.Group // by caller

	mu     sync.Mutex
	engine *trade.Engine     // nil before Start
	names  map[string]string // subscription to the name of its mailbox
	owned  map[string]string // caller to its subscription
}

// settled is how long after a write an entry counts as received when the
// client has not said so by Last-Event-ID. Until then a crash repeats it.
const settled = 30 * time.Second

// Start fills the hub with what the engine's journal holds for subscribers. It
// must be called before anyone connects.
func (m *Mail) Start(e *trade.Engine) {
	m.mu.Lock()
	m.engine = e
	if m.names == nil {
		m.names, m.owned = make(map[string]string), make(map[string]string)
	}
	m.mu.Unlock()
	m.Hub.Delivered = m.delivered
	for _, q := range e.Queued() {
		var entries []sse.Entry
		for _, waiting := range q.Entries {
			entries = append(entries, entryOfNotification(waiting.Notification, waiting.Seq, waiting.At.Time))
		}
		m.mu.Lock()
		m.Hub.Restore(q.Subscription.ID, entries, 0)
		m.names[q.Subscription.ID] = q.Subscription.ID
		m.mu.Unlock()
	}
	if sub, ok := e.Subscription(StdioCaller.ID); ok {
		m.own(sub)
	}
}

// entryOfNotification encodes a fired alert once for all who get it.
func entryOfNotification(n trade.Notification, seq uint64, at time.Time) sse.Entry {
	frame, err := mcp.Notification("notifications/alert_triggered", n)
	if err != nil {
		panic("tools: " + err.Error()) // the type is ours and always encodes
	}
	return sse.Entry{Seq: seq, At: at, Frame: frame}
}

// Notify puts a fired alert into the mailboxes of its recipients, which are
// subscriptions. The engine calls it once the firing is on disk.
func (m *Mail) Notify(n trade.Notification, recipients []string) {
	if len(recipients) == 0 {
		return
	}
	e := entryOfNotification(n, n.Seq, n.TriggeredAt.Time)
	m.mu.Lock()
	defer m.mu.Unlock()
	names := make([]string, len(recipients))
	for i, id := range recipients {
		names[i] = m.name(id)
	}
	m.Hub.Send(e, names...)
}

// name returns where the mailbox of a subscription lies. An alert may fire
// before the caller that is just subscribing owns it: then it waits under the
// subscription's id. m.mu is held.
func (m *Mail) name(subscription string) string {
	if m.names == nil {
		m.names, m.owned = make(map[string]string), make(map[string]string)
	}
	name, ok := m.names[subscription]
	if !ok {
		name = subscription
		m.names[subscription] = name
		m.Hub.Open(name)
	}
	return name
}

// own puts a subscription's mailbox where its caller's streams look for it.
func (m *Mail) own(s trade.Subscription) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := m.name(s.ID)
	m.Hub.Move(name, s.Caller)
	m.names[s.ID] = s.Caller
	delete(m.owned, name)
	m.owned[s.Caller] = s.ID
}

// disown drops the mailbox of a caller that unsubscribed.
func (m *Mail) disown(caller string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Hub.Forget(caller)
	delete(m.names, m.owned[caller])
	delete(m.owned, caller)
}

// delivered passes on how far a subscriber has got, once that is settled.
func (m *Mail) delivered(name string, seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id, ok := m.owned[name]; ok {
		engine := m.engine
		time.AfterFunc(settled, func() { engine.Delivered(id, seq) })
	}
}

// Claim gives a caller the subscription that the same client had under a token
// that is gone. Alive reports whether a caller's token still works; nil means
// that it does. A claim takes as long as the disk does. Whoever asks for the
// same caller meanwhile waits: a call would else be told that there is no
// subscription, and a second stream would be served before the first and so
// count as the older of the two.
func (m *Mail) Claim(ctx context.Context, c mcp.Caller, alive func(caller string) bool) error {
	if m.engine == nil || !c.Has(ScopeTrade) || !m.engine.HasSubscriptions() {
		return nil
	}
	m.mu.Lock()
	_, has := m.owned[c.ID]
	m.mu.Unlock()
	if has {
		return nil
	}
	_, err, _ := m.claims.Do(c.ID, func() (any, error) { return nil, m.claim(ctx, c, alive) })
	return err
}

// claim releases what belongs to tokens that are gone and lets the caller have
// what of it was its own.
func (m *Mail) claim(ctx context.Context, c mcp.Caller, alive func(caller string) bool) error {
	m.mu.Lock()
	var gone []string
	for caller := range m.owned {
		if alive != nil && !alive(caller) {
			gone = append(gone, caller)
		}
	}
	m.mu.Unlock()
	for _, caller := range gone {
		m.engine.Release(caller)
	}
	s, ok, err := m.engine.Claim(c.ID, c.Client)
	if err == nil && ok {
		m.own(s)
	}
	return err
}
