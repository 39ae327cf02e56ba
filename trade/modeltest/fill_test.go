package modeltest

// fillResting fills an order that the market has reached, if the limits allow it.
func (b *book) fillResting(o *order, price num) {
	if o.reduce || o.isExit {
		b.fillReducing(o, price)
		return
	}
	if !b.allowedAtFill(o, o.qty, price) {
		// The limits refuse what opens a position, and never what closes one.
		held := b.places[o.symbol].held.qty
		if held.Sign() == -o.side && less(abs(held), o.qty) {
			b.fill(o, abs(held), price)
			return
		}
		b.end(o, "rejected")
		b.endMates(o)
		return
	}
	b.fill(o, o.qty, price)
}

// fillReducing is fillResting for an order that only reduces: what is more than
// the position is cut, and without a position the order ends.
func (b *book) fillReducing(o *order, price num) {
	held := b.places[o.symbol].held.qty
	closes := new0()
	if held.Sign() == -o.side {
		closes = abs(held)
	}
	if closes.Sign() == 0 {
		b.end(o, "cancelled")
		b.endMates(o)
		return
	}
	b.fill(o, lower(o.qty, closes), price)
}

// flat reports whether nothing is left that an order could reduce.
func (b *book) flat(o *order) bool { return b.places[o.symbol].held.qty.Sign() != -o.side }

// fill fills an order with qty, which is less than all of it if the rest is cut, and does
// everything that follows from it.
func (b *book) fill(o *order, qty, price num) {
	at := b.places[o.symbol]
	rate := b.fee
	if o.rested {
		rate = b.maker
	}
	fee := ceil(mul(ceil(mul(qty, price), unit), rate), unit)
	b.trip(o, qty, price, fee)
	at.held.take(mul(qty, whole(int64(o.side))), price, fee)
	b.sawFill(o.symbol, price)
	b.cashIn = sub(b.cashIn, add(mul(mul(qty, price), whole(int64(o.side))), fee))
	o.filled, o.value, o.paid = add(o.filled, qty), add(o.value, mul(qty, price)), add(o.paid, fee)
	o.status, o.updated = "filled", b.now
	if less(qty, o.qty) {
		o.status = "cancelled"
	}
	if o.entry() {
		b.protect(o, qty, price)
	}
	b.endMates(o)
	b.dropIdle(o.symbol)
	b.measure(o.symbol)
}

// take adds a fill of a signed quantity to a position.
func (h *holding) take(d, price, fee num) {
	h.fees, h.realized = add(h.fees, fee), sub(h.realized, fee)
	if h.qty.Sign()*d.Sign() >= 0 {
		h.qty, h.cost, h.paid = add(h.qty, d), add(h.cost, mul(d, price)), add(h.paid, fee)
		return
	}
	k := lower(abs(d), abs(h.qty))
	part := nearest(mul(h.cost, div(k, abs(h.qty))), money)
	sign := whole(int64(h.qty.Sign()))
	h.realized = add(h.realized, sub(mul(mul(k, price), sign), part))
	h.paid = sub(h.paid, nearest(mul(h.paid, div(k, abs(h.qty))), money))
	rest := add(d, mul(k, sign)) // of the fill, once the position is gone
	h.qty, h.cost = sub(h.qty, mul(k, sign)), sub(h.cost, part)
	if rest.Sign() != 0 {
		h.qty, h.cost, h.paid = rest, mul(rest, price), nearest(mul(fee, div(rest, d)), money)
	}
}

// protect makes the exits of an entry that was filled with qty at price. They are for what
// is held in the entry's direction and no more.
func (b *book) protect(entry *order, qty, price num) {
	held := b.places[entry.symbol].held.qty
	if held.Sign() != entry.side {
		return
	}
	protected := lower(qty, abs(held))
	b.turns++
	turn := b.turns
	make := func(suffix, kind string, x *exit) {
		if x == nil {
			return
		}
		e := &order{request: request{symbol: entry.symbol, side: -entry.side, kind: kind, qty: protected}, id: entry.id + suffix,
			turn: turn, created: b.now, updated: b.now, since: b.instant, status: "open", filled: new0(), value: new0(), paid: new0(),
			group: entry.id, isExit: true}
		level := x.price
		if x.percent != nil {
			distance := mul(price, div(x.percent, whole(100)))
			if kind == "stop" {
				distance = neg(distance)
			}
			level = b.away(add(price, mul(distance, whole(int64(entry.side)))), price)
		}
		e.role = "take_profit"
		if kind == "stop" {
			e.stop, e.role = level, "stop_loss"
		} else {
			if reaches(e.side, price, level) { // filled beyond it
				level = price
			}
			e.price = level
		}
		b.orders = append(b.orders, e)
	}
	make("-sl", "stop", entry.loss)
	make("-tp", "limit", entry.profit)
}

// away rounds the price of an exit to the tick, away from that of its entry.
func (b *book) away(p, entry num) num {
	if less(p, entry) {
		return floor(p, b.tick)
	}
	return ceil(p, b.tick)
}

// mates returns the open orders of the group of o, but for o.
func (b *book) mates(o *order) (list []*order) {
	for _, m := range b.orders {
		if m != o && o.group != "" && m.open() && m.group == o.group {
			list = append(list, m)
		}
	}
	return list
}

// end gives an order its last status.
func (b *book) end(o *order, status string) { o.status, o.updated = status, b.now }

// endMates cancels the others of a group.
func (b *book) endMates(o *order) {
	for _, m := range b.mates(o) {
		b.end(m, "cancelled")
	}
}

// dropIdle cancels the orders of a symbol that can only reduce a position that is
// gone.
func (b *book) dropIdle(symbol string) {
	for _, o := range b.waiting(symbol) {
		if (o.reduce || o.isExit) && b.flat(o) {
			b.end(o, "cancelled")
		}
	}
}

// cancel ends an order at a client's wish, and the others of its group with it.
func (b *book) cancel(o *order) {
	b.end(o, "cancelled")
	b.endMates(o)
}

// entry reports whether an order has exits of its own.
func (r request) entry() bool { return r.loss != nil || r.profit != nil }

// expire ends the orders of a symbol whose time was over at an instant; an empty
// symbol means all.
func (b *book) expire(symbol string, instant int64) (ended []*order) {
	for _, o := range b.orders {
		if (o.open() || o.status == waitsForRule) && o.expires > 0 && o.expires <= instant && (symbol == "" || symbol == o.symbol) {
			ended = append(append(ended, o), b.mates(o)...)
			b.cancel(o)
		}
	}
	return ended
}
