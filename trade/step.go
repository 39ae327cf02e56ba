package trade

import "slices"

// take proposes a step of orders on paper, and notes how much volume it uses. Orders that
// begin with the step count as arrived at the given instant, in unix milliseconds. Called
// with mu held.
func (e *Engine) take(k kind, ev *event, instant int64) (uint64, error) {
	// What was there before is looked up before the step is applied.
	begins, before := e.begins(ev), e.ahead.order(ev.Order.ID)
	e.settleStops(ev.Also...)
	seq, err := e.propose(k, ev)
	if err == nil {
		e.took(ev, before)
		e.arrive(ev, begins, instant)
	}
	return seq, err
}

// begins returns the ids of the orders of ev that are new, or are stops that ev sets off:
// what follows the stop begins now. Called with mu held.
func (e *Engine) begins(ev *event) (ids []string) {
	for _, o := range append([]*Order{ev.Order}, ev.Also...) {
		if before := e.ahead.order(o.ID); before == nil || before.waits() != o.waits() {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// arrive notes the instant at which the orders with the ids in begins have arrived, and
// forgets what it noted of orders that have ended. Called with mu held.
func (e *Engine) arrive(ev *event, begins []string, instant int64) {
	for _, o := range append([]*Order{ev.Order}, ev.Also...) {
		switch {
		case o.Status.Terminal():
			delete(e.arrived, o.ID)
			delete(e.trails, o.ID)
		case slices.Contains(begins, o.ID):
			e.arrived[o.ID] = instant
		}
	}
}

// place proposes the arrival of an order, which came at an instant in unix
// milliseconds. If the order waits after that, or one that begins with it, such as an
// exit, the record also says how far the symbol was judged. Called with mu held.
func (e *Engine) place(ev *event, instant int64) (uint64, error) {
	waits := func(o *Order) bool { return !o.Status.Terminal() }
	if waits(ev.Order) || slices.ContainsFunc(ev.Also, waits) {
		ev.Seen = e.firstSeen(ev.Order.Symbol, "")
	}
	return e.take(kindPlaced, ev, instant)
}
