package book

// ProposeOrders proposes a step of orders on paper. Orders that begin with the step count as arrived
// at the given instant, in unix milliseconds: they are new, or are stops that it sets off,
// and what follows the stop begins now. What was noted of orders that end is forgotten. Asked
// is as in [Book.Tell].
func (b *Book) ProposeOrders(k Kind, ev *Event, instant int64, asked bool) error {
	before, after := b.Order(ev.Order.ID), instant
	if !asked {
		after = b.later(ev.Order.Symbol, instant)
	}
	if before == nil {
		ev.Order.After = after
	}
	for _, o := range ev.Begin {
		o.After = after
	}
	for i, with := range ev.Ends {
		ev.Ends[i].Stop = b.trails[with.ID]
	}
	b.Tell(k, ev, asked)
	if err := b.Propose(k, ev); err != nil {
		return err
	}
	for _, o := range ev.Begin {
		b.arrived[o.ID] = instant
	}
	for _, with := range ev.Ends {
		b.left(with.ID)
	}
	switch {
	case ev.Order.Status.Terminal():
		b.left(ev.Order.ID)
	case before == nil || before.Waits() != ev.Order.Waits():
		b.arrived[ev.Order.ID] = instant
	}
	return nil
}

// RememberArrivals is called at a start. It notes the open orders that were accepted
// after the price from which their symbol is judged on, so that what the market did
// before an order was there does not fill it.
func (b *Book) RememberArrivals() {
	for symbol, s := range b.Seen {
		for _, o := range b.Open[symbol] {
			if born := o.Since(); born > s.At {
				b.arrived[o.ID] = born
			}
		}
	}
}

// left forgets what was noted of an order that has ended.
func (b *Book) left(id string) {
	delete(b.arrived, id)
	delete(b.trails, id)
}
