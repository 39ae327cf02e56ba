package book

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"wick/internal/exact"
	"wick/market"
)

// OnPrice fills the resting orders that t reaches, leg by leg and within a leg in the
// order in which the market reaches them, and lets trailing stops follow the market. Since is
// the time of the feed's update before, zero if this is its first one after a start.
//
// A tick within the calm of its symbol, the prices between which no open order is reached,
// reaches nothing, and no order is looked at. Any other looks at every open order of the symbol
// once for each leg, a bar of the path of t: 200 orders by the minutes of a day, after a
// downtime, take a fifth of a second.
func (b *Book) OnPrice(t Tick, since int64, at Time) (err error) {
	if c := b.calm[t.Symbol]; t.span.low >= c.low && t.span.high <= c.high && t.At < c.until {
		b.See(t)
		return nil
	}
	if t.At < since { // the clock was set back: times that now lie in the future mean nothing
		for _, o := range b.Open[t.Symbol] {
			if b.arrived[o.ID] > at.UnixMilli() {
				delete(b.arrived, o.ID)
			}
		}
	}
	for _, l := range t.legs {
		judge := func(stage leg) bool {
			for queue := b.reachedBy(t.Symbol, stage, l.to); len(queue) > 0 && err == nil; {
				var exit *reachedOrder
				exit, err = b.fillReached(t, queue[0], stage, at)
				queue = queue[1:]
				if exit != nil {
					queue = slices.Insert(queue, exit.placeIn(queue), *exit)
				}
			}
			// Only now: whether the extreme that moves a trailing stop came before the one that
			// reaches an order is not known.
			for _, o := range b.Open[t.Symbol] {
				if part, ok := stage.after(b.arrived[o.ID]); ok && stage.from != stage.to && !o.Expired(l.to) {
					b.trail(o, part)
				}
			}
			return false // the orders that wait on are judged by the rest
		}
		if l.opened {
			market.OpenFirst(l.opening(), l, judge)
		} else {
			judge(l)
		}
		b.see(t.Symbol, l) // after the fills: whether its extremes came before them is not known
	}
	if len(t.legs) == 0 || err != nil {
		return err
	}
	for _, o := range b.Open[t.Symbol] {
		// An order that was there before the time of this update began needs no entry any
		// more: all of the next update counts for it.
		if born, ok := b.arrived[o.ID]; ok && born <= t.Since {
			delete(b.arrived, o.ID)
		} else if ok && !t.Rewritten {
			// The order was there when this update came, whatever the clocks say. The times of a
			// file are by our clock, and its rows may come late.
			b.arrived[o.ID] = min(born, t.At)
		}
	}
	if err = b.Expire(t.Symbol, Time{Time: time.UnixMilli(t.At)}, at); err == nil {
		b.calm[t.Symbol] = b.calmOf(t.Symbol)
	}
	return err
}

// calm is when nothing can happen to the open orders of a symbol: as long as its prices are within
// low and high, none is reached and no trailing stop moves, and before until none expires. It holds
// until one of the orders changes. The zero value never holds: there is none until every order was
// there for a whole update, and the journal has the market up to where each began to wait.
type calm struct {
	low, high exact.Decimal
	until     int64 // in unix milliseconds
}

// Calm reports whether it is known within which prices no open order of a symbol is reached, so
// that nothing is to be noted for its orders.
func (b *Book) Calm(symbol string) bool { return b.calm[symbol] != calm{} }

// calmOf returns the calm of a symbol.
func (b *Book) calmOf(symbol string) calm {
	c, noted := calm{high: math.MaxInt64, until: math.MaxInt64}, b.Seen[symbol]
	for _, o := range b.Open[symbol] {
		if _, isNew := b.arrived[o.ID]; isNew || noted == nil || noted.At < o.Since() {
			return calm{}
		}
		if at, falling := b.place(o); falling {
			c.low = max(c.low, at+1)
		} else {
			c.high = min(c.high, at-1)
		}
		if o.Type == TrailingStop {
			// The market draws it along beyond the price from which it stands that far. A percentage
			// is rounded down, and with it how far the calm goes.
			stop, share := b.stop(o), o.TrailPercent/100
			if o.Side == Buy {
				mark, _ := (stop - o.TrailAmount).Over(exact.One+share, exact.Up)
				c.low = max(c.low, mark)
			} else {
				mark, _ := (stop + o.TrailAmount).Over(exact.One-share, exact.Down)
				c.high = min(c.high, mark)
			}
		}
		if o.ExpiresAt != nil {
			c.until = min(c.until, o.ExpiresAt.UnixMilli())
		}
	}
	for _, o := range b.Ruled[symbol] {
		if o.ExpiresAt != nil {
			c.until = min(c.until, o.ExpiresAt.UnixMilli())
		}
	}
	return c
}

// place returns the price of the market at which it reaches the stop or the limit of o, and
// whether it does so on its way down: it does to a stop that sells, or a limit that buys.
func (b *Book) place(o *Order) (at exact.Decimal, falling bool) {
	if o.Waits() {
		return b.stop(o), o.Side == Sell
	}
	// Its ask or bid comes to the limit.
	factor, to := exact.One+b.Rules.HalfSpread, exact.Down
	if o.Side == Sell {
		factor, to = exact.One-b.Rules.HalfSpread, exact.Up
	}
	at, ok := o.Price.Over(factor, to)
	if !ok {
		at = math.MaxInt64 // out of reach
	}
	return at, o.Side == Buy
}

// reachedOrder is a resting order that the market reaches.
type reachedOrder struct {
	id    string
	price exact.Decimal // of the market when it reaches the order
	part  span          // what the order sees of the leg
	// falling says that the market reaches it on its way down, at that place: a stop that
	// sells, where it stood before, or a limit that buys. It is not known of an order that has
	// not seen the whole way.
	falling, known bool
	place          exact.Decimal
	why            []Reason // what every step of it from this one on says
}

// market returns the price of the market when it reaches the order: its place, or where the market
// began if that is beyond it.
func (h *reachedOrder) market() exact.Decimal {
	if h.falling {
		return min(h.place, h.part.start)
	}
	return max(h.place, h.part.start)
}

// placeIn returns the place of h, an exit that begins now, in the queue of those that the market
// reaches after its entry: behind what it passes on the same way before, or reaches at the
// same price, since that is older. Whether it came before what is reached on the other way is
// not known, and counts against the trader.
func (h *reachedOrder) placeIn(queue []reachedOrder) (place int) {
	for i, other := range queue {
		before := cmp.Compare(other.place, h.place)
		if !h.falling {
			before = -before
		}
		if h.known && other.known && other.falling == h.falling && before >= 0 {
			place = i + 1
		}
	}
	return place
}

// reachedBy returns the resting orders that l, a leg or its opening, reaches. What is passed on the
// way down comes in that order, and so does what is passed on the way up; which of the two ways
// came first is not known, and there the older order is first. Orders that expire by the end of
// the leg are left out.
func (b *Book) reachedBy(symbol string, l leg, end int64) (list []reachedOrder) {
	for _, o := range b.Open[symbol] {
		part, ok := l.after(b.arrived[o.ID])
		if !ok || o.Expired(end) {
			continue
		}
		h := reachedOrder{id: o.ID, part: part, known: part == l.span}
		if h.price, ok = b.reached(o, part); !ok {
			continue
		}
		if h.place, h.falling = b.place(o); o.Waits() && b.bothReached(o, part) {
			h.why = []Reason{Because(StopCounts)}
		}
		list = append(list, h)
	}
	for _, falling := range []bool{true, false} {
		var slots []int
		var way []reachedOrder
		for i, h := range list {
			if h.known && h.falling == falling {
				slots, way = append(slots, i), append(way, h)
			}
		}
		slices.SortStableFunc(way, func(a, b reachedOrder) int {
			if falling {
				a, b = b, a
			}
			return cmp.Compare(a.place, b.place)
		})
		for i, h := range way {
			list[slots[i]] = h
		}
	}
	return list
}

// fillReached takes the step of an order that l, a leg of t or its opening, reaches, if there is
// one: the trading state may hold it. If that fills an entry whose stop_loss is reached by what
// l did after that, it returns the stop_loss.
func (b *Book) fillReached(t Tick, h reachedOrder, l leg, at Time) (*reachedOrder, error) {
	o := b.Order(h.id)
	if o == nil || o.Status.Terminal() || b.stopReached(o, l) { // it may have ended with one before it
		return nil, nil
	}
	b.passing.symbol, b.passing.price = o.Symbol, h.market()
	defer func() { b.passing.symbol = "" }()
	if err := b.Trip(at); err != nil {
		return nil, err
	}
	if b.held(o, b.Holdings[o.Symbol].Quantity) {
		return nil, nil
	}
	step := *o
	if o.Type == TrailingStop { // the record says where it stood, too
		step.StopPrice = &h.place
	}
	if h.why != nil {
		step.Why = h.why
	}
	k, ev := b.fillAt(&step, Quote{Price: h.price, At: l.to, Source: t.Source, Synthetic: t.Synthetic}, at)
	if ev == nil {
		return nil, nil
	}
	if err := b.ProposeOrders(k, ev, l.to, false); err != nil { // the order would stay open, though the market has reached it
		return nil, fmt.Errorf("order %s was reached: %w", o.ID, err)
	}
	for _, exit := range ev.Begin {
		if exit.Role != RoleStopLoss {
			continue
		}
		at := h.price
		if !step.Waits() { // it was filled at its limit, where the ask or bid was
			at = h.place
		}
		rest, sure := h.part.afterEntry(&step, at)
		next := reachedOrder{id: exit.ID, place: *exit.StopPrice, part: rest, falling: exit.Side == Sell, known: h.known}
		if !sure {
			next.why = []Reason{Because(EntryFirst)}
		}
		var ok bool
		if next.price, ok = stopPrice(exit.Side, next.place, rest); ok {
			return &next, nil
		}
	}
	return nil, nil
}

// afterEntry returns what is known of the rest of s, in which the entry o was filled when the
// market was at price, as far as its stop is concerned; and false if it may have been before
// that. The way to a limit goes on to the stop behind it, so the extreme of that side came
// later. So it did if s began beyond a stop. Otherwise nobody knows, and it counts against the
// trader, unless it is just the price that s began at.
func (s span) afterEntry(o *Order, price exact.Decimal) (rest span, sure bool) {
	rest = span{start: price, high: s.high, low: s.low}
	switch buys := o.Side == Buy; {
	case !o.Waits() && buys: // the market may have left out the limit, as in a downtime
		rest.start = min(price, s.start)
		return rest, true
	case !o.Waits():
		rest.start = max(price, s.start)
		return rest, true
	case buys && (s.start >= *o.StopPrice || s.low >= s.start):
		if s.start < *o.StopPrice {
			rest.low = s.close
		}
		return rest, true
	case !buys && (s.start <= *o.StopPrice || s.high <= s.start):
		if s.start > *o.StopPrice {
			rest.high = s.close
		}
		return rest, true
	}
	return rest, false
}

// bothReached reports whether part also reaches a limit of the same group, whose fill
// would have ended the stop o.
func (b *Book) bothReached(o *Order, part span) bool {
	return o.Role != "" && slices.ContainsFunc(b.mates(o, o.Group), func(mate *Order) bool {
		_, ok := b.reached(mate, part)
		return ok && !mate.Waits()
	})
}

// stopReached reports whether the limit o must not be filled in l because the stop of
// its group is reached within the same leg. Most often the stop is judged first and has
// ended o already, but a stop that replaced another one is judged after the limit. It is
// also true if the stop was set off in this leg and is still open, such as a stop_limit
// whose limit the market went beyond.
func (b *Book) stopReached(o *Order, l leg) bool {
	return o.Role != "" && !o.Type.HasStop() && slices.ContainsFunc(b.mates(o, o.Group), func(mate *Order) bool {
		if mate.TriggeredAt != nil && mate.TriggeredAt.UnixMilli() >= l.to {
			return true
		}
		part, ok := l.after(b.arrived[mate.ID])
		if !ok || !mate.Type.HasStop() || mate.Expired(l.to) {
			return false
		}
		_, ok = b.reached(mate, part)
		return ok
	})
}

// reached returns the price of the market, without slippage, when it reaches the limit or the
// stop of o within part, and whether it does. For a limit that buys the ask counts and for one
// that sells the bid. If the market opened beyond the limit, the order is filled at the open,
// which is better for the trader; otherwise at its limit, which the market reached later.
func (b *Book) reached(o *Order, part span) (exact.Decimal, bool) {
	if o.Waits() {
		return stopPrice(o.Side, b.stop(o), part)
	}
	// The best price of the span for the trader decides whether the limit was reached.
	extreme := part.low
	if o.Side == Sell {
		extreme = part.high
	}
	switch {
	case !b.offers(o, Quote{Price: extreme}):
		return 0, false
	case part.opened:
		return o.within(b.offered(o, Quote{Price: part.start})), true
	}
	return *o.Price, true
}

// stopPrice returns the price of the market when it reaches the stop within part, and
// whether it does. The price is the stop, or the first price of part if that is beyond the
// stop already. It is never better for the trader than the stop.
func stopPrice(side Side, stop exact.Decimal, part span) (exact.Decimal, bool) {
	if side == Buy {
		return max(stop, part.start), part.high >= stop
	}
	return min(stop, part.start), part.low <= stop
}

// held reports whether a resting order must not be filled now that the position has this
// quantity, because of the trading state. The order stays open. If a stop is reached while it is
// held, it is not filled at that price later: the prices after that decide. One at a broker elsewhere
// is filled there all the same.
func (b *Book) held(o *Order, position exact.Decimal) bool {
	switch {
	case o.Account != "":
	case b.Trading == Halted:
		return true
	case b.Trading == Reducing: // what closes the position is filled, and the rest cancelled
		return !o.ReduceOnly && o.Closes(position) == 0
	}
	return false
}

// fillAt returns the step that a resting order takes when the market is at the price
// that it was waiting for, that of q; nil if there is none. The order is filled. It is
// cancelled if it could only reduce a position that is gone, and rejected if its fill would
// break the limit of the position, which other fills may have used up since it was accepted,
// or the account cannot pay for it, or it would leave the range of exact numbers. None of that
// refuses what closes a position: so much is filled, and the rest is cancelled. It waits,
// and says so, as long as it is not known whether the account can pay for it, because another
// position has no price.
func (b *Book) fillAt(o *Order, q Quote, at Time) (Kind, *Event) {
	// A stop is filled at the market's price with slippage. A stop_limit becomes a limit and
	// waits if the market is beyond that limit.
	if o.Waits() {
		if o.Type == StopLimit && !b.offers(o, q) {
			q.At = b.later(o.Symbol, q.At)
			after, when := *o, q.Time()
			after.TriggeredAt, after.UpdatedAt = &when, at
			return KindOrderChanged, &Event{At: at, Order: &after}
		}
		q.Price = o.within(b.slip(o, q))
	}
	// An order that fills nothing ends without an error.
	end := func(k Kind, status OrderStatus, why Reason) (Kind, *Event) {
		ev, _ := b.outcome(o, Report{Status: status, Reason: why}, at)
		return k, ev
	}
	// A reduce_only order takes no more than the position has left, and while trading may only
	// reduce no order does.
	size, closes := o.Remaining().Abs(), o.Closes(b.Holdings[o.Symbol].Quantity)
	if o.ReduceOnly || b.Trading == Reducing {
		size = closes
	}
	if size == 0 {
		return end(KindCancelled, StatusCancelled, Because(NothingToReduce))
	}
	ev, err := b.filled(o, size, q, at)
	if err != nil && !IsRefusal(err, "no_price") && closes > 0 && closes < size {
		refused := err
		if ev, err = b.filled(o, closes, q, at); err == nil {
			ev.Order.Explain(Because(RestRefused, refused.Error()))
		}
	}
	switch {
	case err == nil:
		return KindFilled, ev
	case !IsRefusal(err, "no_price"):
		return end(KindOrderRejected, StatusRejected, refusedBy(err))
	}
	// A later price decides, as for an order that is held.
	before, after := b.Order(o.ID), *o
	after.UpdatedAt = at
	after.Explain(Because(NotValued, b.ledger().unknown()))
	if after.SameWhy(before) { // one record, not one for each price
		return 0, nil
	}
	return KindOrderChanged, &Event{At: at, Order: &after}
}

// filled returns the step that fills size of a resting order at the price of q, with which
// the order ends.
func (b *Book) filled(o *Order, size exact.Decimal, q Quote, at Time) (*Event, error) {
	// As on acceptance, the order's own price counts for the limit, and not the market's.
	signed := o.Side.Sign(size)
	if err := b.checkPosition(o, signed, cmp.Or(o.Worst(), q.Price), Shrinks(b.Holdings[o.Symbol].Quantity, signed)); err != nil {
		return nil, err
	}
	if err := b.checkAccount(o, spending{quantity: size, price: q.Price}, 0); err != nil {
		return nil, err
	}
	// A limit that rested pays the maker's rate; a stop takes from the market and pays the
	// other.
	rate := *b.Rules.MakerFeeRate
	if o.Waits() {
		rate = b.Rules.FeeRate
	}
	r, err := b.report(size, q.Price, rate, q)
	if err != nil {
		return nil, err
	}
	// What is more than the position is cut from a reduce_only order.
	if size < o.Quantity {
		r.Status, r.Reason = StatusCancelled, Because(RestTooLarge)
	}
	return b.outcome(o, r, at)
}

// later returns the instant of a price as the journal notes it. The open of a minute has the
// millisecond in which the minute before ended: if that was written down as the last price
// seen, the open came after it. Called with mu held.
func (b *Book) later(symbol string, instant int64) int64 {
	if s := b.Seen[symbol]; s != nil {
		return max(instant, s.At+1)
	}
	return instant
}

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
	stop, ok := o.trailing(best, b.Grid(o.Symbol))
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
