package trade

import (
	"fmt"
	"slices"
	"time"

	"wick/broker"
	"wick/internal/exact"
	"wick/internal/limit"
	"wick/trade/book"
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
func isOf(o *book.Order, s broker.State) bool {
	return broker.Key(s.Symbol) == broker.Key(o.Symbol) && s.Side == string(o.Side) && s.Quantity == o.Quantity
}

// described returns in words an order that the broker has by the id of another.
func described(s broker.State) string {
	return limit.Line(fmt.Sprintf("%s %s %s", s.Side, s.Quantity, s.Symbol), 60)
}

// openOrders returns all open orders, by symbol and in the order of acceptance.
func openOrders(s *book.State) (orders []*book.Order) {
	for _, symbol := range sorted(s.Open) {
		orders = append(orders, s.Open[symbol]...)
	}
	return orders
}

// ours returns the order of this book that s is about, open or not, or nil. It looks for
// our own id first, because the broker's id of an order is not known if the answer was
// lost. Called with mu held.
func (v *liveVenue) ours(s broker.State) *book.Order {
	if o := v.book.Order(s.ClientID); o != nil && o.Account != "" && (o.BrokerID == s.ID || o.BrokerID == "" && (isOf(o, s) || !o.Status.Terminal())) {
		return o
	}
	return v.book.Order(v.book.BrokerIDs[s.ID])
}

// heard takes an event of the stream. If it does not fit what is known, or is of an order
// that is to be swept, the account is read soon.
func (v *liveVenue) heard(event broker.Event) {
	v.mu.Lock()
	v.lastEvent = event.ID
	o := v.ours(event.State)
	swept := o != nil && v.orders[o.ID] != nil && v.orders[o.ID].swept
	v.mu.Unlock()
	if o != nil && !v.writeLearnt(o.ID, event.State) || swept { // somebody else's order is listed by the next report, if it is open
		v.soon()
	}
}

// learnAnswer takes a state of the order called id that the broker was asked for, and reports
// whether the book has all of it now.
func (v *liveVenue) learnAnswer(id string, s broker.State) bool {
	v.mu.Lock()
	if o := v.book.Order(id); o != nil && o.Unknown() && isOf(o, s) && v.of(o).found.IsZero() {
		v.of(o).found = time.Now()
	}
	v.mu.Unlock()
	return v.writeLearnt(id, s)
}

// writeLearnt writes down what follows from a state of the order called id, and reports
// whether the book has all of it now.
func (v *liveVenue) writeLearnt(id string, s broker.State) bool {
	var sure bool
	err := v.Do(func(*book.State) (err error) { // also if somebody else has learnt it first: the caller reads what is on disk
		sure, err = v.learn(id, s)
		return err
	})
	if err != nil {
		v.log.Error("what the broker told could not be written down", "order", id, "error", limit.Line(err.Error(), 200))
	}
	return sure && err == nil
}

// learn takes what the broker says of the order called id and proposes the steps that
// follow. It returns whether the book has all of it now. If something is missing, sure is
// false, and the order stays open and is asked about again. Called with mu held.
func (v *liveVenue) learn(id string, s broker.State) (sure bool, err error) {
	o := v.book.Order(id)
	if o == nil {
		return true, nil
	}
	defer func() {
		if o := v.book.Order(id); !o.Status.Terminal() {
			v.of(o).behind = !sure && s.Filled > o.FilledQuantity
		}
	}()
	if o.Status.Terminal() && v.noteLate(o, s) {
		if err := v.restate(o, book.StatusOpen, book.Because(book.TurnedUp)); err != nil {
			return false, err
		}
		o = v.book.Order(id)
	}
	switch another := book.Because(book.OtherByID, v.book.Remote.Name, described(s)); {
	case o.Status.Terminal():
		// The book keeps what it counted, and the positions will show the difference. A state
		// that is not final is an old one.
		if s.Status == broker.Open || !o.EndedWithin(book.LateWithin) || !takenBy(o, s) || len(o.Why) > 0 && o.Why[0].Equal(reasonBy(o, s)) {
			return true, nil
		}
		v.logTaken(o, s)
		return true, v.restate(o, o.Status, reasonBy(o, s))
	case o.BrokerID == "" && !isOf(o, s):
		// It may be somebody else's order, or o with a mistake in what was said of it: the broker
		// is asked, see giveUp.
		if len(o.Why) > 0 && o.Why[0].Equal(another) {
			return false, nil
		}
		v.log.Error("the broker says something else of the id of an order of this book", "order", o.ID, "side", limit.Clip(s.Side), "quantity", s.Quantity.String(), "symbol", s.Symbol)
		return false, v.restate(o, o.Status, another)
	case v.lacksLegs(o, s):
		// Nothing is learnt of it without them, until they have been asked for in vain: once it has
		// ended, nobody would ask for them any more.
		if found := v.of(o).found; found.IsZero() || time.Since(found) < legsPatience {
			return false, nil
		}
		v.log.Error("the broker names no orders beside one that must have some", "order", id)
		if err := v.restate(o, o.Status, book.Because(book.NoLegs)); err != nil {
			return false, err
		}
		o = v.book.Order(id)
	}
	switch {
	case s.Filled > o.FilledQuantity && s.Average <= 0: // nobody knows yet what was paid
		return false, nil
	case s.Filled < o.FilledQuantity && s.Status == broker.Open: // older than what is known, or the broker took something back
		return false, nil
	}
	return true, v.settleOrder(o, s)
}

// noteLate notes that the broker still has, or has filled more of, an order that ended in
// the book. It reports whether the order had been given up and is open again; otherwise the
// positions will show what comes of it. Somebody else's order with the same id does not
// count. Called with mu held.
func (v *liveVenue) noteLate(o *book.Order, s broker.State) (again bool) {
	if o.BrokerID == "" && !isOf(o, s) {
		return false
	}
	if s.Filled <= o.FilledQuantity && (s.Status != broker.Open || o.BrokerID != "") {
		return false
	}
	v.remote.late[o.ID]++
	v.log.Error("the broker has an order that this book had given up", "order", o.ID, "filled", s.Filled.String())
	return o.BrokerID == "" && o.EndedWithin(book.LateWithin)
}

// logTaken logs that the broker took back or corrected what was filled of o.
func (v *liveVenue) logTaken(o *book.Order, s broker.State) {
	v.log.Error("the broker took back or corrected what was filled", "order", o.ID, "filled", o.FilledQuantity.String(), "left", s.Filled.String(), "average", s.Average.String())
}

// takenBy reports whether by s, which is no older than what is known, the broker took back
// or corrected what was filled of o.
func takenBy(o *book.Order, s broker.State) bool {
	return s.Filled < o.FilledQuantity || isCorrected(o, s)
}

// isCorrected reports whether the average price of what was filled of o is another one by s,
// and not just rounded: by a cent or more, or a hundredth of a price below a dollar. As far as
// is known Alpaca tells averages to six decimals, so that less than the last of them is never
// too much.
func isCorrected(o *book.Order, s broker.State) bool {
	rounding := max(min(exact.One, s.Average)/100, exact.One/1_000_000)
	return s.Filled == o.FilledQuantity && s.Filled > 0 && s.Average > 0 && (s.Average-*o.AveragePrice).Abs() >= rounding
}

// reasonBy returns the reason that o has by s, besides those that last.
func reasonBy(o *book.Order, s broker.State) book.Reason {
	switch {
	case s.Filled < o.FilledQuantity:
		return book.Because(book.TookBack, s.Word, (o.FilledQuantity - s.Filled).String(), o.FilledQuantity.String())
	case isCorrected(o, s):
		return book.Because(book.Corrected, s.Average.String())
	}
	// The broker's own word is kept where it says more than the status does.
	switch s.Word {
	case "new", "accepted", "partially_filled", "filled", "canceled":
		return book.Reason{}
	}
	if s.Status == broker.Open && (o.Has(book.TurnedUp) || o.Has(book.NoLegs)) {
		return book.Reason{}
	}
	return book.Because(book.BrokerSays, s.Word)
}

// lacksLegs reports whether o must have orders beside it at the broker, its legs, that
// neither the book nor s knows. Called with mu held.
func (v *liveVenue) lacksLegs(o *book.Order, s broker.State) bool {
	wanted := o.StopLoss != nil || o.TakeProfit != nil || o.Role == book.RoleOCO && o.Group == o.ID
	if !wanted || o.Has(book.NoLegs) || len(s.Legs) > 0 || s.Status == broker.Rejected {
		return false
	}
	for _, suffix := range []string{"-sl", "-tp", "-oco"} {
		if v.book.Order(o.ID+suffix) != nil {
			return false
		}
	}
	return true
}

// settleOrder proposes what o is by s, if anything is new: the status, and what was filled
// in all at which average. Called with mu held. No fee is counted: what the broker takes
// shows in its own account.
func (v *liveVenue) settleOrder(o *book.Order, s broker.State) error {
	after, k := *o, book.KindBrokerAnswered
	after.BrokerID, after.UpdatedAt = s.ID, now()
	after.Explain(reasonBy(o, s))
	ev := &book.Event{At: after.UpdatedAt, Order: &after}
	if !after.SameWhy(o) && takenBy(o, s) { // if something was taken back, the positions will show the difference
		v.logTaken(o, s)
	}
	if s.Filled > o.FilledQuantity {
		if err := v.fillOrder(ev, s); err != nil {
			return err
		}
		k = book.KindFilled
	}
	switch s.Status {
	case broker.Filled: // perhaps less than was ordered, and the broker says that it is all
		after.Status, k = book.StatusFilled, book.KindFilled
	case broker.Cancelled:
		after.Status, k = book.StatusCancelled, book.KindCancelled
		if x := v.orders[o.ID]; x != nil && x.cancels != "" && len(after.Why) == 0 {
			after.Explain(book.Because(x.cancels))
		}
	case broker.Rejected:
		after.Status, k = book.StatusRejected, book.KindOrderRejected
	}
	v.adoptLegs(ev, s)
	if ev.Holding == nil && o.Status == after.Status && o.BrokerID == after.BrokerID && after.SameWhy(o) && len(ev.Begin) == 0 {
		return nil
	}
	// An order at a broker is told of once, at its end, unless nobody knows what is left of it.
	if after.Status.Terminal() {
		if s.Filled >= o.FilledQuantity {
			v.book.Tell(k, ev, v.orders[o.ID] != nil && v.orders[o.ID].asked)
		}
		v.forget(&after)
	}
	return v.book.Propose(k, ev)
}

// fillOrder puts into ev what s has filled beyond the order of ev. The total and the average
// price are the broker's: what was paid in all, less what was paid before, was paid for the
// rest. Called with mu held.
func (v *liveVenue) fillOrder(ev *book.Event, s broker.State) error {
	o := ev.Order
	exits := slices.ContainsFunc(v.book.Open[o.Symbol], func(o *book.Order) bool { return o.ReduceOnly })
	if v.book.Order(o.ID).Unknown() || v.book.Unsettled(o.Symbol) || exits { // this may be what the report had, or leave exits that are too large
		v.soon()
	}
	r := book.Report{Size: s.Filled - o.FilledQuantity, Price: s.Average, Average: s.Average,
		Mark: book.Quote{At: s.UpdatedAt.UnixMilli(), Source: v.book.Remote.Name, Synthetic: o.Synthetic}}
	if o.AveragePrice != nil {
		rest := book.Minus(exact.Product(s.Filled, s.Average), exact.Product(o.FilledQuantity, *o.AveragePrice))
		if paid, ok := rest.Per(r.Size); ok && paid > 0 {
			r.Price = paid
		}
	}
	o.Status = book.StatusPartiallyFilled
	if s.Filled >= o.Quantity {
		o.Status = book.StatusFilled
	}
	return v.book.Fill(ev, r)
}

// adoptLegs adds to ev the legs: orders that the broker made beside the one of s and that
// the book does not know yet. Legs that the book knows of an order that was replaced stay
// with that order. Called with mu held. Their ids are made from the parent's, so that a leg
// that comes twice, by the stream and in a report, is the same order.
func (v *liveVenue) adoptLegs(ev *book.Event, s broker.State) {
	parent := ev.Order
	for _, leg := range s.Legs {
		if v.book.BrokerIDs[leg.ID] != "" || leg.Limit == 0 && leg.Stop == 0 {
			continue
		}
		// By its prices a leg is a stop_limit, a stop, or else a take profit.
		role, at := book.RoleTakeProfit, leg.Limit
		if leg.Stop != 0 {
			role, at = book.RoleStopLoss, leg.Stop
		}
		o := v.book.Leg(parent, role, leg.Quantity, at)
		if leg.Stop != 0 && leg.Limit != 0 {
			o.Type, o.Price = book.StopLimit, &leg.Limit
		}
		o.Side, o.Account, o.BrokerID, o.CreatedAt, o.TimeInForce, o.Why = book.Side(leg.Side), parent.Account, leg.ID, parent.CreatedAt, parent.TimeInForce, []book.Reason{book.Because(book.BrokerSays, leg.Word)}
		if leg.Side == string(parent.Side) { // the other order of an oco, and not an exit
			o.ID, o.Role = parent.ID+"-oco", book.RoleOCO
			parent.Group, parent.Role = parent.ID, book.RoleOCO
		}
		if v.book.Order(o.ID) == nil {
			ev.Open(o)
			parent.Why = slices.DeleteFunc(slices.Clone(parent.Why), func(r book.Reason) bool { return r.Code == book.NoLegs })
		}
	}
}

// restate proposes a status of o, which may be the one it has, with a new reason and
// without a fill. Called with mu held.
func (v *liveVenue) restate(o *book.Order, status book.OrderStatus, reason book.Reason) error {
	after := *o
	after.Status, after.UpdatedAt = status, now()
	after.Explain(reason)
	ev := &book.Event{At: after.UpdatedAt, Order: &after}
	if status.Terminal() && !o.Status.Terminal() {
		v.book.Tell(book.KindBrokerAnswered, ev, v.of(o).sending) // who placed it waits for the answer
		v.forget(&after)
	}
	return v.book.Propose(book.KindBrokerAnswered, ev)
}
