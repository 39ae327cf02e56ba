package trade

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/delivery"
	"wick/market"
)

// begin writes that a process has started, which begins an epoch and also ends
// what has had its hour. Ages across a restart are by the wall clock: one that was set back
// keeps an entry for at most one more hour, one set forward drops it early.
// Nobody can know which, so what looks like it is logged.
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
	if err == nil { // before the first order, or what that loses would not count as lost today
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

// work is Run for a process that has its role. It returns nil when ctx ends, and else
// the first error of a part, which ends the others.
func (e *Engine) work(ctx context.Context) error {
	e.watchNeeded(ctx)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return e.options.Feed.Run(ctx, func(u market.Update) { e.deliver(ctx, u) })
	})
	g.Go(func() error { return e.housekeep(ctx) })
	g.Go(func() error { return (*onDisk)(&e.book).thin(ctx) })
	if e.venue != nil {
		g.Go(func() error { return e.runVenue(ctx) })
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

// housekeep does what comes back regularly. The parts run one after the other, so none
// of them needs to expect another.
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
				e.watchNeeded(ctx) // what the leader has made somebody wait for
				continue
			}
			e.journal.Check()
			e.tidy() // fails only when the journal is broken, which is logged once
			e.expireAll()
			e.refreshTrading() // the same, or HALT cannot be read: the next order says so
		case <-watch.C:
			e.forgetUnneeded()
			e.watchNeeded(ctx)
		}
	}
}

// watchNeeded loads what the watch list lacks. What fails is logged and tried
// again by the next call. Symbols with an open order or a position come first: there may
// be more symbols than the list has room for if the operator names others than before,
// and a stop that nobody watches protects nothing.
func (e *Engine) watchNeeded(ctx context.Context) {
	e.mu.Lock()
	needed, resting := e.needed(), make(map[string]bool)
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
	for _, symbols := range [][]string{first, others} {
		var loads errgroup.Group
		loads.SetLimit(8) // a slow source must not hold up the others for minutes
		for _, symbol := range symbols {
			loads.Go(func() error {
				if err := e.ensure(ctx, symbol, needed[symbol]...); err != nil && ctx.Err() == nil {
					e.log.Warn("symbol cannot be watched yet", "symbol", symbol, "error", err)
				} else if resting[symbol] && e.venue == nil {
					e.learnGrid(ctx, symbol) // what they are filled at is rounded to it
				}
				return nil
			})
		}
		loads.Wait()
	}
}
