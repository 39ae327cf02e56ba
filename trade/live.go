package trade

import (
	"cmp"
	"context"
	"errors"
	"time"

	"wick/broker"
	"wick/exact"
	"wick/limit"
)

// placeLive is Place for a broker elsewhere, from the point where there is a price:
// all limits are checked, the intent to send the order is written to disk, the order
// is sent once, and what came of it is written down. If the answer is lost the order
// is open with a reason that says so, until the broker has been asked what became
// of it. Nothing here is sent a second time by itself: that is the client's decision,
// under the same client_order_id.
func (e *Engine) placeLive(ctx context.Context, r OrderRequest) (Order, error) {
	rules, err := e.venue.Rules(ctx, r.Symbol)
	if err != nil {
		return Order{}, notSent(err)
	}
	asked := e.watch.ask(ctx, r.Symbol)
	// The intent is on disk before the order is sent, so that the broker can have no
	// order of ours that this book does not know.
	var o *Order
	var wire broker.Order
	err = e.Do(func(*state) (err error) {
		o, wire, err = e.intend(r, rules, asked)
		return err
	})
	switch {
	case err != nil: // also if the journal is broken: nothing is sent any more
		return Order{}, err
	case r.DryRun && o.ID == "":
		return o.public(), nil
	case wire.ClientID == "": // the same order came in while we asked for prices
		return o.answer(r), nil
	}
	return e.send(ctx, wire)
}

// notSent returns the refusal of an order that the broker's rules do not allow, or whose
// rules could not be had.
func notSent(err error) error {
	if no := (*broker.Refused)(nil); errors.As(err, &no) {
		return refuse("broker_rule", "%s", no.Text)
	}
	return refuse("broker_not_ready", "the broker could not be asked for its rules; nothing was sent: %s", limit.Line(err.Error(), 200))
}

// intend decides about r and proposes the intent to send it. It returns the order and what
// to send. If there is nothing to send, because the order was there before or this is a dry
// run, what to send has no ClientID. Called with mu held.
func (e *Engine) intend(r OrderRequest, rules broker.Rules, asked inquiry) (*Order, broker.Order, error) {
	var none broker.Order
	if o, err := e.known(r); o != nil || err != nil {
		return o, none, err
	}
	// The price at which it would be filled on arrival is estimated as on paper; the
	// broker decides what is filled.
	o, q, fill, err := e.draft(r, asked)
	if err != nil {
		return nil, none, err
	}
	at := o.CreatedAt
	if err := e.checkLive(r, o, q.price, fill, at); err != nil {
		return nil, none, err
	}
	// The broker's day ends by its own calendar.
	if o.TimeInForce == Day && !rules.DayEnd.IsZero() {
		o.ExpiresAt = &Time{rules.DayEnd}
	}
	wire := e.toSend(o, r, rules, fill)
	if o.StopLoss != nil && wire.StopLoss == 0 || o.TakeProfit != nil && wire.TakeProfit == 0 {
		return nil, none, refuse("bad_exit", "an exit would be at less than %s, the step of prices at %s; choose a smaller distance", rules.Tick(0), e.venue.name)
	}
	if err := rules.Check(wire); err != nil {
		return nil, none, notSent(err)
	}
	if r.DryRun {
		o.ID, o.Why = "", []Reason{because(dryRunLive)}
		if fill != 0 {
			o.AveragePrice = &fill // shown to the person who has to approve it
		}
		return o, none, nil
	}
	// The order is counted and noted as being sent in the same lock of mu in which the
	// intent is proposed, so that a report that is read meanwhile does not take it for lost.
	e.rate.Take(at.Time, e.orderRate())
	o.UpdatedAt, o.Why = at, []Reason{because(sending)}
	if err := e.propose(kindIntent, &event{At: at, Order: o}); err != nil {
		return nil, none, err
	}
	e.venue.doubts[o.ID] = &doubt{sending: true}
	return o, wire, nil
}

// checkLive refuses o if it is over any limit there is on paper, if what is known of the
// broker does not allow it, or if it asks for what a broker elsewhere cannot do. Called with
// mu held.
func (e *Engine) checkLive(r OrderRequest, o *Order, price, fill exact.Decimal, at Time) error {
	size, fits := e.ahead.pending(o)
	reduces := fits && shrinks(e.owned(o.Symbol), size)
	if err := e.venue.barred(reduces || o.cut()); err != nil {
		return err
	}
	if err := e.check(r, o, price, fill, at); err != nil {
		return err
	}
	if err := e.checkUnderWay(o); err != nil {
		return err
	}
	o.ExpiresAt = nil // the broker ends it, by its own calendar
	// The buying power must suffice at the highest of all prices, also that of the stop of
	// an oco; an order that only shrinks the position needs none.
	worst := max(r.worst(o, price, fill), price)
	need, ok := o.Quantity.Times(worst, exact.Up)
	old := e.ahead.order(o.Replaces)
	switch power := e.venue.report.Account.BuyingPower; {
	case o.PostOnly:
		return refuse("broker_rule", "%s knows no post_only", e.venue.name)
	case r.ReduceOnly && o.Type != Market && o.Role == "":
		return refuse("broker_rule", "%s knows no reduce_only for orders that wait: use type market, or leave it out", e.venue.name)
	case o.TimeInForce == GTD:
		return refuse("broker_rule", "%s knows no time_in_force gtd: use day or gtc", e.venue.name)
	case old != nil && (old.BrokerID == "" || old.FilledQuantity != 0):
		return later.refuse("broker_rule", "order %s is not known to %s yet, or filled in part, and cannot be replaced: cancel it and place another", old.ID, e.venue.name)
	case old != nil && (old.Side != o.Side || old.Type != o.Type):
		return refuse("broker_rule", "%s can change the prices and the quantity of an order, not its side or type: cancel it and place another", e.venue.name)
	case !reduces && !o.cut() && (!ok || need > power):
		most, _ := exact.Product(max(power, 0), exact.One).Per(worst)
		most, _ = most.Step(e.paper.grid(o.Symbol).Lot, exact.Down)
		return refuse("buying_power", "the order is worth %s and the account at %s can spend %s; %s", need, e.venue.name, power, o.atMost(most))
	}
	return nil
}

// checkUnderWay refuses a reduce_only order if not all of it would reduce what market orders
// of its side leave of the position, which are at the broker and whose fills are not known
// yet. On paper a fill is cut to what is left; a broker fills all of it. Called with mu held.
func (e *Engine) checkUnderWay(o *Order) error {
	if !o.cut() {
		return nil
	}
	held, closing := e.closable(o.Symbol), exact.Decimal(0)
	for _, id := range e.ahead.open[o.Symbol] {
		if other := e.ahead.order(id); other.Side == o.Side && other.Type == Market {
			closing += other.remaining().Abs()
		}
	}
	left := max(held.Abs()-closing, 0)
	if o.Quantity <= left {
		return nil
	}
	return later.refuse("reduce_only", "the position in %s is %s, and market orders that are under way %s %s of it: at most %s more reduces it; get_orders says when they are filled",
		o.Symbol, held, o.Side, closing, left)
}

// toSend returns o as it is sent. Fill is the price at which it would be filled at
// once, zero if it waits. Exits that were given as a distance are sent as the prices that
// follow from it now, on the broker's step of prices. It makes o one of a group if it has
// an oco.
func (e *Engine) toSend(o *Order, r OrderRequest, rules broker.Rules, fill exact.Decimal) broker.Order {
	w := o.wire()
	w.Short = o.Side == Sell && o.Quantity > e.owned(o.Symbol)
	w.Reduces = o.ReduceOnly || shrinks(e.owned(o.Symbol), o.remaining())
	entry := cmp.Or(fill, o.worst())
	// exit returns the price of an exit, 0 for none. A price that was given stays as it
	// is; one that was worked out is rounded down to the broker's step, and may be 0 then.
	exit := func(x *Exit, role Role) exact.Decimal {
		if x == nil {
			return 0
		}
		at, _ := x.at(entry, (o.Side == Buy) == (role == RoleTakeProfit)) // or 0
		if x.Price == 0 {
			at -= at % rules.Tick(at)
		}
		return at
	}
	w.StopLoss, w.TakeProfit = exit(o.StopLoss, RoleStopLoss), exit(o.TakeProfit, RoleTakeProfit)
	if w.OCOStop, w.OCOLimit = r.OCO.StopPrice, r.OCO.Price; w.OCOStop != 0 {
		o.Group, o.Role = o.ID, RoleOCO
	}
	if old := e.ahead.order(o.Replaces); old != nil {
		w.Replaces = old.BrokerID
	}
	return w
}

// send sends an order whose intent is on disk, and writes down what came of it.
func (e *Engine) send(ctx context.Context, w broker.Order) (Order, error) {
	e.mu.Lock()
	// An intent that waited too long for the disk is not sent: another process may
	// already count it as never sent.
	age := now().Sub(e.ahead.order(w.ClientID).CreatedAt.Time)
	e.mu.Unlock()
	var s broker.State
	var err error = &broker.Refused{Text: "nothing was sent: to write it down took longer than " + sendWithin.String()}
	// The lock is not held while the broker is asked. Its stream may report the order
	// before the answer comes.
	if age < sendWithin {
		s, err = e.venue.Submit(ctx, w)
	}
	sure := false
	wrote := e.Do(func(*state) (failed error) {
		sure, failed = e.answered(w.ClientID, s, err)
		return failed
	})
	// The account is read soon if the answer does not tell everything.
	if err != nil || !sure || w.Replaces != "" {
		e.venue.soon()
	}
	if wrote != nil {
		return Order{}, wrote
	}
	e.sweep(w.ClientID)
	return e.Order(w.ClientID)
}

// answered proposes what follows from the answer to an order that was sent: a state to
// learn from, a refusal that ends the order, or no answer, which leaves it open and in
// doubt. It returns whether the answer told everything. Called with mu held.
func (e *Engine) answered(id string, s broker.State, lost error) (sure bool, err error) {
	o, sure := e.ahead.order(id), true
	switch no := (*broker.Refused)(nil); {
	case o.Status.Terminal(): // the stream was faster
	case lost == nil:
		sure, err = e.learn(id, s)
	case errors.As(lost, &no) && o.Unknown():
		err = e.restate(o, StatusRejected, because(brokerRefused, no.Text))
	case o.Unknown():
		e.log.Warn("the broker's answer to an order is lost", "order", id, "error", limit.Line(lost.Error(), 200))
		err = e.restate(o, o.Status, because(answerLost, limit.Line(lost.Error(), 120)))
	}
	delete(e.venue.doubts, id)
	if e.ahead.order(id).Unknown() {
		e.venue.doubts[id] = &doubt{ended: time.Now()}
	}
	return sure, err
}
