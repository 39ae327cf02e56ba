package trade

import (
	"fmt"
	"slices"
	"time"

	"wick/broker"
	"wick/exact"
	"wick/limit"
)

// What a broker says of an order comes in several ways: as the answer to a request,
// by the stream, and in a report. It may come twice, late and in any order. All of
// it goes through learn, which can take that: what was filled in all only grows, so that by
// it the newer of two states is known, and an order that has ended stays ended, unless it
// had been given up and the broker has it after all.

// legsPatience is how long the broker may leave out the legs of an order after it has first
// answered for the order.
const legsPatience = time.Minute

// isOf reports whether s can be a state of o: symbol, side and quantity never change.
func (o *Order) isOf(s broker.State) bool {
	return broker.Key(s.Symbol) == broker.Key(o.Symbol) && s.Side == string(o.Side) && s.Quantity == o.Quantity
}

// described returns in words an order that the broker has by the id of another.
func described(s broker.State) string {
	return limit.Line(fmt.Sprintf("%s %s %s", s.Side, s.Quantity, s.Symbol), 60)
}

// noteAnother proposes that the outcome of o is unknown, because s has its id and is not o. It
// may be somebody else's order, or o with a mistake in what was said of it: the broker is
// asked, see giveUp. Called with mu held.
func (e *Engine) noteAnother(o *Order, s broker.State) error {
	reason := because(otherByID, e.venue.name, described(s))
	if len(o.Why) > 0 && o.Why[0].equal(reason) {
		return nil
	}
	e.log.Error("the broker says something else of the id of an order of this book", "order", o.ID, "side", limit.Clip(s.Side), "quantity", s.Quantity.String(), "symbol", s.Symbol)
	return e.restate(o, o.Status, reason)
}

// openOrders returns all open orders, by symbol and in the order of acceptance.
func (s *state) openOrders() (orders []*Order) {
	for _, symbol := range sorted(s.open) {
		for _, id := range s.open[symbol] {
			orders = append(orders, s.order(id))
		}
	}
	return orders
}

// learn takes what the broker says of the order called id and proposes the steps that
// follow. It returns whether the book has all of it now. If something is missing, sure is
// false, and the order stays open and is asked about again. Called with mu held.
func (e *Engine) learn(id string, s broker.State) (sure bool, err error) {
	o := e.ahead.order(id)
	if o != nil && o.Status.Terminal() && e.noteLate(o, s) {
		if err := e.restate(o, StatusOpen, because(turnedUp)); err != nil {
			return false, err
		}
		o = e.ahead.order(id)
	}
	switch {
	case o == nil:
		return true, nil
	case o.Status.Terminal():
		return true, e.noteTaken(o, s)
	case o.BrokerID == "" && !o.isOf(s):
		return false, e.noteAnother(o, s)
	case e.lacksLegs(o, s):
		if d := e.venue.doubts[id]; d == nil || d.found.IsZero() || time.Since(d.found) < legsPatience {
			return false, nil
		}
		e.log.Error("the broker names no orders beside one that must have some", "order", id)
		if err := e.restate(o, o.Status, because(noLegs)); err != nil {
			return false, err
		}
		o = e.ahead.order(id)
	}
	switch {
	case s.Filled > o.FilledQuantity && s.Average <= 0: // nobody knows yet what was paid
		return false, nil
	case s.Filled < o.FilledQuantity && s.Status == broker.Open: // older than what is known, or the broker took something back
		return false, nil
	}
	return true, e.settleLive(o, s)
}

// noteLate notes that the broker still has, or has filled more of, an order that ended in
// the book. It reports whether the order had been given up and is open again; otherwise the
// positions will show what comes of it. Somebody else's order with the same id does not
// count. Called with mu held.
func (e *Engine) noteLate(o *Order, s broker.State) (again bool) {
	if o.BrokerID == "" && !o.isOf(s) {
		return false
	}
	if s.Filled <= o.FilledQuantity && (s.Status != broker.Open || o.BrokerID != "") {
		return false
	}
	e.venue.late[o.ID]++
	e.log.Error("the broker has an order that this book had given up", "order", o.ID, "filled", s.Filled.String())
	return o.BrokerID == "" && o.endedWithin(lateWithin)
}

// noteTaken proposes a reason of o, which has ended, if the broker took back or corrected
// what was filled. The book keeps what it counted, and the positions will show the
// difference. A state that is not final is an old one. Called with mu held.
func (e *Engine) noteTaken(o *Order, s broker.State) error {
	if s.Status == broker.Open || !o.endedWithin(lateWithin) || !o.takenBy(s) {
		return nil
	}
	after := *o
	after.explain(o.reasonBy(s))
	if after.sameWhy(o) {
		return nil
	}
	e.logTaken(o, s)
	return e.restate(o, o.Status, o.reasonBy(s))
}

// logTaken logs that the broker took back or corrected what was filled of o.
func (e *Engine) logTaken(o *Order, s broker.State) {
	e.log.Error("the broker took back or corrected what was filled", "order", o.ID, "filled", o.FilledQuantity.String(), "left", s.Filled.String(), "average", s.Average.String())
}

// takenBy reports whether by s, which is no older than what is known, the broker took back
// or corrected what was filled of o.
func (o *Order) takenBy(s broker.State) bool { return s.Filled < o.FilledQuantity || o.isCorrected(s) }

// isCorrected reports whether the average price of what was filled of o is another one by s.
func (o *Order) isCorrected(s broker.State) bool {
	return s.Filled == o.FilledQuantity && s.Filled > 0 && s.Average > 0 && (s.Average-*o.AveragePrice).Abs() >= rounding(s.Average)
}

// rounding returns by how much an average price is off that is not just rounded: by a cent, or
// a hundredth of a price below a dollar. As far as is known Alpaca tells averages to six
// decimals, so that less than the last of them is never too much.
func rounding(price exact.Decimal) exact.Decimal {
	return max(min(exact.One, price)/100, exact.One/1_000_000)
}

// reasonBy returns the reason that o has by s, besides those that last.
func (o *Order) reasonBy(s broker.State) Reason {
	switch {
	case s.Filled < o.FilledQuantity:
		return because(tookBack, s.Word, (o.FilledQuantity - s.Filled).String(), o.FilledQuantity.String())
	case o.isCorrected(s):
		return because(corrected, s.Average.String())
	}
	// The broker's own word is kept where it says more than the status does.
	switch s.Word {
	case "new", "accepted", "partially_filled", "filled", "canceled":
		return Reason{}
	}
	if s.Status == broker.Open && (o.has(turnedUp) || o.has(noLegs)) {
		return Reason{}
	}
	return because(brokerSays, s.Word)
}

// lacksLegs reports whether o must have orders beside it at the broker, its legs, that
// neither the book nor s knows. Nothing is learnt of o without them, until they have been
// asked for in vain: once o has ended, nobody would ask for them any more. Called with mu
// held.
func (e *Engine) lacksLegs(o *Order, s broker.State) bool {
	wanted := o.StopLoss != nil || o.TakeProfit != nil || o.Role == RoleOCO && o.Group == o.ID
	if !wanted || o.has(noLegs) || len(s.Legs) > 0 || s.Status == broker.Rejected {
		return false
	}
	for _, suffix := range []string{"-sl", "-tp", "-oco"} {
		if e.ahead.order(o.ID+suffix) != nil {
			return false
		}
	}
	return true
}

// doubt returns what is known about the sending of the order called id, or nil if its outcome
// is known. Called with mu held.
func (e *Engine) doubt(id string) *doubt {
	o := e.ahead.order(id)
	if o == nil || !o.Unknown() {
		return nil
	}
	if e.venue.doubts[id] == nil { // an earlier process sent it, or was about to
		e.venue.doubts[id] = &doubt{ended: o.CreatedAt.Add(sendWithin)}
	}
	return e.venue.doubts[id]
}

// tellLive is tell for an order at a broker, which is told of once, at its end. Called with
// mu held.
func (e *Engine) tellLive(k kind, ev *event) {
	id := ev.Order.ID
	if ev.Order.Status.Terminal() {
		e.tell(k, ev, e.venue.asked[id])
		delete(e.venue.asked, id)
		delete(e.venue.idle, id)
	}
}

// settleLive proposes what o is by s, if anything is new: the status, and what was filled
// in all at which average. Called with mu held. No fee is counted: what the broker takes
// shows in its own account.
func (e *Engine) settleLive(o *Order, s broker.State) error {
	after, k := *o, kindAnswered
	after.BrokerID, after.UpdatedAt = s.ID, now()
	after.explain(o.reasonBy(s))
	ev := &event{At: after.UpdatedAt, Order: &after}
	if !after.sameWhy(o) && o.takenBy(s) { // if something was taken back, the positions will show the difference
		e.logTaken(o, s)
	}
	if s.Filled > o.FilledQuantity {
		if err := e.fillLive(ev, o, s); err != nil {
			return err
		}
		k = kindFilled
	}
	switch s.Status {
	case broker.Filled: // perhaps less than was ordered, and the broker says that it is all
		after.Status, k = StatusFilled, kindFilled
	case broker.Cancelled:
		after.Status, k = StatusCancelled, kindCancelled
		switch {
		case len(after.Why) > 0:
		case e.venue.released[o.ID]:
			after.explain(because(deadMan))
		case e.venue.idle[o.ID]:
			after.explain(because(nothingLeft))
		}
	case broker.Rejected:
		after.Status, k = StatusRejected, kindOrderRejected
	}
	e.adoptLegs(ev, s)
	if ev.Holding == nil && o.Status == after.Status && o.BrokerID == after.BrokerID && after.sameWhy(o) && len(ev.Begin) == 0 {
		return nil
	}
	delete(e.venue.doubts, o.ID)
	if s.Filled >= o.FilledQuantity { // otherwise nobody knows what is left of it
		e.tellLive(k, ev)
	}
	err := e.propose(k, ev)
	return err
}

// fillLive puts into ev, a step of o, what s has filled beyond o. The total and the average
// price are the broker's. Called with mu held.
func (e *Engine) fillLive(ev *event, o *Order, s broker.State) error {
	exits := slices.ContainsFunc(e.ahead.open[o.Symbol], func(id string) bool { return e.ahead.order(id).ReduceOnly })
	if o.Unknown() || e.unsettled(o.Symbol) || exits { // this may be what the report had, or leave exits that are too large
		e.venue.soon()
	}
	// What was paid in all, less what was paid before, is what was paid for the rest.
	more, price := s.Filled-o.FilledQuantity, s.Average
	if o.AveragePrice != nil {
		rest := minus(exact.Product(s.Filled, s.Average), exact.Product(o.FilledQuantity, *o.AveragePrice))
		if paid, ok := rest.Per(more); ok && paid > 0 {
			price = paid
		}
	}
	h, err := e.ahead.holdings[o.Symbol].fill(o.Side.sign(more), price, 0)
	if err != nil {
		return err
	}
	after, at := ev.Order, Time{s.UpdatedAt.UTC().Truncate(time.Millisecond)}
	after.FilledQuantity, after.AveragePrice, after.PriceAt, after.Source, ev.Holding = s.Filled, &s.Average, &at, e.venue.name, &h
	after.Status = StatusPartiallyFilled
	if s.Filled >= o.Quantity {
		after.Status = StatusFilled
	}
	return nil
}

// adoptLegs adds to ev the legs: orders that the broker made beside the one of s and that
// the book does not know yet. Legs that the book knows of an order that was replaced stay
// with that order. Called with mu held. Their ids are made from the parent's, so that a leg
// that comes twice, by the stream and in a report, is the same order.
func (e *Engine) adoptLegs(ev *event, s broker.State) {
	parent := ev.Order
	for _, leg := range s.Legs {
		if e.ahead.brokerIDs[leg.ID] != "" || leg.Limit == 0 && leg.Stop == 0 {
			continue
		}
		o := &Order{
			ID: parent.ID + "-tp", Symbol: parent.Symbol, Side: Side(leg.Side), Type: Limit, Quantity: leg.Quantity, Status: StatusOpen, Broker: parent.Broker,
			Account: parent.Account, BrokerID: leg.ID, CreatedAt: parent.CreatedAt, By: parent.By, ReduceOnly: true, Group: parent.ID, Role: RoleTakeProfit, Turn: e.ahead.seq + 1, TimeInForce: parent.TimeInForce,
			Why: []Reason{because(brokerSays, leg.Word)},
		}
		// By its prices a leg is a stop_limit, a stop, or else a take profit.
		limitPrice, stop := leg.Limit, leg.Stop
		switch {
		case stop != 0 && limitPrice != 0:
			o.ID, o.Type, o.Role, o.StopPrice, o.Price = parent.ID+"-sl", StopLimit, RoleStopLoss, &stop, &limitPrice
		case stop != 0:
			o.ID, o.Type, o.Role, o.StopPrice = parent.ID+"-sl", Stop, RoleStopLoss, &stop
		default:
			o.Price = &limitPrice
		}
		if leg.Side == string(parent.Side) { // the other order of an oco, and not an exit
			o.ID, o.Role = parent.ID+"-oco", RoleOCO
			parent.Group, parent.Role = parent.ID, RoleOCO
		}
		if e.ahead.order(o.ID) == nil {
			ev.begin(o)
			parent.Why = slices.DeleteFunc(slices.Clone(parent.Why), func(r Reason) bool { return r.Code == noLegs })
		}
	}
}

// ours returns the order of this book that s is about, open or not, or nil. It looks for
// our own id first, because the broker's id of an order is not known if the answer was
// lost. Called with mu held.
func (e *Engine) ours(s broker.State) *Order {
	if o := e.ahead.order(s.ClientID); o != nil && o.Account != "" && (o.BrokerID == s.ID || o.BrokerID == "" && (o.isOf(s) || !o.Status.Terminal())) {
		return o
	}
	return e.ahead.order(e.ahead.brokerIDs[s.ID])
}

// heard takes an event of the stream. If it does not fit what is known, or is of an order
// that is to be swept, the account is read soon.
func (e *Engine) heard(event broker.Event) {
	e.mu.Lock()
	e.venue.lastEvent = event.ID
	o := e.ours(event.State)
	swept := o != nil && e.venue.swept[o.ID]
	e.mu.Unlock()
	if o != nil && !e.writeLearnt(o.ID, event.State) || swept { // somebody else's order is listed by the next report, if it is open
		e.venue.soon()
	}
}

// learnAnswer takes a state of the order called id that the broker was asked for, and reports
// whether the book has all of it now.
func (e *Engine) learnAnswer(id string, s broker.State) bool {
	e.mu.Lock()
	if d := e.doubt(id); d != nil && d.found.IsZero() && e.ahead.order(id).isOf(s) {
		d.found = time.Now()
	}
	e.mu.Unlock()
	return e.writeLearnt(id, s)
}

// writeLearnt writes down what follows from a state of the order called id, and reports
// whether the book has all of it now.
func (e *Engine) writeLearnt(id string, s broker.State) bool {
	var sure bool
	err := e.Do(func(*state) (err error) {
		sure, err = e.learn(id, s)
		return err
	})
	if err != nil {
		e.log.Error("what the broker told could not be written down", "order", id, "error", limit.Line(err.Error(), 200))
	}
	return sure && err == nil
}

const (
	// unknownPatience is how long an order may still arrive at the broker after its
	// request was given up: longer than any request lives, on either side. Only a
	// "not known" that comes later is believed, and only twice in a row.
	unknownPatience = time.Minute
	// sendWithin is how old an intent may be when it is sent. A later process does not
	// know when an order was sent, but by this bound it knows the latest moment.
	sendWithin = 30 * time.Second
	// differPatience is how long orders in doubt may explain a difference of positions.
	// It is longer than any doubt that ends by itself.
	differPatience = 3 * time.Minute
)

// restate proposes a status of o, which may be the one it has, with a new reason and
// without a fill. Called with mu held.
func (e *Engine) restate(o *Order, status OrderStatus, reason Reason) error {
	after := *o
	after.Status, after.UpdatedAt = status, now()
	after.explain(reason)
	ev := &event{At: after.UpdatedAt, Order: &after}
	if status.Terminal() && !o.Status.Terminal() {
		d := e.venue.doubts[o.ID]
		e.tell(kindAnswered, ev, d != nil && d.sending) // who placed it waits for the answer
	}
	if status.Terminal() {
		delete(e.venue.doubts, o.ID)
	}
	err := e.propose(kindAnswered, ev)
	return err
}
