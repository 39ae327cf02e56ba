package trade

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/delivery"
	"wick/market"
)

// begin writes that a process has started. That record begins an epoch, and drops queued
// notifications that are older than an hour. Ages across a restart are measured by the
// wall clock: if it was set back, an entry is kept for at most one more hour, and if it
// was set forward, an entry is dropped early. Nobody can know whether that happened, so
// the entries that look like it are counted and logged.
func (e *Engine) begin() error {
	at := now()
	e.mu.Lock()
	e.began = at
	ahead, dropped := 0, 0
	e.ahead.subs.Snapshot(func(entry *delivery.Entry) {
		switch age := at.Sub(entry.At); {
		case age < 0:
			ahead++
		case age >= delivery.QueueTTL:
			dropped++
		}
	})
	seq, err := e.propose(kindStarted, &event{At: at, Epoch: e.options.epoch()})
	if err == nil { // the mark of the day must come before the first order, so that its loss counts as of today
		var noted uint64
		noted, err = e.noteDay(at)
		seq = max(seq, noted)
	}
	e.mu.Unlock()
	if ahead+dropped > 0 {
		e.log.Info("queues at the start", "expired", dropped, "future", ahead)
	}
	if err != nil {
		return err
	}
	return e.finish(seq)
}

// work runs all parts of the engine, also those of a follower, until ctx ends; then it
// returns nil. If a part fails before that, the others are ended and work returns its
// error.
func (e *Engine) work(ctx context.Context) error {
	if !e.follows() {
		_ = e.refreshTrading() // HALT may have been made while no process ran; what fails here fails again in housekeep
	}
	e.watchNeeded(ctx)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return e.options.Feed.Run(ctx, func(u market.Update) { e.deliver(ctx, u) })
	})
	g.Go(func() error { return e.housekeep(ctx) })
	g.Go(func() error { return (*onDisk)(&e.book).thin(ctx) })
	if e.venue != nil {
		g.Go(func() error { return e.hear(ctx) })
		g.Go(func() error { return e.keepReconciled(ctx) })
	}
	if err := g.Wait(); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

const (
	markPeriod  = time.Second      // delivery marks are written this often
	watchPeriod = 30 * time.Second // symbols that could not be loaded are tried again
)

// housekeep does the regular work. Its parts run one after the other, never at the same
// time.
func (e *Engine) housekeep(ctx context.Context) error {
	mark, watch := time.NewTicker(markPeriod), time.NewTicker(watchPeriod)
	defer mark.Stop()
	defer watch.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-mark.C:
			if e.follows() {
				e.passOn(ctx)
				e.watchNeeded(ctx) // orders and alerts that the leader has accepted since
				continue
			}
			e.journal.Check()
			e.tidy() // fails only when the journal is broken, which is logged once
			e.expireAll()
			e.refreshTrading() // fails for the same reason, or because HALT cannot be read, which the next order says
		case <-watch.C:
			e.forgetUnneeded()
			e.watchNeeded(ctx)
		}
	}
}

// watchNeeded adds the symbols to the watch list that should be there. What fails is
// logged and tried again by the next call. Symbols with an open order or a position come
// first: if the operator names other symbols than before, there may be more than the list
// has room for, and a stop that is not watched protects nothing.
func (e *Engine) watchNeeded(ctx context.Context) {
	e.mu.Lock()
	needed, inUse, resting := e.needed(), e.inUse(), make(map[string]bool)
	for symbol, open := range e.ahead.open {
		resting[symbol] = len(open) > 0
	}
	var first, others []string
	for _, symbol := range sorted(needed) {
		if resting[symbol] || e.ahead.holdings[symbol].Quantity != 0 {
			first = append(first, symbol)
		} else {
			others = append(others, symbol)
		}
	}
	e.mu.Unlock()
	e.await(needed)
	defer e.await(needed) // without those that turned out to be unlisted
	for _, symbols := range [][]string{first, others} {
		var loads errgroup.Group
		loads.SetLimit(8) // a slow source must not hold up the others for minutes
		for _, symbol := range symbols {
			loads.Go(func() error {
				if err := e.ensure(ctx, symbol, needed[symbol]...); err != nil && ctx.Err() == nil {
					e.log.Warn("symbol cannot be watched yet", "symbol", symbol, "error", err)
					if _, ok := inUse[symbol]; !ok && errors.Is(err, market.ErrUnlisted) {
						e.mu.Lock()
						e.unlisted[symbol] = true
						e.mu.Unlock()
					}
				} else if resting[symbol] && e.venue == nil {
					e.learnGrid(ctx, symbol) // prices of fills are rounded to its tick
				}
				return nil
			})
		}
		loads.Wait()
	}
}

// await tells the feed which symbols are to be watched, so that a source that answers for
// none of them from the start counts as silent. A symbol that only --symbols names, and that
// the source does not have, is misspelled and not awaited.
func (e *Engine) await(needed map[string][]need) {
	e.mu.Lock()
	symbols := slices.DeleteFunc(sorted(needed), func(symbol string) bool { return e.unlisted[symbol] })
	e.mu.Unlock()
	e.options.Feed.Await(symbols)
}
