package book

import (
	"wick/internal/exact"
)

// What one order does to others: the exits of an entry begin when it is filled, the two
// orders of an oco end together, and a reduce_only order ends with the position. All of it
// is in the record of the step, so that no crash leaves an order open that should have
// ended.

// follow adds to ev the orders that begin, change or end with it. Price is that of the
// fill, if ev fills something.
func (s *State) follow(ev *Event, price exact.Decimal) {
	s.followEntry(ev, price)
	s.followMate(ev)
	s.followPosition(ev)
}

// followEntry opens the exits of an entry when it is filled. They are for what the fill has
// opened: what closed a position of the other side leaves nothing to protect. An entry that
// only closed gets a reason that says so.
func (s *State) followEntry(ev *Event, price exact.Decimal) {
	o := ev.Order
	if ev.Holding == nil || o.StopLoss == nil && o.TakeProfit == nil {
		return
	}
	opened := Reducible(ev.Holding.Quantity, -o.Side.Sign(o.FilledQuantity))
	if opened == 0 {
		o.Explain(Because(OnlyClosed))
		return
	}
	for _, leg := range s.ExitsOf(o, opened, price, ev.At) {
		ev.Open(leg)
	}
}

// ExitsOf returns the exits for a quantity of an entry that was filled at a price, from
// which their distance is counted; the stop first.
func (s *State) ExitsOf(entry *Order, quantity, entered exact.Decimal, at Time) (legs []*Order) {
	begin := func(role Role, x *Exit) {
		if x == nil {
			return
		}
		// The take_profit of a buy is above its entry and its stop_loss below; for a sell
		// it is the other way round.
		above := (entry.Side == Buy) == (role == RoleTakeProfit)
		var why []Reason
		price, ok := x.At(entered, above)
		if !ok {
			return // the entry was filled so far away that there is no such price
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
	code := OtherEnded
	if ev.Holding != nil {
		code = OtherFilled
	}
	for _, mate := range s.Mates(o, o.Group) {
		// Orders that expire together all have that as their reason, not each other.
		if o.Has(Expired) && mate.ExpiresAt != nil && mate.ExpiresAt.Equal(o.ExpiresAt.Time) {
			ev.Cancel(mate, Expired)
		} else {
			ev.Cancel(mate, code)
		}
	}
}

// Mates returns the open orders of a group that have a role, without o.
func (s *State) Mates(o *Order, group string) (mates []*Order) {
	for _, m := range s.Open[o.Symbol] {
		if m.Group == group && m.Role != "" && m.ID != o.ID {
			mates = append(mates, m)
		}
	}
	return mates
}

// followPosition ends the reduce_only orders that have nothing left to reduce.
func (s *State) followPosition(ev *Event) {
	if ev.Holding == nil {
		return
	}
	for _, o := range s.Open[ev.Order.Symbol] {
		if o.ID != ev.Order.ID && o.ReduceOnly && o.Closes(ev.Holding.Quantity) == 0 {
			ev.Cancel(o, NothingToReduce)
		}
	}
}

// Partner returns the stop beside the limit order o, and makes the two a group. The
// client's own id stays with the limit, which is the order that was asked for.
func (o *Order) Partner(with OCO) *Order {
	o.Group, o.Role = o.ID, RoleOCO
	stop := *o
	stop.ID, stop.ClientOrderID, stop.Asked = o.ID+"-oco", "", ""
	stop.Type, stop.Price, stop.StopPrice, stop.PostOnly = Stop, nil, &with.StopPrice, false
	if with.Price != 0 {
		stop.Type, stop.Price = StopLimit, &with.Price
	}
	return &stop
}

// Beside returns the stop that would be beside o, the limit order of a dry run. It has no
// id and no group, since neither order exists.
func (o Order) Beside(with OCO) Order {
	stop := *o.Partner(with)
	stop.ID, stop.Group = "", ""
	return stop
}

// Reducible returns how much of a fill of the signed size would only reduce a position of
// q, as a quantity without a sign: zero if it would open the position or add to it.
func Reducible(q, size exact.Decimal) exact.Decimal {
	if q == 0 || (q > 0) == (size > 0) {
		return 0
	}
	return min(q.Abs(), size.Abs())
}

// Closes returns how much of a position of held the rest of o would close, without a sign.
// Of an exit no more than that is ever filled, and of any other order the limits refuse no
// part of it. So fills, limits and what the account calls protected go by it alone.
func (o *Order) Closes(held exact.Decimal) exact.Decimal { return Reducible(held, o.Remaining()) }

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
