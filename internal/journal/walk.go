package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Entry is a record or a snapshot that Walk found.
type Entry struct {
	File    string
	Seq     uint64
	Kind    byte   // of a record; 0 for a snapshot
	Payload []byte // of a record, or the JSON of a snapshot
	Hash    Hash   // of the record; zero for a snapshot
}

// History is what Walk found.
type History struct {
	Store  string
	Last   uint64   // the sequence of the newest record
	Head   Hash     // its hash, or that of a header after it
	First  uint64   // the record after which the history begins
	Files  int      // number of journal files
	Notes  []string // what the owner should know although it is no damage
	Damage []error  // all damage, oldest file first
	Gaps   int      // places where records are missing, as a recovery has noted
}

// Walk calls visit for every record of every journal in a directory, oldest first, and
// before them for the snapshot that the oldest of them begins with, if it is still there. It
// checks that every record follows the one before it, from the first to the last, and that
// the snapshots were not changed since they were written. If something is wrong in a file
// Walk goes on with the next file, and in the end returns the first fault as a
// [DamageError]. An unfinished write at the end of the newest journal is only noted, and so
// is what a recovery has noted.
//
// It only reads and takes no lock, so it may run while another process uses the
// directory.
func Walk(d Disk, visit func(Entry) error) (History, error) {
	names, err := d.List()
	if err != nil {
		return History{}, fmt.Errorf("state directory: %w", err)
	}
	journals, snapshots := generations(names, "journal-", ".wal"), generations(names, "snapshot-", ".state")
	if len(journals)+len(snapshots) == 0 {
		return History{}, fmt.Errorf("there is no journal in %s", d.Path(""))
	}
	w := walker{disk: d, visit: visit, noted: readNoted(d, journals)}
	w.Store = w.noted.store
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
		w.damage(journalName(snapshots[len(snapshots)-1]), -1, ErrMissing)
	}
	if len(w.Damage) > 0 {
		return w.History, w.Damage[0]
	}
	return w.History, nil
}

// walker is the state of a walk.
type walker struct {
	History
	disk   Disk
	visit  func(Entry) error
	noted  noted
	before Point // the last record
	last   int   // its generation
	broken bool  // the journal read last is damaged, so the next one need not follow it
}

// damage notes that err shows damage in a file, and returns nil. If err shows none, damage
// returns it, which ends the walk.
func (w *walker) damage(name string, at int64, err error) error {
	err = damage(w.disk.Path(name), at, w.Last, err)
	var d *DamageError
	if !errors.As(err, &d) {
		return err
	}
	d.advice = putBack
	w.Damage = append(w.Damage, d)
	return nil
}

// putBack is what to do about damage in the history.
const putBack = "put the file back from a copy; if wick refuses to start, wick --recover shows what can be kept"

func (w *walker) note(format string, args ...any) {
	w.Notes = append(w.Notes, fmt.Sprintf(format, args...))
}

// journal walks over generation n, and returns the one that its journal says is next. The
// snapshot of the newest must be there.
func (w *walker) journal(n int, newest, snapshot bool) (next int, err error) {
	j, out := w.noted.read(w.disk, n)
	if good, cut := w.noted.cuts[n]; cut {
		w.note("%s counts up to byte %d, as a recovery has noted", journalName(n), good)
	}
	if out {
		return 0, nil
	}
	if j.good == 0 {
		w.broken = true
		return 0, w.damage(journalName(n), 0, j.fault)
	}
	w.join(&j)
	if must := newest && j.next == 0; snapshot || must {
		if err := w.snapshot(&j, must); err != nil {
			return 0, err
		}
	}
	w.Files++
	w.last, w.Last, w.Head = n, j.began.Seq, j.began.Hash
	if err := w.visit(Entry{j.name, w.Last, KindHeader, j.payload, w.Head}); err != nil {
		return 0, err
	}
	for _, r := range j.records {
		w.Last, w.Head = r.seq, r.hash
		if err := w.visit(Entry{j.name, r.seq, r.kind, r.payload, r.hash}); err != nil {
			return 0, err
		}
	}
	w.before, w.broken = j.after, j.fault != nil
	if newest && j.torn() {
		w.note("%s: an unfinished write of %d bytes at byte %d, which the next start cuts off", j.name, len(j.data)-j.good, j.good)
	} else if j.fault != nil {
		return 0, w.damage(j.name, int64(j.good), j.fault)
	}
	return j.next, nil
}

// join checks that a journal follows what was read before.
func (w *walker) join(j *journalFile) {
	g, ok := joins(w.before, j.header, j.began.Seq)
	switch {
	case ok && w.last == 0:
		if w.First = g.Next; w.First > 0 {
			w.note("%s: the hashes begin after record %d; those before were written elsewhere", j.name, w.First)
		}
	case ok || w.broken:
	case w.noted.has(g):
		w.Gaps++
		w.note("records are missing between record %d and %s, which goes on after record %d, as a recovery has noted", g.After, j.name, g.Next)
	default:
		d := gapError(w.disk, g, w.last, j.n, j.name)
		d.advice = putBack
		w.Damage = append(w.Damage, d)
	}
}

// snapshot checks the snapshot that a journal continues, and visits it if the journal is the
// oldest. One that must not be there may have been removed since we listed the files.
func (w *walker) snapshot(j *journalFile, must bool) error {
	name := snapshotName(j.n)
	data, err := w.disk.Read(name)
	var r frame
	var state []byte
	if err == nil {
		_, r, state, err = decodeSnapshot(data, w.disk.Path(name), j.n)
	}
	if err == nil && r.hash != j.began.Hash {
		err = errOther(j.n)
	}
	switch {
	case err == nil && w.last == 0:
		return w.visit(Entry{File: name, Seq: r.seq, Payload: state})
	case err == nil, errors.Is(err, fs.ErrNotExist) && !must:
	case j.n < w.noted.newest && !Unreadable(err):
		w.note("%s is damaged: %v; a later recovery did without it", name, err)
	default:
		return w.damage(name, -1, err)
	}
	return nil
}

// Newest returns the newest records, headers included, oldest first: those of as many
// journals as have payloads of most bytes together. It reads no others, and checks nothing
// but these files. It may run while another process uses the directory.
func Newest(d Disk, most int) (entries []Entry, err error) {
	names, err := d.List()
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	journals := generations(names, "journal-", ".wal")
	noted := readNoted(d, journals)
	for _, n := range slices.Backward(journals) {
		j, out := noted.read(d, n)
		switch {
		case out:
			continue
		case j.good == 0:
			return entries, j.fault
		}
		file := []Entry{{j.name, j.began.Seq, KindHeader, j.payload, j.began.Hash}}
		for _, r := range j.records {
			file = append(file, Entry{j.name, r.seq, r.kind, r.payload, r.hash})
			most -= len(r.payload)
		}
		if entries = append(file, entries...); most <= 0 {
			break
		}
	}
	return entries, nil
}
