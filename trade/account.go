package trade

import (
	"fmt"
	"slices"

	"wick/exact"
	"wick/market"
)

// Currency returns what prices of a symbol are counted in: what the source said,
// or else what the symbol says; empty if neither does.
func (e *Engine) Currency(symbol string) string {
	if told := e.watch.of(symbol).currency; told != "" {
		return told
	}
	return market.Currency(symbol)
}

// ledger is what the positions of an account come to.
type ledger struct {
	cash, equity exact.Money // cash is what was paid in, less what was paid for positions, fees included
	exposure     exact.Money // what all positions are worth, longs and shorts added up
	realized     exact.Money
	fees         exact.Money
	whole        bool     // every position has a price, and no sum has left the range
	excluded     []string // symbols in other currencies
}

// ledger adds up the positions of s at the newest prices. Called with mu held. Which
// state it is matters: limits are judged on ahead, and answers come from shown.
func (e *Engine) ledger(s *state) ledger {
	account := e.options.Account
	l := ledger{cash: account.Cash.Money(), whole: true}
	add := func(to *exact.Money, x exact.Money) {
		sum, ok := to.Add(x)
		*to, l.whole = sum, l.whole && ok
	}
	var worth exact.Money
	for _, symbol := range sorted(s.holdings) {
		h := s.holdings[symbol]
		if !account.counts(e.Currency(symbol)) {
			l.excluded = append(l.excluded, symbol)
			continue
		}
		// Cash changes by what was realized, and by what the open position cost.
		add(&l.cash, h.Realized)
		add(&l.cash, h.Cost.Neg())
		add(&l.realized, h.Realized)
		add(&l.fees, h.Fees)
		// Without a price an open position has no known worth, and the sums are not
		// whole.
		mark := e.watch.price(symbol)
		l.whole = l.whole && (mark > 0 || h.Quantity == 0)
		add(&worth, exact.Product(h.Quantity, mark))
		add(&l.exposure, exact.Product(h.Quantity.Abs(), mark))
	}
	l.equity = l.cash
	add(&l.equity, worth)
	return l
}

// power returns what may still be bought: the leverage on the equity, less what is
// held. It reports false if that cannot be said. Nothing can be bought on an equity
// below zero.
func (e *Engine) power(l ledger) (exact.Decimal, bool) {
	equity, ok1 := l.equity.Per(exact.One)
	exposure, ok2 := l.exposure.Per(exact.One)
	most, ok3 := max(equity, 0).Times(e.options.Account.Leverage, exact.Down)
	left, ok4 := most.Add(-exposure)
	return left, ok1 && ok2 && ok3 && ok4 && l.whole
}

// reservedBut returns what the open orders of all symbols but one, as far as they
// are priced in the account's currency, would add to the exposure. Called with mu held.
func (e *Engine) reservedBut(s *state, but string) (sum exact.Decimal) {
	for symbol := range s.open {
		if symbol != but && e.options.Account.counts(e.Currency(symbol)) {
			sum += e.reserved(s, symbol)
		}
	}
	return sum
}

// reserved returns what the open orders of a symbol would add to its exposure if all
// of the worse side were filled. Called with mu held. Only one side counts, because
// fills of the other would reduce what these open.
func (e *Engine) reserved(s *state, symbol string) (most exact.Decimal) {
	for _, side := range []Side{Buy, Sell} {
		size, value := e.openValue(s, symbol, side, nil)
		most = max(most, e.grows(s, symbol, size, value))
	}
	return most
}

// tooMuch is more than any account has, and stands for sums that leave the range.
const tooMuch exact.Decimal = 1 << 62

// openValue returns the signed quantity of the open orders of a side that count beside
// another, which may be nil, and their value, each at its own price. Called with mu
// held. A sum that leaves the range stays at tooMuch, which no account can pay.
func (e *Engine) openValue(s *state, symbol string, side Side, beside *Order) (size, value exact.Decimal) {
	for _, id := range s.open[symbol] {
		o := s.order(id)
		if o.Side != side || !s.counts(o, beside) {
			continue
		}
		size += o.remaining()
		value = together(value, worth(o.remaining(), e.highest(s, o)))
	}
	return size, value
}

// highest returns the highest price that an open order is likely to be filled at:
// that of its limit or stop, of two that exclude each other the higher one, and of
// a trailing stop, which follows the market, at least the price of now. Called
// with mu held.
func (e *Engine) highest(s *state, o *Order) exact.Decimal {
	price := e.likely(o)
	if o.Role == RoleOCO {
		for _, mate := range s.mates(o, o.Group) {
			if price = max(price, e.likely(mate)); mate.Type == StopLimit {
				price = max(price, *mate.StopPrice)
			}
		}
	}
	return price
}

// likely is highest for an order alone. Called with mu held.
func (e *Engine) likely(o *Order) exact.Decimal {
	switch o.Type {
	case TrailingStop:
		return max(e.stop(o), e.watch.price(o.Symbol))
	case Market:
		price, _ := e.paper.slip(o, quote{price: e.watch.price(o.Symbol)}) // it was slipped when it came
		return price
	}
	return o.worst()
}

// counts reports whether an open order counts for limits, beside another that is
// about to come if that is not nil. Those that can only reduce a position do not,
// nor does the one that is replaced, and of two that exclude each other one does.
func (s *state) counts(o, beside *Order) bool {
	if o.ReduceOnly || beside != nil && o.ID == beside.Replaces {
		return false
	}
	if o.Role != RoleOCO {
		return true
	}
	// The new order excludes it, and counts in its place.
	if beside != nil && beside.Role == RoleOCO && beside.Group == o.Group {
		return false
	}
	// Of the orders of a group the oldest counts, for all of them.
	first := slices.IndexFunc(s.open[o.Symbol], func(id string) bool {
		m := s.order(id)
		return m.Role == RoleOCO && m.Group == o.Group
	})
	return s.open[o.Symbol][first] == o.ID
}

// worth returns what a signed quantity is worth at a price, rounded up; tooMuch if
// that is out of range.
func worth(size, price exact.Decimal) exact.Decimal {
	value, ok := size.Abs().Times(price, exact.Up)
	if !ok {
		return tooMuch
	}
	return min(value, tooMuch)
}

// together adds two amounts, up to tooMuch.
func together(x, y exact.Decimal) exact.Decimal {
	if z, ok := x.Add(y); ok {
		return min(z, tooMuch)
	}
	return tooMuch
}

// grows returns what fills of the signed size for a value need of the buying power,
// fees included. What only reduces the position of a symbol needs nothing; what
// adds to it needs its value; what turns it around needs what the new position is
// worth beyond the old one, which it closes. Called with mu held.
func (e *Engine) grows(s *state, symbol string, size, value exact.Decimal) exact.Decimal {
	held := s.holdings[symbol].Quantity
	if size == 0 || shrinks(held, size) {
		return 0
	}
	need, freed := value, exact.Decimal(0)
	if held != 0 && (held > 0) != (size > 0) {
		// The part of the fills that is left over once the old position is closed, and
		// what closing that frees.
		share, ok := exact.Product(value, size.Abs()-held.Abs()).PerUp(size.Abs())
		if need = share; !ok {
			need = tooMuch
		}
		freed, _ = held.Abs().Times(max(e.watch.price(symbol), 0), exact.Down)
	}
	if need <= freed {
		return 0
	}
	fee, ok := value.Times(e.paper.feeRate, exact.Up)
	if !ok {
		return tooMuch
	}
	return together(need-freed, fee)
}

// refuseShort refuses an order that would sell more than is held, and says how much
// can still be sold, in whole lots. Others is what open orders are to sell, a negative
// size.
func refuseShort(o *Order, held, others, lot exact.Decimal) error {
	left, _ := held.Add(others)
	left, _ = max(left, 0).Step(lot, exact.Down)
	counted, advice := "", "nothing can be sold"
	if others != 0 {
		counted, advice = fmt.Sprintf(", of which open orders sell %s", others.Abs()), "cancel or replace one of them"
	}
	if left > 0 {
		advice = fmt.Sprintf("lower the quantity to at most %s", left)
	}
	return refuse("no_short", fixIt, "the account holds %s of %s%s, and may not sell more than it has (--short): %s", held, o.Symbol, counted, advice)
}

// checkAccount holds the signed size of o and its value, which on acceptance have
// the open orders of its side in them, to what the account can pay, less what is
// reserved for others. Called with mu held.
func (e *Engine) checkAccount(o *Order, size, value, reserved exact.Decimal) error {
	account := e.options.Account
	if account.Cash == 0 {
		return nil
	}
	held := e.ahead.holdings[o.Symbol].Quantity
	if currency := e.Currency(o.Symbol); !account.counts(currency) {
		if shrinks(held, size) { // a position of before the account was opened can be closed
			return nil
		}
		return refuse("currency", never, "the account is in %s, and %s is priced in %s: only a position that is held can be closed", account.Currency, o.Symbol, currency)
	}
	if after, _ := held.Add(size); after < 0 && size < 0 && !account.Short {
		return refuseShort(o, held, min(0, size-o.remaining()), e.paper.grid(o.Symbol).Lot)
	}
	// What needs no buying power passes even if the account cannot be valued.
	need := e.grows(e.ahead, o.Symbol, size, value)
	left, ok := e.power(e.ledger(e.ahead))
	left -= reserved
	switch {
	case need == 0:
		return nil
	case !ok:
		return refuse("no_price", later, "what the account is worth is not known: a position has no price yet")
	case need > left:
		return refuse("buying_power", fixIt, "the order, with the open ones of its side and fees, needs %s and %s %s can be spent; lower the quantity", need, max(left, 0), account.Currency)
	}
	return nil
}
