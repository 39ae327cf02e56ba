package modeltest

import "time"

// place carries out a request under the id that the tools gave it, or returns
// nil and why it is refused.
func (b *book) place(r request, id string) (*order, string) {
	at := b.places[r.symbol]
	if r.all && at.held.qty.Sign() != -r.side {
		return nil, "nothing to close on that side"
	}
	r.qty, r.reduce = b.quantity(r), r.reduce || r.all
	replaced, why := b.toReplace(r)
	if why != "" {
		return nil, why
	}
	if r.mayOpen && r.reduce {
		return nil, "it cannot only reduce and open"
	}
	exits := replaced != nil && replaced.only() && replaced.side == r.side // it replaces one that can only reduce
	if r.mayOpen && exits && replaced.group != "" {
		return nil, "one of a group can only reduce, like the others"
	}
	if replaced != nil && b.forgets(r, replaced) {
		return nil, "it does not name what the replaced order has"
	}
	price, now := b.onArrival(r)
	if r.reduce, why = b.leaves(r, replaced, now); why != "" {
		return nil, why
	}
	if why := b.malformed(r, exits && !less(replaced.qty, r.qty)); why != "" {
		return nil, why
	}
	switch {
	case now && r.post:
		return nil, "it would fill at once"
	case now && r.ocoStop != nil:
		return nil, "a limit that fills at once has no stop beside it"
	}
	if why := b.limits(r, replaced); why != "" {
		return nil, why
	}
	b.turns++
	o := &order{request: r, id: id, turn: b.turns, created: b.now, updated: b.now, since: b.now, status: "open", filled: new0(), value: new0(), paid: new0(), best: at.price}
	o.setExpiry()
	if replaced != nil {
		b.replace(replaced, o)
	}
	b.orders = append(b.orders, o)
	b.instant = b.now
	b.arrive(o, price, now)
	b.measure(o.symbol)
	return o, ""
}

// leaves reports whether a request is there to leave a position and can only reduce it: it
// says so, or is for no more than what is held on the other side, or replaces such an order.
// One for more that would wait has to say what it is for.
func (b *book) leaves(r request, replaced *order, now bool) (bool, string) {
	held := b.places[r.symbol].held.qty
	opens := r.mayOpen || r.entry()
	switch {
	case r.reduce:
		return true, ""
	case replaced != nil && replaced.group != "":
		return replaced.only(), ""
	case opens:
		return false, ""
	case replaced != nil && replaced.only() && replaced.side == r.side:
		return true, ""
	case held.Sign() != -r.side:
		return false, ""
	case !less(abs(held), r.qty):
		return r.qty.Sign() > 0, ""
	case !now && r.rests() && (r.side > 0 || b.cash == nil || b.short):
		return false, "it is not said whether it leaves the position or turns it around"
	}
	return false, ""
}

// only reports whether an order can only reduce a position.
func (o *order) only() bool { return o.reduce || o.isExit }

// quantity is how much a request asks for.
func (b *book) quantity(r request) num {
	switch {
	case r.all:
		return abs(b.places[r.symbol].held.qty)
	case r.notional != nil:
		return floor(div(r.notional, b.ownPrice(r)), b.lot)
	}
	return r.qty
}

// rests reports whether a request is one that may wait for its price.
func (r request) rests() bool { return r.kind != "market" && r.tif != "ioc" && r.tif != "fok" }

// arrive fills an order that the price has reached already, and ends one that
// may not wait.
func (b *book) arrive(o *order, price num, now bool) {
	switch {
	case now:
		b.fill(o, o.qty, price)
	case o.tif == "ioc" || o.tif == "fok":
		b.end(o, "cancelled")
	}
	o.rested = o.kind != "market"
	if o.ocoStop == nil {
		return
	}
	o.group = o.id
	kind := "stop"
	if o.ocoPrice != nil {
		kind = "stop_limit"
	}
	mate := &order{request: request{symbol: o.symbol, side: o.side, kind: kind, qty: o.qty, price: o.ocoPrice, stop: o.ocoStop, tif: o.tif, reduce: o.reduce, tag: o.tag}, id: o.id + "-oco",
		turn: o.turn, created: b.now, updated: b.now, since: b.now, status: "open", filled: new0(), value: new0(), paid: new0(), group: o.id}
	mate.expires = o.expires
	b.orders = append(b.orders, mate)
}

// setExpiry sets when an order ends by its time in force.
func (o *order) setExpiry() {
	if o.tif == "day" {
		o.expires = time.UnixMilli(o.created).UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).UnixMilli()
	}
}

// onArrival returns the price at which a request would fill at once, if it would.
func (b *book) onArrival(r request) (price num, now bool) {
	offered, slipped := b.takes(r.side, r.symbol)
	switch r.kind {
	case "market":
		return slipped, true
	case "limit":
		if reaches(r.side, offered, r.price) {
			return better(r.side, r.price, slipped), true
		}
	}
	return nil, false
}

// ownPrice is the price by which an order is valued.
func (b *book) ownPrice(r request) num {
	switch {
	case r.price != nil:
		return r.price
	case r.stop != nil:
		return r.stop
	case r.kind == "trailing_stop":
		o := order{request: r, best: b.places[r.symbol].price}
		return o.stopNow(b)
	}
	_, slipped := b.takes(r.side, r.symbol)
	return slipped
}

// malformed returns why a request cannot be right, whatever the account has. Instead says
// that it replaces an order that can only reduce and is as large: as long as it waits, it may
// then be larger than the position.
func (b *book) malformed(r request, instead bool) string {
	market := b.places[r.symbol].price
	held := b.places[r.symbol].held.qty
	if r.qty.Sign() <= 0 {
		return "no quantity"
	}
	if r.tif == "gtd" && r.expires <= b.now {
		return "its time is over"
	}
	if !r.all && !equal(floor(r.qty, b.lot), r.qty) {
		return "off the lot"
	}
	prices := []num{r.price, r.stop, r.trail, r.ocoStop, r.ocoPrice}
	for _, x := range []*exit{r.loss, r.profit} {
		if x != nil {
			prices = append(prices, x.price)
		}
	}
	for _, p := range prices {
		if p != nil && !equal(floor(p, b.tick), p) {
			return "off the tick"
		}
	}
	for _, s := range []num{r.stop, r.ocoStop} {
		if s != nil && reaches(-r.side, market, s) {
			return "the market has passed the stop"
		}
	}
	reduces := held.Sign() == -r.side
	_, now := b.onArrival(r)
	if r.reduce && (!reduces || less(abs(held), r.qty)) && (now || !instead) {
		return "reduce_only would open a position"
	}
	if (r.loss != nil || r.profit != nil) && (r.reduce || reduces && !less(abs(held), r.qty)) {
		return "exits on an order that only reduces"
	}
	return b.misplacedExits(r)
}

// misplacedExits returns why the exits of an entry are on the wrong side of it.
func (b *book) misplacedExits(r request) string {
	entry := b.ownPrice(r)
	if fill, now := b.onArrival(r); now {
		entry = fill
	}
	if r.loss != nil && r.loss.price != nil && !less(mul(r.loss.price, whole(int64(r.side))), mul(entry, whole(int64(r.side)))) {
		return "stop_loss on the wrong side"
	}
	if r.profit != nil && r.profit.price != nil && !less(mul(entry, whole(int64(r.side))), mul(r.profit.price, whole(int64(r.side)))) {
		return "take_profit on the wrong side"
	}
	return ""
}

// toReplace returns the order that a request replaces, nil if it replaces none.
func (b *book) toReplace(r request) (*order, string) {
	if r.replaces == "" {
		return nil, ""
	}
	for _, o := range b.orders {
		if o.id != r.replaces {
			continue
		}
		switch {
		case !o.open():
			return nil, "it is done already"
		case o.symbol != r.symbol:
			return nil, "it is of another market"
		case o.group != "" && (o.side != r.side || !equal(o.qty, b.quantity(r)) || r.ocoStop != nil || !r.rests()):
			return nil, "an order of a group is replaced only by a resting one of the same side and size"
		case o.only() && o.side != r.side && !r.mayOpen:
			return nil, "nothing would be left to leave the position"
		}
		return o, ""
	}
	return nil, "there is no such order"
}

// forgets reports whether a request leaves out what the order that it replaces has and it
// could have.
func (b *book) forgets(r request, old *order) bool {
	held := b.places[r.symbol].held.qty
	opens := r.ocoStop == nil && (held.Sign() != -r.side || less(abs(held), r.qty))
	return opens && (old.loss != nil && r.loss == nil || old.profit != nil && r.profit == nil) ||
		old.tif != "" && r.tif == "" && r.kind != "market" ||
		old.post && !r.post && r.kind == "limit" && r.rests()
}

// replace cancels old for o, which takes its place in a group, and also its turn if it is
// the same order with no more quantity than before.
func (b *book) replace(old, o *order) {
	same := old.kind != "trailing_stop" && !old.triggered && old.side == o.side && old.kind == o.kind && sameNum(old.price, o.price) && sameNum(old.stop, o.stop)
	if same && !less(old.qty, o.qty) {
		o.turn = old.turn
	}
	o.group, o.isExit, o.role = old.group, old.isExit, old.role
	b.end(old, "cancelled")
}

func sameNum(x, y num) bool { return x == nil && y == nil || x != nil && y != nil && equal(x, y) }
