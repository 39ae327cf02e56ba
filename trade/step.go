package trade

import "slices"

// take proposes a step of orders on paper, and notes what it takes of the volume.
// Orders that begin with it have come at the instant of the step, in unix
// milliseconds. Called with mu held.
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

// begins returns the orders of ev that are new. Called with mu held. A stop that was
// set off counts too: as a limit it begins now.
func (e *Engine) begins(ev *event) (ids []string) {
	for _, o := range append([]*Order{ev.Order}, ev.Also...) {
		if before := e.ahead.order(o.ID); before == nil || before.waits() != o.waits() {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// arrive remembers since when the orders of ev that begin have been there, and
// forgets those that are done. Called with mu held.
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
// milliseconds. Called with mu held. The exits of one that is filled at once wait, too.
func (e *Engine) place(ev *event, instant int64) (uint64, error) {
	waits := func(o *Order) bool { return !o.Status.Terminal() }
	if waits(ev.Order) || slices.ContainsFunc(ev.Also, waits) {
		ev.Seen = e.firstSeen(ev.Order.Symbol, "")
	}
	return e.take(kindPlaced, ev, instant)
}
