package book

import (
	"wick/internal/exact"
)

// stop returns the stop price of o; for a trailing stop, where it stands now. While it
// moves, that is only in memory: not every price is worth a record, so proposeSeen writes
// it now and then.
func (b *Book) stop(o *Order) exact.Decimal {
	if stop, ok := b.trails[o.ID]; ok {
		return stop
	}
	return *o.StopPrice
}

// trail lets a trailing stop follow the best price of a span. The span must have been
// judged before by where the stop stood until then, because it is not known which of the
// two extremes came first.
func (b *Book) trail(o *Order, part span) {
	if o.Type != TrailingStop {
		return
	}
	best := part.high
	if o.Side == Buy {
		best = part.low
	}
	stop, ok := o.Trailing(best, b.Grid(o.Symbol))
	// The stop only moves in the direction that protects more.
	if before := b.stop(o); ok && stop != before && (stop > before) == (o.Side == Sell) {
		b.trails[o.ID] = stop
	}
}

// Drawn returns where those trailing stops of a symbol stand now that have moved since
// the journal last noted it.
func (b *Book) Drawn(symbol string) map[string]exact.Decimal {
	stops := make(map[string]exact.Decimal)
	for _, o := range b.Open[symbol] {
		if stop, ok := b.trails[o.ID]; ok && stop != *o.StopPrice {
			stops[o.ID] = stop
		}
	}
	return stops
}

// Shown returns an order as a client sees it, with a trailing stop where it stands
// now.
func (b *Book) Shown(o *Order) Order {
	c := o.Public()
	if stop, ok := b.trails[c.ID]; ok && !c.Status.Terminal() {
		c.StopPrice = &stop
	}
	return c
}

// settleStop writes into o, which ends, where its trailing stop stood, because memory
// forgets it then.
func (b *Book) settleStop(o *Order) {
	if stop, ok := b.trails[o.ID]; ok {
		o.StopPrice = &stop
	}
}
