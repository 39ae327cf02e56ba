package book

import (
	"slices"
	"wick/sse"
)

// Tell adds to ev the notification of the orders that it ends:
//   - Subscribers of orders hear of every end. A fill of a part ends nothing, and tells nobody.
//   - Who polls hears of an order that ends unfilled, unless its own client asked for that: a
//     stop that is gone leaves its position unprotected, whoever is subscribed.
//   - An order that ends in the step that places it is told by the reply alone; those that end
//     with it are told as above.
//
// Asked says that a client asked for this step, and so has the reply.
func (s *State) Tell(k Kind, ev *Event, asked bool) {
	o := ev.Order
	ended := slices.DeleteFunc(ev.Changed(s.Order)[1:], func(other *Order) bool {
		return !other.Status.Terminal() || other.ID == o.Replaces && other.By.SameClient(o.By)
	})
	if k == KindPlaced {
		if len(ended) == 0 {
			return
		}
		o, ended = ended[0], ended[1:]
	}
	if !o.Status.Terminal() {
		return
	}
	asked = asked && o.By.SameClient(ev.Order.By)
	if ev.To = s.hearers(o.Symbol); len(ev.To) > 0 || !asked && o.FilledQuantity == 0 {
		ev.Notification = EndNotification(o, ended, ev.At)
	}
}

// Recipients returns the subscriptions that an alert's firing goes to, oldest
// first.
func (s *State) Recipients(a *Alert) []string {
	return s.subscribed(a.Symbol, func(types []string) bool {
		return len(types) == 0 || slices.Contains(types, string(a.Condition.Type))
	})
}

// hearers returns the subscriptions that hear of filled orders of a symbol: those whose
// filter names OrderAlerts.
func (s *State) hearers(symbol string) []string {
	return s.subscribed(symbol, func(types []string) bool { return slices.Contains(types, OrderAlerts) })
}

// subscribed returns the ids of the subscriptions whose filter names the symbol or no
// symbol, and whose list of types is wanted.
func (s *State) subscribed(symbol string, wanted func(types []string) bool) (to []string) {
	for _, sub := range s.Subs.Select(func(sub *sse.Subscription) bool {
		f := sub.Filter
		return wanted(f.AlertTypes) && (len(f.Symbols) == 0 || slices.Contains(f.Symbols, symbol))
	}) {
		to = append(to, sub.ID)
	}
	return to
}

// OrderAlerts is the alert type by which a subscription asks to hear of filled
// orders, too. An empty list of types does not include it.
const OrderAlerts = "order"
