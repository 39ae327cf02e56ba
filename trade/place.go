package trade

import (
	"context"
	"errors"
	"fmt"

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
	// A retry is answered before anything else is checked: limits and prices may have
	// changed since, the answer must not.
	if o, err := e.earlier(&r); o != nil || err != nil {
		return o.answer(r), err
	}
	if err := r.checkExpiry(); err != nil { // a retry of an order that has expired got its answer above
		return Order{}, err
	}
	if err := e.refreshTrading(); err != nil {
		return Order{}, err
	}
	// From here on nothing is left half done because a client hung up.
	ctx = context.WithoutCancel(ctx)
	if err := e.ensure(ctx, r.Symbol); err != nil { // there must be a price to judge by
		return Order{}, err
	}
	if e.venue != nil {
		return e.placeLive(ctx, r)
	}
	e.learnGrid(ctx, r.Symbol)
	asked, silent := e.watch.ask(ctx, r.Symbol)
	o, seq, err := e.accept(r, asked)
	// Why there is no newer price is known here only, and belongs to the refusal of an
	// old one.
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

// known is earlier with mu held, after that found nothing. An order that came
// since is in memory, unless the archive has grown meanwhile.
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
	// An exchange that is closed refuses only what would fill now, which is not known
	// yet.
	q, closed := e.watch.freshPrice(r.Symbol, at, e.options.MaxPriceAge, asked)
	if closed != nil && !isRefusal(closed, marketClosed) {
		return nil, 0, closed
	}
	o, err := e.newOrder(r, q, at)
	if err != nil {
		return nil, 0, err
	}
	fill, err := e.paper.arrive(o, q)
	if err != nil {
		return nil, 0, err
	}
	if closed != nil && fill != 0 { // what rests can wait for the exchange to open
		return nil, 0, closed
	}
	if err := e.check(r, o, q.price, fill, at); err != nil {
		return nil, 0, err
	}
	// The limits allow it. The step itself may still refuse a post_only or an oco; a
	// dry run ends when it is known.
	ev, err := e.arrival(o, fill, q, at)
	if err != nil {
		return nil, 0, err
	}
	if err := beside(ev, r.OCO, fill, q.price); err != nil {
		return nil, 0, err
	}
	if r.DryRun {
		ev.Order.ID, ev.Order.Reason = "", "dry run: every check passed, no order was made"
		return ev.Order, 0, nil
	}
	e.rate.Take(at.Time, e.orderRate())
	// An order is judged on what is traded after it came. If the price was just asked
	// for, that is since the price.
	instant := at.UnixMilli()
	if asked {
		instant = q.at
	}
	seq, err := e.place(ev, instant)
	return ev.Order, seq, err
}

// place proposes the arrival of an order, which came at an instant in unix
// milliseconds. Called with mu held.
func (e *Engine) place(ev *event, instant int64) (uint64, error) {
	// The orders that begin are found before the step is applied, when they are not
	// there yet.
	begins := e.begins(ev)
	if !ev.Order.Status.Terminal() {
		ev.Seen = e.firstSeen(ev.Order.Symbol, "")
	}
	e.settleStops(ev.Also...)
	seq, err := e.propose(kindPlaced, ev)
	if err == nil {
		e.took(ev, nil)
		e.arrive(ev, begins, instant)
	}
	return seq, err
}
