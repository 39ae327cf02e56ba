package trade

import "wick/exact"

// tell adds what a leg has traded.
func (w *watchlist) tell(symbol string, l leg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if in := w.instruments[symbol]; in != nil {
		in.volume.tell(l.bar, l.volume)
	}
}

// took notes that orders of a symbol were filled.
func (w *watchlist) took(symbol string, size exact.Decimal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if in := w.instruments[symbol]; in != nil {
		in.volume.taken += size
	}
}

// tooLittle is the reason of an order that is filled in part and waits.
const tooLittle = "too little was traded lately for the rest, which waits for more"

// available returns how much of the rest of o can be filled now: all of it, or with
// Options.Participation what is left of the share of the newest minute, or of the one
// before it if that traded more, in whole lots. Where the source tells no volumes it
// is all. All orders of a symbol share it, in the order in which they are judged.
func (e *Engine) available(o *Order) exact.Decimal {
	rest := o.remaining().Abs()
	if e.options.Participation == 0 {
		return rest
	}
	v := e.watch.of(o.Symbol).volume
	if !v.told {
		return rest
	}
	share, _ := max(v.newest.size, v.before.size).Times(e.options.Participation, exact.Down) // no more than told, so it fits
	left, _ := max(share-v.taken, 0).Step(e.paper.grid(o.Symbol).Lot, exact.Down)
	return min(rest, left)
}

// spentIn reports whether the volume of l counts as used up for o: an earlier process has
// filled orders of its symbol in that minute or later, and the minute was over when this
// one began. It had judged the minute by then, and what it took of it is not known.
func (e *Engine) spentIn(l leg, o *Order) bool {
	return l.late && l.bar*1000 < e.spent[o.Symbol] && e.options.Participation != 0 && e.watch.of(o.Symbol).volume.told
}

// took notes what ev fills of an order that was filled as far as before says; nil
// is a new one.
func (e *Engine) took(ev *event, before *Order) {
	size := ev.Order.FilledQuantity
	if before != nil {
		size -= before.FilledQuantity
	}
	if e.options.Participation != 0 && size != 0 {
		e.watch.took(ev.Order.Symbol, size)
	}
}
