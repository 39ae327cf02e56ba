package trade

import "wick/exact"

// volume is what a symbol has traded in its newest minute, as far as the feed has
// told, and what our orders took of it. It is not in the journal: after a start
// nothing can be taken before the feed tells of a trade.
type volume struct {
	minute int64 // its start, in unix seconds
	told   exact.Decimal
	taken  exact.Decimal
}

// tell adds what a leg has traded. Called with mu held.
func (e *Engine) tell(symbol string, l leg) {
	v := e.volumes[symbol]
	if l.bar != v.minute {
		v = volume{minute: l.bar}
	}
	told, ok := v.told.Add(l.volume)
	if !ok {
		told = v.told
	}
	v.told = told
	e.volumes[symbol] = v
}

// available returns how much of the rest of o can be filled now: all of it, or with
// Options.Participation what is left of the minute's share, in whole lots. Called
// with mu held.
func (e *Engine) available(o *Order) exact.Decimal {
	rest := o.remaining().Abs()
	if e.options.Participation == 0 {
		return rest
	}
	v := e.volumes[o.Symbol]
	share, _ := v.told.Times(e.options.Participation, exact.Down) // no more than told, so it fits
	left, _ := max(share-v.taken, 0).Step(e.paper.grid(o.Symbol).Lot, exact.Down)
	return min(rest, left)
}

// took notes what ev fills of an order that was filled as far as before says; nil
// is a new one. Called with mu held.
func (e *Engine) took(ev *event, before *Order) {
	size := ev.Order.FilledQuantity
	if before != nil {
		size -= before.FilledQuantity
	}
	if v := e.volumes[ev.Order.Symbol]; e.options.Participation != 0 {
		v.taken += size
		e.volumes[ev.Order.Symbol] = v
	}
}
