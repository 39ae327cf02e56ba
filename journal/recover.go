package journal

import (
	"encoding/json"
	"errors"
	"slices"
)

// recover builds the state from the newest snapshot that is whole and every
// record after it that is, through all later journals. What could not be used is
// renamed to end in .damaged; the rest is written as a new generation.
func (f *Files) recover(s State, g generations) error {
	from, err := f.newestWhole(s, g.snapshots)
	if err != nil {
		return err
	}
	last := from
	for _, n := range g.journals {
		last = max(last, n)
		if n < from {
			continue
		}
		if err := f.replayGood(s, n); err != nil {
			return err
		}
	}
	if f.store == "" {
		if len(g.journals)+len(g.snapshots) > 0 {
			return errors.New("nothing can be recovered: no snapshot is whole and the first journal is gone; " +
				"restore the directory from a copy, or move it away to begin anew")
		}
		return f.fresh(s)
	}
	f.n = last
	return f.begin(s)
}

// newestWhole restores s from the newest snapshot that can be read, and sets
// those after it aside. It returns its generation, or 1 if there is none: then
// the first journal holds all.
func (f *Files) newestWhole(s State, snapshots []int) (int, error) {
	for _, n := range slices.Backward(snapshots) {
		err := f.readSnapshot(s, n)
		if err == nil {
			return n, nil
		}
		f.out.Warn("recovering: snapshot set aside", "error", err)
		if err := f.setAside(snapshotName(n)); err != nil {
			return 0, err
		}
	}
	return 1, nil
}

// replayGood applies the good part of journal n. If it has a bad part, or does
// not continue s at all, the file is set aside.
func (f *Files) replayGood(s State, n int) error {
	name := journalName(n)
	data, err := f.disk.Read(name)
	if err == nil {
		if f.store == "" { // no snapshot at all: the first journal says whose it is
			if f.store = storeOf(data); f.store != "" {
				err = s.Restore(f.store, 0, nil)
			}
		}
		var good int
		if err == nil {
			good, _, err = f.replay(s, data, n)
		}
		if err == nil {
			return nil
		}
		f.out.Warn("recovering: journal good only in part", "file", f.disk.Path(name),
			"offset", good, "bytes_set_aside", len(data)-good, "last_good_sequence", f.seq, "error", err)
	}
	return f.setAside(name)
}

// storeOf returns the store id in the header of journal 1, or "".
func storeOf(data []byte) string {
	var h header
	r, err := decodeFrame(data)
	if err != nil || r.seq != 0 || json.Unmarshal(r.payload, &h) != nil {
		return ""
	}
	return h.Store
}

func (f *Files) setAside(name string) error { return f.disk.Rename(name, name+".damaged") }
