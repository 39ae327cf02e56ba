package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// errNothing reports a directory that has neither a good snapshot nor the first journal.
var errNothing = errors.New("nothing can be recovered: no snapshot is whole and the first journal is gone; " +
	"restore the directory from a copy, or move it away to begin anew")

// recover builds the state from the newest good snapshot and the good records after it,
// through all later journals. It tells the caller what is kept and what is given up, and
// only then changes anything. It writes the state as a new generation, which names the
// files to set aside, and renames those files once the generation is complete. A crash
// before that leaves the directory as it was; after a later crash the next start
// finishes the renaming.
func (f *Files) recover(s State, g generations) error {
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(g.snapshots, g.journals))))
	if len(all) == 0 {
		return fmt.Errorf("nothing can be recovered: there is no journal in %s", f.disk.Path(""))
	}
	var r Recovery
	from := f.newestWhole(s, g.snapshots, &r)
	last := 0
	for _, n := range all {
		if n >= from && !f.unborn(n, g) {
			f.replayGood(s, n, &r)
			last = n
		}
	}
	for _, a := range r.Aside {
		if isFormat(a.Err) || Unreadable(a.Err) {
			return a.Err
		}
	}
	if f.store == "" {
		return errNothing
	}
	if f.ended > last {
		last = f.ended
		r.Aside = append(r.Aside, Aside{snapshotName(last), 0, 0, ErrMissing}, Aside{journalName(last), 0, 0, ErrMissing})
	}
	gaps, err := f.gaps(from, &r)
	if err != nil {
		return err
	}
	r.Seq = f.seq
	if err := f.options.Recover(r); err != nil {
		return err
	}
	state, err := s.Snapshot()
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
		if n := len(gaps); n > 0 && (about.First <= gaps[n-1].Last+1 || n == maxDamage) {
			gaps[n-1].Last = max(gaps[n-1].Last, about.Last)
		} else {
			gaps = append(gaps, about)
		}
	}
	return gaps, nil
}

// newestWhole restores s from the newest good snapshot, and notes the bad ones after it
// in r. It returns the generation of that snapshot, or 1 if there is none: then all
// journals are needed from the first on.
func (f *Files) newestWhole(s State, snapshots []int, r *Recovery) int {
	for _, n := range slices.Backward(snapshots) {
		err := f.readSnapshot(s, n)
		if err == nil {
			return n
		}
		data, _ := f.disk.Read(snapshotName(n))
		r.Aside = append(r.Aside, Aside{snapshotName(n), 0, int64(len(data)), err})
	}
	return 1
}

// replayGood applies the good part of journal n to s and notes the rest in r.
func (f *Files) replayGood(s State, n int, r *Recovery) {
	name := journalName(n)
	data, err := f.disk.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		// Earlier versions set a journal aside before its good part was safe.
		if data, err = f.disk.Read(name + damaged); errors.Is(err, fs.ErrNotExist) {
			err = ErrMissing
		}
	}
	if err == nil {
		f.missSnapshot(n, data, r)
	}
	if err == nil && f.store == "" { // there is no good snapshot: the first journal has the name of the store
		if f.store = storeOf(data); f.store != "" {
			err = s.Restore(f.store, 0, nil)
		}
	}
	var good int
	if err == nil {
		good, _, err = f.replay(s, data, n)
	}
	if err == nil {
		return
	}
	r.Aside = append(r.Aside, Aside{name, int64(good), int64(len(data) - good), err})
	for _, lost := range behind(data, good) {
		if lost.kind != KindHeader && lost.kind != kindEnd {
			r.Lost = append(r.Lost, Entry{File: name, Seq: lost.seq, Kind: lost.kind, Payload: lost.payload})
		}
	}
}

// unborn reports whether a rotation made journal n and then did not come to its snapshot:
// it is after all snapshots, the one before was not ended, and neither it nor a later one
// holds a record or continues records that are gone. The new generation then replaces it.
func (f *Files) unborn(n int, g generations) bool {
	if n == 1 || f.ended == n || len(g.snapshots) > 0 && n <= slices.Max(g.snapshots) {
		return false
	}
	return !slices.ContainsFunc(g.journals, func(m int) bool {
		if m < n {
			return false
		}
		data, err := f.disk.Read(journalName(m))
		first, _ := decodeFrame(data, 0)
		return err != nil || !holdsNone(data) || first.seq > f.seq
	})
}

// missSnapshot notes in r if the snapshot of generation n is missing. Data is the
// journal of that generation.
func (f *Files) missSnapshot(n int, data []byte, r *Recovery) {
	if _, err := decodeFrame(data, 0); err != nil || n <= f.from {
		return
	}
	if _, err := f.disk.Read(snapshotName(n)); errors.Is(err, fs.ErrNotExist) {
		r.Aside = append(r.Aside, Aside{snapshotName(n), 0, 0, ErrMissing})
	}
}

// storeOf returns the name of the store from data, the first journal of a store, or "".
func storeOf(data []byte) string {
	var h header
	r, err := decodeFrame(data, 0)
	if err != nil || r.seq != 0 || json.Unmarshal(r.payload, &h) != nil {
		return ""
	}
	return h.Store
}
