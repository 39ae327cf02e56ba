package trade

import "cmp"

// proposeOrders proposes a step of orders on paper. Orders that begin with the step count as arrived
// at the given instant, in unix milliseconds: they are new, or are stops that it sets off,
// and what follows the stop begins now. What was noted of orders that end is forgotten. Asked
// is as in [Engine.tell]. Called with mu held.
func (d *desk) proposeOrders(k kind, ev *event, instant int64, asked bool) error {
	before := d.ahead.order(ev.Order.ID)
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
	case before == nil || before.waits() != ev.Order.waits():
		d.arrived[ev.Order.ID] = instant
	}
	return nil
}

// left forgets what was noted of an order that has ended. Called with mu held.
func (d *desk) left(id string) {
	delete(d.arrived, id)
	delete(d.trails, id)
}

// outcome returns the step that follows from what r says of the order o: the order as
// it is then, the holding if anything was filled, and the other orders that begin,
// change or end with it. It does not change o.
func (s *state) outcome(o *Order, r report, at Time) (*event, error) {
	after := *o
	after.Status, after.UpdatedAt = r.status, at
	after.explain(r.reason)
	ev := &event{At: at, Order: &after}
	if r.size > 0 {
		if err := s.fill(ev, r); err != nil {
			return nil, err
		}
	}
	s.follow(ev, r.price)
	return ev, nil
}

// fill adds what was filled to the order of ev, and the holding after it to ev. If it fails,
// nothing was added.
func (s *state) fill(ev *event, r report) error {
	o := ev.Order
	h, err := s.holdings[o.Symbol].fill(o.Side.sign(r.size), r.price, r.fee)
	if err != nil {
		return refuse("out_of_range", "%v; lower the quantity", errOverflow)
	}
	h.Synthetic = h.Synthetic || r.mark.synthetic
	average := cmp.Or(r.average, r.price)
	o.FilledQuantity, o.Fee, o.AveragePrice, ev.Holding = o.FilledQuantity+r.size, r.fee, &average, &h
	if r.mark.at != 0 {
		at := r.mark.time()
		o.PriceAt, o.Source, o.Synthetic = &at, r.mark.source, r.mark.synthetic
	}
	return nil
}
