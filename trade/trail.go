package trade

import "wick/exact"

// trailing returns where a trailing stop stands when the market is at price, on the
// far side if it has to be rounded to the grid. It reports false if that is no price.
// A sell stop lies below the market, a buy stop above it.
func (o *Order) trailing(price exact.Decimal, g Grid) (exact.Decimal, bool) {
	distance, fits := o.TrailAmount, true
	if o.TrailPercent != 0 {
		distance, fits = price.Percent(o.TrailPercent, exact.Up)
	}
	stop, ok := price.Add(o.Side.sign(distance)) // a buy stop is above the market
	if !fits || !ok || stop <= 0 {
		return 0, false
	}
	stop, ok = g.away(stop, price)
	return stop, ok && stop > 0
}

// stop returns the stop price of o, which for a trailing stop is where the market has
// drawn it. Called with mu held. Where it was drawn is in memory, and in the journal
// with what was seen: not every price is worth a record.
func (e *Engine) stop(o *Order) exact.Decimal {
	if stop, ok := e.trails[o.ID]; ok {
		return stop
	}
	return *o.StopPrice
}

// trail lets a trailing stop follow the best price of a span, once the span has
// been judged by where it stood before: which of the two extremes came first is
// not known. Called with mu held.
func (e *Engine) trail(o *Order, part span) {
	if o.Type != TrailingStop {
		return
	}
	best := part.high
	if o.Side == Buy {
		best = part.low
	}
	stop, ok := o.trailing(best, e.paper.grid(o.Symbol))
	// It moves in the direction that protects more, and never back.
	if before := e.stop(o); ok && stop != before && (stop > before) == (o.Side == Sell) {
		e.trails[o.ID] = stop
	}
}

// drawn returns where the trailing stops of a symbol stand now, as far as the
// journal does not know it. Called with mu held.
func (e *Engine) drawn(symbol string) map[string]exact.Decimal {
	stops := make(map[string]exact.Decimal)
	for _, id := range e.ahead.open[symbol] {
		stop, ok := e.trails[id]
		if ok && stop != *e.ahead.order(id).StopPrice {
			stops[id] = stop
		}
	}
	return stops
}

// moved reports whether a trailing stop stands elsewhere than the journal knows.
// Called with mu held.
func (e *Engine) moved() bool {
	for id, stop := range e.trails {
		if o := e.ahead.order(id); o != nil && !o.Status.Terminal() && stop != *o.StopPrice {
			return true
		}
	}
	return false
}

// shownOrder returns an order as a client sees it, a trailing stop where it stands
// now. Called with mu held.
func (e *Engine) shownOrder(o *Order) Order {
	c := o.public()
	if stop, ok := e.trails[c.ID]; ok && !c.Status.Terminal() {
		c.StopPrice = &stop
	}
	return c
}

// settleStops writes into orders that end where their trailing stops stand: from
// then on the record alone knows. Called with mu held.
func (e *Engine) settleStops(orders ...*Order) {
	for _, o := range orders {
		if stop, ok := e.trails[o.ID]; ok && o.Status.Terminal() {
			o.StopPrice = &stop
		}
	}
}
