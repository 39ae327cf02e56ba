package trade

import (
	"fmt"
	"time"

	"wick/exact"
)

// earlier returns the order that r's id was used for, or nil. It waits until
// that order is on disk: the answer must not run ahead of the first one's. The
// archive is searched without mu, because that reads the disk, and r notes how far.
func (e *Engine) earlier(r *OrderRequest) (*Order, error) {
	if r.ClientOrderID == "" { // no order bears it
		return nil, nil
	}
	e.mu.Lock()
	o, seq := e.ahead.order(e.ahead.clientIDs[r.ClientOrderID]), e.ahead.seq
	e.mu.Unlock()
	if o == nil {
		var err error
		r.searched = e.archive.Head().Records
		if o, err = e.archived(clientKey(r.ClientOrderID)); o == nil || err != nil {
			return nil, err
		}
	}
	if err := e.checkReuse(o, *r); err != nil {
		return nil, err
	}
	return o, e.commit(seq)
}

// known is earlier with mu held, after that found nothing. An order that came since is
// in memory, unless the archive has grown meanwhile. Searching it again under mu reads
// the disk, and happens only if orders were archived in that moment.
func (e *Engine) known(r OrderRequest) (*Order, error) {
	if r.ClientOrderID == "" {
		return nil, nil
	}
	o := e.ahead.order(e.ahead.clientIDs[r.ClientOrderID])
	if o == nil && e.archive.Head().Records != r.searched {
		var err error
		if o, err = e.archived(clientKey(r.ClientOrderID)); err != nil {
			return nil, err
		}
	}
	if o == nil {
		return nil, nil
	}
	return o, e.checkReuse(o, r)
}

// checkReuse refuses r if o, which bears its client_order_id, was made by another
// request.
func (e *Engine) checkReuse(o *Order, r OrderRequest) error {
	if o.same(r) && e.sameMarket(o.Symbol, r.Symbol) {
		return nil
	}
	return refuse("client_order_id_reused", fixIt, "client_order_id %q belongs to order %s (%s %s %s %s, %s); for another order choose another id",
		o.ClientOrderID, o.ID, o.Type, o.Side, o.Quantity, o.Symbol, o.Status)
}

// same reports whether o was made by a request equal to r, but for the symbol. Who
// asks does not matter: the id belongs to the book.
func (o *Order) same(r OrderRequest) bool {
	var price exact.Decimal
	if o.Price != nil {
		price = *o.Price
	}
	if o.Asked != r.Asked() || o.Side != r.Side || o.Type != r.Type || price != r.Price {
		return false
	}
	return o.Quantity == r.Quantity || r.Quantity == 0 // the request named another measure, which Asked has
}

// answer returns the order as the answer to r. A dry run that names it by its
// client_order_id gets a remark: nothing else tells it from what a new order
// would be.
func (o *Order) answer(r OrderRequest) Order {
	c := o.public()
	if r.DryRun && o != nil {
		c.Reason = fmt.Sprintf("dry run: client_order_id %q exists; placing it would return this order and make no other", o.ClientOrderID)
	}
	return c
}

// duplicateWindow is how long an order without a client_order_id keeps an equal
// one of the same client from being taken: models repeat a call within seconds
// when they missed the answer, and seldom mean a second order.
const duplicateWindow = 5 * time.Second

// repeats reports whether an order equal to r, without an id and of the same
// client, was accepted within the window. It looks at the orders themselves,
// which are in the journal: a model that repeats a call after a restart or with a
// new login is the same client. Called with mu held.
func (e *Engine) repeats(r OrderRequest, at Time) bool {
	by := r.Who.short()
	for i := len(e.ahead.orders) - 1; i >= 0; i-- {
		o := e.ahead.orders[i]
		age := at.Sub(o.CreatedAt.Time)
		if age >= duplicateWindow {
			return false // so are all before it
		}
		if r.All && o.Status.Terminal() { // what it closed is closed: there is another position now
			continue
		}
		// One from the future is of a time before the clock was set back.
		if o.ClientOrderID == "" && age > -duplicateWindow && o.Symbol == r.Symbol && o.same(r) && o.By.sameClient(by) {
			return true
		}
	}
	return false
}
