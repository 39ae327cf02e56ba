package trade

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wick/internal/journal"
	"wick/trade/book"
)

// What a follower asks the leader to do; see Shared.Ask.
const (
	AskMarks  = "marks"  // call Engine.Mark with a map of how far subscribers have got
	AskHalt   = "halt"   // call Engine.SetHalt with a bool
	AskCancel = "cancel" // call Engine.CancelEverything with a [Who]
	AskClaim  = "claim"  // call Engine.Claim with a [Claimant]
)

// Claimant is the caller for whom a follower asks the leader to call Engine.Claim.
type Claimant struct {
	ID      string    `json:"id"`
	Client  string    `json:"client"`
	Login   string    `json:"login"`
	Expires time.Time `json:"expires"`
}

const (
	behindTimeout = 5 * time.Second // how long a read waits for what others have acknowledged
	askTimeout    = 3 * time.Second // how long the engine waits when it asks the leader for something, a halt three times
)

// Confirm waits until this process shows everything that any process had acknowledged
// when Confirm was called. Without a shared log that is always so. An error means that
// what is shown may be out of date.
func (e *Engine) Confirm(ctx context.Context) error {
	if e.options.Shared == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, behindTimeout)
	defer cancel()
	tail, err := e.options.Shared.Tail(ctx)
	if err != nil {
		return err
	}
	// The sequence and the channel are read under the same lock, so no step in between is
	// missed: it closes the channel.
	for {
		e.mu.Lock()
		if e.stepped == nil {
			e.stepped = make(chan struct{})
		}
		at, stepped := e.book.Seq, e.stepped
		e.mu.Unlock()
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
func (e *Engine) Applied() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.following {
		return e.book.Seq
	}
	seq, _ := e.journal.Head()
	return seq
}

// follows reports whether another process writes the log and this one only reads it.
func (e *Engine) follows() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.following
}

// Mark writes down how far subscribers have got. It does nothing if there are none, or
// more than maxMarks.
func (e *Engine) Mark(marks map[string]uint64) error {
	if len(marks) == 0 || len(marks) > maxMarks {
		return nil
	}
	return e.Do(func(*book.State) error {
		return e.book.Propose(book.KindDelivered, &book.Event{At: now(), Marks: marks})
	})
}

// passOn asks the leader to write down how far the subscribers of this replica have
// got. If that fails, the next call tries again.
func (e *Engine) passOn(ctx context.Context) {
	if marks := e.hub.Settled(maxMarks); len(marks) > 0 {
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		if err := e.options.Shared.Ask(ctx, AskMarks, marks, nil); err != nil {
			e.log.Debug("delivery marks are not written yet", "error", err)
		}
	}
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
		r, err := journal.NewRecord(byte(book.KindImported), &book.Event{At: o.UpdatedAt, Order: o})
		if err != nil {
			return err
		}
		records = append(records, r)
	}
	v.Orders = nil
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
