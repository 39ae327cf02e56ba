package trade

import (
	"encoding/json"
	"fmt"
)

// Outbox queues what happened for people. It is part of what the journal keeps:
// the record of a step is also the one by which the outbox learns of it, so that
// no crash comes between a firing and its message.
//
// Its methods are called in the order of the records, without another call at the
// same time, also while a start reads the journal. They must not block.
type Outbox interface {
	// Restore begins with what Snapshot returned, or with nothing.
	Restore(snapshot []byte) error

	// Apply takes a step that is on disk.
	Apply(Step) error

	// Snapshot returns the outbox as it is.
	Snapshot() ([]byte, error)
}

// Step is a record of the journal, as the outbox is told of it. Besides the first
// three fields one part is set.
type Step struct {
	ID  string // unique among all stores, the same after a restart
	Seq uint64
	At  Time

	Order        *Order        // filled, cancelled or rejected
	Notification *Notification // an alert fired
	Price        string        // of the alert's symbol then; may be empty
	Trading      TradingState  // it became this
	Record       []byte        // what Engine.WriteOutbox was given

	By *Who // whose order or alert it is; nil if that is not known
}

// told returns what the outbox is told of a record, and false if it is none of
// its business. It is called before the record is applied: an alert that fires is
// gone after.
func (s *state) told(seq uint64, k kind, ev *event) (Step, bool) {
	t := Step{ID: fmt.Sprintf("n-%s-%d", s.store[:8], seq), Seq: seq, At: ev.At}
	switch k {
	case kindPlaced, kindFilled, kindAnswered, kindCancelled, kindOrderRejected:
		if t.Order = ev.Order; t.Order == nil || !t.Order.Status.Terminal() {
			return t, false
		}
		t.By = t.Order.By
	case kindFired:
		if t.Notification = ev.Notification; t.Notification == nil {
			return t, false
		}
		t.Price = ev.Price
		if a := s.alerts[t.Notification.AlertID]; a != nil {
			t.By = a.By
		}
	case kindTrading:
		t.Trading = ev.Trading
	case kindOutbox:
		t.Record = ev.Outbox
	default:
		return t, false
	}
	return t, true
}

// WriteOutbox writes a record of the outbox's own. When it returns nil, the record
// is on disk and the outbox was given it.
func (e *Engine) WriteOutbox(record []byte) error {
	e.mu.Lock()
	seq, err := e.propose(kindOutbox, &event{At: now(), Outbox: json.RawMessage(record)})
	e.mu.Unlock()
	if err != nil {
		return err
	}
	return e.commit(seq)
}
