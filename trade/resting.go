package trade

import (
	"slices"

	"wick/exact"
)

// fillResting fills the resting orders that t reaches. Called with mu held; it
// returns the last sequence, or 0.
func (e *Engine) fillResting(t tick, since int64, at Time) (seq uint64) {
	for _, id := range slices.Clone(e.ahead.open[t.Symbol]) {
		o := e.ahead.order(id)
		price, ok := t.fillPrice(o, since)
		if !ok || e.held(o) {
			continue
		}
		k, ev := kindFilled, e.fillAt(o, price, at)
		if ev.Order.Status == StatusRejected {
			k = kindOrderRejected
		}
		if s, err := e.propose(k, ev); err == nil {
			seq = s
		}
	}
	return seq
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

// fillAt returns the step that fills a resting order at price. It rejects the
// order if the position would break its limit, which other fills may have used
// up since the order was accepted, or would leave the range of exact numbers.
func (e *Engine) fillAt(o *Order, price exact.Decimal, at Time) *event {
	err := e.ahead.checkFill(o, e.options.Limits.PositionNotional)
	if err == nil {
		var r report
		if r, err = e.paper.report(o.Quantity, price); err == nil {
			var ev *event
			if ev, err = e.ahead.outcome(o, r, at); err == nil {
				return ev
			}
		}
	}
	ev, _ := e.ahead.outcome(o, report{status: StatusRejected, reason: err.Error()}, at) // fills nothing, so cannot fail
	return ev
}
