package trade

import (
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
	o := e.book.Order(e.book.ClientIDs[r.ClientOrderID])
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
func (e *Engine) checkReuse(o *book.Order, r book.OrderRequest) error {
	if o.Same(r) && o.Symbol == r.Symbol {
		return nil
	}
	return book.Refuse("client_order_id_reused", "client_order_id %q belongs to order %s (%s %s %s %s, %s); for another order choose another id",
		o.ClientOrderID, o.ID, o.Type, o.Side, o.Quantity, o.Symbol, o.Status)
}
