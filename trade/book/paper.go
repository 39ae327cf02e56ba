package book

import (
	"math"

	"wick/internal/exact"
)

// The paper broker says what a market would have done with an order. Its answers depend on
// the order, the prices and the rules alone. It uses no random numbers, so the same journal
// and prices give the same fills. A fill stands in the same record as the order that it
// changes, so that no crash comes between them.

// PaperName is the broker's name on paper orders and positions.
const PaperName = "paper"

// arrive returns the price at which o is filled on arrival when the market is at
// q; zero means that it rests. A market order is filled at the bid or ask, made worse
// by the slippage. So is a limit order whose limit the bid or ask has reached already,
// but at its limit if the slippage would go beyond it. All others rest.
func (b *Book) arrive(o *Order, q Quote) exact.Decimal {
	// Reached means that the bid or ask is at the limit or better, before slippage.
	if offered := b.offered(o, q); o.Type.HasStop() || o.Within(offered) != offered {
		return 0
	}
	return o.Within(b.slip(o, q))
}

// slip returns the price at which o takes from the market: worse for the trader than
// the bid or ask by the slippage, and rounded to the tick, again to his disadvantage. A
// sell gets at least one tick, or all of a price that is below that: nothing is no price,
// and what was bought there must not be stuck.
func (b *Book) slip(o *Order, q Quote) exact.Decimal {
	from, spread := b.side(o, q)
	slipped := b.worse(o, from, b.Rules.Slippage+spread)
	if o.Side == Sell {
		slipped = max(slipped, min(from, max(b.Grid(o.Symbol).Tick, 1)))
	}
	return slipped
}

// offered returns the ask for an order that buys and the bid for one that sells
// when the market is at q.
func (b *Book) offered(o *Order, q Quote) exact.Decimal {
	from, spread := b.side(o, q)
	return b.worse(o, from, spread)
}

// side returns the price that a fill of o is computed from, and the fraction by which
// it is to be made worse for the spread. If the source has told bid and ask, that is the
// ask for a buy or the bid for a sell, and zero; otherwise the price of the market, and
// half the spread.
func (b *Book) side(o *Order, q Quote) (from, spread exact.Decimal) {
	switch {
	case !b.Rules.Quoted || q.Bid == 0:
		return q.Price, b.Rules.HalfSpread
	case o.Side == Buy:
		return q.Ask, 0
	}
	return q.Bid, 0
}

// worse returns a price that is worse for the trader by a fraction, rounded to the
// tick of the market to his disadvantage. A buy pays at most the highest tick in the range
// of exact numbers, or all of a price above that: what was sold there must not be stuck.
func (b *Book) worse(o *Order, price, by exact.Decimal) exact.Decimal {
	tick, factor, to := b.Grid(o.Symbol).Tick, exact.One+by, exact.Up
	if o.Side == Sell {
		factor, to = exact.One-by, exact.Down
	}
	moved, ok := price.Times(factor, to)
	if ok {
		moved, ok = moved.Step(tick, to)
	}
	if !ok {
		moved, _ = exact.Decimal(math.MaxInt64).Step(tick, exact.Down)
		moved = max(moved, price)
	}
	return moved
}

// report returns a report that a quantity was filled at price and the order has the
// status after that. If the price is zero, nothing was filled and the order is open. The
// value is rounded up to the last decimal, and so is the fee, which is rate times it.
func (b *Book) report(status OrderStatus, quantity, price, rate exact.Decimal) (Report, error) {
	if price == 0 {
		return Report{Status: StatusOpen}, nil
	}
	fee, ok := quantity.Times(price, exact.Up)
	if ok {
		fee, ok = fee.Times(rate, exact.Up)
	}
	if !ok {
		return Report{}, Refuse("out_of_range", "%s at %s is beyond the range of exact numbers; lower the quantity", quantity, price)
	}
	return Report{Status: status, Size: quantity, Price: price, Fee: fee}, nil
}

// span is the trading of some time, which resting orders and alerts are judged on.
type span struct {
	// open is the first price. It is zero if the span goes on from a price that was seen
	// before: on the way from there the market passed every limit in between.
	open      exact.Decimal
	start     exact.Decimal // the first price, or the one that was seen before
	high, low exact.Decimal
	close     exact.Decimal // the last price
}

// resting returns the price at which a resting limit is filled within part, if it is.
// For a buy the ask counts and for a sell the bid. If the market opened beyond the
// limit, the order is filled at the open, which is better for the trader; otherwise at
// its limit, which the market reached later.
func (b *Book) resting(o *Order, part span) (exact.Decimal, bool) {
	// The best price of the span for the trader decides whether the limit was reached.
	extreme := part.low
	if o.Side == Sell {
		extreme = part.high
	}
	if nearest := b.offered(o, Quote{Price: extreme}); o.Within(nearest) != nearest {
		return 0, false
	}
	if part.open != 0 {
		return o.Within(b.offered(o, Quote{Price: part.open})), true
	}
	return *o.Price, true
}

// stopPrice returns the price of the market when it reaches the stop within b, and
// whether it does. The price is the stop, or the first price of b if that is beyond the
// stop already. It is never better for the trader than the stop.
func stopPrice(side Side, stop exact.Decimal, b span) (exact.Decimal, bool) {
	if side == Buy {
		return max(stop, b.start), b.high >= stop
	}
	return min(stop, b.start), b.low <= stop
}
