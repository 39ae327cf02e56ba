package trade

import (
	"context"
	"time"

	"wick/trade/watch"
)

// ensure has symbol watched, with the windows in needs beside the usual ones. If the
// list is full, symbols that nobody needs any more are dropped first. If the journal
// knows how far an earlier process judged the symbol, judging goes on from there.
func (e *Engine) ensure(ctx context.Context, symbol string, needs ...watch.Need) error {
	if e.watch.Full(symbol) {
		e.forgetUnneeded(0)
	}
	e.mu.Lock()
	from := e.book.Seen[symbol]
	e.mu.Unlock()
	return e.watch.Ensure(ctx, symbol, from, needs...)
}

// forgetUnneeded drops symbols that neither the operator nor any alert, open
// order or position asks for, if nobody has asked for them for so long.
func (e *Engine) forgetUnneeded(unused time.Duration) {
	e.mu.Lock() // no order comes in for a symbol while it is being dropped
	defer e.mu.Unlock()
	e.watch.Keep(e.needed(), unused)
}

// needed returns the symbols that must be watched, and which windows they need
// beyond the usual ones. Called with mu held.
func (e *Engine) needed() map[string][]watch.Need {
	needed := e.inUse()
	for _, symbol := range e.options.Symbols {
		if _, ok := needed[symbol]; !ok {
			needed[symbol] = nil
		}
	}
	return needed
}

// inUse is the part of needed for alerts, open orders and positions. Called with mu held.
func (e *Engine) inUse() map[string][]watch.Need {
	needed := e.watching.Needs()
	for symbol := range e.book.Open {
		needed[symbol] = needed[symbol]
	}
	for symbol, h := range e.book.Holdings {
		if h.Quantity != 0 {
			needed[symbol] = needed[symbol]
		}
	}
	return needed
}
