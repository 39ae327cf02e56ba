package trade

// Cancelled is an order that was cancelled.
type Cancelled struct {
	Order
	Ended []string `json:"ended,omitempty"` // ids of the orders that ended with it
}

// CancelOrder cancels an open order on behalf of who, and returns it. An order that has
// ended is refused, with a text that says how it ended. Other orders of its group, such
// as the stop beside a limit, end in the same step.
func (e *Engine) CancelOrder(who Who, id string) (c Cancelled, err error) {
	e.mu.Lock()
	o := e.ahead.order(id)
	if o != nil && !o.Status.Terminal() && e.venue == nil {
		ev, seq, err := e.cancel(o, who, "", now())
		e.mu.Unlock()
		if err != nil {
			return c, err
		}
		c.Order = ev.Order.public()
		for _, with := range ev.Ends {
			c.Ended = append(c.Ended, with.ID)
		}
		return c, e.commit(seq)
	}
	no := e.notOrder(id)
	e.mu.Unlock()
	if o == nil { // an order that has ended may be in the archive by now
		if o, err = e.archived(orderKey(id)); err != nil {
			return c, err
		}
	}
	switch {
	case o == nil:
		return c, e.afterDisk(no)
	case o.Status.Terminal():
		c.Order = o.public()
		return c, e.afterDisk(uncancellable(o, id))
	}
	c.Order, err = e.cancelLive(who, *o)
	return c, err
}

// CancelOrders cancels all open orders, or those of one market if symbol is not empty,
// and returns them. After an error some of them may still be open. On paper all are
// cancelled under one lock of mu, so that no price comes in between.
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
	// Even if no order is open, the answer waits for the steps that are under way: one of
	// them may have ended the last order.
	seq, err := e.ahead.seq, error(nil)
	cancelled := []Order{}
	for _, id := range open {
		o := e.ahead.order(id)
		if err != nil || o.Status.Terminal() { // it ended, and was counted, with an order before it
			continue
		}
		var ev *event
		if ev, seq, err = e.cancel(o, who, "", now()); err == nil {
			cancelled = append(cancelled, ev.Order.public())
			for _, with := range ev.Ends {
				cancelled = append(cancelled, e.ahead.order(with.ID).public())
			}
		}
	}
	e.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return cancelled, e.commit(seq)
}

// cancel proposes that an open order is cancelled, for a reason: empty if a client asked for it.
// Called with mu held.
func (e *Engine) cancel(o *Order, who Who, reason string, at Time) (*event, uint64, error) {
	ev, _ := e.ahead.outcome(o, report{status: StatusCancelled, reason: reason}, at) // fills nothing, so cannot fail
	ev.By = who.short()
	e.settleStop(ev.Order)
	seq, err := e.proposeOrders(kindCancelled, ev, 0, reason == "") // no order begins with it
	return ev, seq, err
}
