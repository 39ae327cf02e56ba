package trade

import (
	"maps"
	"slices"
	"time"

	"wick/broker"
	"wick/internal/exact"
	"wick/internal/limit"
	"wick/trade/book"
)

// Order returns the order with this order_id or client_order_id, also if it is in the
// journal or somebody else's at the broker, or refuses if there is none.
func (e *Engine) Order(id string) (book.Order, error) {
	var found *book.Order
	err := e.View(func(s *book.State) {
		o := s.Order(id)
		if o == nil {
			o = s.Order(s.ClientIDs[id])
		}
		if o != nil {
			shown := e.shownOrder(o)
			found = &shown
			return
		}
		external := e.externalOrders()
		if i := slices.IndexFunc(external, func(o book.Order) bool { return o.ID == id }); i >= 0 {
			found = &external[i]
		}
	})
	if err != nil {
		return book.Order{}, err
	}
	if found != nil {
		return *found, nil
	}
	// Not in memory: the disk is read without the lock.
	for _, key := range []string{orderKey(id), clientKey(id)} {
		if o, err := e.finished(key); o != nil || err != nil {
			return o.Public(), err
		}
	}
	return book.Order{}, uncancellable(nil, id)
}

// Group returns the open orders that belong to the order called id, without that one: its
// exits, or the stop beside it.
func (e *Engine) Group(id string) (members []book.Order, err error) {
	err = e.View(func(s *book.State) {
		if o := s.Order(id); o != nil {
			for _, m := range s.Mates(o, id) {
				members = append(members, e.shownOrder(m))
			}
		}
	})
	return members, err
}

// Protection returns the exits that would be beside o, the order of a dry run: none unless
// it would be filled at once and open a position. They have no id and no group, since
// neither they nor o exist.
func (e *Engine) Protection(o book.Order) (exits []book.Order) {
	if o.FilledQuantity == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	filled := o.Side.Sign(o.FilledQuantity)
	after, _ := e.ahead.Holdings[o.Symbol].Quantity.Add(filled) // every check has passed, this one too
	opened := book.Reducible(after, -filled)
	if opened == 0 {
		return nil
	}
	for _, leg := range e.ahead.ExitsOf(&o, opened, *o.AveragePrice, o.CreatedAt) {
		if leg.ID, leg.Group = "", ""; len(leg.Why) == 0 {
			leg.Explain(book.Because(book.DryRun))
		}
		exits = append(exits, leg.Public())
	}
	return exits
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
	if f.Symbol != "" {
		var err error
		if f.Symbol, err = e.symbol(f.Symbol); err != nil {
			return nil, err
		}
	}
	orders := []book.Order{}
	err := e.View(func(s *book.State) {
		for _, o := range s.Orders {
			if f.passes(o) {
				orders = append(orders, e.shownOrder(o))
			}
		}
		for _, o := range e.externalOrders() {
			if broker.Key(o.Symbol) == broker.Key(f.Symbol) { // the broker has its own spelling
				f.Symbol = o.Symbol
			}
			if f.passes(&o) {
				orders = append(orders, o)
			}
		}
	})
	return orders, err
}

// hasStatus reports whether o is one of those that f.Status names. An order that was
// filled in part and then cancelled is found as filled and as cancelled.
func (f OrderFilter) hasStatus(o *book.Order) bool {
	switch f.Status {
	case "":
		return true
	case book.StatusOpen:
		return !o.Status.Terminal()
	case book.StatusFilled:
		return o.FilledQuantity > 0
	}
	return o.Status == f.Status
}

// passes reports whether the filter wants o.
func (f OrderFilter) passes(o *book.Order) bool {
	switch {
	case !f.hasStatus(o),
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
				orders = append(orders, e.shownOrder(o))
			}
		}
	})
	return orders, err
}

// CountPlaced calls count with what each order since a time counts against its client.
func (e *Engine) CountPlaced(since time.Time, count func(client string, worth exact.Money, at time.Time)) error {
	return e.View(func(s *book.State) {
		for _, o := range s.Orders {
			if o.Worth.Sign() > 0 && o.By != nil && o.CreatedAt.After(since) {
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
	return e.ahead.Ordered
}

// Positions returns the open positions by symbol, valued at the newest price. One that only
// the account at the broker has, and not the book, has a quantity of zero.
func (e *Engine) Positions() ([]book.Position, error) { return e.positions(false) }

// AllPositions is like Positions but includes closed positions, which show what they
// realized.
func (e *Engine) AllPositions() ([]book.Position, error) { return e.positions(true) }

// positions returns the positions by symbol, with flat also those that are closed.
func (e *Engine) positions(flat bool) ([]book.Position, error) {
	positions := []book.Position{}
	err := e.View(func(s *book.State) {
		held := e.withAccount(s.Holdings)
		for _, symbol := range sorted(held) {
			if h := held[symbol]; flat || h.Quantity != 0 || e.beside(symbol) != 0 {
				positions = append(positions, e.valued(h.Show(symbol, e.brokerName(), e.watch.of(symbol).Quote)))
			}
		}
	})
	return positions, err
}

// withAccount returns what the book holds, and with nothing what only the account at the
// broker does. Called with mu held.
func (d *desk) withAccount(held map[string]book.Holding) map[string]book.Holding {
	all, keys := maps.Clone(held), map[string]bool{}
	for symbol := range held {
		keys[broker.Key(symbol)] = true
	}
	for _, p := range d.remote.report.Positions {
		if !keys[broker.Key(p.Symbol)] && d.beside(p.Symbol) != 0 {
			all[p.Symbol] = book.Holding{}
		}
	}
	return all
}

// externalID begins the ids of orders that somebody else placed in the account.
const externalID = "external-"

// externalOrders returns the open orders of the account that this book did not
// place. They are shown and never touched. Called with mu held.
func (d *desk) externalOrders() (orders []book.Order) {
	for _, s := range d.remote.external {
		o := book.Order{
			ID: externalID + s.ID, ClientOrderID: limit.Clip(s.ClientID), Symbol: s.Symbol, Side: book.Side(s.Side), Type: book.OrderType(s.Type), Quantity: s.Quantity, Status: book.StatusOpen,
			FilledQuantity: s.Filled, Broker: d.remote.name, Account: d.remote.id, BrokerID: s.ID, CreatedAt: book.Time{Time: s.CreatedAt.UTC()}, UpdatedAt: book.Time{Time: s.UpdatedAt.UTC()},
			Why: []book.Reason{book.Because(book.External)},
		}
		if s.Quantity == 0 {
			o.Explain(book.Because(book.ExternalSum))
		}
		if s.Limit != 0 {
			o.Price = &s.Limit
		}
		if s.Stop != 0 {
			o.StopPrice = &s.Stop
		}
		orders = append(orders, o.Public())
	}
	return orders
}

// valued adds to p what the broker says of it. A position that it does not list is zero
// there only if the two are known to differ: the report may be older than the last fill.
// Called with mu held.
func (d *desk) valued(p book.Position) book.Position {
	p.Account = d.remote.id
	var b broker.Position
	i := slices.IndexFunc(d.remote.report.Positions, func(b broker.Position) bool { return broker.Key(b.Symbol) == broker.Key(p.Symbol) })
	if i >= 0 {
		b = d.remote.report.Positions[i]
	}
	if i >= 0 || d.beside(p.Symbol) != 0 {
		p.AtBroker = &book.BrokerPosition{Quantity: b.Quantity, EntryPrice: b.Entry, Value: b.Value, UnrealizedPnL: b.Profit, AsOf: book.Time{Time: d.remote.readAt.UTC().Truncate(time.Millisecond)}}
	}
	return p
}

// notOrder returns why id, which is no order_id of this book, names nothing to cancel or
// replace. Called with mu held.
func (d *desk) notOrder(id string) *book.Refusal {
	if own := d.ahead.ClientIDs[id]; own != "" {
		return book.FixIt.Refuse("unknown_order", "%q is the client_order_id of order %s: name it by that order_id", limit.Clip(id), own)
	}
	if slices.ContainsFunc(d.remote.external, func(s broker.State) bool { return externalID+s.ID == id }) {
		return book.Refuse("unknown_order", "order %s was not placed by wick, which does not touch it: it can only be changed or cancelled at %s itself", id, d.remote.name)
	}
	return uncancellable(nil, id)
}

// uncancellable returns the reason why the order called id cannot be cancelled: it has
// ended as o says, or is not known if o is nil.
func uncancellable(o *book.Order, id string) *book.Refusal {
	if o == nil {
		return book.Refuse("unknown_order", "no order has the id %q; get_orders lists them", limit.Clip(id))
	}
	return book.Refuse(book.Code("order_"+o.Status), "order %s is already %s", id, o.Status)
}
