package trade

import (
	"wick/internal/exact"
	"wick/trade/book"
)

// stop returns the stop price of o; for a trailing stop, where it stands now. While it
// moves, that is only in memory: not every price is worth a record, so proposeSeen writes
// it now and then. Called with mu held.
func (d *desk) stop(o *book.Order) exact.Decimal {
	if stop, ok := d.trails[o.ID]; ok {
		return stop
	}
	return *o.StopPrice
}

// trail lets a trailing stop follow the best price of a span. The span must have been
// judged before by where the stop stood until then, because it is not known which of the
// two extremes came first. Called with mu held.
func (d *desk) trail(o *book.Order, part span) {
	if o.Type != book.TrailingStop {
		return
	}
	best := part.high
	if o.Side == book.Buy {
		best = part.low
	}
	stop, ok := o.Trailing(best, d.paper.grid(o.Symbol))
	// The stop only moves in the direction that protects more.
	if before := d.stop(o); ok && stop != before && (stop > before) == (o.Side == book.Sell) {
		d.trails[o.ID] = stop
	}
}

// drawn returns where those trailing stops of a symbol stand now that have moved since
// the journal last noted it. Called with mu held.
func (d *desk) drawn(symbol string) map[string]exact.Decimal {
	stops := make(map[string]exact.Decimal)
	for _, id := range d.ahead.Open[symbol] {
		stop, ok := d.trails[id]
		if ok && stop != *d.ahead.Order(id).StopPrice {
			stops[id] = stop
		}
	}
	return stops
}

// shownOrder returns an order as a client sees it, with a trailing stop where it stands
// now. Called with mu held.
func (d *desk) shownOrder(o *book.Order) book.Order {
	c := o.Public()
	if stop, ok := d.trails[c.ID]; ok && !c.Status.Terminal() {
		c.StopPrice = &stop
	}
	return c
}

// settleStop writes into o, which ends, where its trailing stop stood, because memory
// forgets it then. Called with mu held.
func (d *desk) settleStop(o *book.Order) {
	if stop, ok := d.trails[o.ID]; ok {
		o.StopPrice = &stop
	}
}
