package journal

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// load reads the newest generation and makes it ready to be appended to. It changes
// nothing before everything is checked.
func (f *Files) load(s State, g generations) error {
	newest := 0
	if len(g.snapshots) > 0 {
		newest = g.snapshots[len(g.snapshots)-1]
	}
	unborn, err := f.findUnborn(g.journals, newest)
	if err != nil {
		return err
	}
	if newest == 0 {
		return f.fresh(s)
	}
	if err := f.readSnapshot(s, newest); err != nil {
		return f.damage(snapshotName(newest), -1, 0, err)
	}
	name := journalName(newest)
	data, err := f.disk.Read(name)
	if err != nil {
		return f.damage(name, -1, f.seq, err)
	}
	good, records, err := f.replay(s, data, newest)
	if err == nil && f.ended > 0 {
		if slices.Contains(g.journals, f.ended) {
			err = fmt.Errorf("it is continued by %s, which is missing", snapshotName(f.ended))
		} else {
			err = fmt.Errorf("it is continued by %s and %s, which are missing", snapshotName(f.ended), journalName(f.ended))
		}
	}
	if err != nil && !errors.Is(err, errTorn) {
		return f.damage(name, int64(good), f.seq, err)
	}
	f.n, f.size, f.records = newest, int64(good), records
	if f.options.Look {
		return nil
	}
	return f.goOn(s, unborn, g.journals, data)
}

// findUnborn returns the journals after the newest snapshot, which a rotation made
// before a crash prevented their own snapshot. They hold no record. If one does, or if it
// continues a store of which there is no snapshot at all, its snapshot was lost later,
// and findUnborn returns that as damage.
func (f *Files) findUnborn(journals []int, newest int) (unborn []string, err error) {
	for _, n := range journals {
		if n <= newest {
			continue
		}
		name := journalName(n)
		data, err := f.disk.Read(name)
		if err != nil {
			return nil, f.damage(name, -1, 0, err)
		}
		r, err := decodeFrame(data, 0)
		if err == nil {
			if err := checkFormat(r, f.disk.Path(name)); err != nil {
				return nil, err
			}
		}
		switch {
		case holdsNone(data) && (newest > 0 || r.seq == 0):
			unborn = append(unborn, name)
		case err != nil:
			return nil, f.damage(name, 0, 0, err)
		default:
			return nil, f.damage(name, int64(r.size), r.seq, fmt.Errorf("it continues %s, which is missing", snapshotName(n)))
		}
	}
	return unborn, nil
}

// fresh makes an empty store.
func (f *Files) fresh(s State) error {
	if f.options.Look {
		return fmt.Errorf("there is no journal in %s", f.disk.Path(""))
	}
	f.store = NewPoint().Store
	if err := s.Restore(f.store, 0, nil); err != nil {
		return err
	}
	return f.begin(s)
}

// begin writes the state of s as the next generation.
func (f *Files) begin(s State) error {
	state, err := s.Snapshot()
	if err != nil {
		return err
	}
	return f.Snapshot(state)
}

// goOn finishes what a crash left undone, and makes the journal that was read ready to
// be appended to. Data is the content of its file.
func (f *Files) goOn(s State, unborn []string, journals []int, data []byte) error {
	for _, name := range unborn {
		if err := f.disk.Remove(name); err != nil {
			return err
		}
	}
	if err := f.setAside(f.header.Aside); err != nil { // a crash came during the recovery
		return err
	}
	if int(f.size) < len(data) {
		if err := f.cut(f.n, data, int(f.size)); err != nil {
			return err
		}
	}
	f.endBefore(journals)
	f.warnOfMissing(journals)
	var err error
	if f.file, err = f.disk.Open(journalName(f.n)); err != nil {
		return err
	}
	return nil
}

// cut removes the torn end of a journal, whose content is data, behind its first good
// bytes, and keeps a copy of that end. Nothing in it was ever acknowledged. The copy is
// on disk before the end is cut off, and the shorter length is on disk before anything
// is written behind it.
func (f *Files) cut(n int, data []byte, good int) error {
	name := journalName(n)
	f.out.Warn("journal ends in an unfinished write, cutting it off",
		"file", f.disk.Path(name), "offset", good, "bytes", len(data)-good, "last_good_sequence", f.seq)
	if err := WriteAtomic(f.disk, fmt.Sprintf("journal-%d.torn", n), data[good:]); err != nil {
		return fmt.Errorf("keep the torn tail of %s: %w", f.disk.Path(name), err)
	}
	file, err := f.disk.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(file.Truncate(int64(good)), file.Sync(), file.Close())
}

// endBefore writes the last record of the journal before the present one, if a crash
// prevented the rotation from writing it. It leaves a damaged journal as it is: that is
// history, and a start does not need it.
func (f *Files) endBefore(journals []int) {
	i := slices.Index(journals, f.n)
	if i < 1 {
		return
	}
	name := journalName(journals[i-1])
	data, err := f.disk.Read(name)
	mark := endFrame(f.began, f.header.Before, f.n)
	if err != nil || bytes.HasSuffix(data, mark) {
		return
	}
	frames, bad := scanFile(data)
	if len(frames) < 1 || bad != nil && !errors.Is(bad, errTorn) || frames[len(frames)-1].hash() != f.header.Before {
		return
	}
	good := int64(0)
	for _, r := range frames {
		good += int64(r.size)
	}
	file, err := f.disk.Open(name)
	if err == nil {
		err = errors.Join(file.Truncate(good), WriteSynced(file, mark), file.Close())
	}
	if err != nil {
		f.out.Warn("journal not ended", "file", f.disk.Path(name), "error", err)
	}
}
