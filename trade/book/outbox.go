package book

import (
	"fmt"
)

// stepsPerRecord is larger than the number of steps that any record makes: the journal
// bounds the size of a record, and with it the number of its orders.
const stepsPerRecord = 1 << 16

// OutboxSteps returns what the outbox is told of a record. It is called before the record is
// applied, because an alert that fires is gone afterwards. The same record gives the
// same steps with the same ids, however often it is read.
func (s *State) OutboxSteps(seq uint64, k Kind, ev *Event) (steps []Step) {
	add := func(t Step) {
		t.ID, t.Seq, t.At = fmt.Sprintf("n-%s-%d", s.Store[:8], seq), seq*stepsPerRecord+uint64(len(steps)), ev.At
		if len(steps) > 0 {
			t.ID += fmt.Sprintf(".%d", len(steps))
		}
		steps = append(steps, t)
	}
	switch k {
	// The outbox hears only of the end of an order.
	case KindPlaced, KindFilled, KindBrokerAnswered, KindCancelled, KindOrderRejected, KindOrderChanged:
		for _, o := range ev.Changed(s.Order) {
			if o.Status.Terminal() {
				public, before := o.Public(), s.Order(o.ID)
				add(Step{Order: &public, Again: before != nil && before.Status.Terminal(), By: o.By})
			}
		}
	case KindFired:
		if n := ev.Notification; n != nil {
			t := Step{Notification: n}
			if a := s.Alerts[n.AlertID]; a != nil {
				t.By = a.By
			}
			add(t)
		}
	case KindTrading:
		// That the account has lost too much is told once a day.
		t := Step{Trading: ev.Trading, Lost: ev.Tripped != "" && ev.Tripped != s.Tripped}
		if ev.By != nil {
			t.Why = ev.By.Name
		}
		add(t)
	case KindOutbox:
		add(Step{Record: ev.Outbox})
	}
	return steps
}

// Step is what the outbox is told of a record of the journal: that an order ended, an
// alert fired, the trading state changed, or that Engine.WriteOutbox was called. Beside
// ID, Seq and At only the fields of one of these are set. A record that ends several
// orders makes several steps.
type Step struct {
	ID  string // unique among all stores, the same after a restart
	Seq uint64 // rising from step to step
	At  Time

	Order        *Order        // it was filled, cancelled or rejected; as clients see it
	Again        bool          // it had ended before: its reason says what the broker has changed since
	Notification *Notification // of an alert that fired
	Trading      TradingState  // the state that trading is in now
	Why          string        // who or what changed it; may be empty
	Lost         bool          // it changed because the account has lost as much as it may in a day
	Record       []byte        // what Engine.WriteOutbox was given

	By *Who // whose order or alert it is; nil if that is not known
}
