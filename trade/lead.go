package trade

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wick/internal/journal"

	"golang.org/x/sync/errgroup"
)

// runShared follows the leader until this process leads, then leads as long as it can. It
// returns an error when the process should be started again. A process leads once at most:
// afterwards its state may differ from what the next leader wrote.
func (e *Engine) runShared(ctx context.Context) error {
	term, err := e.followLeader(ctx)
	if err == nil {
		err = e.lead(ctx, term)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// followLeader works as a follower until this process leads. The feed has ended when it
// returns: the feed of a leader begins where the market was last judged, which is not
// where a follower has seen it.
func (e *Engine) followLeader(ctx context.Context) (term context.Context, err error) {
	g, ctx := errgroup.WithContext(ctx)
	// The work of a follower stops when it is elected, and has ended before this returns.
	work, stop := context.WithCancel(ctx)
	g.Go(func() error { return e.work(work) })
	g.Go(func() (err error) {
		defer stop()
		term, err = e.options.Shared.Follow(ctx, (*onDisk)(&e.store))
		return err
	})
	return term, g.Wait()
}

// lead takes over from the leader before, as a start does, and works until ctx
// ends. If the term ends first, nothing is written any more. Prices and reads go
// on until the log answers again; then lead returns an error that asks for a new start.
func (e *Engine) lead(ctx, term context.Context) error {
	if err := e.journal.Resume(); err != nil {
		return err
	}
	e.mu.Lock()
	e.following = false
	e.mu.Unlock()
	// The windows of a follower are dropped: they end where the follower was, but the
	// bars that the leader before had not judged must be judged.
	e.watch.Keep(nil, 0)
	if err := e.begin(); err != nil {
		return err
	}
	if e.options.Leading != nil {
		e.options.Leading(term)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return e.work(ctx) })
	g.Go(func() error { return e.reign(ctx, term) })
	return g.Wait()
}

// reign waits for the end of a term and then lets nothing more be written. It returns the
// error that ends the process once a new start would help.
func (e *Engine) reign(ctx, term context.Context) error {
	tick := time.NewTicker(markPeriod)
	defer tick.Stop()
	for term.Err() == nil && e.journal.Broken() == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-term.Done():
		case <-tick.C:
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	e.journal.Hold(fmt.Errorf("%w: this replica has led and does so no more, or cannot reach etcd: nothing was done; try again in a few seconds", journal.ErrStorage))
	for {
		// While etcd cannot be reached a new start would not get further than this one,
		// and reads still work.
		if _, err := e.options.Shared.Tail(ctx); err == nil {
			return errors.New("ending, so that this replica is started again as a follower: it has led and does so no more")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
