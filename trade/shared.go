package trade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"wick/archive"
	"wick/delivery"
	"wick/journal"
)

// Shared is a log that several processes follow and one of them, the leader,
// appends to. The engine on it is a follower first: it applies what the leader
// appends, shows it, delivers it to its own streams, and refuses to write. When
// its process leads, it goes on from there as after a start: with an epoch of its
// own, and with the market since what was judged last.
type Shared interface {
	journal.Log

	// Follow applies what others append to s until this process leads, and
	// returns a context that ends when it does so no more.
	Follow(ctx context.Context, s journal.State) (term context.Context, err error)

	// Tail returns the sequence of the last record that was acknowledged by any
	// process when it was called, or a later one.
	Tail(ctx context.Context) (uint64, error)

	// Ask has the leader do something, which its process looks up by its name.
	Ask(ctx context.Context, what string, in, out any) error
}

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

// errFollows is what a follower answers to a write that nobody passed on.
var errFollows = errors.New("this replica follows another one: it does not write")

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

// waitFor waits until a sequence is shown, or ctx ends, and returns the one that
// is.
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

// runShared follows until this process leads, then leads until it cannot. It
// returns an error when the process should be started again.
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

// followLeader works as a follower until this process leads. The feed is at rest when it
// returns: the leader's begins where the market was judged last, which is not
// where a follower has seen it.
func (e *Engine) followLeader(ctx context.Context) (term context.Context, err error) {
	g, ctx := errgroup.WithContext(ctx)
	// The work of a follower stops when it is elected, and is over before this returns.
	work, stop := context.WithCancel(ctx)
	g.Go(func() error { return e.work(work) })
	g.Go(func() (err error) {
		defer stop()
		term, err = e.options.Shared.Follow(ctx, (*onDisk)(&e.book))
		return err
	})
	return term, g.Wait()
}

// lead takes over from the leader before, as a start does, and works until ctx
// ends. When the term ends first, nothing is written any more; prices and reads go
// on until the log answers again, and then it is time for a new start.
func (e *Engine) lead(ctx, term context.Context) error {
	if err := e.journal.Resume(); err != nil {
		return err
	}
	e.mu.Lock()
	e.following = false
	e.mu.Unlock()
	// The windows of a follower are dropped: they end where the follower was, and what
	// the leader before had not judged must be judged.
	for _, symbol := range e.watch.keepOnly(nil) {
		e.watch.feed.Unwatch(symbol)
	}
	if err := e.begin(); err != nil {
		return err
	}
	e.rememberArrivals()
	if e.options.Leading != nil {
		e.options.Leading(term)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return e.work(ctx) })
	g.Go(func() error { return e.reign(ctx, term) })
	return g.Wait()
}

// reign waits for the end of a term, has nothing more written, and returns the
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

// claimRemote has the leader note that a caller is there, and give it the
// subscription that its client had. Without an answer the caller keeps what it
// has here.
func (e *Engine) claimRemote(c delivery.Caller) error {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	if err := e.options.Shared.Ask(ctx, AskClaim, Claimant{c.ID, c.Client, c.Expires}, nil); err != nil {
		return err
	}
	return e.Confirm(ctx)
}

// Announce is Claim for a caller that opens a stream: the leader is told of it
// even if it has a subscription, so that no other token of the same client gets
// that.
func (e *Engine) Announce(c delivery.Caller) error {
	if !e.follows() {
		return e.Claim(c)
	}
	has := e.hub.Hold(c, false)
	if err := e.claimRemote(c); err != nil && !has {
		return err
	}
	e.hub.Hold(c, false)
	return nil
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
	recent := s.orders
	s.orders, s.place, s.clientIDs, s.open, s.openCount = nil, map[string]int{}, map[string]string{}, map[string][]string{}, 0
	add := func(o *Order) {
		if s.order(o.ID) == nil { // a crash may leave an order in both places
			s.setOrder(o)
		}
	}
	if _, err := readArchive(d, s.store, s.archived, func(body []byte) error {
		o := new(Order)
		err := json.Unmarshal(body, o)
		if err == nil {
			add(o)
		}
		return err
	}); err != nil {
		return "", 0, nil, err
	}
	for _, o := range recent {
		add(o)
	}
	s.archived = archive.Head{}
	snapshot, err = s.encode()
	return s.store, s.seq, snapshot, err
}

// Give makes an empty directory a store with the whole state of a log.
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
