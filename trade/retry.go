package trade

import (
	"time"

	"wick/trade/book"
)

// earlier returns the order that r's client_order_id was used for, or nil. It waits until
// that order is on disk: a retry must not be answered before the first request is. Orders
// that have left memory are searched without mu, because that reads the disk; r.searched
// notes how many generations that were.
func (e *Engine) earlier(r *book.OrderRequest) (*book.Order, error) {
	if r.ClientOrderID == "" {
		return nil, nil
	}
	var o *book.Order
	if err := e.Do(func(s *book.State) error {
		if o = s.Order(s.ClientIDs[r.ClientOrderID]); o == nil {
			return errIdle
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if o == nil {
		var err error
		r.Searched = e.generations()
		if o, err = e.finished(clientKey(r.ClientOrderID)); o == nil || err != nil {
			return nil, err
		}
	}
	if err := e.checkReuse(o, *r); err != nil {
		return nil, err
	}
	return o, nil
}

// known looks again for what earlier did not find, with mu held. An order that came in
// between is in memory, unless it has left that since. Only if the index has grown in
// between is it searched again, although that reads the disk under mu.
func (e *Engine) known(r book.OrderRequest) (*book.Order, error) {
	if r.ClientOrderID == "" {
		return nil, nil
	}
	o := e.ahead.Order(e.ahead.ClientIDs[r.ClientOrderID])
	var err error
	if o == nil && e.generations() != r.Searched {
		o, err = e.finished(clientKey(r.ClientOrderID))
	}
	if o == nil {
		return nil, err
	}
	return o, e.checkReuse(o, r)
}

// checkReuse refuses r if the order o, which has the same client_order_id, was made by a
// different request.
func (d *desk) checkReuse(o *book.Order, r book.OrderRequest) error {
	if o.Same(r) && d.sameMarket(o.Symbol, r.Symbol) {
		return nil
	}
	return book.Refuse("client_order_id_reused", "client_order_id %q belongs to order %s (%s %s %s %s, %s); for another order choose another id",
		o.ClientOrderID, o.ID, o.Type, o.Side, o.Quantity, o.Symbol, o.Status)
}

// duplicateWindow is how long after an order an equal one of the same client is refused if
// it has no client_order_id: models repeat a call within seconds when they missed the
// answer, and seldom mean a second order.
const duplicateWindow = 5 * time.Second

// repeats returns an order equal to r and of the same client that was accepted within
// duplicateWindow, or whose outcome at a broker is unknown, or nil. Whether that one has an
// id does not matter: a model may leave it out when it repeats a call. It looks at the orders
// of the journal, so it also notices a call that is repeated after a restart or with a new
// login. Called with mu held.
func (d *desk) repeats(r book.OrderRequest, at book.Time) *book.Order {
	by := r.Who.Short()
	equal := func(o *book.Order) bool { return o.Symbol == r.Symbol && o.Same(r) && o.By.SameClient(by) }
	for _, id := range d.ahead.Open[r.Symbol] {
		if o := d.ahead.Order(id); o.Unknown() && equal(o) {
			return o
		}
	}
	for i := len(d.ahead.Orders) - 1; i >= 0; i-- {
		o := d.ahead.Orders[i]
		// An exit has the time of its entry, though it may have come into the book later.
		if o.Group != "" && o.Group != o.ID {
			continue
		}
		age := at.Sub(o.CreatedAt.Time)
		if age >= duplicateWindow {
			return nil // all orders before it are as old
		}
		if r.All && o.Status.Terminal() { // it has closed the position that there was: this is another one
			continue
		}
		// If an order seems to come from the future, the clock was set back after it.
		if age > -duplicateWindow && equal(o) {
			return o
		}
	}
	return nil
}
