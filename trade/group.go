package trade

import (
	"slices"

	"wick/exact"
)

// What one order does to others: the exits of an entry begin when it is filled,
// of two that exclude each other one ends with the other, and an order that can
// only reduce a position ends with it. All of it is in the record of the step, so
// that no crash leaves an order behind that should have ended.

// follow adds to ev the orders that begin, change or end with it.
func (s *state) follow(ev *event) {
	s.followEntry(ev)
	s.followMate(ev)
	s.followPosition(ev)
}

// followEntry begins the exits of an entry with its first fill, and lets them grow
// with each further one.
func (s *state) followEntry(ev *event) {
	o := ev.Order
	if ev.Holding == nil || o.StopLoss == nil && o.TakeProfit == nil {
		return
	}
	before := s.order(o.ID)
	if before == nil || before.FilledQuantity == 0 {
		for _, leg := range s.exitsOf(o, ev.At) {
			if reducible(ev.Holding.Quantity, leg.remaining()) > 0 { // else the entry closed another position
				ev.put(leg)
			}
		}
		return
	}
	for _, leg := range s.mates(o, o.ID) {
		leg.Quantity += o.FilledQuantity - before.FilledQuantity
		ev.put(leg)
	}
}

// exitsOf returns the exits of an entry that was filled, the stop first.
func (s *state) exitsOf(entry *Order, at Time) (legs []*Order) {
	begin := func(role Role, suffix string, x *Exit) {
		if x == nil {
			return
		}
		above, reason := (entry.Side == Buy) == (role == RoleTakeProfit), ""
		price, ok := x.at(*entry.AveragePrice, above)
		if !ok {
			return // the entry was filled so far away that there is no such price
		}
		if entered := *entry.AveragePrice; role == RoleTakeProfit && price != entered && (price < entered) == above {
			reason = "the entry was filled beyond its take_profit of " + price.String() + ", which stands at the price of the entry instead"
			price = entered
		}
		leg := &Order{
			ID: entry.ID + suffix, Symbol: entry.Symbol, Side: entry.Side.other(), Type: Limit, Quantity: entry.FilledQuantity, Price: &price,
			Status: StatusOpen, Broker: entry.Broker, CreatedAt: at, UpdatedAt: at, By: entry.By, ReduceOnly: true, Group: entry.ID, Role: role, Turn: s.seq + 1,
			Reason: reason,
		}
		if role == RoleStopLoss {
			leg.Type, leg.Price, leg.StopPrice = Stop, nil, &price
		}
		legs = append(legs, leg)
	}
	begin(RoleStopLoss, "-sl", entry.StopLoss)
	begin(RoleTakeProfit, "-tp", entry.TakeProfit)
	return legs
}

// followMate ends the others of a group when one of them is done, the rest of
// their entry with them if it was filled, and lets them shrink when it is filled
// in part.
func (s *state) followMate(ev *event) {
	o := ev.Order
	if o.Role == "" || ev.Holding == nil && s.order(o.ID) == nil { // a new one that did not fill ends nothing
		return
	}
	reason := "cancelled with " + o.ID
	if ev.Holding != nil {
		reason = o.ID + " was filled"
	}
	for _, mate := range s.mates(o, o.Group) {
		switch {
		case o.Status.Terminal():
			ev.end(mate, reason)
		case ev.Holding != nil:
			mate.Quantity = mate.FilledQuantity + o.remaining().Abs()
			ev.put(mate)
		}
	}
	if entry := s.order(o.Group); entry != nil && entry.Role == "" && !entry.Status.Terminal() && o.Status == StatusFilled {
		ev.end(entry, reason)
	}
}

// mates returns copies of the open orders of a group with a role, but for o.
func (s *state) mates(o *Order, group string) (mates []*Order) {
	for _, id := range s.open[o.Symbol] {
		if m := s.order(id); m.Group == group && m.Role != "" && id != o.ID {
			c := *m
			mates = append(mates, &c)
		}
	}
	return mates
}

// followPosition ends the orders that could only reduce a position that is gone.
func (s *state) followPosition(ev *event) {
	if ev.Holding == nil {
		return
	}
	for _, id := range s.open[ev.Order.Symbol] {
		o := s.order(id)
		if id != ev.Order.ID && o.ReduceOnly && reducible(ev.Holding.Quantity, o.remaining()) == 0 {
			ev.end(o, "nothing is left to reduce")
		}
	}
}

// partner returns the stop beside the limit order o, and makes the two a group.
func (o *Order) partner(with OCO) *Order {
	o.Group, o.Role = o.ID, RoleOCO
	stop := *o
	stop.ID, stop.ClientOrderID, stop.Asked = o.ID+"-oco", "", ""
	stop.Type, stop.Price, stop.StopPrice, stop.PostOnly = Stop, nil, &with.StopPrice, false
	if with.Price != 0 {
		stop.Type, stop.Price = StopLimit, &with.Price
	}
	return &stop
}

// put adds o to the orders that change with ev, in place of what ev said of it.
func (ev *event) put(o *Order) {
	o.UpdatedAt = ev.At
	i := slices.IndexFunc(ev.Also, func(other *Order) bool { return other.ID == o.ID })
	if i < 0 {
		ev.Also = append(ev.Also, o)
	} else if !ev.Also[i].Status.Terminal() {
		ev.Also[i] = o
	}
}

// end adds to ev that an open order is cancelled.
func (ev *event) end(o *Order, reason string) {
	after := *o
	after.Status, after.Reason = StatusCancelled, reason
	ev.put(&after)
}

// reducible returns how much of a signed size a position of q can take without
// being opened or turned around, as a quantity.
func reducible(q, size exact.Decimal) exact.Decimal {
	if q == 0 || (q > 0) == (size > 0) {
		return 0
	}
	return min(q.Abs(), size.Abs())
}
