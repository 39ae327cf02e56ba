package trade

import (
	"fmt"
)

// stepsPerRecord is larger than the number of steps that any record makes: the journal
// bounds the size of a record, and with it the number of its orders.
const stepsPerRecord = 1 << 16

// outboxSteps returns what the outbox is told of a record. It is called before the record is
// applied, because an alert that fires is gone afterwards. The same record gives the
// same steps with the same ids, however often it is read.
func (s *state) outboxSteps(seq uint64, k kind, ev *event) (steps []Step) {
	add := func(t Step) {
		t.ID, t.Seq, t.At = fmt.Sprintf("n-%s-%d", s.store[:8], seq), seq*stepsPerRecord+uint64(len(steps)), ev.At
		if len(steps) > 0 {
			t.ID += fmt.Sprintf(".%d", len(steps))
		}
		steps = append(steps, t)
	}
	switch k {
	// The outbox hears only of the end of an order.
	case kindPlaced, kindFilled, kindAnswered, kindCancelled, kindOrderRejected, kindOrderChanged:
		for _, o := range ev.changed(s.order) {
			if o.Status.Terminal() {
				public, before := o.public(), s.order(o.ID)
				add(Step{Order: &public, Again: before != nil && before.Status.Terminal(), By: o.By})
			}
		}
	case kindFired:
		if n := ev.Notification; n != nil {
			t := Step{Notification: n}
			if a := s.alerts[n.AlertID]; a != nil {
				t.By = a.By
			}
			add(t)
		}
	case kindTrading:
		// That the account has lost too much is told once a day.
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
