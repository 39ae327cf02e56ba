package trade

import (
	"wick/trade/book"
)

// proposeOrders proposes a step of orders on paper. Orders that begin with the step count as arrived
// at the given instant, in unix milliseconds: they are new, or are stops that it sets off,
// and what follows the stop begins now. What was noted of orders that end is forgotten. Asked
// is as in [Engine.tell]. Called with mu held.
func (d *desk) proposeOrders(k book.Kind, ev *book.Event, instant int64, asked bool) error {
	before, after := d.ahead.Order(ev.Order.ID), instant
	if !asked {
		after = d.later(ev.Order.Symbol, instant)
	}
	if before == nil {
		ev.Order.After = after
	}
	for _, o := range ev.Begin {
		o.After = after
	}
	for i, with := range ev.Ends {
		ev.Ends[i].Stop = d.trails[with.ID]
	}
	d.tell(k, ev, asked)
	if err := d.propose(k, ev); err != nil {
		return err
	}
	for _, o := range ev.Begin {
		d.arrived[o.ID] = instant
	}
	for _, with := range ev.Ends {
		d.left(with.ID)
	}
	switch {
	case ev.Order.Status.Terminal():
		d.left(ev.Order.ID)
	case before == nil || before.Waits() != ev.Order.Waits():
		d.arrived[ev.Order.ID] = instant
	}
	return nil
}

// left forgets what was noted of an order that has ended. Called with mu held.
func (d *desk) left(id string) {
	delete(d.arrived, id)
	delete(d.trails, id)
}
