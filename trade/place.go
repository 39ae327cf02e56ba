package trade

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"wick/limit"
)

// Place carries out an order request. When it returns without an error the
// order, and its fill if it could be filled at once, is on disk. A caller that
// hangs up does not stop it half way.
//
// The same ClientOrderID with the same arguments returns the first order, as
// it stands now, for ever; with other arguments it is refused.
func (e *Engine) Place(ctx context.Context, r OrderRequest) (Order, error) {
	if err := r.normalize(); err != nil {
		return Order{}, err
	}
	var err error
	if r.Symbol, err = e.symbol(r.Symbol); err != nil {
		return Order{}, err
	}
	if o, err := e.earlier(r); o != nil || err != nil {
		return o.answer(r), err
	}
	if err := e.refreshTrading(); err != nil {
		return Order{}, err
	}
	ctx = context.WithoutCancel(ctx)
	if err := e.ensure(ctx, r.Symbol); err != nil { // there must be a price to judge by
		return Order{}, err
	}
	asked, silent := e.watch.ask(ctx, r.Symbol)
	o, seq, err := e.accept(r, asked)
	if refusal := (*Refusal)(nil); silent != nil && isRefusal(err, "stale_price") && errors.As(err, &refusal) {
		refusal.Text += "; asking for a newer one failed: " + limit.Clip(silent.Error())
	}
	if err != nil || r.DryRun && o.ID == "" {
		return o.public(), err
	}
	return o.answer(r), e.commit(seq)
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

// earlier returns the order that r's id was used for, or nil. It waits until
// that order is on disk: the answer must not run ahead of the first one's.
func (e *Engine) earlier(r OrderRequest) (*Order, error) {
	e.mu.Lock()
	o, err := e.known(r)
	seq := e.ahead.seq
	e.mu.Unlock()
	if o == nil || err != nil {
		return nil, err
	}
	return o, e.commit(seq)
}

// known returns the order that bears r's client_order_id, or nil, and refuses one
// that was made by another request. No order bears the empty id. It is called
// with mu held.
func (e *Engine) known(r OrderRequest) (*Order, error) {
	if r.ClientOrderID == "" {
		return nil, nil
	}
	var o *Order
	if id, ok := e.ahead.clientIDs[r.ClientOrderID]; ok {
		o = e.ahead.order(id)
	} else if old, err := e.archived(clientKey(r.ClientOrderID)); err != nil {
		return nil, err
	} else {
		o = old
	}
	if o != nil && (!o.same(r) || !e.sameMarket(o.Symbol, r.Symbol)) {
		return nil, refuse("client_order_id_reused", fixIt, "client_order_id %q belongs to order %s (%s %s %s %s, %s); for another order choose another id",
			o.ClientOrderID, o.ID, o.Type, o.Side, o.Quantity, o.Symbol, o.Status)
	}
	return o, nil
}

// accept decides about r in one go: no other order comes between the check of a
// limit and its use. It returns the order and the sequence to commit. Asked says
// that the newest price is that of now, so that nothing was traded since.
func (e *Engine) accept(r OrderRequest, asked bool) (*Order, uint64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if o, err := e.known(r); o != nil || err != nil { // came in while we asked for prices
		return o, e.ahead.seq, err
	}
	at := now()
	q, err := e.watch.freshPrice(r.Symbol, at, e.options.MaxPriceAge, asked)
	if err != nil && !isRefusal(err, marketClosed) {
		return nil, 0, err
	}
	closed := err
	fill, err := e.paper.arrive(r, q.price)
	if err != nil {
		return nil, 0, err
	}
	if closed != nil && fill != 0 { // what rests can wait for the exchange to open
		return nil, 0, closed
	}
	if err := e.check(r, q.price, fill, at); err != nil {
		return nil, 0, err
	}
	arrival, err := e.paper.report(r.Quantity, fill)
	if err != nil {
		return nil, 0, err
	}
	arrival.mark = q
	ev, err := e.ahead.outcome(e.newOrder(r, at), arrival, at)
	if err != nil {
		return nil, 0, err
	}
	if r.DryRun {
		ev.Order.ID, ev.Order.Reason = "", "dry run: every check passed, no order was made"
		return ev.Order, 0, nil
	}
	e.rate.Take(at.Time, e.orderRate())
	if fill == 0 {
		ev.Seen = e.firstSeen(r.Symbol, "")
	}
	seq, err := e.propose(kindPlaced, ev)
	if err == nil && fill == 0 {
		e.arrived[ev.Order.ID] = at.UnixMilli()
		if asked {
			e.arrived[ev.Order.ID] = q.at
		}
	}
	return ev.Order, seq, err
}

// newOrder builds the order that r asks for, before any broker had it.
func (e *Engine) newOrder(r OrderRequest, at Time) *Order {
	o := &Order{
		ID: e.ahead.newID("o"), ClientOrderID: r.ClientOrderID, Symbol: r.Symbol, Side: r.Side, Type: r.Type,
		Quantity: r.Quantity, Status: StatusOpen, Broker: paperName, CreatedAt: at, By: r.Who.short(),
	}
	if r.Type == Limit {
		o.Price = &r.Price
	}
	return o
}

// CancelOrder cancels an open order for who. A second time is refused by a text
// that says it is done already.
func (e *Engine) CancelOrder(who Who, id string) (Order, error) {
	e.mu.Lock()
	o, seq := e.ahead.order(id), e.ahead.seq
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
	ev, err := e.ahead.outcome(o, report{status: StatusCancelled, filled: o.FilledQuantity, fee: o.Fee, reason: o.Reason}, now())
	if err == nil {
		ev.By = who.short()
		seq, err = e.propose(kindCancelled, ev)
		delete(e.arrived, id)
	}
	e.mu.Unlock()
	if err != nil {
		return Order{}, err
	}
	return ev.Order.public(), e.commit(seq)
}

// uncancellable says why the order called id, which is o, cannot be cancelled.
func uncancellable(o *Order, id string) *Refusal {
	if o == nil {
		return refuse("unknown_order", never, "no order has the id %q; get_orders lists them", limit.Clip(id))
	}
	return refuse("order_"+string(o.Status), never, "order %s is already %s", id, o.Status)
}

// Order returns the order with this order_id or client_order_id, however long ago
// it was, or refuses if there is none.
func (e *Engine) Order(id string) (Order, error) {
	e.mu.Lock()
	o := e.shown.order(id)
	if o == nil {
		o = e.shown.order(e.shown.clientIDs[id])
	}
	e.mu.Unlock()
	for _, key := range []string{orderKey(id), clientKey(id)} {
		if o != nil {
			break
		}
		var err error
		if o, err = e.archived(key); err != nil {
			return Order{}, err
		}
	}
	if o == nil {
		return Order{}, uncancellable(nil, id)
	}
	return o.public(), nil
}

// Orders returns the orders there are, oldest first; with openOnly those that
// may still be filled.
func (e *Engine) Orders(openOnly bool) []Order {
	e.mu.Lock()
	defer e.mu.Unlock()
	orders := make([]Order, 0, len(e.shown.orders))
	for _, o := range e.shown.orders {
		if !openOnly || !o.Status.Terminal() {
			orders = append(orders, o.public())
		}
	}
	return orders
}

// Positions returns the open positions by symbol, valued at the newest price.
func (e *Engine) Positions() []Position {
	return slices.DeleteFunc(e.AllPositions(), func(p Position) bool { return p.Quantity == 0 })
}

// AllPositions returns Positions and those that are closed, for what they
// realized.
func (e *Engine) AllPositions() []Position {
	e.mu.Lock()
	defer e.mu.Unlock()
	positions := []Position{}
	for _, symbol := range sorted(e.shown.holdings) {
		positions = append(positions, e.shown.holdings[symbol].show(symbol, paperName, e.watch.newest(symbol)))
	}
	return positions
}
