package trade

import "context"

// ensure makes symbol watched, in further intervals if any are given. If the list is
// full, symbols that nobody needs any more make room. Alerts, orders and positions of
// before a restart go on from what was seen then.
func (e *Engine) ensure(ctx context.Context, symbol string, needs ...need) error {
	if e.watch.full(symbol) {
		e.forgetUnneeded()
	}
	e.mu.Lock()
	from := e.ahead.seen[symbol]
	e.mu.Unlock()
	return e.watch.ensure(ctx, symbol, from, needs...)
}

// forgetUnneeded drops symbols that neither the operator nor any alert, open
// order or position asks for.
func (e *Engine) forgetUnneeded() {
	e.mu.Lock() // no order comes in for a symbol while it is being dropped
	gone := e.watch.keepOnly(e.needed())
	e.mu.Unlock()
	for _, symbol := range gone {
		e.watch.feed.Unwatch(symbol)
	}
}

// needed returns the symbols that must be watched, and which windows they need
// beyond the usual ones. Called with mu held.
func (e *Engine) needed() map[string][]need {
	needed := make(map[string][]need)
	for _, symbol := range e.options.Symbols {
		needed[symbol] = nil
	}
	for symbol := range e.ahead.index.prices {
		needed[symbol] = nil
	}
	for symbol := range e.ahead.open {
		needed[symbol] = nil
	}
	for symbol, h := range e.ahead.holdings {
		if h.Quantity != 0 {
			needed[symbol] = nil
		}
	}
	for key, waiting := range e.ahead.index.signals {
		// All alerts on the same bars share one window, as long as the longest of them
		// needs.
		longest := need{interval: key.interval}
		for _, w := range waiting {
			longest.bars = max(longest.bars, w.bars())
		}
		needed[key.symbol] = append(needed[key.symbol], longest)
	}
	return needed
}
