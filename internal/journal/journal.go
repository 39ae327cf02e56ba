// Package journal makes the steps of a state durable. A step that was acknowledged is
// there after a crash, a power cut or a full disk; one that was refused is not. The
// package does not know what the steps mean: that is up to the owner of the state.
//
// # Nouns
//
//   - A [Record] is one step. It has a sequence, which rises by one from record
//     to record, a kind and a JSON payload.
//   - A [State] is what the records add up to. The owner implements it; the same
//     records always give the same state.
//   - A [Log] stores records and, from time to time, a snapshot of the state.
//     [Files] is one in a directory.
//   - A [Journal] ties the two together: it gathers records, writes them in
//     groups and applies them once they are durable.
//
// # What is on disk
//
// A generation n is two files: snapshot-n.state, the state at its beginning, and
// journal-n.wal, the records since. Both begin with the same record, the header. Every
// record and every snapshot has a checksum; see frame.go and header.go. After some
// megabytes the next generation begins. Journals are the history and stay; of the snapshots
// the last two do.
//
// # When something is synced
//
//   - Records: written by one call and synced before [Journal.Commit] returns.
//     While one sync runs, further records gather; one sync serves them all.
//   - A new file: its content is synced before it gets its name, and the directory
//     after that, since a power cut can undo a name as well as content.
//   - Rotation: see [Files.Snapshot] for what each crash leaves.
//
// # What goes wrong
//
// After a failed write or sync the journal accepts nothing more, because the kernel may
// have dropped the data and still report success for the next sync. The next start goes
// on: a file that ends in an unfinished write is cut back to its last whole record. A
// file that is damaged in another way is refused, see [DamageError]; no damaged record is
// ever skipped.
package journal

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// ErrStorage reports that the log cannot be written. Until the next start nothing is
// done that has to be written down.
var ErrStorage = errors.New("storage failed")

// errClosed is what Append and Commit return after Close.
var errClosed = fmt.Errorf("%w: the store is closed", ErrStorage)

// Journal writes records to a log and applies them to a state. It has no goroutine of
// its own: the first caller that waits in Commit writes for all, and the records of
// those that come meanwhile form the next group. So there is nothing to start and
// nothing to stop. Its methods may be called from many goroutines.
//
// The owner calls Append with its own lock held, but Commit and Close without it,
// because they call the State, which takes that lock.
type Journal struct {
	state State
	out   *slog.Logger

	mu        sync.Mutex
	wake      sync.Cond // on mu; signals that a write has ended
	last      uint64    // sequence of the newest record appended; guarded by mu, like all below
	durable   uint64    // records up to this one are on disk and applied
	head      Hash      // of that record, or of what a snapshot has put after it
	waiting   []Record  // records after durable that no caller writes yet
	writing   bool      // a caller owns log
	broken    error     // why nothing is accepted any more, or nil
	doubtful  uint64    // records up to this one may be on disk although broken is set
	stats     Stats
	notBefore time.Time // no other attempt at a snapshot before this

	log Log // owned by the caller that has set writing
}

// Stats are the figures of a journal since it was opened.
type Stats struct {
	Records  uint64        // records that are durable, since the store was made
	Syncs    uint64        // groups written
	SyncTime time.Duration // time spent in writing them
}

// Open reads log into state and returns the journal that continues it.
func Open(log Log, state State, out *slog.Logger) (*Journal, error) {
	seq, err := log.Read(state)
	if err != nil {
		return nil, err
	}
	j := &Journal{log: log, state: state, out: out, last: seq, durable: seq, head: log.Head()}
	j.wake.L = &j.mu
	return j, nil
}

// Append hands over the record with the sequence seq, which must be the one
// after the last. It does not wait: the record counts once Commit has returned
// nil for its sequence.
func (j *Journal) Append(seq uint64, r Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.broken != nil:
		return j.broken
	case seq != j.last+1:
		return fmt.Errorf("record %d cannot follow record %d", seq, j.last)
	}
	j.last = seq
	j.waiting = append(j.waiting, r)
	return nil
}

// Commit returns when the record with this sequence, and all before it, are on
// disk and applied.
func (j *Journal) Commit(seq uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.durable < seq {
		switch {
		case j.broken != nil && seq <= j.doubtful:
			return fmt.Errorf("%w: %w; look after the next start whether it was done", ErrUnknown, j.broken)
		case j.broken != nil:
			return j.broken
		case j.writing:
			j.wake.Wait()
		default:
			j.write()
		}
	}
	return nil
}

// Hold makes the journal refuse everything from now on, with the given reason. Records
// that are being written still count; those that wait are not written.
func (j *Journal) Hold(reason error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.writing {
		j.wake.Wait()
	}
	if j.broken == nil {
		j.broken = reason
	}
	j.wake.Broadcast()
}

// Resume ends a Hold: it reads what others have appended to the log meanwhile, and
// accepts records after that. The journal must have been held since it was opened. If a
// record had been appended here before, another writer's record could now have the same
// sequence, and Commit would report the outcome of that one.
func (j *Journal) Resume() error {
	seq, err := j.log.Read(j.state)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last, j.durable, j.head, j.broken = seq, seq, j.log.Head(), nil
	return nil
}

// Broken returns why the journal accepts nothing more, or nil.
func (j *Journal) Broken() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.broken
}

// Head returns the sequence of the last record that is durable, and the newest hash of the
// history, also after Close.
func (j *Journal) Head() (seq uint64, hash Hash) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.durable, j.head
}

// Stats returns the figures so far.
func (j *Journal) Stats() Stats {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.stats
	s.Records = j.durable
	return s
}

// write writes the records that wait, applies them and takes a snapshot if one is due.
// It is called with mu held, and unlocks it while the disk or the owner works. It also
// unlocks mu for a moment at the beginning, so that the records of goroutines that are
// about to append come into the same group.
func (j *Journal) write() {
	j.writing = true
	j.mu.Unlock()
	runtime.Gosched()
	j.mu.Lock()
	due, err := j.flush(j.last)
	if err == nil && due && !time.Now().Before(j.notBefore) {
		j.wake.Broadcast() // callers whose records are durable need not wait for the snapshot
		err = j.snapshot()
	}
	j.writing = false
	j.fail(err)
	j.wake.Broadcast()
}

// flush writes the records that wait, up to the one with the sequence last, and applies
// them. Due reports whether a snapshot is due. It is called with mu held and writing set,
// and unlocks mu while it works.
func (j *Journal) flush(last uint64) (due bool, err error) {
	first := j.durable + 1
	group := j.waiting[:last-j.durable]
	j.waiting = j.waiting[len(group):]
	if len(group) == 0 {
		return false, nil
	}
	j.mu.Unlock()
	start := time.Now()
	appended := false
	err = j.guard(func() (err error) {
		due, err = j.log.Append(first, group)
		appended = err == nil
		return err
	})
	took := time.Since(start)
	if err == nil {
		err = j.guard(func() error {
			for i, r := range group {
				if err := j.state.Apply(first+uint64(i), r.kind, r.event); err != nil {
					return err
				}
			}
			return nil
		})
	}
	j.mu.Lock()
	j.stats.Syncs++
	j.stats.SyncTime += took
	if err == nil {
		j.durable, j.head = last, j.log.Head()
	} else if appended || errors.Is(err, ErrUnknown) {
		j.doubtful = last
	}
	return due, err
}

// guard runs a step without mu held, and turns a panic in it into an error. Otherwise
// the panic would end one request, and all other writers would wait for it for ever.
func (j *Journal) guard(step func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			j.out.Error("panic in a commit", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("a fault of wick itself: %v", p)
		}
	}()
	return step()
}

// Check breaks the journal if the log is no longer where it was opened. The owner calls
// it each second, because between two commits nobody else would notice.
func (j *Journal) Check() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.writing || j.broken != nil { // a write that is under way checks the log itself
		return
	}
	j.writing = true
	j.mu.Unlock()
	err := j.log.Check()
	j.mu.Lock()
	j.writing = false
	j.fail(err)
	j.wake.Broadcast()
}

// retryPeriod is the time between two attempts at a snapshot. Meanwhile records are
// still written to the present journal, and the first of them after that time tries again.
const retryPeriod = time.Second

// snapshot stores the state as its owner has it, after writing the records up to there. It
// is called with mu held, which it unlocks while it works, and with writing set, so that
// no other record is written meanwhile.
func (j *Journal) snapshot() error {
	var last uint64
	var encode func() ([]byte, error)
	j.mu.Unlock()
	err := j.guard(func() (err error) {
		if err = j.log.Check(); err == nil {
			last, encode = j.state.Snapshot()
		}
		return err
	})
	j.mu.Lock()
	if err == nil {
		_, err = j.flush(last)
	}
	if err != nil {
		return err
	}
	j.wake.Broadcast()
	j.mu.Unlock()
	err = j.guard(func() error {
		state, err := encode()
		if err != nil {
			return err
		}
		return j.log.Snapshot(state)
	})
	j.mu.Lock()
	j.head = j.log.Head()
	if errors.Is(err, ErrRetry) {
		j.out.Warn("snapshot put off", "error", err, "advice", advice(err))
		j.notBefore = time.Now().Add(retryPeriod)
		return nil
	}
	return err
}

// Break makes the journal accept nothing more, as after a failed write. The owner calls it
// when a step that has to be taken cannot be written down: to go on without that step would
// be worse than to go on without any.
func (j *Journal) Break(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.fail(err)
	j.wake.Broadcast()
}

// fail makes the journal accept nothing more if err is not nil. A failed write is not
// repeated: after a failed sync the kernel may have dropped the data, and still report
// success for the next sync. The error that clients get leaves out the paths of the owner's
// files; wick's log has the whole error.
func (j *Journal) fail(err error) {
	if err == nil || j.broken != nil {
		return
	}
	text := ErrStorage.Error() + ": " + reason(err) + "; "
	if hint := advice(err); hint != "" {
		text += hint + "; "
	}
	j.broken = &worded{text + "nothing is accepted until wick is started again", []error{ErrStorage, err}}
	j.out.Error("journal is broken", "error", err)
}

// Close writes the records that wait and a last snapshot, and closes the log. If it
// returns nil, everything that was acknowledged is on disk.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.writing {
		j.wake.Wait()
	}
	if j.broken == nil && len(j.waiting) > 0 {
		j.write()
	}
	if j.broken == nil {
		j.writing = true
		j.fail(j.snapshot())
		j.writing = false
	}
	err := j.broken
	j.broken = errClosed
	j.wake.Broadcast() // callers that came during the snapshot get errClosed
	return errors.Join(err, j.log.Close())
}
