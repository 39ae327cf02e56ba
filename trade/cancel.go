package trade

import (
	"slices"
)

// CancelOrder cancels an open order for who. A second time is refused by a text that
// says it is done already. Exits and the stop beside it end in the same step.
func (e *Engine) CancelOrder(who Who, id string) (Order, error) {
	e.mu.Lock()
	o, seq := e.ahead.order(id), e.ahead.seq
	// An order that is over may be in the archive by now; the text says how it ended.
	if o == nil || o.Status.Terminal() {
		e.mu.Unlock()
		if o == nil {
			var err error
			if o, err = e.archived(orderKey(id)); err != nil {
				return Order{}, err
			}
		}
		return o.public(), e.refuseAfter(seq, uncancellable(o, id))
	}
	if e.venue != nil {
		e.mu.Unlock()
		return e.cancelLive(who, *o)
	}
	ev, seq, err := e.cancel(o, who, "")
	e.mu.Unlock()
	if err != nil {
		return Order{}, err
	}
	return ev.Order.public(), e.commit(seq)
}

// CancelOrders cancels all open orders, or those of one market if symbol is not empty,
// and returns them. A failure leaves some of them open. They are cancelled under one
// hold of mu on paper, so no price comes in between.
func (e *Engine) CancelOrders(who Who, symbol string) ([]Order, error) {
	if symbol != "" {
		var err error
		if symbol, err = e.symbol(symbol); err != nil {
			return nil, err
		}
	}
	e.mu.Lock()
	var open []string
	for _, of := range sorted(e.ahead.open) {
		if symbol == "" || of == symbol {
			open = append(open, e.ahead.open[of]...)
		}
	}
	if e.venue != nil {
		e.mu.Unlock()
		return e.cancelAllLive(who, open)
	}
	// Without an open order the answer waits for the steps that are under way: one of
	// them may have ended the last.
	seq, err := e.ahead.seq, error(nil)
	cancelled := []Order{}
	// Orders that end with one before them are counted with it.
	for _, id := range open {
		o := e.ahead.order(id)
		if err != nil || o.Status.Terminal() { // ended with one before it
			continue
		}
		var ev *event
		if ev, seq, err = e.cancel(o, who, ""); err == nil {
			for _, o := range slices.Concat([]*Order{ev.Order}, ev.Also) {
				cancelled = append(cancelled, o.public())
			}
		}
	}
	e.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return cancelled, e.commit(seq)
}

// cancel proposes that an open order is cancelled, for a reason that may be empty.
// Called with mu held.
func (e *Engine) cancel(o *Order, who Who, reason string) (*event, uint64, error) {
	ev, err := e.ahead.outcome(o, report{status: StatusCancelled, reason: reason}, now())
	if err != nil {
		return nil, 0, err
	}
	ev.By = who.short()
	e.settleStops(append(ev.Also, ev.Order)...)
	seq, err := e.propose(kindCancelled, ev)
	if err == nil {
		e.arrive(ev, nil, 0)
	}
	return ev, seq, err
}
