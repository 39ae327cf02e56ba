package trade

import (
	"cmp"
	"errors"
	"log/slog"
	"sync"

	"wick/internal/journal"
	"wick/sse"
	"wick/trade/alert"
	"wick/trade/book"
)

// store is the state with its journal. The state has every step that was decided, whether
// or not it is on disk yet: limits and fills are judged against it, so that two orders in
// flight cannot both use the last of a limit. No answer leaves the store before the steps
// that it was made from are on disk: [store.View] waits for them. What acts on steps, the
// hub and the outbox, is given them once they are on disk, in their order.
type store struct {
	disk    journal.Disk
	journal *journal.Journal // nil while the store is being opened
	log     *slog.Logger
	hub     *sse.Hub // delivers what is queued
	archive archive  // of the orders that have left memory
	kept    int      // terminal orders that stay in memory
	outbox  Outbox   // nil for none
	peers   Shared   // the log, if other processes write it too; else nil

	indexing sync.Mutex    // held while the index grows; taken before mu
	rotated  chan struct{} // rung when a generation was closed

	mu        sync.Mutex
	book      book.Book        // guarded by mu, like every field below
	watching  *alert.Index     // the alerts in the state
	broken    error            // why no step can be taken: the journal is broken
	taken     []journal.Record // steps that the present decision has taken, which the journal gets when it has ended
	following bool             // another process writes: its steps are applied once they are in the log
	stepped   chan struct{}    // closed by the next step that is on disk, if somebody waits; else nil
}

// read fills the store from a log, and its hub with what is queued. If the log is shared, all
// orders stay in memory.
func (b *store) read(d journal.Disk, from journal.Log) (err error) {
	b.disk, b.rotated, b.kept, b.following = d, make(chan struct{}, 1), cmp.Or(b.kept, keptOrders), b.peers != nil
	b.journal, err = journal.Open(from, (*onDisk)(b), b.log)
	if err == nil && !b.following {
		if b.archive.Index, err = journal.OpenIndex(d, recordKeys, b.log); err == nil {
			b.forgetClosed()
		}
	}
	if err != nil {
		return errors.Join(err, from.Close())
	}
	// A follower writes nothing until it leads.
	if b.following {
		b.journal.Hold(errFollows)
	}
	b.install(b.book.State)
	return nil
}

// install makes s, all of which is on disk, the state, and gives the hub what is queued in
// it. Called with mu held, or before any other goroutine has the store.
func (b *store) install(s *book.State) {
	b.indexAlerts(s)
	b.hub.Load(s.Subs.Clone())
	b.book.State = s
}

// indexAlerts makes the index of the alerts in s, and of the rules that orders wait for, which s keeps
// up to date from then on.
func (b *store) indexAlerts(s *book.State) {
	b.watching = alert.NewIndex(s.Alerts)
	for _, orders := range s.Ruled {
		for _, o := range orders {
			b.watching.Replace(nil, o.Rule())
		}
	}
	s.Index = b.watching
}

// Do calls decide with mu held, and returns when all that decide has seen and proposed is on
// disk. That holds for a refusal as well: no client may be told of an order, or of the end
// of one, that a crash could undo. Any other error of decide is returned at once, and so is
// nil for errIdle. If the journal breaks, the state is brought back to what is on disk, so
// that reads go on.
func (b *store) Do(decide func(s *book.State) error) error {
	seq, follows, err := b.locked(decide)
	no := (*book.Refusal)(nil)
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

// write encodes a step, has it taken, and keeps its record for the journal. It is encoded
// first: a record that is too long must not leave a state that cannot be written down.
func (b *store) write(k book.Kind, ev *book.Event, take func() error) error {
	if b.broken != nil {
		return b.broken
	}
	record, err := journal.NewRecord(byte(k), ev)
	if err == nil {
		err = take()
	}
	if err == nil {
		b.taken = append(b.taken, record)
	}
	return err
}

// locked calls decide with mu held, and hands the records of the steps that it has taken to
// the journal.
func (b *store) locked(decide func(s *book.State) error) (seq uint64, follows bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken = b.journal.Broken()
	tripped := b.book.Tripped
	err = decide(b.book.State)
	if now := b.book.Tripped; now != tripped && now != "" {
		b.log.Warn("the account has reached the limit of the daily loss", "day", now)
	}
	seq = b.book.Seq - uint64(len(b.taken))
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
func (b *store) View(read func(s *book.State)) error {
	return b.Do(func(s *book.State) error {
		read(s)
		return nil
	})
}

// Head returns the sequence of the last record of the journal, and the newest hash of the
// history, also after Close. A follower's are those of its start.
func (b *store) Head() (seq uint64, hash journal.Hash) { return b.journal.Head() }

// step takes one step, and returns when it is on disk.
func (b *store) step(k book.Kind, ev *book.Event) error {
	return b.Do(func(*book.State) error { return b.book.Propose(k, ev) })
}

// RecordAnswer writes down what a person answered about an order. When it returns nil, the
// record is on disk.
func (b *store) RecordAnswer(evidence []byte) error {
	return b.step(book.KindApproval, &book.Event{At: now(), Evidence: evidence})
}

// WriteOutbox writes a record that only the outbox understands. When it returns nil,
// the record is on disk and Outbox.Apply has been called with it.
func (b *store) WriteOutbox(record []byte) error {
	return b.step(book.KindOutbox, &book.Event{At: now(), Outbox: record})
}

// reload reads the state anew from disk, if it has steps that are not there and never will
// be: the journal is broken. If that fails, every read fails with the error of the journal.
// On a log that others write too nothing is read: this process is about to end.
func (b *store) reload() {
	b.mu.Lock()
	defer b.mu.Unlock()
	last, _ := b.journal.Head()
	if b.peers != nil || b.book.Seq <= last {
		return
	}
	s, err := readState(b.disk, last)
	if err != nil || s.Seq != last {
		b.log.Error("the state cannot be read again: it has steps that could not be written", "record", last, "error", err)
		return
	}
	b.indexAlerts(s)
	b.book.State = s
}

// readState returns the state that the files in d hold, up to the record last. It changes
// nothing.
func readState(d journal.Reader, last uint64) (*book.State, error) {
	b := &store{}
	err := journal.Load(d, (*onDisk)(b), last)
	return b.book.State, err
}

// onDisk is the store as its journal sees it.
type onDisk store

// Restore replaces the state by that of a snapshot.
func (d *onDisk) Restore(name string, seq uint64, snapshot []byte) error {
	s, err := book.DecodeState(name, seq, snapshot)
	if err == nil && d.outbox != nil {
		err = d.outbox.Restore(s.Outbox)
	}
	if err != nil {
		return err
	}
	s.Outbox = nil
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.journal == nil { // the store is being opened
		d.book.State = s
	} else {
		(*store)(d).install(s)
	}
	return nil
}

// Decode reads the payload of a record.
func (d *onDisk) Decode(_ byte, payload []byte) (any, error) { return book.DecodeEvent(payload) }

// Apply hands a step that is on disk to those who act on steps. A step that propose has not
// taken, because another process or an earlier one wrote it, is taken first.
func (d *onDisk) Apply(seq uint64, k byte, step any) error {
	ev := step.(*book.Event)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stepped != nil {
		defer close(d.stepped)
		d.stepped = nil
	}
	if d.journal == nil || d.following {
		if err := d.book.Take(seq, book.Kind(k), ev); err != nil {
			return err
		}
	}
	if ev.Queued != nil && d.journal != nil { // a start gives the hub all at once
		if err := d.hub.Apply(*ev.Queued); err != nil {
			return err
		}
	}
	for _, s := range ev.Steps {
		if err := d.outbox.Apply(s); err != nil {
			return err
		}
	}
	return nil
}

// Snapshot copies the state.
func (d *onDisk) Snapshot() (uint64, func() ([]byte, error)) {
	// Usually keepIndex has done that already.
	(*store)(d).indexClosed()
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.book.Snapshot()
	return d.book.Seq, func() (text []byte, err error) {
		if d.outbox != nil {
			if v.Outbox, err = d.outbox.Snapshot(); err != nil {
				return nil, err
			}
		}
		return v.Encode()
	}
}

// errFollows is the error of a write on a follower that was not passed on to the leader.
var errFollows = errors.New("this replica follows another one: it does not write")
