package book

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"wick/internal/exact"
)

// Pending returns the signed quantity that would be filled if o and all open
// orders of its side were filled, and false if that leaves the range. Limits are judged by
// this sum, because several orders that each close a position could together turn it
// around. One of which no more is filled than reduces the position is judged alone, and by no
// more than that.
func (s *State) Pending(o *Order) (exact.Decimal, bool) {
	sum, ok := o.Remaining(), true
	if o.Cut() {
		return o.Side.Sign(o.Closes(s.Holdings[o.Symbol].Quantity)), true
	}
	for _, other := range s.Open[o.Symbol] {
		if other.Side == o.Side && s.counts(other, o) && ok {
			sum, ok = sum.Add(other.Remaining())
		}
	}
	return sum, ok
}

// counts reports whether limits count the open order o while beside, a new order, is
// judged; beside may be nil. One of which no more is filled than reduces the position does
// not count, nor does the order that beside replaces, and of the two orders of an oco only one does.
func (s *State) counts(o, beside *Order) bool {
	switch {
	case o.Cut() || beside != nil && o.ID == beside.Replaces:
		return false
	case o.Role != RoleOCO:
		return true
	case beside != nil && beside.Role == RoleOCO && beside.Group == o.Group: // the new order belongs to the same oco, and counts for both
		return false
	}
	// The first open order of the group counts for all of them.
	open := s.Open[o.Symbol]
	return open[slices.IndexFunc(open, func(m *Order) bool { return m.Role == RoleOCO && m.Group == o.Group })].ID == o.ID
}

// CheckFill refuses the fill of a resting order if the position would then be over its
// limit: other fills may have used it up since the order was accepted. As on acceptance,
// the order's own price counts, and not the market's.
func (s *State) CheckFill(o *Order, quantity, price, most exact.Decimal) error {
	size := o.Side.Sign(quantity)
	if Shrinks(s.Holdings[o.Symbol].Quantity, size) {
		return nil
	}
	return s.CheckPosition(o, size, price, most)
}

// CheckPosition refuses fills of o of the signed size after which the position would be
// worth more than most at price.
func (s *State) CheckPosition(o *Order, size, price, most exact.Decimal) error {
	after, ok := s.Holdings[o.Symbol].Quantity.Add(size)
	if notional, fits := after.Abs().Times(price, exact.Up); !ok || !fits || notional > most {
		return Refuse("max_position_notional", "the position in %s, open orders included, would be worth %s, over the limit of %s; lower the %s",
			o.Symbol, exact.Product(after.Abs(), price), most, o.Measure())
	}
	return nil
}

// Limits bound what clients can do. The operator sets them; no request can change them. A
// zero field means its default, and one below zero is refused at the start. A refusal of
// an order names the limit that it is for.
type Limits struct {
	OrderNotional    exact.Decimal // largest quantity times price of one order that may open or grow a position; 100,000
	PositionNotional exact.Decimal // largest position of one symbol; ten times OrderNotional
	DailyLoss        exact.Decimal // what an account may lose in a day before only orders that shrink a position are taken; zero means no limit
	OpenPerSymbol    int           // open orders of one symbol; 200, at most MaxOpenPerSymbol
	Open             int           // open orders in all; 1,000
	OrdersPerSecond  int           // accepted orders, with a burst of twice as many; 10
	Alerts           int           // active alerts; 1,000
	Symbols          int           // watched symbols; 50
}

// Limits that the operator has no flag for.
const (
	MaxAlerts  = 1000 // active alerts
	MaxSymbols = 50   // watched symbols
)

// MaxOpenPerSymbol is the most that Limits.OpenPerSymbol may be. One fill may end all open
// orders of its symbol, and the record of it, which names each of them and every subscriber
// who hears of it, has to fit into the journal.
const MaxOpenPerSymbol = 250

// WithDefaults returns l with the defaults in place of zeros.
func (l Limits) WithDefaults() Limits {
	l.OrderNotional = cmp.Or(l.OrderNotional, 100_000*exact.One)
	if l.PositionNotional == 0 {
		var fits bool
		if l.PositionNotional, fits = l.OrderNotional.Times(10*exact.One, exact.Down); !fits {
			l.PositionNotional = math.MaxInt64 // no position can be worth more
		}
	}
	l.OpenPerSymbol = cmp.Or(l.OpenPerSymbol, 200)
	l.Open = cmp.Or(l.Open, 1000)
	l.OrdersPerSecond = cmp.Or(l.OrdersPerSecond, 10)
	l.Alerts = cmp.Or(l.Alerts, MaxAlerts)
	l.Symbols = cmp.Or(l.Symbols, MaxSymbols)
	return l
}

// Check refuses limits below zero, which make no sense, and more open orders of a symbol
// than a record has room for.
func (l Limits) Check() error {
	if min(l.OrderNotional, l.PositionNotional, l.DailyLoss) < 0 || min(l.OpenPerSymbol, l.Open, l.OrdersPerSecond, l.Alerts, l.Symbols) < 0 {
		return fmt.Errorf("limits %+v: none may be below zero", l)
	}
	if l.OpenPerSymbol > MaxOpenPerSymbol {
		return fmt.Errorf("%d open orders of one symbol: at most %d", l.OpenPerSymbol, MaxOpenPerSymbol)
	}
	return nil
}

// TradingState says which orders are taken. Cancels always are.
type TradingState string

// The trading states.
const (
	Active   TradingState = "active"   // all
	Reducing TradingState = "reducing" // only those that shrink a position
	Halted   TradingState = "halted"   // none
)
