package trade

import (
	"wick/broker"
	"wick/exact"
)

// beside returns how much more of a symbol the account at the broker holds than the book's
// fills come to, negative if it is less: by the newest report if that shows a difference,
// else as the owner has accepted it. It is zero on paper. Called with mu held.
func (d *desk) beside(symbol string) exact.Decimal {
	if d.venue == nil {
		return 0
	}
	return d.besideBy(d.venue.suspected, symbol)
}

// besideBy is beside by the differences that were found.
func (e *desk) besideBy(found []Difference, symbol string) exact.Decimal {
	key := broker.Key(symbol)
	for _, d := range found {
		if broker.Key(d.Symbol) == key {
			return d.Broker - d.Book
		}
	}
	return e.ahead.venue.Base[key]
}

// unsettled reports whether the newest report shows another difference in a symbol than the
// settled one: it may be of a fill that the book does not know yet. Called with mu held.
func (d *desk) unsettled(symbol string) bool {
	return d.venue != nil && d.beside(symbol) != d.besideBy(d.venue.differs, symbol)
}

// owned returns how much of a symbol the account holds, negative when short: on paper the
// book's position. A difference counts once it is settled: shares that a report has before
// the book knows of their fill would count twice when that comes. Called with mu held.
func (d *desk) owned(symbol string) exact.Decimal {
	held := d.ahead.holdings[symbol].Quantity
	if d.venue != nil {
		held += d.besideBy(d.venue.differs, symbol)
	}
	return held
}

// closable returns the part of the book's position in a symbol that the account holds,
// negative when short. No more than that may be closed: the rest would open a position.
// Called with mu held.
func (d *desk) closable(symbol string) exact.Decimal {
	held := d.ahead.holdings[symbol].Quantity
	part := reducible(held, -held-d.beside(symbol))
	if held < 0 {
		return -part
	}
	return part
}

// notHeld refuses to close more of a position than the account holds. Called with mu held.
func (d *desk) notHeld(symbol string) error {
	held := d.ahead.holdings[symbol].Quantity
	return later.refuse("reduce_only", "this book's position in %s is %s and the account at %s holds %s: at most %s can be closed by reduce_only or quantity all",
		symbol, held, d.venue.name, held+d.beside(symbol), d.closable(symbol).Abs())
}
