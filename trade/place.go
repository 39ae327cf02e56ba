package trade

import (
	"context"
	"slices"

	"wick/exact"
)

// Placed is an order that was placed, and what becomes of the other orders of its symbol.
type Placed struct {
	Order
	Ended []string `json:"ended,omitempty"`     // ids of the exits that end with the position, closed or turned around
	Left  []string `json:"left_open,omitempty"` // ids of the orders that stay open without a position, if it closes that
}

// Place is [Engine.PlaceOrder] for who needs the order alone.
func (e *Engine) Place(ctx context.Context, r OrderRequest) (Order, error) {
	p, err := e.PlaceOrder(ctx, r)
	return p.Order, err
}

// PlaceOrder carries out an order request. When it returns without an error the
// order, and its fill if it could be filled at once, is on disk. If the caller hangs
// up, PlaceOrder still finishes what it has begun.
//
// The same ClientOrderID with the same arguments returns the first order, as
// it stands now, for ever; with other arguments it is refused.
func (e *Engine) PlaceOrder(ctx context.Context, r OrderRequest) (Placed, error) {
	if err := r.normalize(); err != nil {
		return Placed{}, err
	}
	var err error
	if r.Symbol, err = e.symbol(r.Symbol); err != nil {
		return Placed{}, err
	}
	// A retry is answered before anything else is checked: limits and prices may have
	// changed since, the answer must not.
	if o, err := e.earlier(&r); o != nil || err != nil {
		return Placed{Order: o.answer(r)}, err
	}
	if err := r.checkExpiry(); err != nil { // a retry of an order that has expired got its answer above
		return Placed{}, err
	}
	if err := e.refreshTrading(); err != nil {
		return Placed{}, err
	}
	// From here on a client that hangs up leaves nothing half done.
	ctx = context.WithoutCancel(ctx)
	if err := e.ensure(ctx, r.Symbol); err != nil { // there must be a price to judge by
		return Placed{}, err
	}
	if e.venue != nil {
		o, err := e.placeLive(ctx, r)
		return Placed{Order: o}, err
	}
	e.learnGrid(ctx, r.Symbol)
	asked := e.watch.ask(ctx, r.Symbol)
	var p Placed
	err = e.Do(func(*state) (err error) {
		p, err = e.accept(r, asked)
		return err
	})
	if err != nil {
		return Placed{}, err
	}
	return p, nil
}

// accept decides about r in one go: no other order comes between the check of a
// limit and its use. It returns what clients see. Asked is what came of asking the source
// for the newest price just now. Called with mu held.
func (e *Engine) accept(r OrderRequest, asked inquiry) (Placed, error) {
	if o, err := e.known(r); o != nil || err != nil { // came in while we asked for prices
		return Placed{Order: o.answer(r)}, err
	}
	o, q, fill, err := e.draft(r, asked)
	if err == nil {
		err = e.check(r, o, q.price, fill, o.CreatedAt)
	}
	if err == nil {
		err = checkRests(o, r.OCO, fill, q.price)
	}
	if err != nil {
		return Placed{}, q.refusing(err)
	}
	at := o.CreatedAt
	ev, err := e.arrival(o, fill, q, at)
	if err != nil {
		return Placed{}, err
	}
	if r.OCO != (OCO{}) { // the stop beside the limit arrives with it
		ev.begin(ev.Order.partner(r.OCO))
	}
	// An order is judged on what is traded after it came. If the price was just asked
	// for, all that is traded after that price counts, unless the feed goes on from another.
	instant := at.UnixMilli()
	switch {
	case asked.gone != 0 && ev.Order.Status == StatusOpen:
		ev.Order.explain(because(priceGone, clock(asked.gone/1000)))
	case asked.answered && asked.gone == 0:
		instant = q.at
	}
	if r.DryRun {
		if ev.Order.Group == ev.Order.ID { // an order made later will have this id
			ev.Order.Group = ""
		}
		says := because(dryRun)
		if len(ev.Order.Why) > 0 { // why it would not be filled
			says = because(dryRunBut, ev.Order.words())
		}
		ev.Order.ID, ev.Order.Why = "", []Reason{says}
		return e.placed(ev), nil
	}
	e.rate.Take(at.Time, e.orderRate())
	err = e.proposePlaced(ev, instant)
	return e.placed(ev), err
}

// placed returns what clients see of a step by which an order was placed. Called with mu held.
func (d *desk) placed(ev *event) Placed {
	p := Placed{Order: ev.Order.public()}
	ends := []string{ev.Order.ID}
	for _, with := range ev.Ends {
		if ends = append(ends, with.ID); with.Code != replaced || ev.Order.Status == StatusCancelled { // then nothing takes its place
			p.Ended = append(p.Ended, with.ID)
		}
	}
	if ev.Holding == nil || ev.Holding.Quantity != 0 {
		return p
	}
	for _, id := range d.ahead.open[ev.Order.Symbol] {
		if !slices.Contains(ends, id) {
			p.Left = append(p.Left, id)
		}
	}
	return p
}

// arrival returns the step by which o comes into the book: filled at a price, or
// open, or cancelled at once. The order that it replaces ends in the same step.
func (d *desk) arrival(o *Order, fill exact.Decimal, q quote, at Time) (*event, error) {
	r, err := d.reportArrival(o, fill, q)
	if err != nil {
		return nil, err
	}
	r.mark = q
	ev, err := d.ahead.outcome(o, r, at)
	if err == nil && o.Replaces != "" {
		ev.end(d.ahead.order(o.Replaces), replaced)
	}
	return ev, err
}

// reportArrival returns what the paper broker does with o on arrival. If fill is not
// zero, the market has reached o, which is filled whole at that price. Otherwise it waits,
// or is cancelled if it may not.
func (d *desk) reportArrival(o *Order, fill exact.Decimal, q quote) (report, error) {
	switch {
	case fill != 0:
		return d.paper.report(StatusFilled, o.Quantity, fill, d.paper.feeRate)
	case o.TimeInForce == IOC || o.TimeInForce == FOK:
		return report{status: StatusCancelled, reason: because(notReached, string(o.TimeInForce), q.price.String())}, nil
	}
	return report{status: StatusOpen}, nil
}
