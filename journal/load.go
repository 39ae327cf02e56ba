package journal

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"
)

// DamageError reports a state directory that cannot be trusted. Nothing was
// changed in it.
type DamageError struct {
	File   string
	Offset int64  // of the first bad byte, -1 when the whole file is meant
	Seq    uint64 // last good sequence
	Err    error
}

func (e *DamageError) Error() string {
	where := e.File
	if e.Offset >= 0 {
		where = fmt.Sprintf("%s at byte %d", e.File, e.Offset)
	}
	return fmt.Sprintf("%s is damaged after record %d: %v; restore the directory from a copy, "+
		"or let wick --recover show what can be kept", where, e.Seq, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// FormatError reports a file that a later version of wick wrote. It is sound, and
// this version would read it wrongly.
type FormatError struct {
	File   string
	Format int
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s is not damaged: a later wick wrote it (format %d, this one knows up to %d); "+
		"start that one, or restore the copy from before it was installed", e.File, e.Format, format)
}

// isFormat reports whether err is about a later format.
func isFormat(err error) bool {
	var later *FormatError
	return errors.As(err, &later)
}

// damage builds the error for a file that cannot be trusted. A later format is
// no damage and stays what it is.
func (f *Files) damage(name string, at int64, seq uint64, err error) error {
	if isFormat(err) {
		return err
	}
	return &DamageError{File: f.disk.Path(name), Offset: at, Seq: seq, Err: err}
}

// generations are the numbers of the files there are, ascending.
type generations struct {
	snapshots, journals []int
}

// findGenerations picks the files of a journal out of all names.
func findGenerations(names []string) (g generations) {
	for _, name := range names {
		if n := generation(name, "snapshot-", ".json"); n > 0 {
			g.snapshots = append(g.snapshots, n)
		}
		if n := generation(name, "journal-", ".wal"); n > 0 {
			g.journals = append(g.journals, n)
		}
	}
	slices.Sort(g.snapshots)
	slices.Sort(g.journals)
	return g
}

// Read brings s to the state that the directory holds and makes the log ready to
// be appended to. In an empty directory it makes a new store.
func (f *Files) Read(s State) (uint64, error) {
	names, err := f.disk.List()
	if err != nil {
		return 0, fmt.Errorf("state directory: %w", err)
	}
	g := findGenerations(names)
	f.oldest = 1
	if all := slices.Concat(g.snapshots, g.journals); len(all) > 0 {
		f.oldest = slices.Min(all)
	}
	if f.options.Recover != nil {
		err = f.recover(s, g)
	} else {
		err = f.load(s, g)
	}
	if err == nil {
		f.dropUnfinished(names)
	}
	return f.seq, err
}

// dropUnfinished removes the temporary files that a crash left behind before
// they got their names. Only names that we give are touched: the directory is
// the owner's, and a file called thesis.tmp is too.
func (f *Files) dropUnfinished(names []string) {
	for _, name := range names {
		if generation(name, "snapshot-", ".json.tmp") > 0 || generation(name, "journal-", ".torn.tmp") > 0 {
			if err := f.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				f.out.Warn("unfinished file stays", "file", f.disk.Path(name), "error", err)
			}
		}
	}
}

// load reads the newest generation.
func (f *Files) load(s State, g generations) error {
	newest := 0
	if len(g.snapshots) > 0 {
		newest = g.snapshots[len(g.snapshots)-1]
	}
	for _, n := range g.journals {
		if n > newest {
			if err := f.dropUnborn(n); err != nil {
				return err
			}
		}
	}
	if newest == 0 {
		return f.fresh(s)
	}
	head, err := f.readSnapshot(s, newest)
	if err != nil {
		return err
	}
	if err := f.setAside(head.Aside); err != nil { // a crash came during the recovery
		return err
	}
	name := journalName(newest)
	data, err := f.disk.Read(name)
	if err != nil {
		return f.damage(name, -1, f.seq, err)
	}
	good, records, err := f.replay(s, data, newest)
	if err != nil {
		if !errors.Is(err, errTorn) {
			return f.damage(name, int64(good), f.seq, err)
		}
		if err := f.cut(newest, data, good); err != nil {
			return err
		}
	}
	f.file, err = f.disk.Open(name)
	f.n, f.size, f.records = newest, int64(good), records
	return err
}

// fresh makes an empty store.
func (f *Files) fresh(s State) error {
	var id [8]byte
	rand.Read(id[:]) // never fails
	f.store = hex.EncodeToString(id[:])
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

// dropUnborn removes a journal whose snapshot never got its name: a crash came
// in the middle of a rotation, and nothing was written to it yet. If something
// was, the snapshot was lost later.
func (f *Files) dropUnborn(n int) error {
	name := journalName(n)
	data, err := f.disk.Read(name)
	if err != nil {
		return f.damage(name, -1, 0, err)
	}
	r, err := decodeFrame(data)
	if err == nil {
		if err := checkFormat(r, f.disk.Path(name)); err != nil {
			return err
		}
	}
	if err == nil && len(data) > r.size {
		return f.damage(name, int64(r.size), r.seq, fmt.Errorf("it continues %s, which is missing", snapshotName(n)))
	}
	return f.disk.Remove(name)
}

// readSnapshot restores s from the snapshot of generation n.
func (f *Files) readSnapshot(s State, n int) (snapshotHead, error) {
	name := snapshotName(n)
	data, err := f.disk.Read(name)
	if err != nil {
		return snapshotHead{}, f.damage(name, -1, 0, err)
	}
	head, state, err := decodeSnapshot(data, f.disk.Path(name), n)
	if err == nil {
		if err = s.Restore(head.Store, head.Seq, state); err != nil {
			err = fmt.Errorf("%w: %w", errSnapshot, err)
		}
	}
	if err != nil {
		return head, f.damage(name, -1, 0, err)
	}
	f.store, f.seq = head.Store, head.Seq
	return head, nil
}

// cut keeps a copy of a torn tail and removes it from the journal. What it held
// was never acknowledged. The copy is on disk before the tail goes, and the
// shorter length before anything is written behind it.
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

var errTorn = errors.New("unfinished write at the end")

// replay applies the records of a journal file to s, which has the state of its
// snapshot. It returns how far the file is good, and the number of records to
// there; f.seq is then the sequence of the last of them. The error says why it
// went no further; it wraps errTorn if what follows is an unfinished write.
func (f *Files) replay(s State, data []byte, n int) (good, records int, err error) {
	first, err := decodeFrame(data)
	if err != nil {
		return 0, 0, fmt.Errorf("its first record: %w", err)
	}
	if err := f.checkHeader(first, n); err != nil {
		return 0, 0, err
	}
	frames, bad := scan(data, first.size)
	good = first.size
	for i, event := range decodeAll(s, frames) {
		r := frames[i]
		if event == nil {
			return good, records, errors.New("its payload is no event")
		}
		if r.seq != f.seq+1 {
			return good, records, fmt.Errorf("sequence %d follows %d", r.seq, f.seq)
		}
		if err := s.Apply(r.seq, r.kind, event); err != nil {
			return good, records, err
		}
		f.seq = r.seq
		good += r.size
		records++
	}
	return good, records, bad
}

// scan returns the whole frames of data from at on, and why it went no further;
// nil at the end of data.
func scan(data []byte, at int) (frames []frame, bad error) {
	for at < len(data) {
		r, err := decodeFrame(data[at:])
		if err != nil {
			if torn(data, at, err) {
				return frames, fmt.Errorf("%w: %w", errTorn, err)
			}
			return frames, err
		}
		frames = append(frames, r)
		at += r.size
	}
	return frames, nil
}

// decodeAll has the payloads decoded on all processors: it is nearly all the
// time that a start takes. A payload that cannot be decoded gives nil.
func decodeAll(s State, frames []frame) []any {
	events := make([]any, len(frames))
	rest := events
	var wg sync.WaitGroup
	for part := range slices.Chunk(frames, len(frames)/runtime.GOMAXPROCS(0)+1) {
		out := rest[:len(part)]
		rest = rest[len(part):]
		wg.Go(func() {
			for i, r := range part {
				if event, err := s.Decode(r.kind, r.payload); err == nil {
					out[i] = event
				}
			}
		})
	}
	wg.Wait()
	return events
}

// checkFormat returns a FormatError if r is the header of a later version's
// journal, whose other members may mean something else.
func checkFormat(r frame, path string) error {
	var h struct {
		Magic  string `json:"magic"`
		Format int    `json:"format"`
	}
	if r.kind == kindHeader && json.Unmarshal(r.payload, &h) == nil && h.Magic == magic && h.Format > format {
		return &FormatError{path, h.Format}
	}
	return nil
}

// checkHeader holds the first record of journal n to the snapshot read before.
func (f *Files) checkHeader(r frame, n int) error {
	if err := checkFormat(r, f.disk.Path(journalName(n))); err != nil {
		return err
	}
	var h header
	if r.kind != kindHeader || json.Unmarshal(r.payload, &h) != nil || h.Magic != magic {
		return errors.New("it is no journal of wick")
	}
	if h.N != n || h.Store != f.store || r.seq != f.seq {
		return fmt.Errorf("it continues record %d of store %.40q as number %d, not record %d of %q as %d",
			r.seq, h.Store, h.N, f.seq, f.store, n)
	}
	return nil
}
