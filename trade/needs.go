package trade

import (
	"context"
	"time"
)

// ensure has symbol watched, with the windows in needs beside the usual ones. If the
// list is full, symbols that nobody needs any more are dropped first. If the journal
// knows how far an earlier process judged the symbol, judging goes on from there.
func (e *Engine) ensure(ctx context.Context, symbol string, needs ...need) error {
	if e.watch.full(symbol) {
		e.forgetUnneeded(0)
	}
	e.mu.Lock()
	from := e.book.Seen[symbol]
	e.mu.Unlock()
	return e.watch.ensure(ctx, symbol, from, needs...)
}

// forgetUnneeded drops symbols that neither the operator nor any alert, open
// order or position asks for, if nobody has asked for them for so long.
func (e *Engine) forgetUnneeded(unused time.Duration) {
	e.mu.Lock() // no order comes in for a symbol while it is being dropped
	gone := e.watch.keepOnly(e.needed(), unused)
	e.mu.Unlock()
	for _, symbol := range gone {
		e.watch.feed.Unwatch(symbol)
	}
}

// needed returns the symbols that must be watched, and which windows they need
// beyond the usual ones. Called with mu held.
func (e *Engine) needed() map[string][]need {
	needed := e.inUse()
	for _, symbol := range e.options.Symbols {
		if _, ok := needed[symbol]; !ok {
			needed[symbol] = nil
		}
	}
	return needed
}

// inUse is the part of needed for alerts, open orders and positions. Called with mu held.
func (e *Engine) inUse() map[string][]need {
	needed := make(map[string][]need)
	for key := range e.watching.prices {
		needed[key.symbol] = nil
	}
	for symbol := range e.book.Open {
		needed[symbol] = nil
	}
	for symbol, h := range e.book.Holdings {
		if h.Quantity != 0 {
			needed[symbol] = nil
		}
	}
	for key, waiting := range e.watching.signals {
		// All alerts on the same bars share one window, which has as many bars as the
		// one that needs most.
		longest := need{interval: key.interval}
		for _, w := range waiting {
			longest.bars = max(longest.bars, w.bars())
		}
		needed[key.symbol] = append(needed[key.symbol], longest)
	}
	return needed
}
