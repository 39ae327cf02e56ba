package trade

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"wick/market"
	"wick/sse"
	"wick/trade/book"

	"golang.org/x/sync/errgroup"
)

// begin writes that a process has started. That record begins an epoch, and drops queued
// notifications that are older than an hour. Ages across a restart are measured by the
// wall clock: if it was set back, an entry is kept for at most one more hour, and if it
// was set forward, an entry is dropped early. Nobody can know whether that happened, so
// the entries that look like it are counted and logged.
func (e *Engine) begin() error {
	future, dropped := 0, 0
	err := e.Do(func(s *book.State) error {
		at := now()
		e.began = at
		s.Subs.Snapshot(func(entry *sse.Entry) {
			switch age := at.Sub(entry.At); {
			case age < 0:
				future++
			case age >= sse.QueueTTL:
				dropped++
			}
		})
		if err := e.book.Propose(book.KindStarted, &book.Event{At: at, Epoch: e.options.epoch()}); err != nil {
			return err
		}
		e.book.RememberArrivals()
		return e.book.NoteDay(at) // before the first order, so that its loss counts as of today
	})
	if future+dropped > 0 {
		e.log.Info("queues at the start", "expired", dropped, "future", future)
	}
	if err == nil {
		e.writeSubscriptions()
	}
	return err
}

// work runs all parts of the engine, also those of a follower, until ctx ends; then it
// returns nil. If a part fails before that, the others are ended and work returns its
// error. Each part has a goroutine of its own, so that none waits for another.
func (e *Engine) work(ctx context.Context) error {
	if !e.follows() {
		_ = e.refreshTrading() // HALT may have been made while no process ran; what fails here fails again in housekeep
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return e.options.Feed.Run(ctx, func(u market.Update) { e.onUpdate(ctx, u) })
	})
	defer e.judging.Wait()
	g.Go(func() error { return e.housekeep(ctx) })
	g.Go(func() error { return e.keepWatched(ctx) })
	g.Go(func() error { return e.keepIndex(ctx) })
	g.Go(func() error { return e.venue.Run(ctx) })
	if err := g.Wait(); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

const (
	markPeriod  = time.Second      // delivery marks are written and HALT is looked at this often
	watchPeriod = 30 * time.Second // symbols that could not be loaded are tried again
	unusedAfter = time.Minute      // a symbol is kept for so long after it was asked for: an order may be on its way
)

// housekeep does the regular work. It waits for the disk alone: whatever hangs, HALT, the
// daily loss and expiries are looked at every second. A follower has none of that to do, and
// asks the leader instead.
func (e *Engine) housekeep(ctx context.Context) error {
	tick := time.NewTicker(markPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if e.follows() {
			e.passOn(ctx)
			continue
		}
		e.journal.Check()
		if err := errors.Join(e.tidy(), e.expireAll()); err != nil {
			e.journal.Break(err) // it mostly is, which is logged once
		}
		e.refreshTrading() // fails for the same reason, or because HALT cannot be read, which the next order says
	}
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
		for _, symbol := range e.toWatch() {
			if _, already := loading.LoadOrStore(symbol, true); already {
				continue
			}
			loads.Go(func() {
				defer loading.Delete(symbol)
				e.load(ctx, symbol)
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

// toWatch returns the symbols that should be watched. If the operator names other symbols
// than before, there may be more than the list has room for. So those with an open order or
// a position come first, because a stop that is not watched protects nothing, then those
// with alerts, and the rest is left out.
func (e *Engine) toWatch() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	inUse := e.inUse()
	urgency := func(symbol string) int {
		_, used := inUse[symbol]
		switch {
		case len(e.book.Open[symbol]) > 0 || e.book.Holdings[symbol].Quantity != 0:
			return 0
		case used:
			return 1
		}
		return 2
	}
	symbols := sorted(e.needed())
	slices.SortStableFunc(symbols, func(a, b string) int { return cmp.Compare(urgency(a), urgency(b)) })
	return symbols[:min(len(symbols), e.options.Limits.Symbols)]
}

// load has a symbol watched, with the windows that alerts need. What fails is logged, and
// tried again by the next round of keepWatched.
func (e *Engine) load(ctx context.Context, symbol string) {
	e.mu.Lock()
	needs, used := e.inUse()[symbol]
	resting := len(e.book.Open[symbol]) > 0
	e.mu.Unlock()
	err := e.ensure(ctx, symbol, needs...)
	for errors.Is(err, market.ErrBusy) && ctx.Err() == nil { // others were before it: its turn comes soon
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
			err = e.ensure(ctx, symbol, needs...)
		}
	}
	switch {
	case ctx.Err() != nil:
	case err == nil && resting:
		e.watch.LearnRules(ctx, symbol) // prices of fills are rounded to its tick
	case err != nil:
		e.log.Warn("symbol cannot be watched yet", "symbol", symbol, "error", err)
		if !used && errors.Is(err, market.ErrUnlisted) {
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
	e.options.Feed.Await(slices.DeleteFunc(sorted(e.needed()), func(symbol string) bool { return e.unlisted[symbol] }))
}
