package trade

import (
	"context"
	"slices"

	"wick/broker"
	"wick/trade/book"
)

// Placed is an order that was placed, and what becomes of the other orders of its symbol.
type Placed struct {
	book.Order
	Ended []string `json:"ended,omitempty"`     // ids of the exits that end with the position, closed or turned around
	Left  []string `json:"left_open,omitempty"` // ids of the orders that stay open without a position, if it closes that
}

// Place is [Engine.PlaceOrder] for who needs the order alone.
func (e *Engine) Place(ctx context.Context, r book.OrderRequest) (book.Order, error) {
	p, err := e.PlaceOrder(ctx, r)
	return p.Order, err
}

// PlaceOrder carries out an order request. When it returns without an error the
// order, and its fill if it could be filled at once, is on disk. If the caller hangs
// up, PlaceOrder still finishes what it has begun.
//
// The same ClientOrderID with the same arguments returns the first order, as
// it stands now, for ever; with other arguments it is refused.
func (e *Engine) PlaceOrder(ctx context.Context, r book.OrderRequest) (Placed, error) {
	if err := r.Normalize(); err != nil {
		return Placed{}, err
	}
	var err error
	if r.Symbol, err = e.symbol(r.Symbol); err != nil {
		return Placed{}, err
	}
	// A retry is answered before anything else is checked: limits and prices may have
	// changed since, the answer must not.
	if o, err := e.earlier(&r); o != nil || err != nil {
		return Placed{Order: o.Answer(r)}, err
	}
	if err := r.CheckExpiry(now()); err != nil { // a retry of an order that has expired got its answer above
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
	e.learnGrid(ctx, r.Symbol)
	rules, err := e.venue.prepare(ctx, r.Symbol)
	if err != nil {
		return Placed{}, err
	}
	asked := e.watch.ask(ctx, r.Symbol)
	var p Placed
	var a arrival
	err = e.Do(func(*book.State) (err error) {
		p, a, err = e.accept(r, asked, rules)
		return err
	})
	if err != nil {
		return Placed{}, err
	}
	if a.Event == nil { // it was there before, or this is a dry run
		return p, nil
	}
	// The arrival is on disk before the order is sent anywhere, so that a broker can have no
	// order of ours that this book does not know.
	return e.venue.submit(ctx, p, a)
}

// accept decides about r in one go: no other order comes between the check of a
// limit and its use. It returns what clients see, and the arrival of the order if it is new.
// Asked is what came of asking the source for the newest price just now. Called with mu held.
func (e *Engine) accept(r book.OrderRequest, asked inquiry, rules broker.Rules) (p Placed, a arrival, err error) {
	if o, err := e.known(r); o != nil || err != nil { // came in while we asked for prices
		return Placed{Order: o.Answer(r)}, a, err
	}
	o, q, fill, err := e.draft(r, asked)
	if err == nil {
		a, err = e.venue.arrive(r, o, q, fill, rules)
	}
	if err != nil {
		return p, arrival{}, q.Refusing(err)
	}
	at, ev := o.CreatedAt, a.Event
	// An order is judged on what is traded after it came. If the price was just asked
	// for, all that is traded after that price counts, unless the feed goes on from another.
	a.instant = at.UnixMilli()
	switch {
	case asked.gone != 0 && ev.Order.Status == book.StatusOpen:
		ev.Order.Explain(book.Because(book.PriceGone, book.Clock(asked.gone/1000)))
	case asked.answered && asked.gone == 0:
		a.instant = q.At
	}
	if r.DryRun {
		if ev.Order.Group == ev.Order.ID { // an order made later will have this id
			ev.Order.Group = ""
		}
		says := book.Because(book.DryRun)
		if len(ev.Order.Why) > 0 { // why it would not be filled
			says = book.Because(book.DryRunBut, ev.Order.Words())
		}
		ev.Order.ID, ev.Order.Why = "", []book.Reason{says}
		return e.placed(ev), arrival{}, nil
	}
	e.rate.Take(at.Time, e.orderRate())
	err = e.venue.enter(a)
	return e.placed(ev), a, err
}

// placed returns what clients see of a step by which an order was placed. Called with mu held.
func (d *desk) placed(ev *book.Event) Placed {
	p := Placed{Order: ev.Order.Public()}
	ends := []string{ev.Order.ID}
	for _, with := range ev.Ends {
		if ends = append(ends, with.ID); with.Code != book.Replaced || ev.Order.Status == book.StatusCancelled { // then nothing takes its place
			p.Ended = append(p.Ended, with.ID)
		}
	}
	if ev.Holding == nil || ev.Holding.Quantity != 0 {
		return p
	}
	for _, id := range d.ahead.Open[ev.Order.Symbol] {
		if !slices.Contains(ends, id) {
			p.Left = append(p.Left, id)
		}
	}
	return p
}
