package trade

import "wick/exact"

// The paper broker. It is part of the engine and not behind the [Broker]
// interface: its fills depend on prices that the engine has and must stand in
// the same record as the order, so that no crash comes between the two. What
// it does is a function of the journal and the price stream; it uses no random
// numbers.

// execution is what an order does on arrival.
type execution struct {
	now   bool // filled at once
	price exact.Decimal
}

// execute works out what r does at the given market price. A market order is
// filled at the price made worse by the slippage. So is a limit that the market
// has reached already, though never beyond its limit. Any other limit rests.
func (e *Engine) execute(r OrderRequest, price exact.Decimal) (execution, error) {
	slipped, err := e.slip(r.Side, price)
	if err != nil {
		return execution{}, err
	}
	fill := execution{now: true, price: slipped}
	if e.options.Broker != nil { // the rails judge by this, the broker decides
		if fill.now = false; r.Type == Limit {
			fill.price = r.Price
		}
		return fill, nil
	}
	if r.Type == Limit {
		switch {
		case r.Side == Buy && r.Price >= price:
			fill.price = min(slipped, r.Price)
		case r.Side == Sell && r.Price <= price:
			fill.price = max(slipped, r.Price)
		default:
			return execution{}, nil
		}
	}
	return fill, nil
}

// slip makes price worse for the taker and rounds it to a unit, again to his
// disadvantage.
func (e *Engine) slip(side Side, price exact.Decimal) (exact.Decimal, error) {
	factor, to := exact.One+e.options.Slippage, exact.Up
	if side == Sell {
		factor, to = exact.One-e.options.Slippage, exact.Down
	}
	slipped, ok := price.Times(factor, to)
	if !ok || slipped <= 0 {
		return 0, refuse("out_of_range", never, "the price %s leaves no room for slippage", price)
	}
	return slipped, nil
}

// fee is the rate on the value of the fill, rounded up to a unit.
func (e *Engine) fee(quantity, price exact.Decimal) (exact.Decimal, error) {
	value, ok := quantity.Times(price, exact.Up)
	if ok {
		value, ok = value.Times(e.options.FeeRate, exact.Up)
	}
	if !ok {
		return 0, refuse("out_of_range", fixIt, "%s at %s is beyond the range of exact numbers; lower the quantity", quantity, price)
	}
	return value, nil
}

// span is a stretch of trading that a resting order lived through. Its open is
// zero when nobody knows it.
type span struct{ open, high, low exact.Decimal }

// restingPrice returns the price at which a resting limit is filled within b,
// if it is. A market that opened beyond the limit fills at the open, which is
// better for the trader; else the limit is met on the way. With no open known,
// the extreme nearest to the limit stands for it: if even that lies beyond, all
// of the span did.
func restingPrice(o *Order, b span) (exact.Decimal, bool) {
	limit := *o.Price
	if o.Side == Buy {
		if b.open == 0 {
			b.open = b.high
		}
		return min(limit, b.open), b.low <= limit
	}
	if b.open == 0 {
		b.open = b.low
	}
	return max(limit, b.open), b.high >= limit
}
