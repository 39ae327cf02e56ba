package alpacatest

import (
	"slices"
	"time"

	"wick/internal/exact"
)

// Set changes fields while requests are under way.
func (v *Venue) Set(change func(*Venue)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change(v)
}

// Open returns the client ids of the orders that can still be filled, the oldest
// first; those that wait for another are left out.
func (v *Venue) Open() (ids []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, o := range v.orders {
		if !final(o.Status) && o.Status != "held" {
			ids = append(ids, o.ClientOrderID)
		}
	}
	return ids
}

// Fill executes a part of the order with a client id, at a price.
func (v *Venue) Fill(clientID string, quantity, price exact.Decimal) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if o := v.byClient(clientID); o != nil {
		v.fill(o, quantity, price)
	}
}

// End gives the order with a client id a final status, such as expired.
func (v *Venue) End(clientID, status string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if o := v.byClient(clientID); o != nil {
		v.end(o, status)
	}
}

// Foreign places an order that does not come from the program under test, and returns its
// client id.
func (v *Venue) Foreign(symbol, side string, quantity, limit exact.Decimal) string {
	return v.ForeignAs("", symbol, side, quantity, limit)
}

// ForeignAs is Foreign for an order with a chosen client id.
func (v *Venue) ForeignAs(clientID, symbol, side string, quantity, limit exact.Decimal) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	o := v.add(request{ClientOrderID: clientID, Symbol: symbol, Side: side, Type: "limit", TimeInForce: "gtc", LimitPrice: limit.String()}, quantity)
	v.tell(o, "new", nil)
	return o.ClientOrderID
}

// Adjust changes a position without a fill, as a split, a transfer or a fee in
// kind does.
func (v *Venue) Adjust(symbol string, by exact.Decimal) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.adjust[symbol] += by
}

// Bust takes back the newest fill of the order with a client id, as an exchange does
// with an execution that should not have been.
func (v *Venue) Bust(clientID string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	o := v.byClient(clientID)
	for i := len(v.fills) - 1; i >= 0; i-- {
		if f := v.fills[i]; f.OrderID == o.ID {
			gone, _ := exact.Parse([]byte(f.Qty)) // ours
			v.fills = slices.Delete(v.fills, i, i+1)
			o.FilledQty = (v.filled(o) - gone).String()
			v.average(o)
			v.tell(o, "trade_bust", nil)
			return
		}
	}
}

// Correct changes the price of the newest fill of the order with a client id, as an
// exchange does with an execution that was reported wrong.
func (v *Venue) Correct(clientID string, price exact.Decimal) {
	v.mu.Lock()
	defer v.mu.Unlock()
	o := v.byClient(clientID)
	for i := len(v.fills) - 1; i >= 0; i-- {
		if v.fills[i].OrderID == o.ID {
			v.fills[i].Price = price.String()
			v.average(o)
			v.tell(o, "trade_correct", nil)
			return
		}
	}
}

// Equity sets what the account is worth, now and at the close of the day before.
func (v *Venue) Equity(equity, last exact.Decimal) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.accounts = func() (exact.Decimal, exact.Decimal) { return equity, last }
}

// CutStreams ends every open stream.
func (v *Venue) CutStreams() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cut++
	for l := range v.listeners {
		select {
		case l <- struct{}{}:
		default:
		}
	}
}

// Streams returns how many streams are open.
func (v *Venue) Streams() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.listeners)
}

// Drop has the streams leave out the next events.
func (v *Venue) Drop(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.drop = n
}

// Repeat has the streams tell the last events once more, the newest first: each
// twice, and out of order.
func (v *Venue) Repeat(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range min(n, len(v.events)) {
		u := v.events[len(v.events)-1-2*i]
		v.events = append(v.events, u)
	}
	for l := range v.listeners {
		select {
		case l <- struct{}{}:
		default:
		}
	}
}

// Position returns what is held of a symbol.
func (v *Venue) Position(symbol string) exact.Decimal {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.position(symbol, time.Now())
}

// position is Position as it was at a time.
func (v *Venue) position(symbol string, at time.Time) (sum exact.Decimal) {
	for _, f := range v.fills {
		if f.key == symbol && !f.at.After(at) {
			sum += f.signed
		}
	}
	return sum + v.adjust[symbol]
}

// Order is what the venue knows of an order.
type Order struct {
	ID, ClientID, Status string
	Quantity, Filled     exact.Decimal
	Average              exact.Decimal
}

// Orders returns every order there ever was, in the order of their arrival.
func (v *Venue) Orders() (all []Order) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, o := range v.orders {
		out := Order{ID: o.ID, ClientID: o.ClientOrderID, Status: o.Status, Quantity: v.quantity(o), Filled: v.filled(o)}
		if o.FilledAvgPrice != nil {
			out.Average, _ = exact.Parse([]byte(*o.FilledAvgPrice)) // ours
		}
		all = append(all, out)
	}
	return all
}

// Busiest returns the most requests that came within a minute.
func (v *Venue) Busiest() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.busiest
}
