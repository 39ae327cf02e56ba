package trade

import (
	"math"

	"wick/exact"
)

// quiet reports whether t can be skipped because it concerns no open order of its
// symbol: it reaches no price that one waits for, and none expires. The prices to
// compare with are computed again only when an order of the symbol has changed or has
// just arrived, so that most updates cost the same however many orders rest. Called
// with mu held.
func (e *Engine) quiet(t tick) bool {
	n := e.near[t.Symbol]
	if changes := e.ahead.changes[t.Symbol]; !n.initialized || n.changes != changes || n.unsettled {
		n = e.nearOf(t.Symbol)
		n.changes, n.initialized = changes, true
		e.near[t.Symbol] = n
	}
	return !n.trails && !n.unsettled && t.high < n.above && t.low > n.below && t.At < n.expires
}

// nearOf goes through all open orders of a symbol and returns what an update must
// bring for any of them to be judged. Called with mu held.
func (e *Engine) nearOf(symbol string) near {
	n := near{above: math.MaxInt64, expires: math.MaxInt64}
	for _, id := range e.ahead.open[symbol] {
		o := e.ahead.order(id)
		if _, arrived := e.arrived[id]; arrived {
			n.unsettled = true
		}
		// Any update can fill the rest of a market order, or of a stop that was set off.
		if o.takes() {
			n.unsettled = true
			continue
		}
		if o.ExpiresAt != nil {
			n.expires = min(n.expires, o.ExpiresAt.UnixMilli())
		}
		switch rises := (o.Side == Sell) != o.waits(); { // a sell limit and a buy stop wait for a higher price
		case o.Type == TrailingStop:
			n.trails = true
		case rises:
			n.above = min(n.above, o.next())
		default:
			n.below = max(n.below, o.next())
		}
	}
	return n
}

// next returns the price that o waits for: its stop, or its limit.
func (o *Order) next() exact.Decimal {
	if o.waits() {
		return *o.StopPrice
	}
	return *o.Price
}
