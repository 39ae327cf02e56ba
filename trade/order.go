package trade

import (
	"context"
	"wick/exact"
	"wick/limit"
)

// Side is the direction of an order.
type Side string

// The sides.
const (
	Buy  Side = "buy"
	Sell Side = "sell"
)

// OrderType says at which price an order may be filled.
type OrderType string

// The order types.
const (
	Market OrderType = "market" // at once, at the market's price
	Limit  OrderType = "limit"  // at the given price or a better one, now or later
)

// OrderStatus is where an order stands.
type OrderStatus string

// The statuses. The last three are for ever.
const (
	StatusOpen            OrderStatus = "open"
	StatusPartiallyFilled OrderStatus = "partially_filled" // real brokers only
	StatusFilled          OrderStatus = "filled"
	StatusCancelled       OrderStatus = "cancelled"
	StatusRejected        OrderStatus = "rejected" // the broker would not have it
)

// Terminal reports whether s never changes again.
func (s OrderStatus) Terminal() bool {
	return s == StatusFilled || s == StatusCancelled || s == StatusRejected
}

// Order is an order and what became of it.
type Order struct {
	ID             string         `json:"order_id"`
	ClientOrderID  string         `json:"client_order_id"`
	Symbol         string         `json:"symbol"`
	Side           Side           `json:"side"`
	Type           OrderType      `json:"type"`
	Quantity       exact.Decimal  `json:"quantity"`
	Price          *exact.Decimal `json:"price"` // the limit; null for market orders
	Status         OrderStatus    `json:"status"`
	FilledQuantity exact.Decimal  `json:"filled_quantity"`
	AveragePrice   *exact.Decimal `json:"average_price"` // null before a fill
	Fee            exact.Decimal  `json:"fee"`           // in the quote currency
	Broker         string         `json:"broker"`
	CreatedAt      Time           `json:"created_at"`
	UpdatedAt      Time           `json:"updated_at"`
	Reason         string         `json:"reason"`
}

// remaining returns the signed quantity that may still be filled.
func (o *Order) remaining() exact.Decimal { return o.Side.sign(o.Quantity - o.FilledQuantity) }

func (s Side) sign(quantity exact.Decimal) exact.Decimal {
	if s == Sell {
		return -quantity
	}
	return quantity
}

// OrderRequest asks for an order.
type OrderRequest struct {
	Caller        string // who asks; near-duplicates are judged per caller
	Symbol        string
	Side          Side
	Type          OrderType
	Quantity      exact.Decimal
	Price         exact.Decimal // of limit orders; zero means none
	ClientOrderID string        // may be empty
	DryRun        bool          // check and say what would happen, but do nothing
}

func (r OrderRequest) signed() exact.Decimal { return r.Side.sign(r.Quantity) }

// shrinks reports whether r can only bring a position of q closer to zero.
func (r OrderRequest) shrinks(q exact.Decimal) bool {
	return q != 0 && (q > 0) == (r.Side == Sell) && r.Quantity <= q.Abs()
}

// same reports whether o was made by a request equal to r.
func (o *Order) same(r OrderRequest) bool {
	var price exact.Decimal
	if o.Price != nil {
		price = *o.Price
	}
	return o.Symbol == r.Symbol && o.Side == r.Side && o.Type == r.Type && o.Quantity == r.Quantity && price == r.Price
}

// Place carries out an order request. When it returns without an error the
// order, and its fill if it could be filled at once, is on disk. A caller that
// hangs up does not stop it half way.
//
// The same ClientOrderID with the same arguments returns the first order, as
// it stands now, for ever; with other arguments it is refused.
func (e *Engine) Place(ctx context.Context, r OrderRequest) (Order, error) {
	ctx = context.WithoutCancel(ctx)
	if err := r.normalize(); err != nil {
		return Order{}, err
	}
	if o, err := e.earlier(r); o != nil || err != nil {
		return orZero(o), err
	}
	if err := e.refreshTrading(); err != nil {
		return Order{}, err
	}
	if err := e.ensure(ctx, r.Symbol); err != nil {
		return Order{}, err
	}
	o, seq, made, err := e.accept(r)
	if err != nil || r.DryRun {
		return orZero(o), err
	}
	if err := e.commit(seq); err != nil {
		return Order{}, err
	}
	if made && e.options.Broker != nil {
		return e.send(ctx, o)
	}
	return *o, nil
}

func orZero(o *Order) Order {
	if o == nil {
		return Order{}
	}
	return *o
}

// earlier returns the order that r's id was used for, or nil. It waits until
// that order is on disk: the answer must not run ahead of the first one's.
func (e *Engine) earlier(r OrderRequest) (*Order, error) {
	if r.ClientOrderID == "" {
		return nil, nil
	}
	e.mu.Lock()
	o := e.knownOrder(r.ClientOrderID)
	seq := e.ahead.seq
	e.mu.Unlock()
	if o == nil {
		return nil, nil
	}
	if !o.same(r) {
		return nil, reused(o)
	}
	return o, e.commit(seq)
}

func reused(o *Order) error {
	return refuse("client_order_id_reused", fixIt, "client_order_id %q belongs to order %s (%s %s %s %s, %s); for another order choose another id",
		o.ClientOrderID, o.ID, o.Type, o.Side, o.Quantity, o.Symbol, o.Status)
}

// knownOrder finds the order that bears a client_order_id; no order bears the
// empty one. Called with mu held.
func (e *Engine) knownOrder(clientID string) *Order {
	if id, ok := e.ahead.clientIDs[clientID]; ok {
		return e.ahead.order(id)
	}
	return e.archive.ids[clientID]
}

// accept judges r and, unless it is a dry run, takes the step. It returns the
// order, the sequence to commit, and whether this call made the order: of two
// at once with one client_order_id only one may send it to a broker.
func (e *Engine) accept(r OrderRequest) (o *Order, seq uint64, made bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if o := e.knownOrder(r.ClientOrderID); o != nil { // came in while we asked for prices
		if !o.same(r) {
			return nil, 0, false, reused(o)
		}
		return o, e.ahead.seq, false, nil
	}
	if e.options.Broker != nil && !e.answered {
		return nil, 0, false, refuse("starting", later, "the broker is being asked about earlier orders; wait a few seconds")
	}
	at := now()
	ev, err := e.judgeOrder(r, at)
	if err != nil {
		return nil, 0, false, err
	}
	if r.DryRun {
		return ev.Order, 0, false, nil
	}
	e.rate.take(at)
	if r.ClientOrderID == "" {
		e.recent.add(r, at)
	}
	k := kindPlaced
	if e.options.Broker != nil {
		k = kindIntent
	}
	seq, err = e.propose(k, ev)
	return ev.Order, seq, true, err
}

// judgeOrder returns what r would do, or why it may not. Called with mu held.
func (e *Engine) judgeOrder(r OrderRequest, at Time) (*event, error) {
	q, err := e.freshQuote(r.Symbol, at)
	if err != nil {
		return nil, err
	}
	fill, err := e.execute(r, q.price)
	if err != nil {
		return nil, err
	}
	if err := e.check(r, q, fill, at); err != nil {
		return nil, err
	}
	return e.orderEvent(r, fill, at)
}

// orderEvent builds the order that r makes and the holding after its fill.
func (e *Engine) orderEvent(r OrderRequest, fill execution, at Time) (*event, error) {
	o := &Order{
		ID: e.newID("o"), ClientOrderID: r.ClientOrderID, Symbol: r.Symbol, Side: r.Side, Type: r.Type,
		Quantity: r.Quantity, Status: StatusOpen, Broker: e.brokerName(), CreatedAt: at, UpdatedAt: at,
	}
	if r.Type == Limit {
		o.Price = &r.Price
	}
	ev := &event{At: at, Order: o}
	switch {
	case r.DryRun:
		o.ID = ""
		o.Reason = "dry run: every check passed, no order was made"
	case e.options.Broker != nil:
		o.Reason = outcomeUnknown
	}
	if !fill.now {
		return ev, nil
	}
	return ev, e.fillWhole(ev, fill.price)
}

// fillWhole fills the order of ev and sets the holding it leads to.
func (e *Engine) fillWhole(ev *event, price exact.Decimal) error {
	o := ev.Order
	fee, err := e.fee(o.Quantity, price)
	if err != nil {
		return err
	}
	h, err := e.ahead.holdings[o.Symbol].fill(o.remaining(), price, fee)
	if err != nil {
		return refuse("out_of_range", fixIt, "%v; lower the quantity", err)
	}
	o.Status, o.FilledQuantity, o.AveragePrice, o.Fee = StatusFilled, o.Quantity, &price, fee
	ev.Holding = &h
	return nil
}

// CancelOrder cancels an open order. A second time is refused by a text that
// says it is done already.
func (e *Engine) CancelOrder(ctx context.Context, _, id string) (Order, error) {
	e.mu.Lock()
	o, seq := e.ahead.order(id), e.ahead.seq
	if o == nil || o.Status.Terminal() {
		e.mu.Unlock()
		return orZero(o), e.refuseAfter(seq, uncancellable(o, id))
	}
	if e.options.Broker != nil {
		e.mu.Unlock()
		return e.recall(context.WithoutCancel(ctx), o)
	}
	c := *o
	c.Status, c.UpdatedAt = StatusCancelled, now()
	seq, err := e.propose(kindCancelled, &event{At: c.UpdatedAt, Order: &c})
	e.mu.Unlock()
	if err != nil {
		return Order{}, err
	}
	return c, e.commit(seq)
}

func uncancellable(o *Order, id string) *Refusal {
	if o == nil {
		return refuse("unknown_order", never, "no order has the id %q; get_orders lists them", limit.Clip(id))
	}
	return refuse("order_"+string(o.Status), never, "order %s is already %s", id, o.Status)
}

// refuseAfter answers with a refusal once the steps it rests on are on disk:
// "it is filled" must not be said of a fill that a crash could undo.
func (e *Engine) refuseAfter(seq uint64, r *Refusal) error {
	if err := e.commit(seq); err != nil {
		return err
	}
	return r
}

// Orders returns the orders there are, oldest first; with openOnly those that
// may still be filled.
func (e *Engine) Orders(openOnly bool) []Order {
	e.mu.Lock()
	defer e.mu.Unlock()
	orders := make([]Order, 0, len(e.shown.orders))
	for _, o := range e.shown.orders {
		if !openOnly || !o.Status.Terminal() {
			orders = append(orders, *o)
		}
	}
	return orders
}

// Positions returns the open positions by symbol, valued at the newest price.
func (e *Engine) Positions() []Position {
	e.mu.Lock()
	defer e.mu.Unlock()
	positions := []Position{}
	for _, symbol := range sorted(e.shown.holdings) {
		if h := e.shown.holdings[symbol]; h.Quantity != 0 {
			positions = append(positions, h.show(symbol, e.brokerName(), e.mark(symbol)))
		}
	}
	return positions
}
