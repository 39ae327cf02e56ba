package trade

import (
	"cmp"

	"wick/limit"
)

// Cancelled is an order that was cancelled.
type Cancelled struct {
	Order
	Ended []string `json:"ended,omitempty"` // ids of the orders that ended with it
}

// CancelOrder cancels an open order on behalf of who, and returns it. An order that has
// ended is refused, with a text that says how it ended. Other orders of its group, such
// as the stop beside a limit, end in the same step.
func (e *Engine) CancelOrder(who Who, id string) (c Cancelled, err error) {
	var o *Order
	var no *Refusal
	var ev *event
	err = e.Do(func(s *state) error {
		if o, no = s.order(id), e.notOrder(id); o == nil || o.Status.Terminal() || e.venue != nil {
			return nil
		}
		ev, err = e.cancel(o, who, Reason{}, now())
		return err
	})
	if err != nil {
		return c, err
	}
	if ev != nil {
		c.Order = ev.Order.public()
		for _, with := range ev.Ends {
			c.Ended = append(c.Ended, with.ID)
		}
		return c, nil
	}
	if o == nil { // an order that has ended may have left memory
		if o, err = e.finished(orderKey(id)); err != nil {
			return c, err
		}
	}
	switch {
	case o == nil:
		return c, no
	case o.Status.Terminal():
		c.Order = o.public()
		return c, uncancellable(o, id)
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
	var open []string
	cancelled := []Order{}
	err := e.Do(func(s *state) error {
		for _, of := range sorted(s.open) {
			if symbol == "" || of == symbol {
				open = append(open, s.open[of]...)
			}
		}
		if e.venue != nil {
			return nil
		}
		for _, id := range open {
			o := s.order(id)
			if o.Status.Terminal() { // it ended, and was counted, with an order before it
				continue
			}
			ev, err := e.cancel(o, who, Reason{}, now())
			if err != nil {
				return err
			}
			cancelled = append(cancelled, ev.Order.public())
			for _, with := range ev.Ends {
				cancelled = append(cancelled, s.order(with.ID).public())
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case e.venue != nil:
		return e.cancelAllLive(who, open)
	}
	return cancelled, nil
}

// cancel proposes that an open order is cancelled, for a reason: none if the client that placed
// it asked for it.
// Called with mu held.
func (d *desk) cancel(o *Order, who Who, reason Reason, at Time) (*event, error) {
	if by := who.short(); reason.Code == "" && !by.sameClient(o.By) { // it must hear of it
		reason = because(cancelledBy, cmp.Or(limit.Clip(who.Name), "another client"))
	}
	ev, _ := d.ahead.outcome(o, report{status: StatusCancelled, reason: reason}, at) // fills nothing, so cannot fail
	ev.By = who.short()
	d.settleStop(ev.Order)
	return ev, d.proposeOrders(kindCancelled, ev, 0, reason.Code == "") // no order begins with it
}
