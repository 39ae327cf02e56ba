package trade

import "wick/exact"

// report is how an order stands at its broker. Figures are totals since its
// beginning. Whatever a broker does to an order, on arrival, at a price or by a
// cancel, it says so by a report, and outcome turns it into a step of the book.
//
// A broker elsewhere, whose answers can be lost, would be added here: its order
// is written down as intended (kindIntent) before it is sent, its reports come
// later (kindAnswered), and between the two the order is open with the reason
// "outcome unknown". It must never be sent again after a failure that leaves the
// outcome in doubt.
type report struct {
	status  OrderStatus
	filled  exact.Decimal
	average exact.Decimal // price of what is filled
	fee     exact.Decimal
	reason  string
	mark    quote // what the fill was made from
}

// paper is the paper broker: it says what a market would have done with an order.
// Its answers depend on the order and the prices alone; it keeps nothing and uses
// no random numbers, so the same journal and prices give the same fills. They
// stand in the same record as the order, so that no crash comes between the two.
type paper struct {
	feeRate  exact.Decimal // as a fraction of a fill's value
	slippage exact.Decimal // of fills on arrival, as a fraction of the price
}

// paperName is what its orders and positions carry as their broker.
const paperName = "paper"

// arrive returns the price at which r is filled on arrival when the market is at
// the given one; zero means that it rests. A market order is filled at the price
// made worse by the slippage. So is a limit that the market has reached already,
// though never beyond its limit. Any other limit rests.
func (p paper) arrive(r OrderRequest, price exact.Decimal) (fill exact.Decimal, err error) {
	if fill, err = p.slip(r.Side, price); err != nil || r.Type == Market {
		return fill, err
	}
	switch {
	case r.Side == Buy && r.Price >= price:
		return min(fill, r.Price), nil
	case r.Side == Sell && r.Price <= price:
		return max(fill, r.Price), nil
	}
	return 0, nil
}

// slip makes price worse for the trader and rounds it to a unit, again to his
// disadvantage.
func (p paper) slip(side Side, price exact.Decimal) (exact.Decimal, error) {
	factor, to := exact.One+p.slippage, exact.Up
	if side == Sell {
		factor, to = exact.One-p.slippage, exact.Down
	}
	slipped, ok := price.Times(factor, to)
	if !ok || slipped <= 0 {
		return 0, refuse("out_of_range", never, "the price %s leaves no room for slippage", price)
	}
	return slipped, nil
}

// report returns how an order of this quantity stands: filled whole at price, or
// open if that is zero. The fee is the rate on the value, each rounded up to a
// unit.
func (p paper) report(quantity, price exact.Decimal) (report, error) {
	if price == 0 {
		return report{status: StatusOpen}, nil
	}
	fee, ok := quantity.Times(price, exact.Up)
	if ok {
		fee, ok = fee.Times(p.feeRate, exact.Up)
	}
	if !ok {
		return report{}, refuse("out_of_range", fixIt, "%s at %s is beyond the range of exact numbers; lower the quantity", quantity, price)
	}
	return report{status: StatusFilled, filled: quantity, average: price, fee: fee}, nil
}

// span is a stretch of trading that a resting order lived through. Its open is
// zero if it began at a price that was seen before: from there to the first price
// of the span the market went through every limit between the two.
type span struct{ open, high, low exact.Decimal }

// restingPrice returns the price at which a resting limit is filled within b,
// if it is. A market that opened beyond the limit fills at the open, which is
// better for the trader; else the limit is met on the way.
func restingPrice(o *Order, b span) (exact.Decimal, bool) {
	limit := *o.Price
	if b.open == 0 {
		b.open = limit
	}
	if o.Side == Buy {
		return min(limit, b.open), b.low <= limit
	}
	return max(limit, b.open), b.high >= limit
}
