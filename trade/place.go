package trade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"wick/exact"
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

// arrival returns the step by which o comes into the book: filled at a price, or
// open, or cancelled at once. The order that it replaces ends with it.
func (e *Engine) arrival(o *Order, fill exact.Decimal, q quote, at Time) (*event, error) {
	if o.PostOnly && fill != 0 {
		return nil, refuse("post_only", fixIt, "the market at %s has reached the limit of %s, and a post_only order must not fill at once: choose a limit further away",
			q.price, *o.Price)
	}
	r, err := e.reportArrival(o, fill, q)
	if err != nil {
		return nil, err
	}
	r.mark = q
	ev, err := e.ahead.outcome(o, r, at)
	if err == nil && o.Replaces != "" {
		ev.end(e.ahead.order(o.Replaces), "replaced by "+o.ID)
	}
	return ev, err
}

// reportArrival returns what the paper broker does with o, which the market has
// reached if fill is not zero: it fills what the volume allows for. The rest waits,
// or ends if it may not.
func (e *Engine) reportArrival(o *Order, fill exact.Decimal, q quote) (report, error) {
	// available is what the volume of late still allows to be filled.
	size, hurried := e.available(o), o.TimeInForce == IOC || o.TimeInForce == FOK
	switch {
	case fill == 0 && hurried:
		return report{status: StatusCancelled, reason: fmt.Sprintf("%s: the market at %s has not reached the limit", o.TimeInForce, q.price)}, nil
	case fill == 0:
		return report{status: StatusOpen}, nil
	case size == 0 && !hurried:
		return report{status: StatusOpen, reason: "too little was traded lately, it waits for more"}, nil
	case size == o.Quantity:
		return e.paper.report(StatusFilled, size, fill, e.paper.feeRate)
	case size == 0 || o.TimeInForce == FOK:
		return report{status: StatusCancelled, reason: fmt.Sprintf("%s: too little was traded lately, %s could be filled", o.TimeInForce, size)}, nil
	case o.TimeInForce == IOC:
		r, err := e.paper.report(StatusCancelled, size, fill, e.paper.feeRate)
		r.reason = "ioc: too little was traded lately for the rest"
		return r, err
	}
	r, err := e.paper.report(StatusPartiallyFilled, size, fill, e.paper.feeRate)
	r.reason = tooLittle
	return r, err
}

// beside adds the stop of an OCO to the arrival of its limit. It refuses one that
// fills at once: the stop beside it would protect nothing.
func beside(ev *event, with OCO, fill, price exact.Decimal) error {
	switch {
	case with == OCO{}:
		return nil
	case fill != 0:
		return refuse("bad_oco", fixIt, "the market at %s has reached the limit of %s, which would fill at once and leave nothing for the stop beside it: "+
			"choose a limit further away, or leave oco out", price, *ev.Order.Price)
	}
	stop := ev.Order.partner(with)
	ev.put(stop)
	return checkCollar(stop, price)
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

// newOrder builds the order that r asks for when the market is at q, before any
// broker had it.
func (e *Engine) newOrder(r OrderRequest, q quote, at Time) (*Order, error) {
	o := &Order{
		ID: e.ahead.newID("o"), ClientOrderID: r.ClientOrderID, Symbol: r.Symbol, Side: r.Side, Type: r.Type,
		Quantity: r.Quantity, Status: StatusOpen, Broker: e.brokerName(), CreatedAt: at, By: r.Who.short(), Synthetic: q.synthetic,
		TrailAmount: r.TrailAmount, TrailPercent: r.TrailPercent, TimeInForce: r.TimeInForce, PostOnly: r.PostOnly, ReduceOnly: r.ReduceOnly || r.All,
		Notional: r.Notional, Replaces: r.Replaces, Asked: r.Asked(), Turn: e.ahead.seq + 1,
	}
	if r.Type.hasLimit() {
		o.Price = &r.Price
	}
	switch {
	case r.Type == TrailingStop:
		stop, ok := o.trailing(q.price, e.paper.grid(o.Symbol))
		if !ok {
			return nil, refuse("bad_trail", fixIt, "the distance is larger than the price %s; choose a smaller one", q.price)
		}
		o.StopPrice = &stop
	case r.Type.hasStop():
		o.StopPrice = &r.StopPrice
	}
	// The order of these steps matters: the quantity of an order by value needs its
	// price, and the exits need the price of the entry.
	if err := e.paper.grid(r.Symbol).checkGrid(r); err != nil {
		return nil, err
	}
	o.ExpiresAt = e.expiry(r, at)
	if err := e.size(o, r, q); err != nil {
		return nil, err
	}
	fill, err := e.paper.arrive(o, q)
	if err != nil {
		return nil, err
	}
	if err := e.exits(o, r, cmp.Or(fill, o.worst())); err != nil {
		return nil, err
	}
	return o, e.replace(o, r)
}

// Order returns the order with this order_id or client_order_id, however long ago
// it was, or refuses if there is none.
func (e *Engine) Order(id string) (Order, error) {
	e.mu.Lock()
	o := e.shown.order(id)
	if o == nil {
		o = e.shown.order(e.shown.clientIDs[id])
	}
	if o != nil {
		defer e.mu.Unlock()
		return e.shownOrder(o), nil
	}
	e.mu.Unlock()
	// Not in memory: the archive is read without the lock.
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

// Group returns the open orders whose group is the order called id, but for that
// one: its exits, or the stop beside it.
func (e *Engine) Group(id string) (members []Order) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if o := e.shown.order(id); o != nil {
		for _, m := range e.shown.mates(o, id) {
			members = append(members, e.shownOrder(m))
		}
	}
	return members
}

// OrderFilter says which orders are wanted. Zero fields want all.
type OrderFilter struct {
	Status       OrderStatus // open means all that can still be filled, filled all of which something was
	Symbol       string      // in any spelling
	Since, Until time.Time   // of the last change; Until is not included
	Client       *Who        // who placed them
}

// Find returns the orders that pass the filter, oldest first.
func (e *Engine) Find(f OrderFilter) ([]Order, error) {
	if f.Symbol != "" {
		var err error
		if f.Symbol, err = e.symbol(f.Symbol); err != nil {
			return nil, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	orders := []Order{}
	for _, o := range e.shown.orders {
		if f.passes(o) {
			orders = append(orders, e.shownOrder(o))
		}
	}
	for _, o := range e.externalOrders() {
		if f.passes(&o) {
			orders = append(orders, o)
		}
	}
	return orders, nil
}

// hasStatus reports whether o is one of those that f.Status names. One that was
// filled in part and then cancelled is found by both words.
func (f OrderFilter) hasStatus(o *Order) bool {
	switch f.Status {
	case "":
		return true
	case StatusOpen:
		return !o.Status.Terminal()
	case StatusFilled:
		return o.FilledQuantity > 0
	}
	return o.Status == f.Status
}

// passes reports whether the filter wants o.
func (f OrderFilter) passes(o *Order) bool {
	switch {
	case !f.hasStatus(o),
		f.Symbol != "" && o.Symbol != f.Symbol,
		!f.Since.IsZero() && o.UpdatedAt.Before(f.Since),
		!f.Until.IsZero() && !o.UpdatedAt.Before(f.Until):
		return false
	}
	return f.Client == nil || o.By.sameClient(f.Client.short())
}

// Orders returns the orders there are, oldest first; with openOnly those that
// may still be filled.
func (e *Engine) Orders(openOnly bool) []Order {
	e.mu.Lock()
	defer e.mu.Unlock()
	orders := make([]Order, 0, len(e.shown.orders))
	for _, o := range e.shown.orders {
		if !openOnly || !o.Status.Terminal() {
			orders = append(orders, e.shownOrder(o))
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
		positions = append(positions, e.valued(e.shown.holdings[symbol].show(symbol, e.brokerName(), e.watch.newest(symbol))))
	}
	return positions
}
