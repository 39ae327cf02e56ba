package modeltest

import "time"

// place carries out a request under the id that the tools gave it, or returns
// nil and why it is refused.
func (b *book) place(r request, id string) (*order, string) {
	at := b.places[r.symbol]
	replaced, why := b.toReplace(&r)
	if why != "" {
		return nil, why
	}
	if r.mayOpen && (r.reduce || r.all || r.share != nil) {
		return nil, "it cannot only reduce and open"
	}
	if r.all && at.held.qty.Sign() != -r.side {
		return nil, "nothing to close on that side"
	}
	if r.even {
		if r.stop = b.breaksEven(r); r.stop == nil {
			return nil, "it does not come out even"
		}
	}
	if r.qty, why = b.quantity(r, replaced); why != "" {
		return nil, why
	}
	r.reduce = r.reduce || r.all
	if replaced != nil && replaced.group != "" && (replaced.side != r.side || !equal(replaced.qty, r.qty) || r.ocoStop != nil || !r.rests()) {
		return nil, "an order of a group is replaced only by a resting one of the same side and size"
	}
	exits := replaced != nil && replaced.only() && replaced.side == r.side // it replaces one that can only reduce
	if r.mayOpen && exits && replaced.group != "" {
		return nil, "one of a group can only reduce, like the others"
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
	if r.best != nil {
		o.best = r.best
	}
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

// quantity is how much a request asks for, or why it is for nothing.
func (b *book) quantity(r request, replaced *order) (num, string) {
	held := b.places[r.symbol].held.qty
	against := held.Sign() == -r.side
	var q num
	switch {
	case r.all, r.share != nil && against && equal(r.share, whole(100)):
		return abs(held), ""
	case r.notional != nil:
		q = floor(div(r.notional, b.ownPrice(r)), b.lot)
	case r.share != nil && against:
		q = floor(div(mul(abs(held), r.share), whole(100)), b.lot)
	case r.share != nil:
		q = b.buys(r, replaced)
	case r.risk != nil || r.riskPercent != nil:
		if against {
			return nil, "there is no risk in closing"
		}
		q = b.risks(r)
	default:
		return r.qty, ""
	}
	if q.Sign() <= 0 {
		return nil, "it is for nothing"
	}
	return q, ""
}

// buys is how much a share of the buying power pays for, with the fee. The order that is replaced
// needs none any more.
func (b *book) buys(r request, replaced *order) num {
	if b.cash == nil {
		return new0()
	}
	own := new0()
	for _, side := range []int{1, -1} {
		own = higher(own, b.needs(r.symbol, b.pending(r.symbol, side, replaced), b.pendingValue(r.symbol, side, replaced)))
	}
	budget := floor(div(mul(higher(sub(sub(b.power(), b.reserved(r.symbol)), own), new0()), r.share), whole(100)), unit)
	price := b.worst(r)
	q := floor(div(budget, mul(price, add(whole(1), b.fee))), b.lot)
	for { // the value and the fee are rounded up
		value := ceil(mul(q, price), unit)
		if q.Sign() <= 0 || !less(budget, add(value, ceil(mul(value, b.fee), unit))) {
			return q
		}
		q = sub(q, b.lot)
	}
}

// risks is the quantity with which no more than the risk is lost if the order is filled and then
// its stop_loss; zero if the market takes no order as small.
func (b *book) risks(r request) num {
	risk := r.risk
	if risk == nil {
		if b.cash == nil {
			return new0()
		}
		risk = floor(div(mul(nearest(b.equity(), unit), r.riskPercent), whole(100)), unit)
	}
	entry, rate := b.ownPrice(r), b.maker
	fill, now := b.onArrival(r)
	switch {
	case now:
		entry, rate = fill, b.fee
	case r.kind == "stop", r.kind == "stop_limit" && reaches(r.side, b.quoted(r.side, r.stop), r.price):
		entry, rate = b.slipped(r.side, r.stop), b.fee
		if r.price != nil {
			entry = better(r.side, entry, r.price)
		}
	}
	stop := r.loss.price
	if stop == nil {
		stop = b.away(sub(entry, mul(mul(entry, div(r.loss.percent, whole(100))), whole(int64(r.side)))), entry)
	}
	out := b.slipped(-r.side, stop)
	each := add(add(abs(sub(entry, stop)), abs(sub(stop, out))), add(mul(entry, rate), mul(out, b.fee)))
	if each.Sign() == 0 {
		return new0()
	}
	q := floor(div(risk, each), b.lot)
	if less(q, higher(ceil(ceil(div(b.minimum, entry), unit), b.lot), b.lot)) {
		return new0()
	}
	return q
}

// breaksEven is where a stop stands with which nothing is lost on what is held, or nil.
func (b *book) breaksEven(r request) num {
	h := b.places[r.symbol].held
	if h.qty.Sign() != -r.side {
		return nil
	}
	// Per unit: what was paid and the fees of that, and then the fee and the slippage of the stop.
	back := whole(int64(-r.side))
	each := div(add(mul(h.cost, back), mul(h.paid, back)), abs(h.qty))
	if each.Sign() <= 0 {
		return nil
	}
	to := func(p num) num { return b.against(-r.side, p) } // a sale may not be for less, nor a purchase for more
	sold := to(div(each, add(whole(1), mul(b.fee, whole(int64(r.side))))))
	stop := to(div(sold, add(whole(1), mul(add(b.spread, b.slippage), whole(int64(r.side))))))
	if stop.Sign() <= 0 || reaches(-r.side, b.places[r.symbol].price, stop) {
		return nil
	}
	return stop
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
		if r.best != nil {
			o.best = r.best
		}
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
	if (r.loss != nil || r.profit != nil) && !r.keeps && (r.reduce || reduces && !less(abs(held), r.qty)) {
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

// toReplace returns the order that a request replaces, nil if it replaces none, and gives the
// request what it leaves out as that order has it.
func (b *book) toReplace(r *request) (*order, string) {
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
		}
		b.keep(r, o)
		if o.only() && o.side != r.side && !r.mayOpen {
			return nil, "nothing would be left to leave the position"
		}
		return o, ""
	}
	return nil, "there is no such order"
}

// keep gives a request what it does not say as the order has it that it replaces: everything but what
// it names stays, as far as its kind takes it.
func (b *book) keep(r *request, old *order) {
	if r.side == 0 {
		r.side = old.side
	}
	if r.tag == "" {
		r.tag = old.tag
	}
	if r.kind == "" {
		if r.kind = old.kind; old.triggered {
			r.kind = "limit"
		}
	}
	if r.qty == nil && r.notional == nil && !r.all && r.share == nil && r.risk == nil && r.riskPercent == nil {
		r.qty = old.qty
	}
	if (r.kind == "limit" || r.kind == "stop_limit") && r.price == nil {
		r.price = old.price
	}
	if (r.kind == "stop" || r.kind == "stop_limit") && r.stop == nil && !r.even {
		r.stop = old.stop
	}
	if r.kind == "trailing_stop" && r.trail == nil && r.trailPercent == nil {
		r.trail, r.trailPercent = old.trail, old.trailPercent
	}
	if r.kind == "trailing_stop" && old.kind == r.kind && old.side == r.side && sameNum(r.trail, old.trail) && sameNum(r.trailPercent, old.trailPercent) {
		r.best = better(r.side, old.best, b.places[r.symbol].price)
	}
	if r.tif == "" && r.kind != "market" {
		if r.tif = old.tif; r.tif == "gtd" {
			r.expires = old.expires
		}
	}
	if r.kind == "limit" && r.rests() {
		r.post = r.post || old.post
	}
	closes := r.reduce || r.all || r.share != nil
	if !closes && r.ocoStop == nil {
		r.keeps = r.loss == nil && r.profit == nil
		if r.loss == nil {
			r.loss = old.loss
		}
		if r.profit == nil {
			r.profit = old.profit
		}
	}
	if !closes && !old.only() && r.side == old.side && r.kind == old.kind && r.kind != "market" {
		r.mayOpen = true
	}
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
