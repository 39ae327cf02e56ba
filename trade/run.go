package trade

import (
	"context"
	"errors"
	"time"

	"wick/market"
	"wick/trade/book"

	"golang.org/x/sync/errgroup"
)

// begin writes that a process has started. That record begins an epoch, and drops queued
// notifications that are older than an hour. Ages across a restart are measured by the
// wall clock: if it was set back, an entry is kept for at most one more hour, and if it
// was set forward, an entry is dropped early. Nobody can know whether that happened.
func (e *Engine) begin() error {
	err := e.Do(func(*book.State) error {
		e.began = now()
		if err := e.book.Propose(book.KindStarted, &book.Event{At: e.began, Epoch: e.options.epoch()}); err != nil {
			return err
		}
		e.book.RememberArrivals()
		return e.book.NoteDay(e.began) // before the first order, so that its loss counts as of today
	})
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
		if e.follows() { // the leader writes down how far the subscribers of this replica have got
			if marks := e.hub.Settled(maxMarks); len(marks) > 0 {
				ctx, cancel := context.WithTimeout(ctx, askTimeout)
				if err := e.peers.Ask(ctx, AskMarks, marks, nil); err != nil { // the next call tries again
					e.log.Debug("delivery marks are not written yet", "error", err)
				}
				cancel()
			}
			continue
		}
		e.journal.Check()
		if err := errors.Join(e.tidy(), e.expireAll(), e.pulse()); err != nil {
			e.journal.Break(err) // it mostly is, which is logged once
		}
		e.refreshTrading() // fails for the same reason
	}
}

// expireLate is how long after its expiry an order is cancelled although no later price
// has come. Until then an earlier price may still be on its way, and fill it. It is longer
// than the feed takes to tell a minute that has ended; one that ends later fills nothing.
const expireLate = 5 * time.Second

// expireAll cancels the orders of all symbols that expired at least expireLate ago, and
// returns when that is on disk. After a start the feed has as long to tell what was traded
// before they expired.
func (e *Engine) expireAll() error {
	return e.Do(func(s *book.State) error {
		at := now()
		if at.Sub(e.began.Time) < expireLate {
			return nil
		}
		for _, symbol := range s.OpenSymbols() {
			if err := e.book.Expire(symbol, book.Time{Time: at.Add(-expireLate)}, at); err != nil {
				return err
			}
		}
		return nil
	})
}
