package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// errNothing reports a directory that has neither a good snapshot nor the first journal.
var errNothing = errors.New("nothing can be recovered: no snapshot is whole and the first journal is gone; " +
	"restore the directory from a copy, or move it away to begin anew")

// recover builds the state from the newest good snapshot and the good records after it. A
// store begins with an empty state, so without any good snapshot the first journal will
// do. It tells the caller what is kept and what is given up, and only then changes
// anything. It writes the state as a new generation, which names the files to set aside,
// and sets those aside once the generation is complete. A crash before that leaves the
// directory as it was; after a later crash the next start finishes it.
func (f *Files) recover(s State, g generations) error {
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(g.snapshots, g.journals))))
	if len(all) == 0 {
		return fmt.Errorf("nothing can be recovered: there is no journal in %s", f.disk.Path(""))
	}
	var r Recovery
	from, sum, err := f.newestGood(s, g.snapshots, &r)
	if err != nil {
		return err
	}
	last, next := 0, 0 // the last generation read, and the one that its journal names as the next
	unborn := f.trailing(g)
	for _, n := range all {
		if n < from {
			continue
		}
		j := readJournal(f.disk, n)
		if unborn > 0 && n >= unborn && n != next && j.began.Seq <= f.at.Seq {
			continue // an unfinished rotation, which the new generation replaces
		}
		last, next = n, j.next
		if n > from && j.good > 0 && !slices.Contains(g.snapshots, n) {
			r.Aside = append(r.Aside, Aside{snapshotName(n), 0, 0, ErrMissing})
		}
		err := f.replay(s, &j, sum)
		sum = nil
		switch {
		case isFormat(err) || Unreadable(err):
			return err
		case errors.Is(err, fs.ErrNotExist):
			err = ErrMissing
		}
		if err != nil {
			r.Aside = append(r.Aside, Aside{journalName(n), f.size, int64(len(j.data)) - f.size, err})
		}
	}
	if next > last {
		last = next
		r.Aside = append(r.Aside, Aside{snapshotName(last), 0, 0, ErrMissing}, Aside{journalName(last), 0, 0, ErrMissing})
	}
	gaps, err := f.gaps(from, &r)
	if err != nil {
		return err
	}
	r.Seq = f.at.Seq
	if err := f.options.Recover(r); err != nil {
		return err
	}
	_, encode := s.Snapshot()
	state, err := encode()
	if err != nil {
		return err
	}
	f.n = last
	var files []asideFile
	for _, a := range r.Aside {
		files = append(files, asideFile{a.File, a.Offset})
	}
	if err := f.next(state, files, gaps); err != nil {
		return err
	}
	return f.setAside(files)
}

// newestGood restores s from the newest good snapshot and returns its generation and its
// hash. It notes those after it in r. If none is good, it makes s the empty state that
// journal 1 begins with.
func (f *Files) newestGood(s State, snapshots []int, r *Recovery) (n int, sum *Hash, err error) {
	for _, n := range slices.Backward(snapshots) {
		sum, err := f.restore(s, n)
		switch {
		case err == nil:
			return n, &sum, nil
		case isFormat(err) || Unreadable(err):
			return 0, nil, err
		}
		data, _ := f.disk.Read(snapshotName(n))
		r.Aside = append(r.Aside, Aside{snapshotName(n), 0, int64(len(data)), err})
	}
	first := readJournal(f.disk, 1)
	switch {
	case isFormat(first.fault) || Unreadable(first.fault):
		return 0, nil, first.fault
	case first.good == 0 || first.began.Seq != 0:
		return 0, nil, errNothing
	}
	f.at = PointAfter(first.header.Store, 0)
	if len(snapshots) == 0 || snapshots[0] != 1 {
		r.Aside = append(r.Aside, Aside{snapshotName(1), 0, 0, ErrMissing})
	}
	return 1, nil, s.Restore(f.at.Store, 0, nil)
}

// trailing returns the first of the journals after all snapshots, the first journal left
// out, that hold no record, as do all after it; 0 if there is none.
func (f *Files) trailing(g generations) (first int) {
	newest := 1
	if len(g.snapshots) > 0 {
		newest = slices.Max(g.snapshots)
	}
	for _, n := range slices.Backward(g.journals) {
		if j := readJournal(f.disk, n); n <= newest || !j.unborn() {
			break
		}
		first = n
	}
	return first
}

// gaps notes in r what is wrong with the journals before generation from, and returns
// the generations that are missing or damaged.
func (f *Files) gaps(from int, r *Recovery) (gaps []span, err error) {
	w, err := walkAll(f.disk, func(Entry) error { return nil })
	if err != nil {
		return nil, err
	}
	for _, fault := range w.faults {
		about := fault.about
		if about.Last = min(about.Last, from-1); about.First == 0 || about.First > about.Last {
			continue
		}
		if len(r.History) < maxDamage {
			r.History = append(r.History, errors.New(fault.err.what()))
		}
		if n := len(gaps); n > 0 && n == maxDamage {
			gaps[n-1].Last = about.Last
		} else {
			gaps = append(gaps, about)
		}
	}
	return gaps, nil
}

// setAside gives the files that a recovery could not use as a whole another name. Their
// good part, which is history, stays under the old name. It may be called again after a
// crash: what was done already stays as it is.
func (f *Files) setAside(files []asideFile) error {
	for _, a := range files {
		if generation(a.File, "snapshot-", ".json") == 0 && generation(a.File, "journal-", ".wal") == 0 {
			return fmt.Errorf("%.80q cannot be set aside: it is no file of the journal", a.File)
		}
		if n := generation(a.File, "journal-", ".wal"); n > 0 { // an index would be of what is given up, too
			if err := f.disk.Remove(indexName(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		var err error
		if a.Good == 0 {
			err = f.disk.Rename(a.File, a.File+damaged)
		} else {
			err = f.keepGood(a)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a missing file was renamed before, or never existed
			return err
		}
	}
	return nil
}

// keepGood copies a journal under its other name, and cuts it behind its good part.
func (f *Files) keepGood(a asideFile) error {
	data, err := f.disk.Read(a.File)
	if err != nil || int64(len(data)) <= a.Good {
		return err
	}
	if _, err := f.disk.Read(a.File + damaged); errors.Is(err, fs.ErrNotExist) {
		if err := WriteAtomic(f.disk, a.File+damaged, data); err != nil {
			return err
		}
	}
	return WriteAtomic(f.disk, a.File, data[:a.Good])
}

// damaged is the end of the names of files that were set aside.
const damaged = ".damaged"
