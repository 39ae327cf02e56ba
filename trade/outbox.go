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

// Step is what the outbox is told of a record of the journal. Besides the first
// three fields one part is set. A record that ends several orders is several
// steps.
type Step struct {
	ID  string // unique among all stores, the same after a restart
	Seq uint64 // rising from step to step
	At  Time

	Order        *Order        // filled, cancelled or rejected
	Notification *Notification // an alert fired
	Price        string        // of the alert's symbol then; may be empty
	Trading      TradingState  // it became this
	Why          string        // who or what made it so; may be empty
	Lost         bool          // because the account has lost as much as it may in a day
	Record       []byte        // what Engine.WriteOutbox was given

	By *Who // whose order or alert it is; nil if that is not known
}

// stepsPerRecord is more than any record has orders in it: what fits into one is
// bounded by the journal.
const stepsPerRecord = 1 << 16

// told returns what the outbox is told of a record. It is called before the record
// is applied: an alert that fires is gone after.
func (s *state) told(seq uint64, k kind, ev *event) (steps []Step) {
	add := func(t Step) {
		t.ID, t.Seq, t.At = fmt.Sprintf("n-%s-%d", s.store[:8], seq), seq*stepsPerRecord+uint64(len(steps)), ev.At
		if len(steps) > 0 {
			t.ID += fmt.Sprintf(".%d", len(steps))
		}
		steps = append(steps, t)
	}
	switch k {
	// Of orders only their end is told.
	case kindPlaced, kindFilled, kindAnswered, kindCancelled, kindOrderRejected, kindOrderChanged:
		for _, o := range append([]*Order{ev.Order}, ev.Also...) {
			if o != nil && o.Status.Terminal() {
				add(Step{Order: o, By: o.By})
			}
		}
	case kindFired:
		if n := ev.Notification; n != nil {
			t := Step{Notification: n, Price: ev.Price}
			if a := s.alerts[n.AlertID]; a != nil {
				t.By = a.By
			}
			add(t)
		}
	case kindTrading:
		t := Step{Trading: ev.Trading, Lost: ev.Tripped != "" && ev.Tripped != s.tripped}
		if ev.By != nil {
			t.Why = ev.By.Name
		}
		add(t)
	case kindOutbox:
		add(Step{Record: ev.Outbox})
	}
	return steps
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
