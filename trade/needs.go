package trade

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"wick/market"
	"wick/trade/book"
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
	symbols, _ := e.needed(e.options.Symbols)
	e.watch.Keep(symbols, unused)
}

// needed returns the symbols that must be watched, and which windows they need beyond the usual
// ones. If the operator names other symbols than before, there may be more than the list has room
// for. So those with an open order or a position come first, because a stop that is not watched
// protects nothing, then those with alerts, then those that only the operator has
// named. Called with mu held.
func (e *Engine) needed(named []string) (symbols []string, windows map[string][]watch.Need) {
	windows = e.watching.Needs()
	held := maps.Clone(e.book.Holdings)
	maps.DeleteFunc(held, func(_ string, h book.Holding) bool { return h.Quantity == 0 })
	for _, symbol := range slices.Concat(sorted(e.book.Open), sorted(held), sorted(windows), named) {
		if !slices.Contains(symbols, symbol) {
			symbols = append(symbols, symbol)
		}
	}
	return symbols, windows
}

// keepWatched has the symbols watched that should be, until ctx ends. Each is loaded in a
// goroutine of its own and never twice at a time, so that a source that hangs holds up no
// other symbol, and there are at most as many loads as symbols may be watched.
func (e *Engine) keepWatched(ctx context.Context) error {
	var loads sync.WaitGroup
	defer loads.Wait()
	period := watchPeriod
	if e.follows() {
		period = markPeriod // the leader may have accepted an order or alert for any symbol
	}
	tick := time.NewTicker(period)
	defer tick.Stop()
	var loading sync.Map // by symbol
	for {
		e.await()
		for symbol, needs := range e.toWatch() {
			if _, already := loading.LoadOrStore(symbol, true); already {
				continue
			}
			loads.Go(func() {
				defer loading.Delete(symbol)
				e.load(ctx, symbol, needs)
			})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			e.forgetUnneeded(unusedAfter)
		}
	}
}

// toWatch returns the most urgent of the symbols that should be watched, as many as the list has
// room for, with the windows that alerts need.
func (e *Engine) toWatch() iter.Seq2[string, []watch.Need] {
	e.mu.Lock()
	symbols, windows := e.needed(e.options.Symbols)
	e.mu.Unlock()
	return func(yield func(string, []watch.Need) bool) {
		for _, symbol := range symbols[:min(len(symbols), e.options.Limits.Symbols)] {
			if !yield(symbol, windows[symbol]) {
				return
			}
		}
	}
}

// load has a symbol watched. What fails is logged, and tried again by the next round of
// keepWatched.
func (e *Engine) load(ctx context.Context, symbol string, needs []watch.Need) {
	err := e.ensure(ctx, symbol, needs...)
	for ; errors.Is(err, market.ErrBusy) && ctx.Err() == nil; err = e.ensure(ctx, symbol, needs...) { // others were before it: its turn comes soon
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	switch {
	case ctx.Err() != nil:
	case err == nil:
		e.mu.Lock()
		resting := len(e.book.Open[symbol]) > 0
		e.mu.Unlock()
		if resting { // prices of fills are rounded to its tick
			e.watch.LearnRules(ctx, symbol)
		}
	default:
		e.log.Warn("symbol cannot be watched yet", "symbol", symbol, "error", err)
		if errors.Is(err, market.ErrUnlisted) {
			e.mu.Lock()
			e.unlisted[symbol] = true
			e.mu.Unlock()
			e.await()
		}
	}
}

// await tells the feed which symbols are to be watched, so that a source that answers for
// none of them from the start counts as silent. A symbol that only --symbols names, and that
// the source does not have, is misspelled and not awaited.
func (e *Engine) await() {
	e.mu.Lock()
	defer e.mu.Unlock() // also while the feed is told: two loads may end at the same time
	listed := slices.DeleteFunc(slices.Clone(e.options.Symbols), func(symbol string) bool { return e.unlisted[symbol] })
	symbols, _ := e.needed(listed)
	e.options.Feed.Await(symbols)
}
