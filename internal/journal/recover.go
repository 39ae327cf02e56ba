package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
)

// Recovery is what a recovery keeps of a directory and what it gives up.
type Recovery struct {
	Seq     uint64  // the last record that is kept
	Faults  []Fault // what is wrong with the files that the newest state is in
	History []error // what is wrong with earlier journals, which only the history needs
}

// Fault is what a recovery cannot use of a file.
type Fault struct {
	File     string
	Snapshot bool  // it is a snapshot: the journals before it hold the same
	Offset   int64 // where the part begins that is given up
	Bytes    int64 // its length; 0 if the file is missing
	Err      error // what is wrong with it; ErrMissing if it is not there
}

// errNothing reports a directory that has neither a good snapshot nor the first journal.
var errNothing = errors.New("nothing can be recovered: no snapshot is whole and the first journal is gone; " +
	"restore the directory from a copy, or move it away to begin anew")

// recover builds the state from the newest good snapshot and the good records after it. A
// store begins with an empty state, so without any good snapshot the first journal will
// do. It tells the caller what is kept and what is given up, and then writes the state as a
// new generation, whose header notes which parts of the earlier journals count no more. All
// other files stay as they are, so a crash at any time leaves the directory as it was, or
// recovered.
func (f *Files) recover(s State, names []string) error {
	journals, snapshots := generations(names, "journal-", ".wal"), generations(names, "snapshot-", ".state")
	if len(journals)+len(snapshots) == 0 {
		return fmt.Errorf("nothing can be recovered: there is no journal in %s", f.disk.Path(""))
	}
	var r Recovery
	// The newest generation is that of the last journal, or the one which continues that. A
	// snapshot alone counts only if there is no journal: an unfinished rotation leaves one.
	newest := slices.Max(slices.Concat(journals, snapshots))
	if len(journals) > 0 {
		last := readJournal(f.disk, slices.Max(journals))
		newest = max(last.n, last.next)
	}
	snapshots = slices.DeleteFunc(snapshots, func(n int) bool { return n > newest })
	from, err := f.newestGood(s, snapshots, &r)
	if err != nil {
		return err
	}
	all := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(journals), from, newest))))
	cuts, last, err := f.follow(s, all[slices.Index(all, from):], &r)
	if err != nil {
		return err
	}
	h, err := f.history(journals, from, cuts, &r)
	if err != nil {
		return err
	}
	r.Seq = f.at.Seq
	if err := f.options.Recover(r); err != nil {
		return err
	}
	if newest == math.MaxInt {
		return fmt.Errorf("%s has the highest number there is, and no generation can follow it", journalName(newest))
	}
	_, encode := s.Snapshot()
	state, err := encode()
	for _, n := range all[slices.Index(all, from):] { // an index would be of what is given up, too
		if err == nil && slices.Contains(names, indexName(n)) {
			err = f.disk.Remove(indexName(n))
		}
	}
	if err == nil && last != nil {
		err = f.openNewest(last) // all of it counts: it is ended as by any rotation
	}
	if err != nil {
		return err
	}
	h.N, h.Recovered = newest+1, true
	return f.next(state, h)
}

// newestGood restores s from the newest good snapshot, and returns its generation. It notes
// those after it in r. If none is good, it makes s the empty state that journal 1 begins
// with.
func (f *Files) newestGood(s State, snapshots []int, r *Recovery) (n int, err error) {
	for _, n := range slices.Backward(snapshots) {
		if f.at, err = f.restore(s, n); err == nil || Unreadable(err) {
			return n, err
		}
		data, _ := f.disk.Read(snapshotName(n))
		r.Faults = append(r.Faults, Fault{snapshotName(n), true, 0, int64(len(data)), err})
	}
	first := readJournal(f.disk, 1)
	switch {
	case Unreadable(first.fault):
		return 0, first.fault
	case first.good == 0 || first.began.Seq != 0:
		return 0, errNothing
	}
	if len(snapshots) == 0 || snapshots[0] != 1 {
		r.Faults = append(r.Faults, Fault{snapshotName(1), true, 0, 0, ErrMissing})
	}
	f.at = first.began
	return 1, s.Restore(first.header.Store, 0, nil)
}

// follow applies the good records of journals, from the one whose snapshot s is, to s. It
// notes in r what it cannot use, and returns the parts of the journals that count. Last is
// the last of them, if all of it counts.
func (f *Files) follow(s State, journals []int, r *Recovery) (cuts []cut, last *journalFile, err error) {
	for i, n := range journals {
		j, good := readJournal(f.disk, n), 0
		err := j.follows(f.at)
		if i == 0 && j.good > 0 { // it has the header of the snapshot
			if err = nil; j.began != f.at {
				err = errOther(n)
			}
		}
		if err == nil {
			f.at, good, err = j.replay(s)
		}
		switch last = nil; {
		case Unreadable(err):
			return nil, nil, err
		case err == nil, err == j.fault && j.torn() && i == len(journals)-1:
			last = &j
			continue
		case errors.Is(err, fs.ErrNotExist):
			err = ErrMissing
		}
		r.Faults = append(r.Faults, Fault{journalName(n), false, int64(good), int64(len(j.data) - good), err})
		cuts = append(cuts, cut{n, good})
	}
	return cuts, last, nil
}

// history goes through all journals, of which those from generation from on count as cuts
// says. It returns the header of a generation that begins at f.at, with all that is wrong
// with the journals and was not noted before, and notes it in r.
func (f *Files) history(journals []int, from int, cuts []cut, r *Recovery) (h header, err error) {
	h.Cuts = cuts
	all := readNoted(f.disk, journals)
	all.store = f.at.Store
	for _, c := range cuts {
		all.cuts[c.N] = c.Good
	}
	before, last := Point{}, 0
	check := func(n int, name string, next header, seq uint64) {
		if g, ok := joins(before, next, seq); !ok && !all.has(g) {
			h.Gaps = append(h.Gaps, g)
			r.History = append(r.History, errors.New(gapError(f.disk, g, last, n, name).what()))
		}
	}
	for _, n := range journals {
		j, out := all.read(f.disk, n)
		if out {
			continue
		}
		if Unreadable(j.fault) {
			return h, j.fault
		}
		if j.fault != nil && n < from {
			h.Cuts = append(h.Cuts, cut{n, j.good})
			r.History = append(r.History, errors.New((&DamageError{File: f.disk.Path(j.name), Offset: int64(j.good), Seq: j.after.Seq, Err: j.fault}).what()))
		}
		if j.good > 0 {
			check(n, j.name, j.header, j.began.Seq)
			before, last = j.after, n
		}
	}
	check(max(from, last), "the newest good snapshot", header{Store: f.at.Store, Before: f.at.Hash}, f.at.Seq)
	return h, nil
}
