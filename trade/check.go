package trade

import (
	"math"

	"wick/exact"
)

// collarPatient is how many times away from the price a limit may wait. On the
// other side, through the market, it may stand by half the price.
const collarPatient = 5

// check holds an order to every limit there is, in the order in which they are
// judged; price is that of the market, and fill that at which the order would be
// filled on arrival, zero if it would rest. It is called with mu held and changes
// nothing.
func (e *Engine) check(r OrderRequest, price, fill exact.Decimal, at Time) error {
	l, s := e.options.Limits, e.ahead
	size, fitsAll := s.pending(r)
	shrinks := fitsAll && shrinks(s.holdings[r.Symbol].Quantity, size)
	rests, worst := fill == 0, max(r.Price, fill)
	notional, fits := r.Quantity.Times(worst, exact.Up)
	switch {
	case s.trading == Halted:
		return refuse("trading_halted", later, "the owner has halted trading (file HALT in the data directory): "+
			"resting orders stay open and none is filled; cancels still pass")
	case s.trading == Reducing && !shrinks:
		return refuse("trading_reducing", later, "only orders that shrink a position are taken now; this one, with the open orders of its side, opens or grows one; "+
			"resting orders stay open and only those that shrink a position are filled; cancels still pass")
	case !fits || notional > l.OrderNotional:
		most, _ := l.OrderNotional.Over(worst, exact.Down)
		return refuse("max_order_notional", fixIt, "the order is worth %s, over the limit of %s per order; lower the quantity to at most %s",
			exact.Product(r.Quantity, worst), l.OrderNotional, most)
	case rests && len(s.open[r.Symbol]) >= l.OpenPerSymbol:
		return refuse("max_open_orders_symbol", later, "%d orders of %s are open, which is the limit; cancel one first", l.OpenPerSymbol, r.Symbol)
	case rests && s.openCount >= l.Open:
		return refuse("max_open_orders", later, "%d orders are open, which is the limit; cancel one first", l.Open)
	}
	if err := checkCollar(r, price); err != nil {
		return err
	}
	if !fitsAll {
		return refuse("out_of_range", fixIt, "%v; lower the quantity", errOverflow)
	}
	if !shrinks {
		if err := s.checkPosition(r.Symbol, size, worst, l.PositionNotional); err != nil {
			return err
		}
	}
	if r.ClientOrderID == "" && e.repeats(r, at) {
		return refuse("duplicate_order", later, "an equal order was accepted less than %d seconds ago; if a second one is meant, "+
			"send it with a client_order_id of its own", int(duplicateWindow.Seconds()))
	}
	if e.rate.Wait(at.Time, e.orderRate()) > 0 {
		return refuse("order_rate", later, "more than %d orders a second; wait a second", l.OrdersPerSecond)
	}
	return nil
}

// checkCollar refuses a limit so far from the price that it must be a typing
// error.
func checkCollar(r OrderRequest, price exact.Decimal) error {
	if r.Type != Limit {
		return nil
	}
	low, high := price/collarPatient, min(price, math.MaxInt64-price/2)+price/2
	if r.Side == Sell {
		low, high = price-price/2, min(price, math.MaxInt64/collarPatient)*collarPatient
	}
	if r.Price < low || r.Price > high {
		return refuse("price_collar", fixIt, "a %s limit of %s is too far from the price %s; %s to %s is allowed", r.Side, r.Price, price, low, high)
	}
	return nil
}

// pending returns the signed quantity that would be filled if r and all open
// orders of its side were, and false if it leaves the range. Limits are judged by
// it: several orders that each close a position would together turn it around.
func (s *state) pending(r OrderRequest) (exact.Decimal, bool) {
	sum, ok := r.Side.sign(r.Quantity), true
	for _, id := range s.open[r.Symbol] {
		if o := s.order(id); o.Side == r.Side && ok {
			sum, ok = sum.Add(o.remaining())
		}
	}
	return sum, ok
}

// checkFill holds the fill of a resting order to the limit of the position once
// more. As on acceptance its limit is the price that counts.
func (s *state) checkFill(o *Order, most exact.Decimal) error {
	size := o.remaining()
	if shrinks(s.holdings[o.Symbol].Quantity, size) {
		return nil
	}
	return s.checkPosition(o.Symbol, size, *o.Price, most)
}

// checkPosition bounds what the position would be worth at price after fills of
// the signed size.
func (s *state) checkPosition(symbol string, size, price, most exact.Decimal) error {
	after, ok := s.holdings[symbol].Quantity.Add(size)
	if notional, fits := after.Abs().Times(price, exact.Up); !ok || !fits || notional > most {
		return refuse("max_position_notional", fixIt, "the position in %s, open orders included, would be worth %s, over the limit of %s; lower the quantity",
			symbol, exact.Product(after.Abs(), price), most)
	}
	return nil
}
