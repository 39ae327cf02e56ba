package trade

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"wick/market"
	"wick/trade/book"
	"wick/trade/watch"
)

// wanted has the symbols watched that somebody needs.
type wanted struct {
	store *store
	watch *watch.List // has a lock of its own, which may be taken while the store's is held
	feed  watch.Feed
	named []string // by the operator
	most  int      // symbols that may be watched

	unlisted map[string]bool // named symbols that the source does not have; guarded by the store's mu
}

// ensure has symbol watched, with the windows in needs beside the usual ones. If the
// list is full, symbols that nobody needs any more are dropped first. If the journal
// knows how far an earlier process judged the symbol, judging goes on from there.
func (w *wanted) ensure(ctx context.Context, symbol string, needs ...watch.Need) error {
	if w.watch.Full(symbol) {
		w.forgetUnneeded(0)
	}
	w.store.mu.Lock()
	from := w.store.book.Seen[symbol]
	w.store.mu.Unlock()
	return w.watch.Ensure(ctx, symbol, from, needs...)
}

// forgetUnneeded drops symbols that neither the operator nor any alert, open
// order or position asks for, if nobody has asked for them for so long.
func (w *wanted) forgetUnneeded(unused time.Duration) {
	w.store.mu.Lock() // no order comes in for a symbol while it is being dropped
	defer w.store.mu.Unlock()
	symbols, _ := w.needed(w.named)
	w.watch.Keep(symbols, unused)
}

// needed returns the symbols that must be watched, and which windows they need beyond the usual
// ones. If the operator names other symbols than before, there may be more than the list has room
// for. So those with an open order or a position come first, because a stop that is not watched
// protects nothing, then those with alerts, then those that only the operator has
// named. Called with mu held.
func (w *wanted) needed(named []string) (symbols []string, windows map[string][]watch.Need) {
	windows = w.store.watching.Needs()
	held := maps.Clone(w.store.book.Holdings)
	maps.DeleteFunc(held, func(_ string, h book.Holding) bool { return h.Quantity == 0 })
	for _, symbol := range slices.Concat(w.store.book.OpenSymbols(), sorted(held), sorted(windows), named) {
		if !slices.Contains(symbols, symbol) {
			symbols = append(symbols, symbol)
		}
	}
	return symbols, windows
}

// keepWatched has the symbols watched that should be, until ctx ends. Each is loaded in a
// goroutine of its own and never twice at a time, so that a source that hangs holds up no
// other symbol, and there are at most as many loads as symbols may be watched.
func (w *wanted) keepWatched(ctx context.Context) error {
	var loads sync.WaitGroup
	defer loads.Wait()
	period := watchPeriod
	if w.store.follows() {
		period = markPeriod // the leader may have accepted an order or alert for any symbol
	}
	tick := time.NewTicker(period)
	defer tick.Stop()
	var loading sync.Map // by symbol
	for {
		w.await()
		symbols, windows := w.toWatch()
		for _, symbol := range symbols {
			if _, already := loading.LoadOrStore(symbol, true); already {
				continue
			}
			loads.Go(func() {
				defer loading.Delete(symbol)
				w.load(ctx, symbol, windows[symbol])
			})
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			w.forgetUnneeded(unusedAfter)
		}
	}
}

// toWatch returns the most urgent of the symbols that should be watched, as many as the list has
// room for, with the windows that alerts need.
func (w *wanted) toWatch() (symbols []string, windows map[string][]watch.Need) {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	symbols, windows = w.needed(w.named)
	return symbols[:min(len(symbols), w.most)], windows
}

// load has a symbol watched. What fails is logged, and tried again by the next round of
// keepWatched.
func (w *wanted) load(ctx context.Context, symbol string, needs []watch.Need) {
	err := w.ensure(ctx, symbol, needs...)
	for ; errors.Is(err, market.ErrBusy) && ctx.Err() == nil; err = w.ensure(ctx, symbol, needs...) { // others were before it: its turn comes soon
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	switch {
	case ctx.Err() != nil:
	case err == nil:
		w.store.mu.Lock()
		resting := len(w.store.book.OpenOf(symbol)) > 0
		w.store.mu.Unlock()
		if resting { // prices of fills are rounded to its tick
			w.watch.LearnRules(ctx, symbol)
		}
	default:
		w.store.log.Warn("symbol cannot be watched yet", "symbol", symbol, "error", err)
		if errors.Is(err, market.ErrUnlisted) {
			w.store.mu.Lock()
			w.unlisted[symbol] = true
			w.store.mu.Unlock()
			w.await()
		}
	}
}

// await tells the feed which symbols are to be watched, so that a source that answers for
// none of them from the start counts as silent. A symbol that only --symbols names, and that
// the source does not have, is misspelled and not awaited.
func (w *wanted) await() {
	w.store.mu.Lock()
	defer w.store.mu.Unlock() // also while the feed is told: two loads may end at the same time
	listed := slices.DeleteFunc(slices.Clone(w.named), func(symbol string) bool { return w.unlisted[symbol] })
	symbols, _ := w.needed(listed)
	w.feed.Await(symbols)
}
