package trade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"wick/archive"
	"wick/delivery"
	"wick/journal"
)

// What a follower asks of the leader.
const (
	AskMarks = "marks" // write down how far subscribers have got: a map for Engine.Mark
	AskHalt  = "halt"  // halt trading or let it go on: a bool for Engine.SetHalt
	AskClaim = "claim" // a [Claimant] for Engine.Claim
)

// Claimant is a caller of another process.
type Claimant struct {
	ID      string    `json:"id"`
	Client  string    `json:"client"`
	Expires time.Time `json:"expires"`
}

const (
	behindTimeout = 5 * time.Second // how long a read waits for what others have acknowledged
	askTimeout    = 3 * time.Second // for what the engine itself asks of the leader
)

// Confirm returns when all that any process had acknowledged at the call is shown
// here. Without a shared log that is always so. An error says that what is shown
// may be out of date.
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
	if at := e.waitFor(ctx, tail); at < tail {
		return fmt.Errorf("this replica has records up to %d of %d", at, tail)
	}
	return nil
}

// waitFor waits until a sequence is shown, or ctx ends, and returns the one that is.
// The channel is taken before the sequence is compared, under the same lock: a step in
// between closes it.
func (b *book) waitFor(ctx context.Context, seq uint64) uint64 {
	for {
		b.mu.Lock()
		if b.stepped == nil {
			b.stepped = make(chan struct{})
		}
		at, stepped := b.shown.seq, b.stepped
		b.mu.Unlock()
		if at >= seq {
			return at
		}
		select {
		case <-stepped:
		case <-ctx.Done():
			return at
		}
	}
}

// Applied returns the sequence of the last record that is shown.
func (e *Engine) Applied() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.shown.seq
}

// follows reports whether another process writes the log and this one only reads it.
func (e *Engine) follows() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.following
}

// Mark writes down how far subscribers have got, at most maxMarks of them.
func (e *Engine) Mark(marks map[string]uint64) error {
	if len(marks) == 0 || len(marks) > maxMarks {
		return nil
	}
	e.mu.Lock()
	seq, err := e.propose(kindDelivered, &event{At: now(), Marks: marks})
	e.mu.Unlock()
	if err != nil {
		return err
	}
	return e.commit(seq)
}

// passOn has the leader write down how far the subscribers of this replica have
// got. What fails is passed on the next time.
func (e *Engine) passOn(ctx context.Context) {
	if marks := e.hub.Settled(maxMarks); len(marks) > 0 {
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		if err := e.options.Shared.Ask(ctx, AskMarks, marks, nil); err != nil {
			e.log.Debug("delivery marks are not written yet", "error", err)
		}
	}
}

// Take returns the whole state of a directory, its archive included, for a log
// that has none: the store's name, the last sequence, and the text of a snapshot.
// It only reads.
func Take(dir string) (store string, seq uint64, snapshot []byte, err error) {
	d := journal.ReadOnly(dir)
	s, err := newestState(d)
	if err != nil {
		return "", 0, nil, err
	}
	var archived []*Order
	if _, err := readArchive(d, s.store, s.archived, func(body []byte) error {
		o := new(Order)
		archived = append(archived, o)
		return json.Unmarshal(body, o)
	}); err != nil {
		return "", 0, nil, err
	}
	// The archived ones ended first, but were not all placed first: all are put in anew,
	// as they were placed.
	all := append(archived, s.orders...)
	slices.SortStableFunc(all, func(a, b *Order) int { return a.CreatedAt.Compare(b.CreatedAt.Time) })
	s.orders, s.place, s.clientIDs, s.open, s.openCount = nil, map[string]int{}, map[string]string{}, map[string][]string{}, 0
	for _, o := range all {
		if s.order(o.ID) == nil { // a crash may leave an order in both places
			s.setOrder(o)
		}
	}
	s.archived = archive.Head{}
	snapshot, err = s.encode()
	return s.store, s.seq, snapshot, err
}

// Give makes an empty directory a store with the whole state of a log. It is the way
// back from several replicas to one process.
func Give(log journal.Log, dir string) error {
	b := book{hub: delivery.NewHub(nil)}
	if _, err := log.Read((*onDisk)(&b)); err != nil {
		return err
	}
	text, err := b.shown.encode()
	if err != nil {
		return err
	}
	d, err := journal.OpenDir(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(journal.Import(d, b.shown.store, b.shown.seq, text), d.Close())
}

// maxMarks bounds the subscriptions in one record of marks, so that it fits.
const maxMarks = 500
