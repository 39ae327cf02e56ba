package trade

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wick/internal/journal"
	"wick/trade/book"

	"golang.org/x/sync/errgroup"
)

// What a follower asks the leader to do; see Shared.Ask.
const (
	AskMarks  = "marks"  // call Engine.Mark with a map of how far subscribers have got
	AskHalt   = "halt"   // call Engine.SetHalt with a bool
	AskCancel = "cancel" // call Engine.CancelEverything with a [book.Who]
	AskClaim  = "claim"  // call Engine.Claim with a [sse.Caller]
)

const (
	behindTimeout = 5 * time.Second // how long a read waits for what others have acknowledged
	askTimeout    = 3 * time.Second // how long the engine waits when it asks the leader for something, a halt three times
)

// Confirm waits until this process shows everything that any process had acknowledged
// when Confirm was called. Without a shared log that is always so. An error means that
// what is shown may be out of date.
func (b *store) Confirm(ctx context.Context) error {
	if b.peers == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, behindTimeout)
	defer cancel()
	tail, err := b.peers.Tail(ctx)
	if err != nil {
		return err
	}
	// The sequence and the channel are read under the same lock, so no step in between is
	// missed: it closes the channel.
	for {
		b.mu.Lock()
		if b.stepped == nil {
			b.stepped = make(chan struct{})
		}
		at, stepped := b.book.Seq, b.stepped
		b.mu.Unlock()
		if at >= tail {
			return nil
		}
		select {
		case <-stepped:
		case <-ctx.Done():
			return fmt.Errorf("this replica has records up to %d of %d", at, tail)
		}
	}
}

// Applied returns the sequence of the last record that is on disk and known here.
func (b *store) Applied() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.following {
		return b.book.Seq
	}
	seq, _ := b.journal.Head()
	return seq
}

// follows reports whether another process writes the log and this one only reads it.
func (b *store) follows() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.following
}

// Mark writes down how far subscribers have got. It does nothing if there are none, or
// more than maxMarks.
func (b *store) Mark(marks map[string]uint64) error {
	if len(marks) == 0 || len(marks) > maxMarks {
		return nil
	}
	return b.step(book.KindDelivered, &book.Event{At: now(), Marks: marks})
}

// Take returns the whole state of a directory, for a shared log that begins with it: the
// store's name, the last sequence, and the text of a snapshot that has all orders, also the
// finished ones. It changes nothing.
func Take(dir string) (store string, seq uint64, snapshot []byte, err error) {
	all, s, err := allOrders(dir)
	if err != nil {
		return "", 0, nil, err
	}
	v := s.Snapshot()
	v.Orders = all
	snapshot, err = v.Encode()
	return s.Store, s.Seq, snapshot, err
}

// Give writes the whole state of a log into an empty directory, which becomes a store. It
// is the way back from several replicas to one process. Each order becomes a record, so
// that the journal of the new store has it like any other.
func Give(log journal.Log, dir string) error {
	b := store{}
	if _, err := log.Read((*onDisk)(&b)); err != nil {
		return err
	}
	v := b.book.Snapshot()
	var records []journal.Record
	for _, o := range v.Orders {
		ev := &book.Event{At: o.UpdatedAt, Order: o}
		for _, t := range v.Done { // the record that ends a trade has it
			if t.ClosedBy == o.ID {
				ev.Trades = append(ev.Trades, t)
			}
		}
		r, err := journal.NewRecord(byte(book.KindImported), ev)
		if err != nil {
			return err
		}
		records = append(records, r)
	}
	v.Orders, v.Done, v.Labels = nil, nil, nil
	text, err := v.Encode()
	if err != nil {
		return err
	}
	d, err := journal.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(journal.Import(d, b.book.Store, b.book.Seq, text, records), d.Close())
}

// maxMarks bounds the subscriptions in one record of marks, so that it fits.
const maxMarks = 500

// runShared follows the leader until this process leads, then leads as long as it can. It
// returns an error when the process should be started again. A process leads once at most:
// afterwards its state may differ from what the next leader wrote.
func (e *Engine) runShared(ctx context.Context) error {
	var term context.Context
	g, following := errgroup.WithContext(ctx)
	// The work of a follower stops when it is elected, and has ended before it leads: the feed of
	// a leader begins where the market was last judged, which is not where a follower has seen it.
	work, stop := context.WithCancel(following)
	g.Go(func() error { return e.work(work) })
	g.Go(func() (err error) {
		defer stop()
		term, err = e.peers.Follow(following, (*onDisk)(&e.store))
		return err
	})
	err := g.Wait()
	if err == nil {
		err = e.lead(ctx, term)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
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
func (b *store) reign(ctx, term context.Context) error {
	tick := time.NewTicker(markPeriod)
	defer tick.Stop()
	for term.Err() == nil && b.journal.Broken() == nil {
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
	b.journal.Hold(fmt.Errorf("%w: this replica has led and does so no more, or cannot reach etcd: nothing was done; try again in a few seconds", journal.ErrStorage))
	for {
		// While etcd cannot be reached a new start would not get further than this one,
		// and reads still work.
		if _, err := b.peers.Tail(ctx); err == nil {
			return errors.New("ending, so that this replica is started again as a follower: it has led and does so no more")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
