package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Read brings s to the state that the directory holds and makes the log ready to
// be appended to. In an empty directory it makes a new store.
func (f *Files) Read(s State) (uint64, error) {
	names, err := f.disk.List()
	if err != nil {
		return 0, fmt.Errorf("state directory: %w", err)
	}
	g := findGenerations(names)
	f.old = g.snapshots
	if f.options.Recover != nil {
		err = f.recover(s, g)
	} else {
		err = f.load(s, g)
	}
	if err == nil && !f.options.Look {
		f.dropUnfinished(names)
	}
	return f.at.Seq, err
}

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
	sum, err := f.restore(s, newest)
	if err != nil {
		return f.damage(snapshotName(newest), -1, 0, err)
	}
	j := readJournal(f.disk, newest)
	err = f.replay(s, &j, &sum)
	if err == nil && j.next > 0 {
		if slices.Contains(g.journals, j.next) {
			err = fmt.Errorf("it is continued by %s, which is missing", snapshotName(j.next))
		} else {
			err = fmt.Errorf("it is continued by %s and %s, which are missing", snapshotName(j.next), journalName(j.next))
		}
	}
	if err != nil && (err != j.fault || !j.torn()) {
		return f.damage(journalName(newest), f.size, f.at.Seq, err)
	}
	if f.n = newest; f.options.Look {
		return nil
	}
	return f.goOn(&j, unborn, g.journals)
}

// findUnborn returns the journals after the newest snapshot, which a rotation made
// before a crash prevented their own snapshot. If one holds a record, or if it continues
// a store of which there is no snapshot at all, its snapshot was lost later, and
// findUnborn returns that as damage.
func (f *Files) findUnborn(journals []int, newest int) (unborn []string, err error) {
	for _, n := range journals {
		if n <= newest {
			continue
		}
		name, j := journalName(n), readJournal(f.disk, n)
		switch {
		case j.unborn() && (newest > 0 || j.began.Seq == 0):
			unborn = append(unborn, name)
		case j.good == 0:
			return nil, f.damage(name, 0, 0, j.fault)
		default:
			return nil, f.damage(name, 0, j.began.Seq, fmt.Errorf("it continues %s, which is missing", snapshotName(n)))
		}
	}
	return unborn, nil
}

// fresh makes an empty store.
func (f *Files) fresh(s State) error {
	if f.options.Look {
		return fmt.Errorf("there is no journal in %s", f.disk.Path(""))
	}
	f.at = NewPoint()
	if err := s.Restore(f.at.Store, 0, nil); err != nil {
		return err
	}
	_, encode := s.Snapshot()
	state, err := encode()
	if err != nil {
		return err
	}
	return f.Snapshot(state)
}

// goOn finishes what a crash left undone, and makes the journal that was read ready to
// be appended to.
func (f *Files) goOn(j *journalFile, unborn []string, journals []int) error {
	for _, name := range unborn {
		if err := f.disk.Remove(name); err != nil {
			return err
		}
	}
	if err := f.setAside(j.header.Aside); err != nil { // a crash came during the recovery
		return err
	}
	if j.torn() {
		if err := f.cut(j); err != nil {
			return err
		}
	}
	if len(j.header.Aside) == 0 {
		f.endBefore(j, journals)
	}
	var err error
	f.file, err = f.disk.Open(journalName(f.n))
	return err
}

// cut removes the torn end of a journal and keeps a copy of that end. Nothing in it was
// ever acknowledged. The copy is on disk before the end is cut off, and the shorter length
// is on disk before anything is written behind it.
func (f *Files) cut(j *journalFile) error {
	name := journalName(j.n)
	f.out.Warn("journal ends in an unfinished write, cutting it off",
		"file", f.disk.Path(name), "offset", j.good, "bytes", len(j.data)-j.good, "last_good_sequence", f.at.Seq)
	if err := WriteAtomic(f.disk, fmt.Sprintf("journal-%d.torn", j.n), j.data[j.good:]); err != nil {
		return fmt.Errorf("keep the torn tail of %s: %w", f.disk.Path(name), err)
	}
	file, err := f.disk.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(file.Truncate(int64(j.good)), file.Sync(), file.Close())
}

// endBefore writes the last record of the journal before j, if a crash prevented the
// rotation from writing it. It leaves a damaged journal as it is: that is history, and
// a start does not need it.
func (f *Files) endBefore(j *journalFile, journals []int) {
	i := slices.Index(journals, j.n)
	if i < 1 {
		return
	}
	name := journalName(journals[i-1])
	before := Point{j.header.Store, j.began.Seq, j.header.Before}
	mark := endFrame(before, j.n)
	file, err := f.disk.Open(name)
	if err != nil {
		return
	}
	defer file.Close()
	tail := make([]byte, len(mark))
	if size, err := file.Size(); err != nil || size < int64(len(mark)) {
		return
	} else if _, err := file.ReadAt(tail, size-int64(len(mark))); err != nil || bytes.Equal(tail, mark) {
		return
	}
	last := readJournal(f.disk, journals[i-1])
	if last.fault != nil && !last.torn() || last.after != before || last.next > 0 {
		return
	}
	if err := errors.Join(file.Truncate(int64(last.good)), WriteSynced(file, mark)); err != nil {
		f.out.Warn("journal not ended", "file", f.disk.Path(name), "error", err)
	}
}

// dropUnfinished removes temporary files that a crash left behind, and copies of torn
// ends that are at least three generations old (each clean stop begins a generation). It
// removes only files with names that this package gives: a file called thesis.tmp in the
// directory belongs to the owner.
func (f *Files) dropUnfinished(names []string) {
	for _, name := range names {
		unfinished := generation(name, "snapshot-", ".json.tmp") > 0 || name == probeName
		if n := generation(name, "journal-", ".torn"); n > 0 && n <= f.n-tornKept {
			unfinished = true
		}
		for _, suffix := range []string{".torn", ".wal", ".idx", ".wal" + damaged} {
			unfinished = unfinished || generation(name, "journal-", suffix+".tmp") > 0
		}
		if unfinished {
			if err := f.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				f.out.Warn("unfinished file stays", "file", f.disk.Path(name), "error", err)
			}
		}
	}
}

// tornKept is after how many generations the copy of a torn end is removed.
const tornKept = 3

// damage returns a DamageError for a file that cannot be trusted, or err itself if it
// shows no damage.
func (f *Files) damage(name string, at int64, seq uint64, err error) error {
	if d := damageOf(f.disk.Path(name), at, seq, err); d != nil {
		return d
	}
	return err
}
