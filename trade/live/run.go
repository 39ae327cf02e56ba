package live

import (
	"context"
	"time"

	"wick/internal/limit"

	"golang.org/x/sync/errgroup"
)

// streamPause is how long to wait before a stream is opened again; doubled up to a minute.
const streamPause = time.Second

// Run hears the broker's stream and reads the account, until ctx ends.
func (v *venue) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return v.hear(ctx) })
	g.Go(func() error { return v.keepReconciled(ctx) })
	return g.Wait()
}

// soon asks for a reconciliation and does not wait for it. If one was asked for already,
// it does nothing.
func (v *venue) soon() {
	select {
	case v.kick <- struct{}{}:
	default:
	}
}

// hear keeps the broker's stream open and reads it, and never gives up. After each connect the
// account is read, because nobody knows what was missed.
func (v *venue) hear(ctx context.Context) error {
	pause := streamPause
	for ctx.Err() == nil {
		err := v.broker.Stream(ctx, func() {
			v.setStream(true)
			v.soon()
		}, v.heard)
		if v.setStream(false) { // it was there, however long it lasted
			pause = streamPause
		}
		if ctx.Err() != nil {
			return nil
		}
		v.Log.Warn("the broker's stream is away", "broker", v.Book.Remote.Name, "error", limit.Line(err.Error(), 200), "pause", pause.String())
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, time.Minute)
	}
	return nil
}

// setStream notes whether the stream is connected, and since when. It reports whether that is
// new.
func (v *venue) setStream(up bool) (changed bool) {
	v.Look(func() {
		if changed = v.Book.Remote.Stream != up; changed {
			v.Book.Remote.Stream, v.streamAt = up, time.Now()
		}
	})
	return changed
}

// keepReconciled reads the account at the start, when somebody asks for it, and
// regularly.
func (v *venue) keepReconciled(ctx context.Context) error {
	for ctx.Err() == nil {
		wait := busyPeriod
		if v.reconcile(ctx) {
			wait = restPeriod
		}
		v.tidy(ctx)
		if v.deadMan > 0 {
			wait = min(wait, max(v.deadMan/4, time.Second))
		}
		select {
		case <-ctx.Done():
		case <-v.kick:
		case <-time.After(wait):
		}
	}
	return nil
}
