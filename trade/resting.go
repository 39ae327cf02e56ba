package trade

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"wick/exact"
)

// fillResting fills the resting orders that t reaches, leg by leg and within a
// leg in order of acceptance, and lets trailing stops follow the market. Since is
// when the feed spoke before, zero if this is its first update after a start.
// Called with mu held; it returns the last sequence, or 0.
func (e *Engine) fillResting(t tick, since int64, at Time) (seq uint64) {
	if t.At < since { // the clock was set back: a time of before that lies ahead means nothing now
		for _, id := range e.ahead.open[t.Symbol] {
			if e.arrived[id] > at.UnixMilli() {
				delete(e.arrived, id)
			}
		}
	}
	// Volumes are counted even when nothing may be filled.
	quiet := e.quiet(t)
	for _, l := range t.legs {
		if e.options.Participation != 0 {
			e.watch.tell(t.Symbol, l)
		}
		if quiet {
			continue
		}
		// A clone, because fills change the list.
		for _, id := range slices.Clone(e.ahead.open[t.Symbol]) {
			o := e.ahead.order(id)
			if o == nil || o.Status.Terminal() { // ended with one before it
				continue
			}
			if s, ok := e.judgeOrder(t, o, l, at); ok {
				seq = s
			}
		}
	}
	if quiet {
		return 0
	}
	for _, id := range e.ahead.open[t.Symbol] {
		// An order that was there before this update began needs no instant any more:
		// all of the next one counts for it.
		if born, ok := e.arrived[id]; ok && born <= t.Since {
			delete(e.arrived, id)
		} else if ok { // it was there when this update came, whatever the clocks say
			e.arrived[id] = min(born, t.At)
		}
	}
	return max(seq, e.expire(t.Symbol, Time{time.UnixMilli(t.At)}, at))
}

// judgeOrder takes the step, if there is one, that the resting order o makes
// within l, a leg of t. It returns its sequence and whether there was one. Called
// with mu held.
func (e *Engine) judgeOrder(t tick, o *Order, l leg, at Time) (uint64, bool) {
	part, ok := l.after(e.arrived[o.ID])
	if !ok || o.ExpiresAt != nil && l.to >= o.ExpiresAt.UnixMilli() {
		return 0, false
	}
	// The stop counts as it stood: whether the extreme that moves it came before the
	// one that reaches it is not known.
	price, ok := e.reached(o, part)
	stood := exact.Decimal(0)
	if o.Type == TrailingStop {
		stood = e.stop(o)
	}
	e.trail(o, part)
	if !ok || e.held(o) || e.stopReached(o, l) || e.exitReached(o, l) {
		return 0, false
	}
	if o.Type == TrailingStop { // the record has where it stood
		drawn, stop := *o, stood
		drawn.StopPrice, o = &stop, &drawn
	}
	available := e.available(o)
	if e.spentIn(l, o) {
		available = 0
	}
	k, ev := e.fillAt(o, available, quote{price: price, at: l.to, source: t.Source, synthetic: t.Synthetic}, at)
	if ev == nil {
		return 0, false
	}
	if k == kindFilled && o.waits() && e.bothReached(o, part) {
		ev.Order.Reason = "the market reached this stop and the limit beside it within one step, and which came first is not known: the stop counts"
	}
	// Subscribers who asked for fills are told with the step.
	if k == kindFilled {
		if ev.To = e.hearers(o.Symbol); len(ev.To) > 0 {
			ev.Notification = filledNotification(ev.Order, at)
		}
	}
	seq, err := e.take(k, ev, l.to)
	return seq, err == nil
}

// bothReached reports whether part reaches a limit that would have ended the stop
// o. Called with mu held.
func (e *Engine) bothReached(o *Order, part span) bool {
	return o.Role != "" && slices.ContainsFunc(e.ahead.mates(o, o.Group), func(mate *Order) bool {
		_, ok := e.reached(mate, part)
		return ok && !mate.waits()
	})
}

// stopReached reports whether the limit o is passed over because the stop of its
// group is reached within the same leg. Most often the stop is judged first; one
// that replaced another is younger than the limit. A stop_limit that the leg went
// beyond has become a limit at its end, and waits for the next one. Called with mu
// held.
func (e *Engine) stopReached(o *Order, l leg) bool {
	return o.Role != "" && !o.Type.hasStop() && slices.ContainsFunc(e.ahead.mates(o, o.Group), func(mate *Order) bool {
		if mate.TriggeredAt != nil && mate.TriggeredAt.UnixMilli() == l.to {
			return true
		}
		part, ok := l.after(e.arrived[mate.ID])
		if !ok || !mate.Type.hasStop() || mate.ExpiresAt != nil && l.to >= mate.ExpiresAt.UnixMilli() {
			return false
		}
		_, ok = e.reached(mate, part)
		return ok
	})
}

// exitReached reports whether the rest of an entry, which would take the close of l,
// is passed over because the market has come to one of its exits on the way there.
// The entry is older: it would use up the volume that the exit needs, minute after
// minute, and a stop_loss would let the loss grow until all of the entry is bought.
// Called with mu held.
func (e *Engine) exitReached(o *Order, l leg) bool {
	return o.takes() && (o.StopLoss != nil || o.TakeProfit != nil) && slices.ContainsFunc(e.ahead.mates(o, o.ID), func(exit *Order) bool {
		part, ok := l.after(e.arrived[exit.ID])
		if ok {
			_, ok = e.reached(exit, part)
		}
		return ok
	})
}

// reached returns the market's price, without slippage, when it comes to the
// limit or the stop of o within part, if it does.
func (e *Engine) reached(o *Order, part span) (exact.Decimal, bool) {
	switch {
	case o.takes():
		return part.close, true
	case o.waits():
		return stopPrice(o.Side, e.stop(o), part)
	}
	return e.paper.resting(o, part)
}

// held reports whether the trading state keeps a resting order from being filled now.
// It stays open. Called with mu held. A stop that is reached while trading is halted
// is judged again by the next price, not filled at the old one.
func (e *Engine) held(o *Order) bool {
	switch e.ahead.trading {
	case Halted:
		return true
	case Reducing:
		return !o.ReduceOnly && !shrinks(e.ahead.holdings[o.Symbol].Quantity, o.remaining())
	}
	return false
}

// fillAt returns the step that a resting order makes at the price of q, which it
// was waiting for: it is filled, as far as it is available, or becomes a limit
// or the rest of a market order that waits further, or is cancelled because there
// is nothing to reduce; nil if there is no step to take. It is rejected if the position
// would break its limit, which other fills may have used up since the order was
// accepted, or would leave the range of exact numbers.
func (e *Engine) fillAt(o *Order, available exact.Decimal, q quote, at Time) (kind, *event) {
	// A stop, or the rest of a market order, fills at the market with slippage; a
	// stop_limit whose limit the market is beyond becomes a limit and waits.
	if o.waits() || o.takes() {
		slipped, err := e.paper.slip(o, q)
		if offered, ok := e.paper.offered(o, q); o.Type == StopLimit && (!ok || o.within(offered) != offered) {
			return kindOrderChanged, e.ahead.trigger(o, q, at)
		}
		if err == nil {
			q.price = o.within(slipped)
		}
	}
	// A reduce_only order takes no more than the position has left.
	size := o.remaining().Abs()
	if o.ReduceOnly {
		size = reducible(e.ahead.holdings[o.Symbol].Quantity, o.remaining())
	}
	switch {
	// Nothing can be filled for lack of volume: a stop is triggered all the same, a
	// limit just waits.
	case available == 0 && size > 0 && o.waits():
		return kindOrderChanged, e.ahead.trigger(o, q, at)
	case available == 0 && size > 0:
		return 0, nil
	}
	ev, err := e.filled(o, min(size, available), size <= available, q, at)
	if err == nil {
		return kindFilled, ev
	}
	// The fill was refused. An order with nothing left to reduce is cancelled, any
	// other rejected, with the reason.
	status, k := StatusRejected, kindOrderRejected
	if size == 0 {
		status, k = StatusCancelled, kindCancelled
	}
	ev, _ = e.ahead.outcome(o, report{status: status, reason: err.Error()}, at) // fills nothing, so cannot fail
	return k, ev
}

// filled returns the step that fills a part of a resting order at the price of q.
// Last says that nothing more of it could be filled.
func (e *Engine) filled(o *Order, size exact.Decimal, last bool, q quote, at Time) (*event, error) {
	if size == 0 {
		return nil, errors.New("nothing is left to reduce")
	}
	if err := e.ahead.checkFill(o, size, cmp.Or(o.worst(), q.price), e.options.Limits.PositionNotional); err != nil {
		return nil, err
	}
	if err := e.checkAccount(o, o.Side.sign(size), worth(size, q.price), 0); err != nil {
		return nil, err
	}
	status := StatusFilled
	switch {
	case !last:
		status = StatusPartiallyFilled
	// A reduce_only order ends when the position is gone, though not all of it was
	// filled.
	case size < o.remaining().Abs():
		status = StatusCancelled
	}
	// Limits that rested pay the maker's rate; what takes from the market pays the
	// other.
	rate := e.paper.makerRate
	if o.waits() || o.takes() {
		rate = e.paper.feeRate
	}
	r, err := e.paper.report(status, size, q.price, rate)
	if err != nil {
		return nil, err
	}
	switch status {
	case StatusCancelled:
		r.reason = "the rest would not have reduced the position"
	case StatusPartiallyFilled:
		r.reason = tooLittle
	}
	r.mark = q
	ev, err := e.ahead.outcome(o, r, at)
	// A stop that was filled in part goes on as a market order from here.
	if err == nil && o.waits() && !ev.Order.Status.Terminal() {
		when := q.time()
		ev.Order.TriggeredAt = &when
	}
	return ev, err
}

// trigger returns the step by which a stop_limit becomes a limit, or a stop what is
// left of a market order. The rest of an entry ends when its stop is set off.
func (s *state) trigger(o *Order, q quote, at Time) *event {
	after, when := *o, q.time()
	after.TriggeredAt, after.UpdatedAt = &when, at
	ev := &event{At: at, Order: &after}
	s.endEntry(ev, o.ID+" was set off")
	return ev
}
