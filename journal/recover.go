package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// errNothing reports a directory in which there is nothing to begin with.
var errNothing = errors.New("nothing can be recovered: no snapshot is whole and the first journal is gone; " +
	"restore the directory from a copy, or move it away to begin anew")

// recover builds the state from the newest snapshot that is whole and every
// record after it that is, through all later journals. It tells the caller what
// that keeps and gives up, and only then changes anything: the state is written
// as a new generation, which names the files to set aside, and once that is
// complete they are renamed. A crash before it is complete leaves the directory
// as it was; after a later one the next start finishes the renaming.
func (f *Files) recover(s State, g generations) error {
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(g.snapshots, g.journals))))
	if len(all) == 0 {
		return fmt.Errorf("nothing can be recovered: there is no journal in %s", f.disk.Path(""))
	}
	var r Recovery
	from := f.newestWhole(s, g.snapshots, &r)
	for _, n := range all {
		if n >= from {
			f.replayGood(s, n, &r)
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
	last := all[len(all)-1]
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

// gaps notes in r what is wrong with the journals before generation from, and
// returns which they are.
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

// newestWhole restores s from the newest snapshot that can be read. It returns
// its generation, or 1 if there is none: then the first journal holds all.
func (f *Files) newestWhole(s State, snapshots []int, r *Recovery) int {
	for _, n := range slices.Backward(snapshots) {
		err := f.readSnapshot(s, n)
		if err == nil {
			return n
		}
		data, _ := f.disk.Read(snapshotName(n))
		r.Aside = append(r.Aside, Aside{snapshotName(n), 0, int64(len(data)), cause(err)})
	}
	return 1
}

// replayGood applies the good part of journal n and notes the rest in r.
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
	if err == nil && f.store == "" { // no snapshot at all: the first journal says whose it is
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
		if lost.kind != kindHeader && lost.kind != kindEnd {
			r.Lost = append(r.Lost, Entry{File: name, Seq: lost.seq, Kind: lost.kind, Payload: lost.payload})
		}
	}
}

// missSnapshot notes in r if the snapshot of generation n, whose journal is data, is
// missing. A journal without records does not count: a crash may have ended the
// rotation that began it before there was a snapshot.
func (f *Files) missSnapshot(n int, data []byte, r *Recovery) {
	first, err := decodeFrame(data, 0)
	if err != nil || n <= f.from || len(data) == first.size && n > 1 {
		return
	}
	if _, err := f.disk.Read(snapshotName(n)); errors.Is(err, fs.ErrNotExist) {
		r.Aside = append(r.Aside, Aside{snapshotName(n), 0, 0, ErrMissing})
	}
}

// storeOf returns the store id in the header of journal 1, or "".
func storeOf(data []byte) string {
	var h header
	r, err := decodeFrame(data, 0)
	if err != nil || r.seq != 0 || json.Unmarshal(r.payload, &h) != nil {
		return ""
	}
	return h.Store
}
