package trade

import (
	"encoding/json"
	"slices"
)

// firing is an alert that fired and whom to tell.
type firing struct {
	notification *Notification
	to           []string
}

// fire proposes the firing of a, if it is still active. Called with mu held.
func (e *Engine) fire(a *Alert, value json.Number, at Time) (firing, uint64, error) {
	f := firing{a.notification(value, at), e.ahead.recipients(a)}
	seq, err := e.propose(kindFired, &event{At: at, Notification: f.notification, To: f.to})
	return f, seq, err
}

// Page is the part of the polling queue that a caller asks for.
type Page struct {
	// Offset skips notifications that are read again. Those that nobody has read
	// are never skipped: each call goes on where the last one ended.
	Offset int

	Limit int // most notifications to return; zero for as many as fit into Size
	Size  int // about how many bytes of JSON they may have without a Limit
}

// full reports whether a page with n notifications of size bytes takes no other.
func (p Page) full(n, size int) bool {
	if p.Limit > 0 {
		return n >= p.Limit
	}
	return n > 0 && size > p.Size
}

// Notifications drains the polling queue, which all callers share, as far as
// the page goes, and returns how many are left. What it returns is written down
// as read before it is returned; with again it first gives what was read within
// the last hour once more, so that a lost answer loses no alert.
func (e *Engine) Notifications(again bool, p Page) (read []Notification, left int, err error) {
	e.mu.Lock()
	at, seq := now(), e.ahead.seq
	var entries []*entry
	if again {
		for _, d := range e.ahead.drained {
			if d.at.age(at) < QueueTTL {
				entries = append(entries, d.entry)
			}
		}
	}
	entries = entries[min(p.Offset, len(entries)):]
	known := len(entries) // those that were read before
	entries = append(entries, e.ahead.polling...)
	n := p.cut(entries)
	if n > known {
		if seq, err = e.propose(kindDrained, &event{At: at, Through: entries[n-1].Seq}); err != nil {
			e.mu.Unlock()
			return nil, 0, err
		}
	}
	e.mu.Unlock()
	read = make([]Notification, 0, n)
	for _, entry := range entries[:n] {
		read = append(read, *entry.Notification)
	}
	return read, len(entries) - n, e.commit(seq)
}

// cut returns how many of the entries the page holds, at least one if there are
// any.
func (p Page) cut(entries []*entry) int {
	size := 0
	for i, entry := range entries {
		text, err := json.Marshal(entry.Notification)
		if err != nil {
			panic("trade: " + err.Error()) // it came from the journal, as JSON
		}
		if size += len(text); p.full(i, size) {
			return i
		}
	}
	return len(entries)
}

// PendingNotifications returns how many notifications wait to be polled.
func (e *Engine) PendingNotifications() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.shown.polling)
}

// Queue is what waits for one subscription.
type Queue struct {
	Subscription Subscription
	Entries      []Queued
}

// Queued is one notification in a queue. Its event id is the subscription's ID,
// a hyphen and Seq.
type Queued struct {
	Seq          uint64
	At           Time // when it fired: an hour later it is gone
	Notification Notification
}

// Queued returns the queues as the journal has them, for the hub that delivers
// them to begin with after a start.
func (e *Engine) Queued() []Queue {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := now()
	var queues []Queue
	for _, id := range sorted(e.shown.subs) {
		queue := Queue{Subscription: *e.shown.subs[id]}
		for _, entry := range e.shown.queues[id] {
			if entry.At.age(at) < QueueTTL {
				queue.Entries = append(queue.Entries, Queued{entry.Seq, entry.At, *entry.Notification})
			}
		}
		queues = append(queues, queue)
	}
	return queues
}

// Delivered notes that a subscription has got everything up to seq. Notes are
// gathered and written once a second by Run: losing one only repeats a
// delivery.
func (e *Engine) Delivered(subscription string, seq uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if queue := e.ahead.queues[subscription]; len(queue) > 0 && queue[0].Seq <= seq {
		e.marks[subscription] = max(seq, e.marks[subscription])
	}
}

// tidy writes the delivery marks down and drops what has had its hour.
func (e *Engine) tidy() error {
	e.mu.Lock()
	at := now()
	var seq uint64
	var err error
	if len(e.marks) > 0 {
		seq, err = e.propose(kindDelivered, &event{At: at, Marks: e.marks})
		e.marks = make(map[string]uint64)
	}
	if err == nil && e.ahead.hasExpired(at) {
		seq, err = e.propose(kindExpired, &event{At: at})
	}
	e.mu.Unlock()
	if err != nil {
		return err
	}
	return e.commit(seq)
}

// recipients returns the subscriptions that an alert's firing goes to, oldest
// first.
func (s *state) recipients(a *Alert) []string {
	var to []string
	for id, sub := range s.subs {
		if sub.Filter.matches(a.Symbol, a.Condition.Type) {
			to = append(to, id)
		}
	}
	slices.SortFunc(to, compareIDs)
	return to
}
