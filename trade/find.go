package trade

import (
	"slices"
	"time"
)

// Order returns the order with this order_id or client_order_id, however long ago
// it was, or refuses if there is none.
func (e *Engine) Order(id string) (Order, error) {
	e.mu.Lock()
	o := e.shown.order(id)
	if o == nil {
		o = e.shown.order(e.shown.clientIDs[id])
	}
	if o != nil {
		defer e.mu.Unlock()
		return e.shownOrder(o), nil
	}
	e.mu.Unlock()
	// Not in memory: the archive is read without the lock.
	for _, key := range []string{orderKey(id), clientKey(id)} {
		if o != nil {
			break
		}
		var err error
		if o, err = e.archived(key); err != nil {
			return Order{}, err
		}
	}
	if o == nil {
		return Order{}, uncancellable(nil, id)
	}
	return o.public(), nil
}

// Group returns the open orders whose group is the order called id, but for that
// one: its exits, or the stop beside it.
func (e *Engine) Group(id string) (members []Order) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if o := e.shown.order(id); o != nil {
		for _, m := range e.shown.mates(o, id) {
			members = append(members, e.shownOrder(m))
		}
	}
	return members
}

// OrderFilter says which orders are wanted. Zero fields want all.
type OrderFilter struct {
	Status       OrderStatus // open means all that can still be filled, filled all of which something was
	Symbol       string      // in any spelling
	Since, Until time.Time   // of the last change; Until is not included
	Client       *Who        // who placed them
}

// Find returns the orders that pass the filter, oldest first.
func (e *Engine) Find(f OrderFilter) ([]Order, error) {
	if f.Symbol != "" {
		var err error
		if f.Symbol, err = e.symbol(f.Symbol); err != nil {
			return nil, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	orders := []Order{}
	for _, o := range e.shown.orders {
		if f.passes(o) {
			orders = append(orders, e.shownOrder(o))
		}
	}
	for _, o := range e.externalOrders() {
		if f.passes(&o) {
			orders = append(orders, o)
		}
	}
	return orders, nil
}

// hasStatus reports whether o is one of those that f.Status names. One that was
// filled in part and then cancelled is found by both words.
func (f OrderFilter) hasStatus(o *Order) bool {
	switch f.Status {
	case "":
		return true
	case StatusOpen:
		return !o.Status.Terminal()
	case StatusFilled:
		return o.FilledQuantity > 0
	}
	return o.Status == f.Status
}

// passes reports whether the filter wants o.
func (f OrderFilter) passes(o *Order) bool {
	switch {
	case !f.hasStatus(o),
		f.Symbol != "" && o.Symbol != f.Symbol,
		!f.Since.IsZero() && o.UpdatedAt.Before(f.Since),
		!f.Until.IsZero() && !o.UpdatedAt.Before(f.Until):
		return false
	}
	return f.Client == nil || o.By.sameClient(f.Client.short())
}

// Orders returns the orders there are, oldest first; with openOnly those that
// may still be filled.
func (e *Engine) Orders(openOnly bool) []Order {
	e.mu.Lock()
	defer e.mu.Unlock()
	orders := make([]Order, 0, len(e.shown.orders))
	for _, o := range e.shown.orders {
		if !openOnly || !o.Status.Terminal() {
			orders = append(orders, e.shownOrder(o))
		}
	}
	return orders
}

// Positions returns the open positions by symbol, valued at the newest price.
func (e *Engine) Positions() []Position {
	return slices.DeleteFunc(e.AllPositions(), func(p Position) bool { return p.Quantity == 0 })
}

// AllPositions returns Positions and those that are closed, for what they
// realized.
func (e *Engine) AllPositions() []Position {
	e.mu.Lock()
	defer e.mu.Unlock()
	positions := []Position{}
	for _, symbol := range sorted(e.shown.holdings) {
		positions = append(positions, e.valued(e.shown.holdings[symbol].show(symbol, e.brokerName(), e.watch.newest(symbol))))
	}
	return positions
}
