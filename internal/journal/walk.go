package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
)

// History is what Walk found.
type History struct {
	Store  string
	Last   uint64   // the sequence of the newest record
	Head   Hash     // its hash, or that of a header after it
	First  uint64   // the record after which the history begins
	Files  int      // number of journal files
	Notes  []string // what the owner should know although it is no damage
	Damage []error  // all damage, oldest file first
	Gaps   int      // places where records are missing, and a recovery did without them
}

// Walk calls visit for every record of every journal in a directory, oldest first, and
// before them for the snapshot that the oldest of them begins with, if it is still there. It
// checks that every record follows the one before it, from the first to the last, and that
// the snapshots were not changed since they were written. If something is wrong in a file
// Walk goes on with the next file, and in the end returns the first fault as a
// [DamageError]. An unfinished write at the end of the newest journal is only noted, and so
// is what a recovery did without.
//
// It only reads and takes no lock, so it may run while another process uses the
// directory.
func Walk(d Reader, visit func(Entry) error) (History, error) {
	names, err := d.List()
	if err != nil {
		return History{}, fmt.Errorf("state directory: %w", err)
	}
	journals, snapshots := generations(names, "journal-", ".wal"), generations(names, "snapshot-", ".state")
	if len(journals)+len(snapshots) == 0 {
		return History{}, errNoJournal(d)
	}
	w := walker{disk: d, visit: visit, past: readPast(d, journals)}
	w.Store = w.store
	for i := 0; i < len(journals); i++ {
		next, err := w.journal(journals[i], i == len(journals)-1, slices.Contains(snapshots, journals[i]))
		if err != nil {
			return w.History, err
		}
		if i == len(journals)-1 && next > 0 { // deleted, or begun since we listed the files
			journals = append(journals, next)
		}
	}
	if len(journals) == 0 {
		w.damage(math.MaxInt, damage(d, journalName(slices.Max(snapshots)), -1, 0, ErrMissing))
	}
	if len(w.Damage) > 0 {
		return w.History, w.Damage[0]
	}
	return w.History, nil
}

// walker is the state of a walk.
type walker struct {
	History
	past
	disk   Reader
	visit  func(Entry) error
	before Point // the last record
	last   int   // its generation
	broken bool  // the journal read last is damaged, so the next one need not follow it
}

// damage notes err, which is about generation n, if it shows damage, and returns nil. If it shows
// none, damage returns it, which ends the walk.
func (w *walker) damage(n int, err error) error {
	var d *DamageError
	switch {
	case !errors.As(err, &d):
		return err
	case w.excuses(n, err):
		w.note("%s; a recovery did without it", d.what())
		return nil
	}
	d.advice = "put the file back from a copy; if wick refuses to start, wick --recover shows what can be kept"
	w.Damage = append(w.Damage, d)
	return nil
}

func (w *walker) note(format string, args ...any) {
	w.Notes = append(w.Notes, fmt.Sprintf(format, args...))
}

// journal walks over generation n, and returns the one that its journal says is next. The
// snapshot of the newest must be there.
func (w *walker) journal(n int, newest, snapshot bool) (next int, err error) {
	j := w.read(w.disk, n)
	if j.good == 0 {
		w.broken = !w.excuses(n, j.fault)
		return 0, w.damage(n, damage(w.disk, journalName(n), 0, w.Last, j.fault))
	}
	w.join(&j)
	if must := newest && j.next == 0; snapshot || must {
		if err := w.snapshot(&j, must); err != nil {
			return 0, err
		}
	}
	w.Files++
	for _, r := range j.records {
		w.last, w.before = n, j.header.point(r)
		w.Last, w.Head = r.Seq, r.Hash
		if err := w.visit(r); err != nil {
			return 0, err
		}
	}
	w.broken = j.fault != nil && !w.excuses(n, j.fault)
	if newest && j.torn() {
		w.note("%s: an unfinished write of %d bytes at byte %d, which the next start cuts off", j.name, len(j.data)-j.good, j.good)
	} else if j.fault != nil {
		return 0, w.damage(n, damage(w.disk, j.name, j.good, w.Last, j.fault))
	}
	return j.next, nil
}

// join checks that a journal follows what was read before. If it does not, the file before it is
// missing or wrong.
func (w *walker) join(j *journalFile) {
	first := j.records[0].Seq
	e := &DamageError{File: w.disk.Path(journalName(max(w.last, 1))), Offset: -1, Seq: w.before.Seq}
	switch err := j.follows(w.before); {
	case err == nil && w.last == 0:
		if w.First = first; w.First > 0 {
			w.note("%s: the hashes begin after record %d; those before were written elsewhere", j.name, w.First)
		}
	case err == nil || w.broken:
	case j.n <= w.recovered:
		w.Gaps++
		w.note("records are missing between record %d and %s, which goes on after record %d; a recovery did without them", w.before.Seq, j.name, first)
	case j.n > w.last+1:
		e.File, e.Err = w.disk.Path(journalName(w.last+1)), fmt.Errorf("%w: %s goes on after record %d", ErrMissing, j.name, first)
		w.damage(j.n, e)
	default:
		e.Err = fmt.Errorf("%s does not follow it: %w", j.name, err)
		w.damage(j.n, e)
	}
}

// snapshot checks the snapshot that a journal continues, and visits it if the journal is the
// oldest. One that must not be there may have been removed since we listed the files.
func (w *walker) snapshot(j *journalFile, must bool) error {
	h, state, err := readSnapshot(w.disk, j.n)
	if err == nil && h.point(state) != j.began() {
		err = errOther(j.n)
	}
	switch {
	case err == nil && w.last == 0:
		return w.visit(state)
	case err == nil, errors.Is(err, fs.ErrNotExist) && !must:
	default:
		return w.damage(j.n, damage(w.disk, state.File, -1, w.Last, err))
	}
	return nil
}

// Newest returns the newest records, headers included, oldest first: those of as many
// journals as have payloads of most bytes together. It reads no others, and checks nothing
// but these files. It may run while another process uses the directory.
func Newest(d Reader, most int) (entries []Entry, err error) {
	names, err := d.List()
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	journals := generations(names, "journal-", ".wal")
	past := readPast(d, journals)
	for _, n := range slices.Backward(journals) {
		j := past.read(d, n)
		switch {
		case j.good == 0 && past.excuses(n, j.fault):
			continue
		case j.good == 0:
			return entries, j.fault
		}
		for _, r := range j.records[1:] {
			most -= len(r.Payload)
		}
		if entries = append(j.records, entries...); most <= 0 {
			break
		}
	}
	return entries, nil
}
