package trade

import (
	"fmt"
)

// stepsPerRecord is more than any record has orders in it: what fits into one is
// bounded by the journal.
const stepsPerRecord = 1 << 16

// told returns what the outbox is told of a record. It is called before the record is
// applied: an alert that fires is gone after. The same record gives the same steps,
// with the same ids, whenever it is read.
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
		// A day that was lost already is not told a second time.
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
