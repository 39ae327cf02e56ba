package trade

import "wick/exact"

// tooLittle is the reason of an order that is filled in part and waits.
const tooLittle = "too little was traded lately for the rest, which waits for more"

// available returns how much of the rest of o can be filled now. Without
// Options.Participation, or if the source tells no volumes, that is all of it. Otherwise
// it is what earlier fills have left of the orders' share of the newest minute, or of the
// minute before it if that traded more, in whole lots. All orders of a symbol take from
// the same share, in the order in which they are judged.
func (e *Engine) available(o *Order) exact.Decimal {
	rest := o.remaining().Abs()
	if e.options.Participation == 0 {
		return rest
	}
	v := e.watch.of(o.Symbol).volume
	if !v.told {
		return rest
	}
	share, _ := max(v.newest.size, v.before.size).Times(e.options.Participation, exact.Down) // not more than the volume, so it fits
	left, _ := max(share-v.taken, 0).Step(e.paper.grid(o.Symbol).Lot, exact.Down)
	return min(rest, left)
}

// spentIn reports whether the volume of l counts as used up for o: the minute was over
// when this process began, and an earlier process has filled orders of the symbol in that
// minute or later. That process had judged the minute, and how much of its volume was
// used is not known.
func (e *Engine) spentIn(l leg, o *Order) bool {
	return l.late && l.bar*1000 < e.spent[o.Symbol] && e.options.Participation != 0 && e.watch.of(o.Symbol).volume.told
}

// took notes how much volume ev uses: what its order has been filled with since before,
// which is the order before the step, or nil if it is new.
func (e *Engine) took(ev *event, before *Order) {
	size := ev.Order.FilledQuantity
	if before != nil {
		size -= before.FilledQuantity
	}
	if e.options.Participation != 0 && size != 0 {
		e.watch.change(ev.Order.Symbol, func(in *instrument) { in.volume.taken += size })
	}
}
