package trade

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// journal is the file that records are appended to. It has no lock and no
// goroutine: whoever holds ledger.writing owns it.
type journal struct {
	disk    disk
	file    file
	n       int   // generation
	size    int64 // bytes known to be good
	records int   // since the snapshot

	maxBytes   int64 // a new snapshot is due at either bound
	maxRecords int
}

// newJournal returns a journal on d that is at no generation yet.
func newJournal(d disk) journal {
	return journal{disk: d, maxBytes: 4 << 20, maxRecords: 10_000}
}

// header is the first record of every journal file. It ties the file to its
// snapshot: same store, same number, and the sequence to go on from.
type header struct {
	Magic  string `json:"magic"`
	Format int    `json:"format"`
	N      int    `json:"n"`
	Store  string `json:"store"`
	At     Time   `json:"at"`
}

const magic = "wick journal"

func journalName(n int) string  { return fmt.Sprintf("journal-%d.wal", n) }
func snapshotName(n int) string { return fmt.Sprintf("snapshot-%d.json", n) }

// generation returns the number in a name of the given shape, or 0.
func generation(name, prefix, suffix string) int {
	text, ok := strings.CutPrefix(name, prefix)
	text, ok2 := strings.CutSuffix(text, suffix)
	n, err := strconv.Atoi(text)
	if !ok || !ok2 || err != nil || n < 1 || strconv.Itoa(n) != text {
		return 0
	}
	return n
}

// append writes records and waits until they are on disk. After an error the
// file may hold a part of them: the tail is cut off again if the disk lets us
// (a full one does), and nothing is ever written after it.
func (j *journal) append(batch []byte, records int) error {
	if err := writeSynced(j.file, batch); err != nil {
		if errors.Is(err, syscall.ENOSPC) {
			err = fmt.Errorf("%w: make room on the disk and start again", err)
		}
		return errors.Join(err, j.file.Truncate(j.size))
	}
	j.size += int64(len(batch))
	j.records += records
	return nil
}

func (j *journal) due() bool { return j.size >= j.maxBytes || j.records >= j.maxRecords }

// rotate writes s as the snapshot of the next generation and goes on in that
// generation's journal.
//
// The journal is made first and the snapshot gets its name last: a snapshot
// that has its name therefore has its journal, so a start can tell a lost
// journal (damage) from a crash in the middle of this (a journal with only its
// header, and no snapshot, holds nothing).
func (j *journal) rotate(s *state, at Time) error {
	n := j.n + 1
	text, err := s.encode(n, at)
	if err != nil {
		return err
	}
	first, err := appendRecord(nil, s.seq, kindHeader, header{magic, format, n, s.store, at})
	if err != nil {
		return err
	}
	f, err := j.disk.create(journalName(n))
	if err != nil {
		return err
	}
	if err := writeSynced(f, first); err != nil {
		f.Close()
		return err
	}
	if err := writeAtomic(j.disk, snapshotName(n), text); err != nil {
		f.Close()
		return err
	}
	if j.file != nil {
		j.file.Close() // synced after every write: nothing is lost by an error here
	}
	j.file, j.n, j.size, j.records = f, n, int64(len(first)), 0
	return j.dropOld()
}

// dropOld removes generations before the last one. That one stays: should the
// newest snapshot be damaged, it and its journal give the same state.
func (j *journal) dropOld() error {
	names, err := j.disk.list()
	if err != nil {
		return err
	}
	for _, name := range names {
		n := max(generation(name, "journal-", ".wal"), generation(name, "snapshot-", ".json"))
		if n > 0 && n < j.n-1 {
			if err := j.disk.remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// ledger is the state with its journal. There are two states. Ahead has every
// step that was decided: rails and fills are judged against it, so that two
// orders in flight cannot both use the last of a limit. Shown has only what is
// on disk: all answers come from it. A step enters ahead when it is decided and
// shown when it is durable, in the same order.
//
// Commits are grouped without a goroutine of their own: the first caller that
// finds nobody writing writes for all who wait, while those who come meanwhile
// gather the next batch. So a constructor starts nothing, and there is nobody
// to stop.
type ledger struct {
	mu      sync.Mutex
	wake    sync.Cond // of mu: a write has ended
	ahead   *state    // guarded by mu, like every field below
	shown   *state
	batch   []byte // framed records not yet written
	steps   []step // the same, to be applied to shown
	spare   []byte // memory for the next batch
	writing bool   // somebody owns the journal
	broken  error  // the first failed write; the journal is not touched again
	syncs   uint64
	syncing time.Duration // spent in them

	journal journal     // owned by whoever set writing
	archive archive     // ditto
	onBreak func(error) // told of the first failed write
}

type step struct {
	seq  uint64
	kind kind
	ev   *event
}

// ErrStorage reports that the journal cannot be written. Nothing that would
// need it is done any more; reading goes on.
var ErrStorage = errors.New("storage failed")

// errClosed is what callers get who come after Close.
var errClosed = fmt.Errorf("%w: the store is closed", ErrStorage)

// propose takes a step in the deciding state and hands it to the next batch.
// It must be called with mu held. The step counts only once commit has
// returned nil for its sequence.
func (l *ledger) propose(k kind, ev *event) (uint64, error) {
	if l.broken != nil {
		return 0, l.broken
	}
	seq := l.ahead.seq + 1
	if ev.Notification != nil {
		ev.Notification.Seq = seq
	}
	batch, err := appendRecord(l.batch, seq, k, ev)
	if err != nil {
		return 0, err
	}
	if err := l.ahead.apply(seq, k, ev); err != nil {
		return 0, fmt.Errorf("trade: decided on an impossible step: %w", err)
	}
	l.batch = batch
	l.steps = append(l.steps, step{seq, k, ev})
	return seq, nil
}

// commit returns when the step with this sequence, and all before it, are on
// disk and shown.
func (l *ledger) commit(seq uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.shown.seq < seq {
		switch {
		case l.broken != nil:
			return l.broken
		case l.writing:
			l.wake.Wait()
		default:
			l.write()
		}
	}
	return nil
}

// write writes the batch and shows it. Called with mu held, which it gives up
// while the disk works.
func (l *ledger) write() {
	batch, steps := l.batch, l.steps
	l.batch, l.steps, l.writing = l.spare[:0], nil, true
	l.mu.Unlock()
	start := time.Now()
	err := l.report(l.journal.append(batch, len(steps)))
	took := time.Since(start)
	l.mu.Lock()
	l.spare = batch
	l.syncs++
	l.syncing += took
	for i := 0; err == nil && i < len(steps); i++ {
		err = l.shown.apply(steps[i].seq, steps[i].kind, steps[i].ev)
	}
	if err == nil && l.journal.due() {
		l.wake.Broadcast() // those served need not wait for the snapshot
		err = l.rotate()
	}
	l.writing = false
	l.fail(err)
	l.wake.Broadcast()
}

// fail breaks the ledger for good. A failed write is not tried again: after a
// failed fsync the kernel may have dropped the data and report success.
func (l *ledger) fail(err error) {
	if err != nil && l.broken == nil {
		l.broken = fmt.Errorf("%w: %w; nothing is accepted until wick is started again", ErrStorage, err)
	}
}

// report tells the log of a failed write. It is called without mu, by whoever
// owns the journal; nobody writes after a failure, so it is told once.
func (l *ledger) report(err error) error {
	if err != nil {
		l.onBreak(err)
	}
	return err
}

// rotate starts a new generation from the shown state. Called with mu held and
// writing set; it gives mu up while the disk works.
func (l *ledger) rotate() error {
	if err := l.prune(); err != nil {
		return err
	}
	s := l.shown.clone()
	l.mu.Unlock()
	defer l.mu.Lock()
	return l.report(l.journal.rotate(s, now()))
}

// keptOrders is how many terminal orders stay in memory. Older ones move to
// the archive file when a snapshot is written.
const keptOrders = 10_000

// prune moves the oldest terminal orders of both states to the archive. Called
// with mu held, which it gives up while the disk works.
func (l *ledger) prune() error {
	extra := len(l.shown.orders) - l.shown.openCount - keptOrders
	var old []*Order
	for i := 0; i < len(l.shown.orders) && len(old) < extra; i++ {
		if o := l.shown.orders[i]; o.Status.Terminal() {
			old = append(old, o)
		}
	}
	if len(old) == 0 {
		return nil
	}
	l.mu.Unlock()
	err := l.report(l.archive.append(l.journal.disk, old))
	l.mu.Lock()
	if err != nil {
		return err
	}
	for _, o := range old {
		l.archive.add(o)
	}
	l.ahead.forget(old)
	l.shown.forget(old)
	return nil
}

// forget takes orders out of memory.
func (s *state) forget(old []*Order) {
	gone := make(map[string]bool, len(old))
	for _, o := range old {
		gone[o.ID] = true
		delete(s.clientIDs, o.ClientOrderID)
	}
	s.orders = slices.DeleteFunc(s.orders, func(o *Order) bool { return gone[o.ID] })
	clear(s.place)
	for i, o := range s.orders {
		s.place[o.ID] = i
	}
}

// close writes a last snapshot and gives the file back. The error says whether
// anything that was acknowledged might be missing: nil means no.
func (l *ledger) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.writing {
		l.wake.Wait()
	}
	if l.broken == nil && len(l.steps) > 0 {
		l.write()
	}
	if l.broken == nil {
		l.writing = true
		l.fail(l.rotate())
		l.writing = false
	}
	err := l.broken
	l.broken = errClosed
	l.wake.Broadcast() // whoever came during the snapshot waits in vain
	return errors.Join(err, l.journal.file.Close())
}

// describe names a file in the state directory for an error text.
func describe(d disk, name string) string {
	if d, ok := d.(dir); ok {
		return d.path(name)
	}
	return path.Base(name)
}
