package modeltest

// available is how much of an order can be filled with the volume there is.
func (b *book) available(o *order) num {
	at := b.places[o.symbol]
	volume := at.volumeNow()
	if b.participation == nil || volume == nil {
		return o.rest()
	}
	left := floor(sub(mul(volume, b.participation), at.taken), b.lot)
	return lower(o.rest(), higher(left, new0()))
}

// fillResting fills an order that the market has reached, as far as volume and limits
// allow.
func (b *book) fillResting(o *order, price num) {
	if o.reduce || o.isExit {
		b.fillReducing(o, price)
		return
	}
	qty := b.available(o)
	if qty.Sign() > 0 && !b.allowedAtFill(o, qty, price) {
		b.end(o, "rejected")
		b.endMates(o)
		return
	}
	b.fill(o, qty, price)
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
	o.cut = less(closes, o.rest()) && !less(b.available(o), closes)
	b.fill(o, lower(b.available(o), closes), price)
}

// flat reports whether nothing is left that an order could reduce.
func (b *book) flat(o *order) bool { return b.places[o.symbol].held.qty.Sign() != -o.side }

// fill fills a part of an order and everything that follows from it.
func (b *book) fill(o *order, qty, price num) {
	if qty.Sign() == 0 {
		return
	}
	at := b.places[o.symbol]
	rate := b.fee
	if o.rested {
		rate = b.maker
	}
	fee := ceil(mul(ceil(mul(qty, price), unit), rate), unit)
	at.taken = add(at.taken, qty)
	at.held.take(mul(qty, whole(int64(o.side))), price, fee)
	b.cashIn = sub(b.cashIn, add(mul(mul(qty, price), whole(int64(o.side))), fee))
	o.filled, o.value, o.paid = add(o.filled, qty), add(o.value, mul(qty, price)), add(o.paid, fee)
	o.status, o.updated = "partially_filled", b.now
	switch {
	case equal(o.filled, o.qty):
		o.status = "filled"
	case o.cut:
		o.status = "cancelled"
	}
	if o.entry() {
		b.protect(o, qty, price)
	}
	b.shrinkMates(o, qty)
	b.dropIdle(o.symbol)
}

// take adds a fill of a signed quantity to a position.
func (h *holding) take(d, price, fee num) {
	h.fees, h.realized = add(h.fees, fee), sub(h.realized, fee)
	if h.qty.Sign()*d.Sign() >= 0 {
		h.qty, h.cost = add(h.qty, d), add(h.cost, mul(d, price))
		return
	}
	k := lower(abs(d), abs(h.qty))
	part := nearest(mul(h.cost, div(k, abs(h.qty))), money)
	sign := whole(int64(h.qty.Sign()))
	h.realized = add(h.realized, sub(mul(mul(k, price), sign), part))
	rest := add(d, mul(k, sign)) // of the fill, once the position is gone
	h.qty, h.cost = sub(h.qty, mul(k, sign)), sub(h.cost, part)
	if rest.Sign() != 0 {
		h.qty, h.cost = rest, mul(rest, price)
	}
}

// unnamed ends the id of an order whose whole id only the engine knows yet.
const unnamed = "-?"

// protect makes the exits of an entry of which qty was filled at price, or lets them grow.
// They are for what is held in the entry's direction and no more.
func (b *book) protect(entry *order, qty, price num) {
	held := b.places[entry.symbol].held.qty
	if held.Sign() != entry.side {
		return
	}
	protected := lower(qty, abs(held))
	grown := false
	for _, m := range b.orders {
		if m.isExit && m.group == entry.id && m.open() {
			m.qty, m.updated, grown = add(m.qty, protected), b.now, true
		}
	}
	if grown {
		return
	}
	again := "" // an exit that ended never comes back: others begin under a name that the engine chooses
	if !equal(qty, entry.filled) {
		again = unnamed
	}
	b.turns++
	turn := b.turns
	make := func(suffix, kind string, x *exit) {
		if x == nil {
			return
		}
		e := &order{request: request{symbol: entry.symbol, side: -entry.side, kind: kind, qty: protected}, id: entry.id + suffix + again,
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
		if kind == "stop" {
			e.stop = level
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

// mates returns the open orders of the group of o, but for o, and of an exit the
// entry that still waits for its rest.
func (b *book) mates(o *order) (list []*order) {
	for _, m := range b.orders {
		if m != o && o.group != "" && m.open() && (m.group == o.group || m.id == o.group) {
			list = append(list, m)
		}
	}
	return list
}

// shrinkMates reduces the other orders of a group by what one of them has filled, and
// ends them when that one has ended.
func (b *book) shrinkMates(o *order, qty num) {
	for _, m := range b.mates(o) {
		switch {
		case !o.open():
			b.end(m, "cancelled")
		case !(o.isExit && m.id == o.group): // the rest of the entry stays
			m.qty, m.updated = sub(m.qty, qty), b.now
		}
	}
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

// cancel ends an order at a client's wish, and the others of its group with it:
// but an entry that was filled in part leaves its exits.
func (b *book) cancel(o *order) {
	b.end(o, "cancelled")
	b.endMates(o)
}

// entry reports whether an order has exits of its own.
func (o *order) entry() bool { return o.loss != nil || o.profit != nil }

// expire ends the orders of a symbol whose time was over at an instant; an empty
// symbol means all.
func (b *book) expire(symbol string, instant int64) (ended []*order) {
	for _, o := range b.orders {
		if o.open() && o.expires > 0 && o.expires <= instant && (symbol == "" || symbol == o.symbol) {
			ended = append(append(ended, o), b.mates(o)...)
			b.cancel(o)
		}
	}
	return ended
}
