package trade

import (
	"cmp"
	"context"
	"errors"
	"time"

	"wick/broker"
	"wick/internal/exact"
	"wick/internal/limit"
	"wick/trade/book"
)

// liveVenue is a broker elsewhere as a venue. What is known of the account there is in
// Engine.remote; only its number, and what the owner has accepted of it, is in the journal: a
// new process reads the rest from the broker before it sends anything.
type liveVenue struct {
	*Engine
	broker  Broker
	deadMan time.Duration
	kick    chan struct{} // asks for a reconciliation soon

	orders    map[string]*sent // what this process knows of orders beyond the book; guarded by mu, like lastEvent
	lastEvent string           // id of the last event of the stream
}

// sent is what this process knows of an order that was sent, or is about to be, beyond the
// book.
type sent struct {
	sending bool      // the request is still to be sent, or under way
	ended   time.Time // when the request was given up
	misses  int       // how often the broker has answered that it does not know the order
	found   time.Time // when the broker, asked for the order, first knew it; zero for never
	behind  bool      // the broker has told of fills that the book could not count yet
	swept   bool      // it was on its way when the owner had every order of the account cancelled
	asked   bool      // somebody asked for its cancel
	cancels book.Code // why wick cancels it of its own accord: deadMan, nothingLeft, or empty
}

// newLive returns the venue of o for e.
func newLive(e *Engine, o *VenueOptions) *liveVenue {
	e.book.Remote = book.Remote{Name: o.Name, Account: o.Account, Closed: "the orders and positions at " + o.Name + " have not been read yet"}
	e.remote = remoteAccount{changedAt: time.Now(), born: time.Now(), late: make(map[string]int)}
	return &liveVenue{Engine: e, broker: o.Broker, deadMan: o.DeadMan, kick: make(chan struct{}, 1), orders: make(map[string]*sent)}
}

// Money is that of the broker.
func (v *liveVenue) Money() Money { return v.broker.Money() }

// of returns what is known of o beyond the book. An order that an earlier process sent, or was
// about to, was given up at the latest moment at which it could be sent. Called with mu held.
func (v *liveVenue) of(o *book.Order) *sent {
	if v.orders[o.ID] == nil {
		v.orders[o.ID] = &sent{ended: o.CreatedAt.Add(sendWithin)}
	}
	return v.orders[o.ID]
}

// forget drops what is known beyond the book of an order that has ended. One that may arrive
// all the same is still to be swept then. Called with mu held.
func (v *liveVenue) forget(o *book.Order) {
	if x := v.orders[o.ID]; x != nil && x.swept && o.BrokerID == "" {
		*x = sent{ended: x.ended, swept: true}
		return
	}
	delete(v.orders, o.ID)
}

// soon asks for a reconciliation and does not wait for it. If one was asked for already,
// it does nothing.
func (v *liveVenue) soon() {
	select {
	case v.kick <- struct{}{}:
	default:
	}
}

// prepare returns the rules that the broker has for orders in a symbol now.
func (v *liveVenue) prepare(ctx context.Context, symbol string) (broker.Rules, error) {
	rules, err := v.broker.Rules(ctx, symbol)
	if err != nil {
		return rules, notSent(err)
	}
	return rules, nil
}

// notSent returns the refusal of an order that the broker's rules do not allow, or whose
// rules could not be had.
func notSent(err error) error {
	if no := (*broker.Refused)(nil); errors.As(err, &no) {
		return book.Refuse("broker_rule", "%s", no.Text)
	}
	return book.Refuse("broker_not_ready", "the broker could not be asked for its rules; nothing was sent: %s", limit.Line(err.Error(), 200))
}

// arrive checks all limits, as on paper, and those of the broker. The step is the intent to
// send the order: what is filled of it the broker decides, and fill is an estimate.
func (v *liveVenue) arrive(r book.OrderRequest, o *book.Order, q book.Quote, fill exact.Decimal, rules broker.Rules) (a arrival, err error) {
	if err := v.admit(r, o, q.Price, fill); err != nil {
		return a, err
	}
	// The broker's day ends by its own clock.
	if o.ExpiresAt = nil; o.TimeInForce == book.Day {
		o.ExpiresAt = &book.Time{Time: rules.DayEnd}
	}
	a.wire = v.toSend(o, r, rules, fill)
	if o.StopLoss != nil && a.wire.StopLoss == 0 || o.TakeProfit != nil && a.wire.TakeProfit == 0 {
		return a, book.Refuse("bad_exit", "an exit would be at less than %s, the step of prices at %s; choose a smaller distance", rules.Tick(0), v.book.Remote.Name)
	}
	if err := rules.Check(a.wire); err != nil {
		return a, notSent(err)
	}
	o.UpdatedAt = o.CreatedAt
	if r.DryRun && fill != 0 {
		o.AveragePrice = &fill // shown to the person who has to approve it
	}
	a.Event = &book.Event{At: o.CreatedAt, Order: o}
	return a, nil
}

// enter proposes the intent to send the order. It is noted as being sent in the same lock of
// mu, so that a report that is read meanwhile does not take it for lost.
func (v *liveVenue) enter(a arrival) error {
	a.Order.Why = []book.Reason{book.Because(book.Sending)}
	err := v.book.Propose(book.KindIntent, a.Event)
	if err == nil {
		v.of(a.Order).sending = true
	}
	return err
}

// admit refuses o if it is over any limit there is on paper, if what is known of the
// broker does not allow it, or if it asks for what a broker elsewhere cannot do. Called with
// mu held.
func (v *liveVenue) admit(r book.OrderRequest, o *book.Order, price, fill exact.Decimal) error {
	size, fits := v.book.Pending(o)
	reduces := fits && book.Shrinks(v.book.Owned(o.Symbol), size)
	// An order that only shrinks a position is allowed even if book and broker differ, because
	// the owner must be able to get out.
	switch out, differs := reduces || o.Cut(), v.book.Remote.Differs; {
	case v.book.Remote.Closed != "":
		return book.Refuse("broker_not_ready", "no order is sent to %s: %s", v.book.Remote.Name, v.book.Remote.Closed)
	case len(differs) > 0 && !out:
		return book.Refuse("broker_differs", "%s holds %s of %s and this book's fills come to %s: until the owner has looked at it (wick accept-positions) only orders that shrink a position are sent; %s",
			v.book.Remote.Name, differs[0].Broker, differs[0].Symbol, differs[0].Book, book.Grows)
	case len(v.remote.late) > 0 && !out:
		return book.Refuse("broker_differs", "%s has an order that this book had given up: until the owner has looked at it only orders that shrink a position are sent; %s", v.book.Remote.Name, book.Grows)
	}
	if err := v.book.Check(r, o, price, fill, o.CreatedAt); err != nil {
		return err
	}
	if err := v.checkUnderWay(o); err != nil {
		return err
	}
	// The buying power must suffice at the highest of all prices, also that of the stop of
	// an oco; an order that only shrinks the position needs none.
	worst := max(book.Worst(r, o, price, fill), price)
	need, ok := o.Quantity.Times(worst, exact.Up)
	old := v.book.Order(o.Replaces)
	switch power := v.remote.report.Account.BuyingPower; {
	case o.PostOnly:
		return book.Refuse("broker_rule", "%s knows no post_only", v.book.Remote.Name)
	case r.ReduceOnly && o.Type != book.Market && o.Role == "":
		return book.Refuse("broker_rule", "%s knows no reduce_only for orders that wait: use type market, or leave it out", v.book.Remote.Name)
	case o.TimeInForce == book.GTD:
		return book.Refuse("broker_rule", "%s knows no time_in_force gtd: use day or gtc", v.book.Remote.Name)
	case old != nil && (old.BrokerID == "" || old.FilledQuantity != 0):
		return book.Later.Refuse("broker_rule", "order %s is not known to %s yet, or filled in part, and cannot be replaced: cancel it and place another", old.ID, v.book.Remote.Name)
	case old != nil && (old.Side != o.Side || old.Type != o.Type):
		return book.Refuse("broker_rule", "%s can change the prices and the quantity of an order, not its side or type: cancel it and place another", v.book.Remote.Name)
	case !reduces && !o.Cut() && (!ok || need > power):
		most, _ := exact.Product(max(power, 0), exact.One).Per(worst)
		most, _ = most.Step(v.book.Grid(o.Symbol).Lot, exact.Down)
		return book.Refuse("buying_power", "the order is worth %s and the account at %s can spend %s; %s", need, v.book.Remote.Name, power, o.AtMost(most))
	}
	return nil
}

// checkUnderWay refuses a reduce_only order if not all of it would reduce what market orders
// of its side leave of the position, which are at the broker and whose fills are not known
// yet. On paper a fill is cut to what is left; a broker fills all of it. Called with mu held.
func (v *liveVenue) checkUnderWay(o *book.Order) error {
	if !o.Cut() {
		return nil
	}
	held, closing := v.book.Closable(o.Symbol), exact.Decimal(0)
	for _, other := range v.book.Open[o.Symbol] {
		if other.Side == o.Side && other.Type == book.Market {
			closing += other.Remaining().Abs()
		}
	}
	left := max(held.Abs()-closing, 0)
	if o.Quantity <= left {
		return nil
	}
	return book.Later.Refuse("reduce_only", "the position in %s is %s, and market orders that are under way %s %s of it: at most %s more reduces it; get_orders says when they are filled",
		o.Symbol, held, o.Side, closing, left)
}

// wire returns o as an order of package broker, under our own id as its ClientID.
func wire(o *book.Order) broker.Order {
	w := broker.Order{
		ClientID: o.ID, ID: o.BrokerID, Symbol: o.Symbol, Side: string(o.Side), Type: string(o.Type), TimeInForce: string(cmp.Or(o.TimeInForce, book.GTC)), Quantity: o.Quantity,
		TrailAmount: o.TrailAmount, TrailPercent: o.TrailPercent,
	}
	if o.Price != nil {
		w.Limit = *o.Price
	}
	if o.StopPrice != nil && o.Type != book.TrailingStop {
		w.Stop = *o.StopPrice
	}
	return w
}

// toSend returns o as it is sent. Fill is the price at which it would be filled at
// once, zero if it waits. Exits that were given as a distance are sent as the prices that
// follow from it now, on the broker's step of prices. It makes o one of a group if it has
// an oco.
func (v *liveVenue) toSend(o *book.Order, r book.OrderRequest, rules broker.Rules, fill exact.Decimal) broker.Order {
	w := wire(o)
	w.Short = o.Side == book.Sell && o.Quantity > v.book.Owned(o.Symbol)
	w.Reduces = o.ReduceOnly || book.Shrinks(v.book.Owned(o.Symbol), o.Remaining())
	entry := cmp.Or(fill, o.Worst())
	// exit returns the price of an exit, 0 for none. A price that was given stays as it
	// is; one that was worked out is rounded down to the broker's step, and may be 0 then.
	exit := func(x *book.Exit, role book.Role) exact.Decimal {
		if x == nil {
			return 0
		}
		at, _ := x.At(entry, (o.Side == book.Buy) == (role == book.RoleTakeProfit)) // or 0
		if x.Price == 0 {
			at -= at % rules.Tick(at)
		}
		return at
	}
	w.StopLoss, w.TakeProfit = exit(o.StopLoss, book.RoleStopLoss), exit(o.TakeProfit, book.RoleTakeProfit)
	if w.OCOStop, w.OCOLimit = r.OCO.StopPrice, r.OCO.Price; w.OCOStop != 0 {
		o.Group, o.Role = o.ID, book.RoleOCO
	}
	if old := v.book.Order(o.Replaces); old != nil {
		w.Replaces = old.BrokerID
	}
	return w
}

// sendWithin is how old an intent may be when it is sent. A later process does not
// know when an order was sent, but by this bound it knows the latest moment.
const sendWithin = 30 * time.Second

// submit sends an order whose intent is on disk, once, and writes down what came of it. If
// the answer is lost the order is open with a reason that says so, until the broker has been
// asked what became of it. Nothing is sent a second time by itself: that is the client's
// decision, under the same client_order_id.
func (v *liveVenue) submit(ctx context.Context, p book.Placed, a arrival) (book.Placed, error) {
	w := a.wire
	v.mu.Lock()
	// An intent that waited too long for the disk is not sent: another process may
	// already count it as never sent.
	age := now().Sub(v.book.Order(w.ClientID).CreatedAt.Time)
	v.mu.Unlock()
	var s broker.State
	var err error = &broker.Refused{Text: "nothing was sent: to write it down took longer than " + sendWithin.String()}
	// The lock is not held while the broker is asked. Its stream may report the order
	// before the answer comes.
	if age < sendWithin {
		s, err = v.broker.Submit(ctx, w)
	}
	sure := true
	wrote := v.Do(func(*book.State) (wrong error) {
		sure, wrong = v.answered(w.ClientID, s, err)
		return wrong
	})
	// The account is read soon if the answer does not tell everything.
	if err != nil || !sure || w.Replaces != "" {
		v.soon()
	}
	if wrote != nil {
		return book.Placed{}, wrote
	}
	v.sweep(w.ClientID)
	p.Order, err = v.Order(w.ClientID)
	return p, err
}

// answered proposes what follows from the answer to an order that was sent: a state to
// learn from, a refusal that ends the order, or no answer, which leaves it open and in
// doubt. It returns whether the answer told everything. Called with mu held.
func (v *liveVenue) answered(id string, s broker.State, lost error) (sure bool, err error) {
	o, sure := v.book.Order(id), true
	switch no := (*broker.Refused)(nil); {
	case o.Status.Terminal(): // the stream was faster
	case lost == nil:
		sure, err = v.learn(id, s)
	case errors.As(lost, &no) && o.Unknown():
		err = v.restate(o, book.StatusRejected, book.Because(book.BrokerRefused, no.Text))
	case o.Unknown():
		v.log.Warn("the broker's answer to an order is lost", "order", id, "error", limit.Line(lost.Error(), 200))
		err = v.restate(o, o.Status, book.Because(book.AnswerLost, limit.Line(lost.Error(), 120)))
	}
	if x := v.orders[id]; x != nil { // it is still open
		x.sending, x.ended = false, time.Now()
	}
	return sure, err
}

// reach does nothing: the prices of the feed fill no order at a broker.
func (v *liveVenue) reach(book.Tick, int64, book.Time) error { return nil }
