package book

import (
	"slices"
	"wick/sse"
)

// Tell adds to ev, if it ends an order, that those hear of it who subscribed to orders. The
// end of an order that nothing was filled of is also queued for who polls, unless the client
// that placed it asked for it: a stop that is gone leaves its position unprotected, whoever is
// subscribed. An order that ends as it is placed is told by the reply, and only those that end
// with it here. Asked says that a client asked for this step, and so has the reply.
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
