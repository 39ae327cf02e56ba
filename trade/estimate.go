package trade

import "wick/exact"

// Estimate is what a person wants to know of an order before it is filled. It assumes the
// price that is most likely by what is known now, without slippage for an order that
// waits. If no price is known, all fields are zero.
type Estimate struct {
	Price exact.Decimal

	// Quantity is how much would be filled: the whole order, or for an ioc or a fok the
	// part that would be filled at once, which may be nothing.
	Quantity exact.Decimal

	// Rest is the price of the part that is not filled now, if the volume fills a limit
	// order only in part: the rest waits at its limit. Zero means that all is at Price.
	Rest exact.Decimal

	Fee                  exact.Decimal // of the paper broker
	StopLoss, TakeProfit exact.Decimal // the prices at which the exits would stand

	// Thin says that the market has reached the order, but that nothing of it is filled
	// because too little was traded lately.
	Thin bool
}

// Estimate returns the estimate of o, the answer to a dry run. The fee of a broker
// elsewhere is not known here, and stays zero.
func (e *Engine) Estimate(o Order) Estimate {
	entry, rate := e.entry(&o)
	if entry == 0 {
		return Estimate{}
	}
	x := Estimate{Price: entry, Quantity: o.Quantity, Thin: e.thin(&o)}
	switch {
	case o.Status.Terminal():
		x.Quantity = o.FilledQuantity
	case o.Status == StatusPartiallyFilled && o.Price != nil:
		x.Rest = *o.Price
	}
	if o.Account == "" {
		x.Fee = e.fee(&o, x, rate)
	}
	// Exits count from the first fill that opens a position.
	if x.Rest != 0 && e.closes(&o) {
		entry = x.Rest
	}
	if o.StopLoss != nil {
		x.StopLoss, _ = o.StopLoss.at(entry, o.Side == Sell)
	}
	if o.TakeProfit != nil {
		x.TakeProfit, _ = o.TakeProfit.at(entry, o.Side == Buy)
	}
	return x
}

// closes reports whether what is filled now of o, the answer to a dry run, only closes a
// position.
func (e *Engine) closes(o *Order) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return shrinks(e.shown.holdings[o.Symbol].Quantity, o.Side.sign(o.FilledQuantity))
}

// fee returns what the paper broker takes for o, filled as x says, at the rate. If a limit
// is filled only in part now, its rest pays the maker's rate. Nothing here is out of range,
// because the dry run has made the same checks.
func (e *Engine) fee(o *Order, x Estimate, rate exact.Decimal) exact.Decimal {
	if x.Rest == 0 {
		whole, _ := e.paper.report(o.Status, x.Quantity, x.Price, rate)
		return whole.fee
	}
	part, _ := e.paper.report(o.Status, o.FilledQuantity, x.Price, rate)
	rest, _ := e.paper.report(o.Status, o.remaining().Abs(), x.Rest, e.paper.makerRate)
	sum, _ := part.fee.Add(rest.fee)
	return sum
}

// Worth returns what o is worth if it is filled as the estimate says, and false if that is
// out of range.
func (x Estimate) Worth(o Order) (exact.Decimal, bool) {
	if x.Rest == 0 {
		return x.Quantity.Times(x.Price, exact.Up)
	}
	part, _ := o.FilledQuantity.Times(x.Price, exact.Up)
	rest, ok := (o.Quantity - o.FilledQuantity).Times(x.Rest, exact.Up)
	if !ok {
		return 0, false
	}
	return part.Add(rest)
}

// EstimateBeside returns the estimate of the stop beside o, a limit. Nobody knows which of
// the two will be filled, so each has an estimate of its own.
func (e *Engine) EstimateBeside(o Order, with OCO) Estimate { return e.Estimate(*o.partner(with)) }

// entry returns the price at which o would be filled, zero if it is not known, and the
// rate of its fee. An order that takes what the market offers, now or later like a stop,
// pays the taker's rate; a limit that waits pays the maker's.
func (e *Engine) entry(o *Order) (price, rate exact.Decimal) {
	switch {
	case o.AveragePrice != nil:
		return *o.AveragePrice, e.paper.feeRate
	case o.Type == Market: // too little was traded: it takes what the market gives later
		return e.paper.slip(o, e.watch.of(o.Symbol).quote), e.paper.feeRate
	case o.Type == StopLimit:
		// Triggered at its stop, it takes what the market offers there, or rests at its
		// limit if the market is beyond that.
		if offered := e.paper.offered(o, quote{price: *o.StopPrice}); o.within(offered) != offered {
			return *o.Price, e.paper.makerRate
		}
		return *o.StopPrice, e.paper.feeRate
	case o.waits():
		return *o.StopPrice, e.paper.feeRate
	}
	return *o.Price, e.paper.makerRate
}

// Arrival returns the highest price at which o may be filled if it arrives now, at once or
// at the price of the market when more is traded, and zero if the market has not reached it.
// What waits is filled by the prices of trades, without slippage, and not by bid and ask.
func (e *Engine) Arrival(o Order) exact.Decimal {
	q := e.watch.of(o.Symbol).quote
	price := e.paper.arrive(&o, q)
	if later := e.paper.offered(&o, quote{price: q.price}); o.Type == Limit && o.within(later) == later {
		price = max(price, later)
	}
	return price
}

// thin reports whether o, the answer to a dry run, would be filled at once if more had
// been traded lately.
func (e *Engine) thin(o *Order) bool {
	if o.AveragePrice != nil || o.Account != "" || e.available(o) == o.Quantity {
		return false
	}
	return e.paper.arrive(o, e.watch.of(o.Symbol).quote) != 0
}
