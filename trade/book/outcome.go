package book

import (
	"cmp"
	"fmt"
	"slices"

	"wick/internal/exact"
	"wick/internal/limit"
)

// All that a step does to the order, the position and other orders is in its record, so that no
// crash leaves an order open that should have ended.

// Report is what the paper broker did with an order when it arrived, when a price came
// or when it was cancelled. It becomes an event with all that follows from it. What a
// broker elsewhere does is learned in package live, because its answers can be lost.
type Report struct {
	Status  OrderStatus
	Size    exact.Decimal // what was filled now; zero for nothing
	Price   exact.Decimal // at which that was filled
	Fee     exact.Decimal // for that
	Reason  Reason
	Average exact.Decimal // of all that was filled of the order; zero if this is all
	Mark    Quote         // the price of the market that the fill was made from
}

// outcome returns the step that follows from what r says of the order o: the order as
// it is then, the holding if anything was filled, and the other orders that begin,
// change or end with it. It does not change o.
func (s *State) outcome(o *Order, r Report, at Time) (*Event, error) {
	after := *o
	after.Status, after.UpdatedAt = r.Status, at
	after.Explain(r.Reason)
	ev := &Event{At: at, Order: &after}
	if r.Size > 0 {
		if err := s.Fill(ev, r); err != nil {
			return nil, err
		}
		// The exits of an entry are for what the fill has opened: what closed a position of the other
		// side leaves nothing to protect.
		if opened := Reducible(ev.Holding.Quantity, -o.Side.Sign(after.FilledQuantity)); o.exitCount() > 0 && opened == 0 {
			after.Explain(Because(OnlyClosed))
		} else if o.exitCount() > 0 {
			for _, leg := range s.exitsOf(&after, opened, r.Price, at) {
				ev.Open(leg)
			}
		}
	}
	s.followMate(ev)
	if ev.Holding != nil { // an order that can only reduce ends with what it could reduce
		for _, other := range s.Open[o.Symbol] {
			if other.ID != o.ID && other.ReduceOnly && other.Closes(ev.Holding.Quantity) == 0 {
				ev.Cancel(other, NothingToReduce)
			}
		}
	}
	return ev, nil
}

// Fill adds what was filled to the order of ev, and the holding after it to ev. If it fails,
// nothing was added.
func (s *State) Fill(ev *Event, r Report) error {
	o := ev.Order
	h, err := s.Holdings[o.Symbol].Fill(o.Side.Sign(r.Size), r.Price, r.Fee)
	if err != nil {
		return Refuse("out_of_range", "%v; lower the quantity", errOverflow)
	}
	h.Synthetic = h.Synthetic || r.Mark.Synthetic
	average := cmp.Or(r.Average, r.Price)
	o.FilledQuantity, o.Fee, o.AveragePrice, ev.Holding = o.FilledQuantity+r.Size, r.Fee, &average, &h
	if r.Mark.At != 0 {
		at := r.Mark.Time()
		o.PriceAt, o.Source, o.Synthetic = &at, r.Mark.Source, r.Mark.Synthetic
	}
	return nil
}

// exitsOf returns the exits for a quantity of an entry that was filled at a price, from
// which their distance is counted; the stop first.
func (s *State) exitsOf(entry *Order, quantity, entered exact.Decimal, at Time) (legs []*Order) {
	begin := func(role Role, x *Exit) {
		if x == nil {
			return
		}
		above := entry.above(role)
		var why []Reason
		price, ok := x.At(entered, above)
		if !ok {
			entry.Explain(Because(NoExit, string(role)))
			return
		}
		if role == RoleTakeProfit && price != entered && (price < entered) == above {
			why = []Reason{Because(BeyondTarget, price.String())}
			price = entered
		}
		leg := s.Leg(entry, role, quantity, price)
		leg.CreatedAt, leg.UpdatedAt, leg.Why, leg.Synthetic = at, at, why, entry.Synthetic
		legs = append(legs, leg)
	}
	begin(RoleStopLoss, entry.StopLoss)
	begin(RoleTakeProfit, entry.TakeProfit)
	return legs
}

// Leg returns the exit of an entry with a role, a stop or a limit at a price. Its id follows
// from the entry's.
func (s *State) Leg(entry *Order, role Role, quantity, price exact.Decimal) *Order {
	leg := &Order{
		ID: entry.ID + "-tp", Symbol: entry.Symbol, Side: entry.Side.Other(), Type: Limit, Quantity: quantity, Price: &price,
		Status: StatusOpen, Broker: entry.Broker, By: entry.By, ReduceOnly: true, Group: entry.ID, Role: role, Turn: s.Seq + 1,
	}
	if role == RoleStopLoss {
		leg.ID, leg.Type, leg.Price, leg.StopPrice = entry.ID+"-sl", Stop, nil, &price
	}
	return leg
}

// followMate ends the others of a group when one of them has ended.
func (s *State) followMate(ev *Event) {
	o := ev.Order
	if o.Role == "" || !o.Status.Terminal() || ev.Holding == nil && s.Order(o.ID) == nil { // a new order that was not filled ends nothing
		return
	}
	for _, mate := range s.mates(o, o.Group) {
		switch {
		// Orders that expire together all have that as their reason, not each other.
		case o.Has(Expired) && mate.ExpiresAt != nil && mate.ExpiresAt.Equal(o.ExpiresAt.Time):
			ev.Cancel(mate, Expired)
		case ev.Holding != nil:
			ev.Cancel(mate, OtherFilled)
		default:
			ev.Cancel(mate, OtherEnded)
		}
	}
}

// mates returns the open orders of a group that have a role, without o.
func (s *State) mates(o *Order, group string) (mates []*Order) {
	for _, m := range s.Open[o.Symbol] {
		if m.Group == group && m.Role != "" && m.ID != o.ID {
			mates = append(mates, m)
		}
	}
	return mates
}

// Reducible returns how much of a fill of the signed size would only reduce a position of
// q, as a quantity without a sign: zero if it would open the position or add to it.
func Reducible(q, size exact.Decimal) exact.Decimal {
	if q == 0 || (q > 0) == (size > 0) {
		return 0
	}
	return min(q.Abs(), size.Abs())
}

// Shrinks reports whether a fill of the signed size brings a position of q closer to
// zero, or to zero, and not beyond.
func Shrinks(q, size exact.Decimal) bool { return size != 0 && Reducible(q, size) == size.Abs() }

// At returns where the exit of an entry at price stands, above the entry or below. A
// distance is rounded to the tick away from the entry. It reports false if there is no such
// price. The tick is the one from when the order was accepted, so that the same order gives
// the same exits after a restart.
func (x Exit) At(price exact.Decimal, above bool) (exact.Decimal, bool) {
	distance, fits := x.Distance, true
	switch {
	case x.Price != 0:
		return x.Price, true
	case x.Percent != 0:
		distance, fits = price.Percent(x.Percent, exact.Up)
	}
	to := exact.Up
	if !above {
		distance, to = -distance, exact.Down
	}
	at, ok := price.Add(distance)
	if !fits || !ok || at <= 0 {
		return 0, false
	}
	at, ok = at.Step(x.Tick, to)
	return at, ok && at > 0
}

// Cancel takes the step that an open order is cancelled, for a reason: none if the client that placed
// it asked for it.
func (b *Book) Cancel(o *Order, who Who, reason Reason, at Time) (*Event, error) {
	if by := who.Short(); reason.Code == "" && !by.SameClient(o.By) { // it must hear of it
		reason = Because(CancelledBy, cmp.Or(limit.Clip(who.Name), "another client"))
	}
	ev, _ := b.outcome(o, Report{Status: StatusCancelled, Reason: reason}, at) // fills nothing, so cannot fail
	ev.By = who.Short()
	if stop, ok := b.trails[o.ID]; ok { // memory forgets it now
		ev.Order.StopPrice = &stop
	}
	return ev, b.ProposeOrders(KindCancelled, ev, 0, reason.Code == "") // no order begins with it
}

// Expire cancels the open orders of a symbol that have expired by instant, a time of the
// market; at is the time of the records. A broker elsewhere ends its orders itself.
func (b *Book) Expire(symbol string, instant, at Time) error {
	for _, o := range b.OpenOf(symbol) {
		if o.Account != "" || !o.Expired(instant.UnixMilli()) || b.Order(o.ID).Status.Terminal() { // it ended with an order before it
			continue
		}
		if _, err := b.Cancel(o, Who{}, Because(Expired), at); err != nil {
			return fmt.Errorf("order %s has expired: %w", o.ID, err)
		}
	}
	return nil
}

// ProposeOrders proposes a step of orders on paper. Orders that begin with the step count as arrived
// at the given instant, in unix milliseconds: they are new, or are stops that it sets off,
// and what follows the stop begins now. What was noted of orders that end is forgotten. Asked
// is as in [Book.Tell].
func (b *Book) ProposeOrders(k Kind, ev *Event, instant int64, asked bool) error {
	before, after := b.Order(ev.Order.ID), instant
	comes := before == nil || before.Pending() && !ev.Order.Pending()
	if comes {
		ev.Order.After = after
	} else {
		after = b.later(ev.Order.Symbol, instant)
	}
	for _, o := range ev.Begin {
		o.After = after
	}
	for i, with := range ev.Ends {
		ev.Ends[i].Stop = b.trails[with.ID]
	}
	b.Tell(k, ev, asked)
	if err := b.Propose(k, ev); err != nil {
		return err
	}
	for _, o := range ev.Begin {
		b.arrived[o.ID] = instant
	}
	if !ev.Order.Status.Terminal() && (comes || before.Waits() != ev.Order.Waits()) {
		b.arrived[ev.Order.ID] = instant
	}
	ended := ev.Ends
	if ev.Order.Status.Terminal() {
		ended = append(slices.Clip(ended), Cancellation{ID: ev.Order.ID})
	}
	for _, with := range ended {
		delete(b.arrived, with.ID)
		delete(b.trails, with.ID)
	}
	return nil
}

// RememberArrivals is called at a start. It notes the open orders that were accepted
// after the price from which their symbol is judged on, so that what the market did
// before an order was there does not fill it, and the trades whose prices it will not hear of.
func (b *Book) RememberArrivals() {
	for symbol, t := range b.Trades {
		if b.Seen[symbol] == nil { // nobody tells what was traded since
			r := t.Range
			r.Unseen = true
			b.ranges[symbol] = r
		}
	}
	for symbol, s := range b.Seen {
		for _, o := range b.Open[symbol] {
			if born := o.Since(); born > s.At {
				b.arrived[o.ID] = born
			}
		}
	}
}
