package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
)

// Recovery is what a recovery keeps of a directory and what it gives up.
type Recovery struct {
	Seq     uint64  // the last record that is kept
	Faults  []Fault // what is wrong with the files that the newest state is in
	History []error // what is wrong with earlier journals, which only the history needs

	at   Point        // of that record
	from []int        // the generations that the newest state is in
	last *journalFile // of the last of them, if all of it counts
	next int          // the generation that a recovery begins
}

// Fault is what a recovery cannot use of a file.
type Fault struct {
	File     string
	Snapshot bool  // it is a snapshot: the journals before it hold the same
	Offset   int   // where the part begins that is given up
	Bytes    int   // its length; 0 if the file is missing
	Err      error // what is wrong with it; ErrMissing if it is not there
}

// errNothing reports a directory that has neither a good snapshot nor the first journal.
var errNothing = errors.New("nothing can be recovered: no snapshot is whole and the first journal is gone; " +
	"restore the directory from a copy, or move it away to begin anew")

// Salvage builds the state s from the newest good snapshot and the good records after it, as a
// recovery does, and says what is kept of a directory and what is given up. A store begins
// with an empty state, so without any good snapshot the first journal will do. It changes
// nothing.
func Salvage(d Reader, s State) (r Recovery, err error) {
	names, err := d.List()
	if err != nil {
		return r, fmt.Errorf("state directory: %w", err)
	}
	journals, snapshots := generations(names, "journal-", ".wal"), generations(names, "snapshot-", ".state")
	if len(journals)+len(snapshots) == 0 {
		return r, fmt.Errorf("nothing can be recovered: %w", errNoJournal(d))
	}
	// The newest generation is that of the last journal, or the one which continues that. A
	// snapshot alone counts only if there is no journal: an unfinished rotation leaves one.
	newest := slices.Max(slices.Concat(journals, snapshots))
	if len(journals) > 0 {
		last := readJournal(d, slices.Max(journals))
		newest = max(last.n, last.next)
	}
	snapshots = slices.DeleteFunc(snapshots, func(n int) bool { return n > newest })
	from, err := r.newestGood(d, s, snapshots)
	if err == nil {
		all := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(journals), from, newest))))
		r.from, r.next = all[slices.Index(all, from):], newest+1
		err = r.follow(d, s)
	}
	if err == nil {
		var h History
		e := (*DamageError)(nil)
		if h, err = Walk(d, func(Entry) error { return nil }); errors.As(err, &e) {
			err = nil
		}
		for _, found := range h.Damage {
			if n := 0; errors.As(found, &e) {
				if n = generation(filepath.Base(e.File), "journal-", ".wal"); n > 0 && n < r.from[0] {
					r.History = append(r.History, errors.New(e.what()))
				}
			}
		}
	}
	r.Seq = r.at.Seq
	return r, err
}

// recover makes the state that [Salvage] finds a new generation. What earlier journals have
// beyond that counts no more. It tells the caller before what is kept and what is given up. All
// other files stay as they are, so a crash at any time leaves the directory as it was, or recovered.
func (f *Files) recover(s State, names []string) error {
	r, err := Salvage(f.disk, s)
	if err == nil {
		err = f.options.Recover(r)
	}
	if err != nil {
		return err
	}
	for _, n := range r.from { // an index would be of what is given up, too
		if err == nil && slices.Contains(names, indexName(n)) {
			err = f.disk.Remove(indexName(n))
		}
	}
	if f.at = r.at; err == nil && r.last != nil {
		err = f.openNewest(r.last) // all of it counts: it is ended as by any rotation
	}
	if err != nil {
		return err
	}
	return f.begin(s, header{N: r.next, Recovered: true})
}

// newestGood restores s from the newest good snapshot, and returns its generation. It notes
// those after it. If none is good, it makes s the empty state that journal 1 begins with.
func (r *Recovery) newestGood(d Reader, s State, snapshots []int) (n int, err error) {
	for _, n := range slices.Backward(snapshots) {
		if r.at, err = restore(d, s, n); err == nil || Unreadable(err) {
			return n, err
		}
		data, _ := d.Read(snapshotName(n))
		r.Faults = append(r.Faults, Fault{snapshotName(n), true, 0, len(data), err})
	}
	first := readJournal(d, 1)
	switch {
	case Unreadable(first.fault):
		return 0, first.fault
	case first.good == 0 || first.records[0].Seq != 0:
		return 0, errNothing
	}
	if len(snapshots) == 0 || snapshots[0] != 1 {
		r.Faults = append(r.Faults, Fault{snapshotName(1), true, 0, 0, ErrMissing})
	}
	r.at = first.began()
	return 1, s.Restore(first.header.Store, 0, nil)
}

// follow applies the good records of journals, from the one whose snapshot s is, to s. It
// notes what it cannot use, and the last of the journals if all of it counts.
func (r *Recovery) follow(d Reader, s State) error {
	for i, n := range r.from {
		j, good := readJournal(d, n), 0
		err := j.follows(r.at)
		if i == 0 && j.good > 0 { // it has the header of the snapshot
			if err = nil; j.began() != r.at {
				err = errOther(n)
			}
		}
		if err == nil {
			r.at, good, err = j.replay(s, math.MaxUint64)
		}
		switch r.last = nil; {
		case Unreadable(err):
			return err
		case err == nil, err == j.fault && j.torn() && i == len(r.from)-1:
			r.last = &j
			continue
		case errors.Is(err, fs.ErrNotExist):
			err = ErrMissing
		}
		r.Faults = append(r.Faults, Fault{journalName(n), false, good, len(j.data) - good, err})
	}
	return nil
}
