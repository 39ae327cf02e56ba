package trade

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"wick/internal/exact"
	"wick/trade/book"
)

// Order returns the order with this order_id or client_order_id, also if it is in the
// journal or somebody else's at the broker, or refuses if there is none.
func (e *Engine) Order(id string) (found book.Order, err error) {
	known, late := true, map[string]book.LateLabel(nil)
	err = e.View(func(s *book.State) {
		o, external := cmp.Or(s.Order(id), s.Order(s.ClientIDs[id])), e.book.Remote.External
		i := slices.IndexFunc(external, func(o book.Order) bool { return o.ID == id })
		switch {
		case o != nil:
			found = e.book.Shown(o)
		case i >= 0:
			found = external[i]
		default:
			known, late = false, maps.Clone(s.Labels)
		}
	})
	if err != nil {
		return book.Order{}, err
	} else if known {
		return found, nil
	}
	// Not in memory: the disk is read without the lock.
	for _, key := range []string{orderKey(id), clientKey(id)} {
		if o, err := e.archive.order(key); o != nil || err != nil {
			found = o.Public()
			found.Label = late[found.ID].Over(found.Label)
			return found, err
		}
	}
	return found, book.Uncancellable(nil, id)
}

// Outlook returns an order as Order does, and how the market stands to it.
func (e *Engine) Outlook(id string) (o book.Order, x book.Outlook, err error) {
	if o, err = e.Order(id); err == nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		x = e.book.Outlook(o)
	}
	return o, x, err
}

// These are the methods of [book.Book], which need no lock.
func (e *Engine) Estimate(o book.Order) book.Estimate { return e.book.Estimate(o) }
func (e *Engine) EstimateBeside(o book.Order, with book.OCO) book.Estimate {
	return e.book.EstimateBeside(o, with)
}
func (e *Engine) Arrival(o book.Order) exact.Decimal { return e.book.Arrival(o) }
func (e *Engine) Currency(symbol string) string      { return e.book.Currency(symbol) }
func (e *Engine) Sums(symbol string) bool            { return e.book.Sums(symbol) }

// Account returns what the account comes to, nil if there is none. All numbers are of the
// same moment: the state and the prices are read under mu.
func (e *Engine) Account() (a *book.Account, err error) {
	if e.options.Account.Cash != 0 {
		err = e.View(func(*book.State) { a = e.book.Statement(now()) })
	}
	return a, err
}

// OrderFilter says which orders are wanted. A zero field does not restrict them.
type OrderFilter struct {
	Status       book.OrderStatus // open means all that can still be filled, filled all that were filled at least in part
	Symbol       string           // in any spelling
	Since, Until time.Time        // of the last change; Until is not included
	Client       *book.Who        // who placed them
}

// Find returns the orders that pass the filter, oldest first, and after them the open
// orders at a broker that this book did not place. Finished orders that have left memory
// are not among them; see FindArchived.
func (e *Engine) Find(f OrderFilter) ([]book.Order, error) {
	var err error
	if f.Symbol, err = e.symbolOrAll(f.Symbol); err != nil {
		return nil, err
	}
	orders := []book.Order{}
	err = e.View(func(s *book.State) {
		for _, o := range s.Orders {
			if f.passes(o) {
				orders = append(orders, e.book.Shown(o))
			}
		}
		for _, o := range e.book.Remote.External {
			if book.Key(o.Symbol) == book.Key(f.Symbol) { // the broker has its own spelling
				f.Symbol = o.Symbol
			}
			if f.passes(&o) {
				orders = append(orders, o)
			}
		}
	})
	return orders, err
}

// passes reports whether the filter wants o. An order that was filled in part and then
// cancelled is found as filled and as cancelled.
func (f OrderFilter) passes(o *book.Order) bool {
	switch {
	case f.Status == book.StatusOpen && o.Status.Terminal(),
		f.Status == book.StatusFilled && o.FilledQuantity == 0,
		f.Status != "" && f.Status != book.StatusOpen && f.Status != book.StatusFilled && o.Status != f.Status,
		f.Symbol != "" && o.Symbol != f.Symbol,
		!f.Since.IsZero() && o.UpdatedAt.Before(f.Since),
		!f.Until.IsZero() && !o.UpdatedAt.Before(f.Until):
		return false
	}
	return f.Client == nil || o.By.SameClient(f.Client.Short())
}

// Orders returns the orders in memory, oldest first; with openOnly those that can still
// be filled.
func (e *Engine) Orders(openOnly bool) (orders []book.Order, err error) {
	err = e.View(func(s *book.State) {
		orders = make([]book.Order, 0, len(s.Orders))
		for _, o := range s.Orders {
			if !openOnly || !o.Status.Terminal() {
				orders = append(orders, e.book.Shown(o))
			}
		}
	})
	return orders, err
}

// CountPlaced calls count with what each order in memory counts against its client, and when
// it was placed. All that ended within hours are there.
func (e *Engine) CountPlaced(count func(client string, worth exact.Money, at time.Time)) error {
	return e.View(func(s *book.State) {
		for _, o := range s.Orders {
			if o.Worth.Sign() > 0 && o.By != nil {
				count(o.By.Client, o.Worth, o.CreatedAt.Time)
			}
		}
	})
}

// OrdersVersion returns a number that changes with every change of an order. Unlike the
// orders themselves it costs the same however many there are. It does not wait for the disk.
func (e *Engine) OrdersVersion() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.book.Ordered
}

// Positions returns the open positions by symbol, valued at the newest price, with flat also those
// that are closed, which show what they realized. One that only the account at the broker has, and
// not the book, has a quantity of zero.
func (e *Engine) Positions(flat bool) ([]book.Position, error) {
	positions := []book.Position{}
	err := e.View(func(s *book.State) {
		r, all, keys := &e.book.Remote, maps.Clone(s.Holdings), map[string]bool{}
		for symbol := range all {
			keys[book.Key(symbol)] = true
		}
		for _, p := range r.Held { // with nothing, what only the account at the broker has
			if !keys[book.Key(p.Symbol)] && e.book.Excess(p.Symbol) != 0 {
				all[p.Symbol] = book.Holding{}
			}
		}
		for _, symbol := range sorted(all) {
			excess := e.book.Excess(symbol) != 0
			if !flat && all[symbol].Quantity == 0 && !excess {
				continue
			}
			p := all[symbol].Show(symbol, e.book.BrokerName(), e.watch.Of(symbol).Quote)
			p.Account = r.Account
			// One that the broker does not list is zero there only if the two are known to differ: the
			// report may be older than the last fill.
			i := slices.IndexFunc(r.Held, func(b book.BrokerPosition) bool { return book.Key(b.Symbol) == book.Key(symbol) })
			if i >= 0 || excess {
				p.AtBroker = &book.BrokerPosition{}
				if i >= 0 {
					*p.AtBroker = r.Held[i]
				}
				p.AtBroker.AsOf = r.ReadAt
			}
			positions = append(positions, p)
		}
	})
	return positions, err
}
