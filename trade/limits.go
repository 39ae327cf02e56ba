package trade

import (
	"cmp"
	"fmt"
	"math"

	"wick/internal/exact"
)

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
	maxAlerts  = 1000 // active alerts
	maxSymbols = 50   // watched symbols
)

// MaxOpenPerSymbol is the most that Limits.OpenPerSymbol may be. One fill may end all open
// orders of its symbol, and the record of it, which names each of them and every subscriber
// who hears of it, has to fit into the journal.
const MaxOpenPerSymbol = 250

// withDefaults returns l with the defaults in place of zeros.
func (l Limits) withDefaults() Limits {
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
	l.Alerts = cmp.Or(l.Alerts, maxAlerts)
	l.Symbols = cmp.Or(l.Symbols, maxSymbols)
	return l
}

// check refuses limits below zero, which make no sense, and more open orders of a symbol
// than a record has room for.
func (l Limits) check() error {
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
