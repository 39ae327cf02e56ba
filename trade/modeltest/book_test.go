package modeltest

import (
	"cmp"
	"slices"
)

// rules are the flags that the book works by.
type rules struct {
	fee, maker, slippage num
	spread               num  // how far bid and ask are from the price, as a fraction of it
	quotes               bool // the source tells bid and ask
	tick, lot            num  // steps of prices and quantities
	minimum              num  // least value of an order
	maxOrder, maxHeld    num  // largest value of an order and of a position

	cash     num // nil without an account
	leverage num
	short    bool
}

// exit is a stop_loss or take_profit: either a price, or a distance in percent of the
// price of the entry.
type exit struct{ price, percent num }

// request is what a client asks for.
type request struct {
	symbol, kind string
	side         int // 1 to buy, -1 to sell
	qty          num // nil if one of the next says how much
	notional     num
	all          bool
	share        num // percent of the position that it closes, or of the buying power
	risk         num // what may be lost at the stop_loss, or
	riskPercent  num // that in percent of the equity
	price, stop  num
	even         bool // the stop stands where the position comes out even
	trail, trailPercent,
	ocoStop, ocoPrice num
	loss, profit *exit
	tif          string
	expires      int64 // unix milliseconds
	post, reduce bool
	mayOpen      bool
	replaces     string
	tag          string
	best         num  // of a trailing stop that goes on from another one
	keeps        bool // its exits are those of the order that it replaces
	when         *condition
	unsized      bool // how much is worked out when it comes
}

// order is a request that was accepted, or an exit, and what became of it.
type order struct {
	request
	id        string
	turn      int   // orders are judged in this order
	created   int64 // unix milliseconds
	updated   int64
	since     int64 // from when on prices count for it
	status    string
	filled    num
	value     num // of what was filled
	paid      num // fees
	best      num // of a trailing stop: the best price since the order
	triggered bool
	group     string // the same for all exits of an entry, and for the two orders of an oco
	isExit    bool
	role      string // of an exit: which of the two it is, or took the place of
	rested    bool   // pays the maker's fee
}

func (o *order) open() bool   { return o.status == "open" }
func (o *order) average() num { return nearest(div(o.value, o.filled), unit) }

// holding is a position.
type holding struct{ qty, cost, realized, fees, paid num }

// place is what is known of one market.
type place struct {
	price num
	bid   num // beside the price, nil if the source does not tell
	ask   num
	held  holding
	trip  *trip
}

// book is the whole model.
type book struct {
	rules
	now     int64 // unix milliseconds
	instant int64 // of the piece that is traded: its end
	turns   int
	orders  []*order
	places  map[string]*place
	trips   []*trip // those that have ended
	cashIn  num     // what all fills have added to the cash, fees included; negative if they cost more
}

func newBook(r rules, symbols ...string) *book {
	b := &book{rules: r, places: make(map[string]*place), cashIn: new0()}
	for _, s := range symbols {
		b.places[s] = &place{held: holding{new0(), new0(), new0(), new0(), new0()}}
	}
	return b
}

func new0() num { return whole(0) }

// against rounds a price to the tick so that it is worse for a trader on side.
func (b *book) against(side int, p num) num {
	if side > 0 {
		return ceil(p, b.tick)
	}
	return floor(p, b.tick)
}

// quoted is the ask for a buy and the bid for a sell when the market is at p.
func (b *book) quoted(side int, p num) num {
	return b.against(side, add(p, mul(mul(p, b.spread), whole(int64(side)))))
}

// slipped is the price of taking from the market: worse than p by the half spread
// and the slippage.
func (b *book) slipped(side int, p num) num {
	worse := mul(p, add(b.spread, b.slippage))
	return b.against(side, add(p, mul(worse, whole(int64(side)))))
}

// takes returns the price that an order is offered if it comes now, which is the
// source's ask or bid, or else what quoted returns; and that price with slippage.
func (b *book) takes(side int, symbol string) (offered, slipped num) {
	at := b.places[symbol]
	if !b.quotes || at.bid == nil {
		return b.quoted(side, at.price), b.slipped(side, at.price)
	}
	p := at.ask
	if side < 0 {
		p = at.bid
	}
	return b.against(side, p), b.against(side, add(p, mul(mul(p, b.slippage), whole(int64(side)))))
}

// better returns the one of two prices that is better for a trader on side.
func better(side int, x, y num) num {
	if side > 0 {
		return lower(x, y)
	}
	return higher(x, y)
}

// reaches reports whether a price is at a limit or better than it.
func reaches(side int, price, limit num) bool { return equal(better(side, price, limit), price) }

// piece is a stretch of trading: a minute, or the rest of one that had been
// forming at the update before.
type piece struct {
	minute                 int64 // unix milliseconds at which its minute began
	from, to               int64 // unix milliseconds
	open, high, low, close num
	goesOn                 bool // it goes on from a price that was seen, and so has no open for limits
}

// view is the part of a piece that counts for an order.
type view struct {
	open             num // nil unless a limit may be filled at it
	start, high, low num
}

// seenBy returns the part of p that counts for an order: only the close if the piece
// began before the order.
func (p piece) seenBy(o *order) view {
	if p.from < o.since {
		return view{nil, p.close, p.close, p.close}
	}
	v := view{p.open, p.open, p.high, p.low}
	if p.goesOn {
		v.open = nil
	}
	return v
}

// extreme is where the market was nearest to a limit of side, or to a stop of
// the other side.
func (v view) extreme(side int) num {
	if side > 0 {
		return v.low
	}
	return v.high
}

// trade lets the market go along a piece: first its open, if it has one, which came before
// all else in it.
func (b *book) trade(symbol string, p piece) {
	if !p.goesOn {
		b.tradePart(symbol, piece{minute: p.minute, from: p.from, to: p.from, open: p.open, high: p.open, low: p.open, close: p.open}, p.to)
	}
	b.tradePart(symbol, p, p.to)
	b.saw(symbol, p)
}

// tradePart is trade for the open of a piece, or all of it. Ends is when the piece does.
func (b *book) tradePart(symbol string, p piece, ends int64) {
	b.instant = p.to
	sees := func(o *order) bool {
		return o.open() && (p.from >= o.since || p.to > o.since) && (o.expires == 0 || o.expires > ends)
	}
	var met []*order
	for _, o := range b.waiting(symbol) {
		if sees(o) && b.touches(o, p.seenBy(o)) {
			met = append(met, o)
		}
	}
	b.asPassed(met, p)
	sawAll := make(map[*order]bool) // those that saw all of p, or whose entry did
	for _, o := range met {
		sawAll[o] = o.since <= p.from
	}
	outs := make(map[*order]num) // each stop_loss of an entry that p has filled, and where the market is by then
	for len(met) > 0 {
		o := met[0]
		met = met[1:]
		if at := outs[o]; at != nil && o.open() {
			b.fillPassing(o, b.slipped(o.side, at), at)
		}
		if !sees(o) {
			continue
		}
		v := p.seenBy(o)
		if price, taker, ok := b.meets(o, v); ok && !b.stopCounts(o, p) {
			o.rested = !taker
			b.fillPassing(o, price, b.passes(o, v))
			if out, at := b.stopOut(o, v, p.close); out != nil {
				outs[out], sawAll[out] = at, sawAll[o]
				met = slices.Insert(met, b.behind(met, out, sawAll), out)
			}
		}
	}
	for _, o := range b.waiting(symbol) {
		if p.to > p.from && o.kind == "trailing_stop" && sees(o) {
			b.follow(o, p.seenBy(o).extreme(o.side))
		}
	}
}

// asPassed puts orders that p meets, which are given by their places in time, in the order in
// which it passes them: those below, of which each sees all of p, change places among
// themselves so that the highest is first, those above so that the lowest is.
func (b *book) asPassed(list []*order, p piece) {
	for i := range list { // each moves forward past those of its kind that are passed later
		for j, at := i-1, i; j >= 0; j-- {
			x, y := list[j], list[at]
			if x.since > p.from || y.since > p.from || x.below() != y.below() {
				continue
			}
			if !b.sooner(y, x) {
				break
			}
			list[j], list[at] = y, x
			at = j
		}
	}
}

// below reports whether an order waits below the market: a limit to buy, or a stop to sell.
func (o *order) below() bool { return (o.side > 0) == (o.kind == "limit" || o.triggered) }

// sooner reports whether the market passes x before y, both of which wait on the same side of it.
func (b *book) sooner(x, y *order) bool {
	at := func(o *order) num {
		if o.kind == "limit" || o.triggered {
			return b.meetsAt(o)
		}
		return o.stopNow(b)
	}
	if x.below() {
		return less(at(y), at(x))
	}
	return less(at(x), at(y))
}

// meetsAt is the price of the market, in eight decimals, at which the ask or bid is at a limit.
func (b *book) meetsAt(o *order) num {
	p, last := div(o.price, add(whole(1), mul(b.spread, whole(int64(o.side))))), div(whole(1), whole(1e8))
	if o.side > 0 {
		return floor(p, last)
	}
	return ceil(p, last)
}

// behind returns where a stop_loss comes in the orders that a piece meets after its entry:
// behind the last that it passes on the way there, of those that saw the whole piece.
func (b *book) behind(list []*order, out *order, sawAll map[*order]bool) (i int) {
	for j, o := range list {
		if sawAll[out] && sawAll[o] && o.below() == out.below() && !b.sooner(out, o) {
			i = j + 1
		}
	}
	return i
}

// passes returns the price of the market when it reaches an order: its place, or where it began
// if that is beyond it.
func (b *book) passes(o *order, v view) num {
	if o.kind == "limit" || o.triggered {
		return better(o.side, b.meetsAt(o), v.start)
	}
	return better(-o.side, o.stopNow(b), v.start)
}

// fillPassing is fillResting while the market is at a price on its way to the newest one: the
// account is worth what it is there.
func (b *book) fillPassing(o *order, price, at num) {
	place := b.places[o.symbol]
	newest := place.price
	place.price = at
	b.fillResting(o, price)
	place.price = newest
}

// stopOut returns the stop_loss of an entry that was just filled in what it saw, and where the market
// is by then, if it went there after the entry. Behind a limit it did. Behind a stop it did if it
// began past that, and may have done if it was beyond where it began; where it ended is sure.
func (b *book) stopOut(o *order, v view, end num) (*order, num) {
	if o.filled.Sign() == 0 || o.loss == nil {
		return nil, nil
	}
	for _, x := range b.orders {
		if !x.isExit || x.group != o.id || x.kind != "stop" || !x.open() {
			continue
		}
		far, from := v.extreme(o.side), v.start // the worst for who holds what the entry bought or sold
		byStop := o.kind != "limit" && !o.triggered
		if byStop {
			from = better(-o.side, o.stopNow(b), v.start)
			if !reaches(-o.side, v.start, o.stopNow(b)) && !less(mul(far, whole(int64(o.side))), mul(v.start, whole(int64(o.side)))) {
				far = end
			}
		} else if at := b.meetsAt(o); !reaches(o.side, v.start, at) {
			from = at
		}
		if reaches(-x.side, far, x.stop) {
			return x, better(-x.side, x.stop, from)
		}
	}
	return nil, nil
}

// waiting returns the open orders of a symbol by their places in time, of a group the stop first.
func (b *book) waiting(symbol string) (list []*order) {
	for _, o := range b.orders {
		if o.open() && o.symbol == symbol {
			list = append(list, o)
		}
	}
	limit := func(o *order) int {
		if o.kind == "limit" {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(x, y *order) int { return cmp.Or(cmp.Compare(x.turn, y.turn), cmp.Compare(limit(x), limit(y))) })
	return list
}

// meets returns the price at which an order is filled by what it sees, and
// whether it takes from the market.
func (b *book) meets(o *order, v view) (price num, taker, ok bool) {
	if o.kind == "limit" || o.triggered {
		price, ok = b.meetsLimit(o, v)
		return price, false, ok
	}
	stop := o.stopNow(b)
	if !reaches(-o.side, v.extreme(-o.side), stop) {
		return nil, false, false
	}
	hit := better(-o.side, stop, v.start) // never better than the stop
	if o.kind != "stop_limit" {
		return b.slipped(o.side, hit), true, true
	}
	if !reaches(o.side, b.quoted(o.side, hit), o.price) {
		b.trigger(o)
		return nil, false, false
	}
	return better(o.side, b.slipped(o.side, hit), o.price), true, true
}

// touches reports whether the market comes to the limit or the stop of an order.
func (b *book) touches(o *order, v view) bool {
	if o.kind == "limit" || o.triggered {
		_, ok := b.meetsLimit(o, v)
		return ok
	}
	return reaches(-o.side, v.extreme(-o.side), o.stopNow(b))
}

// trigger makes a stop_limit a limit, from the end of the piece on.
func (b *book) trigger(o *order) { o.triggered, o.since, o.updated = true, b.instant, b.now }

// meetsLimit is meets for a limit.
func (b *book) meetsLimit(o *order, v view) (num, bool) {
	if !reaches(o.side, b.quoted(o.side, v.extreme(o.side)), o.price) {
		return nil, false
	}
	if v.open != nil && reaches(o.side, b.quoted(o.side, v.open), o.price) {
		return b.quoted(o.side, v.open), true
	}
	return o.price, true
}

// stopNow returns where a stop stands.
func (o *order) stopNow(b *book) num {
	if o.kind != "trailing_stop" {
		return o.stop
	}
	distance := o.trail
	if distance == nil {
		distance = mul(o.best, div(o.trailPercent, whole(100)))
	}
	return b.against(o.side, add(o.best, mul(distance, whole(int64(o.side)))))
}

// follow lets a trailing stop follow a price if that is the best so far.
func (b *book) follow(o *order, p num) { o.best = better(o.side, o.best, p) }

// stopCounts reports whether a limit is not filled because the same piece reaches the
// stop beside it.
func (b *book) stopCounts(o *order, p piece) bool {
	if o.kind != "limit" {
		return false
	}
	for _, mate := range b.mates(o) {
		if mate.kind == "limit" {
			continue
		}
		if mate.triggered && mate.since == p.to { // by this piece
			return true
		}
		if p.from < mate.since && p.to <= mate.since || mate.expires > 0 && mate.expires <= p.to {
			continue
		}
		v := p.seenBy(mate)
		asLimit := false
		if mate.kind == "stop_limit" && mate.triggered {
			_, asLimit = b.meetsLimit(mate, v)
		}
		if asLimit || !mate.triggered && reaches(-mate.side, v.extreme(-mate.side), mate.stopNow(b)) {
			return true
		}
	}
	return false
}
