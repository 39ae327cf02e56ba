package trade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"wick/archive"
	"wick/delivery"
	"wick/journal"
	"wick/limit"
)

// book is the state with its journal. The state has every step that was decided, whether
// or not it is on disk yet: limits and fills are judged against it, so that two orders in
// flight cannot both use the last of a limit. No answer leaves the book before the steps
// that it was made from are on disk: [book.View] waits for them. What acts on steps, the
// hub and the outbox, is given them once they are on disk, in their order.
type book struct {
	disk    journal.Disk
	journal *journal.Journal // nil while the store is being opened
	log     *slog.Logger
	hub     *delivery.Hub    // delivers what is queued
	archive *archive.Archive // of terminal orders; look-ups need no lock
	kept    int              // terminal orders that stay in memory
	recover bool             // make a damaged archive anew
	outbox  Outbox           // nil for none
	shared  bool             // other processes write the log too

	// Pruning is held while orders are moved to the archive. It is taken before mu.
	// Crowded gets a value when there are extraOrders to move.
	pruning sync.Mutex
	crowded chan struct{}

	mu        sync.Mutex
	desk                    // guarded by mu, like every field below
	following bool          // another process writes: its steps are applied once they are in the log
	stepped   chan struct{} // closed by the next step that is on disk, if somebody waits; else nil
}

// read fills the book from a log, and its hub with what is queued. The archive is
// in d. Nothing is moved to it if the log is shared: each process would have a different
// part of the orders in its own archive.
func (b *book) read(d journal.Disk, from journal.Log, shared bool, log *slog.Logger) (err error) {
	b.disk, b.log, b.shared, b.crowded = d, log, shared, make(chan struct{}, 1)
	switch {
	case shared:
		b.kept = math.MaxInt
	case b.kept == 0:
		b.kept = keptOrders
	}
	if b.journal, err = journal.Open(from, (*onDisk)(b), log); err == nil {
		err = b.openArchive()
	}
	if err == nil {
		err = b.pruneAtStart()
	}
	if err != nil {
		return errors.Join(err, from.Close())
	}
	// A follower writes nothing until it leads.
	if shared {
		b.journal.Hold(errFollows)
	}
	b.following = shared
	b.install(b.ahead)
	return nil
}

// pruneAtStart moves the orders that a crash has left in memory to the archive, before
// anybody lists orders: a list that is read in pages must not lose some in between. A
// full disk is no reason not to start.
func (b *book) pruneAtStart() error {
	select {
	case <-b.crowded:
	default:
		return nil
	}
	if _, err := (*onDisk)(b).prune(b.ahead.orders, math.MaxInt); !errors.Is(err, journal.ErrRetry) {
		return err
	}
	return nil
}

// install makes s, all of which is on disk, the state, and gives the hub what is queued in
// it. Called with mu held, or before any other goroutine has the book.
func (b *book) install(s *state) {
	s.index = newAlertIndex(s.alerts)
	b.hub.Load(s.subs.Clone())
	b.ahead = s
}

// Do calls decide with mu held, and returns when all that decide has seen and proposed is on
// disk. That holds for a refusal as well: no client may be told of an order, or of the end
// of one, that a crash could undo. Any other error of decide is returned at once, and so is
// nil for errIdle. If the journal breaks, the state is brought back to what is on disk, so
// that reads go on.
func (b *book) Do(decide func(s *state) error) error {
	seq, follows, err := b.locked(decide)
	no := (*Refusal)(nil)
	switch {
	case err == errIdle:
		return nil
	case err != nil && !errors.As(err, &no), follows: // a follower has only what is on disk
		return err
	}
	if lost := b.journal.Commit(seq); lost != nil {
		b.reload()
		return lost
	}
	return err
}

// errIdle is what decide returns to Do if it has proposed nothing and nobody is told what it
// has seen: then there is nothing to wait for.
var errIdle = errors.New("nothing to do")

// locked calls decide with mu held, and hands the records of the steps that it has taken to
// the journal.
func (b *book) locked(decide func(s *state) error) (seq uint64, follows bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken = b.journal.Broken()
	err = decide(b.ahead)
	seq = b.ahead.seq - uint64(len(b.taken))
	for _, r := range b.taken {
		seq++
		if lost := b.journal.Append(seq, r); lost != nil {
			err = lost
		}
	}
	b.taken = nil
	return seq, b.following, err
}

// View calls read with mu held, and returns when all that it has seen is on disk. An error
// says that it never will be: what was read must not be shown.
func (b *book) View(read func(s *state)) error {
	return b.Do(func(s *state) error {
		read(s)
		return nil
	})
}

// reload reads the state anew from disk, if it has steps that are not there and never will
// be: the journal is broken. If that fails, every read fails with the error of the journal.
// On a log that others write too nothing is read: this process is about to end.
func (b *book) reload() {
	b.mu.Lock()
	defer b.mu.Unlock()
	last, _ := b.journal.Head()
	if b.shared || b.ahead.seq <= last {
		return
	}
	s, err := readState(b.disk, last)
	if err != nil || s.seq != last {
		b.log.Error("the state cannot be read again: it has steps that could not be written", "record", last, "error", err)
		return
	}
	s.index = newAlertIndex(s.alerts)
	b.ahead = s
}

// readState returns the state that the files in d hold, up to the record last. It changes
// nothing.
func readState(d journal.Disk, last uint64) (*state, error) {
	b, log := &book{disk: d}, slog.New(slog.DiscardHandler)
	_, err := journal.NewFiles(d, journal.FileOptions{Look: true}, log).Read(&until{(*onDisk)(b), last})
	return b.ahead, err
}

// until is a book that takes no step after the one with the sequence last.
type until struct {
	*onDisk
	last uint64
}

func (u *until) Apply(seq uint64, k byte, ev any) error {
	if seq > u.last {
		return nil
	}
	return u.onDisk.Apply(seq, k, ev)
}

// onDisk is the book as its journal sees it.
type onDisk book

// Restore replaces the state by that of a snapshot.
func (d *onDisk) Restore(store string, seq uint64, snapshot []byte) error {
	s, err := decodeState(store, seq, snapshot)
	if err == nil && d.outbox != nil {
		err = d.outbox.Restore(s.outbox)
	}
	if err != nil {
		return err
	}
	s.outbox = nil
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.journal == nil { // the store is being opened
		d.ahead = s
	} else {
		(*book)(d).install(s)
	}
	return nil
}

// Decode reads the payload of a record.
func (d *onDisk) Decode(_ byte, payload []byte) (any, error) { return decodeEvent(payload) }

// Apply hands a step that is on disk to those who act on steps. A step that propose has not
// taken, because another process or an earlier one wrote it, is taken first.
func (d *onDisk) Apply(seq uint64, k byte, step any) error {
	ev := step.(*event)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stepped != nil {
		defer close(d.stepped)
		d.stepped = nil
	}
	if d.journal == nil || d.following {
		if err := d.take(seq, kind(k), ev); err != nil {
			return err
		}
	}
	// Only signalled here: moving orders writes to the disk, and mu is held.
	if len(d.ahead.orders)-d.ahead.openCount-d.kept >= extraOrders {
		select {
		case d.crowded <- struct{}{}:
		default: // signalled already; if thin does not run, the next snapshot does its work
		}
	}
	if ev.queued != nil && d.journal != nil { // a start gives the hub all at once
		if err := d.hub.Apply(*ev.queued); err != nil {
			return err
		}
	}
	for _, s := range ev.steps {
		if err := d.outbox.Apply(s); err != nil {
			return err
		}
	}
	return nil
}

// Snapshot copies the state. When it is encoded, the orders that ended first move to the
// archive and are left out.
func (d *onDisk) Snapshot() (uint64, func() ([]byte, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.ahead.snapshot()
	return d.ahead.seq, func() ([]byte, error) {
		d.pruning.Lock()
		defer d.pruning.Unlock()
		if err := (*book)(d).openArchive(); err != nil {
			return nil, err
		}
		old, err := d.prune(v.Orders, math.MaxInt)
		if err != nil {
			return nil, err
		}
		moved := make(map[*Order]bool, len(old))
		for _, o := range old {
			moved[o] = true
		}
		v.Orders = slices.DeleteFunc(v.Orders, func(o *Order) bool { return moved[o] })
		v.Archive = noted(d.archive.Head())
		if d.outbox != nil {
			if v.Outbox, err = d.outbox.Snapshot(); err != nil {
				return nil, err
			}
		}
		return v.encode()
	}
}

// thin moves orders to the archive whenever there are extraOrders to move, until
// ctx ends. It reports no errors: the next snapshot, which does the same, finds them.
func (d *onDisk) thin(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.crowded:
		}
		var orders []*Order
		err := (*book)(d).View(func(s *state) { orders = slices.Clone(s.orders) }) // only an end that is on disk counts
		if err == nil {
			d.pruning.Lock()
			_, err = d.prune(orders, extraOrders)
			d.pruning.Unlock()
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, journal.ErrRetry) {
			return nil
		}
		// Every further order signals that there are too many: without a pause, each
		// would start another try on a full disk.
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(thinPause):
		}
	}
}

// thinPause is how long thin waits after a try that failed.
const thinPause = time.Minute

// prune moves terminal orders to the archive until only as many are left as stay in
// memory: those that ended first, and at most the given number. It returns them. Orders are
// those in memory, as they are on disk. It is called with pruning held. The archive has them
// on disk before they leave memory; a crash in between leaves them in both, which the archive
// notices when they are appended again.
func (d *onDisk) prune(orders []*Order, most int) (old []*Order, err error) {
	old = slices.DeleteFunc(slices.Clone(orders), func(o *Order) bool { return !o.Status.Terminal() || o.endedWithin(lateWithin+time.Hour) })
	extra := min(len(old)-d.kept, most)
	if extra <= 0 {
		return nil, nil
	}
	// By when they ended and not by when they were placed: an order that was open for
	// months is news when it ends.
	slices.SortStableFunc(old, func(a, b *Order) int { return a.UpdatedAt.Compare(b.UpdatedAt.Time) })
	old, left := old[:extra:extra], old[extra:]
	// After a crash or a full disk, other orders may be in memory and in the archive,
	// if the clock was set back since. They leave memory too: once the archive is
	// settled, it would no longer notice that it has them already.
	for _, o := range left {
		there, err := d.archive.Holds(orderKey(o.ID))
		if err != nil {
			return nil, err
		}
		if there {
			old = append(old, o)
		}
	}
	if err := addToArchive(d.archive, old); err != nil {
		return nil, err
	}
	d.archive.Settle() // from here on only the archive has them
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ahead.forget(old)
	return old, nil
}

// forget takes orders out of memory and out of every index. The order of those that
// stay is kept.
func (s *state) forget(old []*Order) {
	for _, o := range old {
		if i, ok := s.place[o.ID]; ok {
			s.orders[i] = nil
		}
		delete(s.place, o.ID)
		delete(s.clientIDs, o.ClientOrderID)
		delete(s.brokerIDs, o.BrokerID)
	}
	s.orders = slices.DeleteFunc(s.orders, func(o *Order) bool { return o == nil })
	for i, o := range s.orders {
		s.place[o.ID] = i
	}
}

// errFollows is the error of a write on a follower that was not passed on to the leader.
var errFollows = errors.New("this replica follows another one: it does not write")

// archived returns the order in the archive under a key, or nil. It reads a page
// per segment of the archive. A damaged page is an error: to say wrongly that there is
// no such order would let the same order be placed twice.
func (b *book) archived(key string) (*Order, error) {
	r, ok, err := b.archive.Lookup(key)
	if err == nil && !ok {
		return nil, nil
	}
	o := new(Order)
	if err == nil {
		err = json.Unmarshal(r.Body, o)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: whether there is a %s cannot be said: %w", journal.ErrStorage, limit.Clip(key), err)
	}
	return o, nil
}

// openArchive opens the archive of the store that was read, unless it is open. Snapshot
// calls it as well, because the journal may write a snapshot while it is being opened.
func (b *book) openArchive() error {
	if b.archive != nil {
		return nil
	}
	if b.recover {
		if err := b.recoverArchive(); err != nil {
			return err
		}
	}
	a, err := archive.Open(b.disk, b.ahead.store, b.ahead.archived)
	if err != nil {
		return archiveError(b.disk, err)
	}
	b.archive = a
	return nil
}

// closeArchive closes the archive once nobody appends to it.
func (b *book) closeArchive() error {
	b.pruning.Lock()
	defer b.pruning.Unlock()
	return b.archive.Close()
}

// recoverArchive makes a damaged archive anew: from the records that are undamaged, and
// from the orders that journals and snapshots still have. It is called only if the
// owner has agreed to a recovery. Files that cannot be read at all are left alone.
func (b *book) recoverArchive() error {
	if err := checkArchive(b.disk, b.ahead); err == nil || notDamaged(err) {
		return err
	}
	// First the undamaged records, then the orders that only journals and snapshots
	// have, in batches of one sync each.
	if _, err := archive.Rebuild(b.disk, b.ahead.store); err != nil {
		return err
	}
	b.ahead.archived = archive.Head{} // the archive no longer has the record that was noted
	a, err := archive.Open(b.disk, b.ahead.store, archive.Head{})
	if err != nil {
		return err
	}
	var batch []*Order
	_, err = findEnded(b.disk, b.ahead, func(o *Order) error {
		if batch = append(batch, o); len(batch) < archiveBatch {
			return nil
		}
		defer func() { batch = batch[:0] }()
		return addMissing(a, batch)
	})
	if err == nil {
		err = addMissing(a, batch)
	}
	return errors.Join(err, a.Close())
}
