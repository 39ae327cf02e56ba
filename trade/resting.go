package trade

import (
	"slices"

	"wick/exact"
	"wick/market"
)

// leg is one bar of the path of an update.
type leg struct {
	span
	start    int64 // of the bar, in unix seconds
	close    exact.Decimal
	from, to int64 // unix milliseconds
}

// legs returns the path of an update. The first leg goes on from the last price
// seen, so it has no open. An update without a path is one leg.
func legs(u market.Update) []leg {
	path := u.Path
	if len(path) == 0 {
		path = []market.Bar{{Open: u.Price, High: u.High, Low: u.Low, Close: u.Price}}
	}
	out := make([]leg, 0, len(path))
	for i, b := range path {
		l := leg{start: b.Time, from: b.Time * 1000, to: u.At}
		var ok1, ok2, ok3, ok4 bool
		l.open, ok1 = exact.FromFloat(b.Open)
		l.high, ok2 = exact.FromFloat(b.High)
		l.low, ok3 = exact.FromFloat(b.Low)
		l.close, ok4 = exact.FromFloat(b.Close)
		if i == 0 {
			l.open = 0
		}
		if i+1 < len(path) {
			l.to = path[i+1].Time * 1000
		}
		if ok1 && ok2 && ok3 && ok4 {
			out = append(out, l)
		}
	}
	return out
}

// after returns the part of l that came after an instant, and false if there is
// none. Which part of its extremes came later is not known, so of a leg that
// began before the instant only the close counts.
func (l leg) after(instant int64) (span, bool) {
	switch {
	case instant <= l.from:
		return l.span, true
	case instant < l.to:
		return span{0, l.close, l.close}, true
	}
	return span{}, false
}

// fillResting fills the resting orders that t reaches, leg by leg and within a
// leg in order of acceptance. Since is when the feed spoke before, zero if this
// is its first update after a start. Called with mu held; it returns the last
// sequence, or 0.
func (e *Engine) fillResting(t tick, since int64, at Time) (seq uint64) {
	if t.At < since { // the clock was set back: times of before mean nothing now
		for _, id := range e.ahead.open[t.Symbol] {
			delete(e.arrived, id)
		}
	}
	for _, l := range t.legs {
		for _, id := range slices.Clone(e.ahead.open[t.Symbol]) {
			if s, ok := e.fillWithin(t, e.ahead.order(id), l, at); ok {
				seq = s
			}
		}
	}
	for _, id := range e.ahead.open[t.Symbol] {
		if born, ok := e.arrived[id]; ok && born <= t.Since {
			delete(e.arrived, id)
		} else if ok { // it was there when this update came, whatever the clocks say
			e.arrived[id] = min(born, t.At)
		}
	}
	return seq
}

// fillWithin fills the resting order o if l, a leg of t, reaches its limit. It
// returns the sequence of the step and whether there was one. Called with mu
// held.
func (e *Engine) fillWithin(t tick, o *Order, l leg, at Time) (uint64, bool) {
	part, ok := l.after(e.arrived[o.ID])
	if !ok {
		return 0, false
	}
	price, ok := restingPrice(o, part)
	if !ok || e.held(o) {
		return 0, false
	}
	k, ev := kindFilled, e.fillAt(o, quote{price: price, at: l.to, source: t.Source, synthetic: t.Synthetic}, at)
	if ev.Order.Status == StatusRejected {
		k = kindOrderRejected
	}
	seq, err := e.propose(k, ev)
	if err != nil {
		return 0, false
	}
	delete(e.arrived, o.ID)
	return seq, true
}

// held reports whether the trading state keeps a resting order from being
// filled now. It stays open. Called with mu held.
func (e *Engine) held(o *Order) bool {
	switch e.ahead.trading {
	case Halted:
		return true
	case Reducing:
		return !shrinks(e.ahead.holdings[o.Symbol].Quantity, o.remaining())
	}
	return false
}

// fillAt returns the step that fills a resting order at the price of q. It rejects the
// order if the position would break its limit, which other fills may have used
// up since the order was accepted, or would leave the range of exact numbers.
func (e *Engine) fillAt(o *Order, q quote, at Time) *event {
	err := e.ahead.checkFill(o, e.options.Limits.PositionNotional)
	if err == nil {
		var r report
		if r, err = e.paper.report(o.Quantity, q.price); err == nil {
			r.mark = q
			var ev *event
			if ev, err = e.ahead.outcome(o, r, at); err == nil {
				return ev
			}
		}
	}
	ev, _ := e.ahead.outcome(o, report{status: StatusRejected, reason: err.Error()}, at) // fills nothing, so cannot fail
	return ev
}
