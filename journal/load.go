package journal

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
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

	advice string // what to do; empty means what to do about a refused start
}

func (e *DamageError) Error() string {
	return e.what() + "; " + cmp.Or(e.advice, "restore the directory from a copy, or let wick --recover show what can be kept")
}

// what says what is wrong, without advice.
func (e *DamageError) what() string {
	switch {
	case errors.Is(e.Err, ErrMissing):
		return fmt.Sprintf("%s, which goes on after record %d, %v", e.File, e.Seq, e.Err)
	case e.Offset < 0:
		return fmt.Sprintf("%s is damaged: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s at byte %d is damaged after record %d: %v", e.File, e.Offset, e.Seq, e.Err)
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

// damage builds the error for a file that cannot be trusted. A later format, and
// what we are not let read, is no damage and stays what it is.
func (f *Files) damage(name string, at int64, seq uint64, err error) error {
	switch {
	case isFormat(err) || Unreadable(err):
		return err
	case errors.Is(err, fs.ErrNotExist):
		err = ErrMissing
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
	if len(g.snapshots) > 0 {
		f.oldest = g.snapshots[0]
	}
	if f.options.Recover != nil {
		err = f.recover(s, g)
	} else {
		err = f.load(s, g)
	}
	if err == nil && !f.options.Look {
		f.dropUnfinished(names)
	}
	return f.seq, err
}

// dropUnfinished removes the temporary files that a crash left behind before
// they got their names, and torn tails that are three generations old: each clean
// start and stop begins one. Only names that we give are touched: the directory is
// the owner's, and a file called thesis.tmp is too.
func (f *Files) dropUnfinished(names []string) {
	for _, name := range names {
		unfinished := generation(name, "snapshot-", ".json.tmp") > 0 || name == probeName
		if n := generation(name, "journal-", ".torn"); n > 0 && n+tornKept <= f.n {
			unfinished = true
		}
		for _, suffix := range []string{".torn", ".wal", ".wal" + damaged} {
			unfinished = unfinished || generation(name, "journal-", suffix+".tmp") > 0
		}
		if unfinished {
			if err := f.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				f.out.Warn("unfinished file stays", "file", f.disk.Path(name), "error", err)
			}
		}
	}
}

// tornKept is how many generations later a torn tail is removed.
const tornKept = 3

// load reads the newest generation. It changes nothing before all is checked.
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
		return err
	}
	name := journalName(newest)
	data, err := f.disk.Read(name)
	if err != nil {
		return f.damage(name, -1, f.seq, err)
	}
	good, records, err := f.replay(s, data, newest)
	if err == nil && f.ended > 0 {
		err = fmt.Errorf("it is continued by %s and %s, which are missing", snapshotName(f.ended), journalName(f.ended))
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

// goOn finishes what a crash left undone and makes the journal that was read,
// which is data, ready to be appended to.
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
	if f.link == 0 { // from here on the history is kept
		return f.begin(s)
	}
	return nil
}

// endBefore ends the journal before the present one, if a crash kept the
// rotation from doing it. It leaves a damaged one alone, which is history that
// nobody needs to go on.
func (f *Files) endBefore(journals []int) {
	i := slices.Index(journals, f.n)
	if i < 1 || f.link == 0 {
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

// fresh makes an empty store.
func (f *Files) fresh(s State) error {
	if f.options.Look {
		return fmt.Errorf("there is no journal in %s", f.disk.Path(""))
	}
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

// findUnborn returns the journals whose snapshot never got its name: a crash came
// in the middle of a rotation, and nothing was written to them yet. If something
// was, or if there is no snapshot at all, the snapshot was lost later.
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
		if err == nil && (len(data) > r.size || newest == 0 && r.seq > 0) {
			return nil, f.damage(name, int64(r.size), r.seq, fmt.Errorf("it continues %s, which is missing", snapshotName(n)))
		}
		unborn = append(unborn, name)
	}
	return unborn, nil
}

// readSnapshot restores s from the snapshot of generation n.
func (f *Files) readSnapshot(s State, n int) error {
	name := snapshotName(n)
	data, err := f.disk.Read(name)
	if err != nil {
		return f.damage(name, -1, 0, err)
	}
	head, state, err := decodeSnapshot(data, f.disk.Path(name), n)
	if err == nil {
		if err = s.Restore(head.Store, head.Seq, state); err != nil {
			err = fmt.Errorf("%w: %w", errSnapshot, err)
		}
	}
	if err != nil {
		return f.damage(name, -1, 0, err)
	}
	f.store, f.seq, f.head = head.Store, head.Seq, head.Before
	f.from, f.sum = n, sha256.Sum256(data)
	return nil
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
// there; f.seq and f.head are then those of the last of them. The error says why
// it went no further; it wraps errTorn if what follows is an unfinished write.
func (f *Files) replay(s State, data []byte, n int) (good, records int, err error) {
	first, err := decodeFrame(data, 0)
	if err != nil {
		return 0, 0, fmt.Errorf("its first record: %w", err)
	}
	if err := f.checkHeader(first, n); err != nil {
		return 0, 0, err
	}
	frames, bad := scan(data, first.size, f.link)
	good = first.size
	for i, e := range decodeAll(s, frames) {
		r := frames[i]
		if err := f.follows(r); err != nil {
			return good, records, err
		}
		if r.kind == kindEnd {
			f.ended, err = readEnd(r)
			if err == nil && i < len(frames)-1 {
				err = errors.New("records follow the one that ends the file")
			}
			if err != nil {
				return good, records, err
			}
			return good + r.size, records, bad
		}
		if e.event == nil {
			return good, records, errors.New("its payload is no event")
		}
		if err := s.Apply(r.seq, r.kind, e.event); err != nil {
			return good, records, err
		}
		f.seq = r.seq
		if f.link > 0 {
			f.head = e.hash
		}
		good += r.size
		records++
	}
	return good, records, bad
}

// errChain reports a record that was changed, or whose neighbour was.
var errChain = errors.New("it does not follow the record before it: the hash of that one is another")

// follows checks that r continues what was read.
func (f *Files) follows(r frame) error {
	next := f.seq + 1
	if r.kind == kindEnd {
		next = f.seq
	}
	if r.seq != next {
		return fmt.Errorf("sequence %d follows %d", r.seq, f.seq)
	}
	if f.link > 0 && Hash(r.link) != f.head {
		return errChain
	}
	return nil
}

// readEnd returns the generation that a record names that ends a file.
func readEnd(r frame) (int, error) {
	var e end
	if err := json.Unmarshal(r.payload, &e); err != nil || e.Next < 1 {
		return 0, fmt.Errorf("it ends with %.40q, which names no generation", r.payload)
	}
	return e.Next, nil
}

// scan returns the whole frames of data from at on, and why it went no further;
// nil at the end of data.
func scan(data []byte, at, link int) (frames []frame, bad error) {
	for at < len(data) {
		r, err := decodeFrame(data[at:], link)
		if err != nil {
			if torn(data, at, link, err) {
				return frames, fmt.Errorf("%w: %w", errTorn, err)
			}
			return frames, err
		}
		frames = append(frames, r)
		at += r.size
	}
	return frames, nil
}

// scanFile returns the whole frames of a journal file, the header first.
func scanFile(data []byte) (frames []frame, bad error) {
	first, err := decodeFrame(data, 0)
	if err != nil {
		return nil, err
	}
	var h struct{ Format int }
	if err := json.Unmarshal(first.payload, &h); err != nil {
		return nil, err
	}
	rest, bad := scan(data, first.size, linkSize(h.Format))
	return append([]frame{first}, rest...), bad
}

// decoded is what a record is to its reader.
type decoded struct {
	event any  // nil if the payload cannot be decoded
	hash  Hash // only where the format has one
}

// decodeAll has the payloads decoded and hashed on all processors: it is nearly
// all the time that a start takes.
func decodeAll(s State, frames []frame) []decoded {
	all := make([]decoded, len(frames))
	rest := all
	var wg sync.WaitGroup
	for part := range slices.Chunk(frames, len(frames)/runtime.GOMAXPROCS(0)+1) {
		out := rest[:len(part)]
		rest = rest[len(part):]
		wg.Go(func() {
			for i, r := range part {
				if event, err := s.Decode(r.kind, r.payload); err == nil {
					out[i].event = event
				}
				if len(r.link) > 0 {
					out[i].hash = r.hash()
				}
			}
		})
	}
	wg.Wait()
	return all
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

// checkHeader holds the first record of journal n to what was read before it, and
// takes it over.
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
	f.header, f.began, f.ended, f.link = h, r.seq, 0, linkSize(h.Format)
	if f.link == 0 {
		return nil
	}
	before := f.head
	if before == (Hash{}) {
		before = origin(f.store, f.seq)
	}
	switch {
	case h.Before != before:
		return errChain
	case n == f.from && h.Snapshot != f.sum:
		return fmt.Errorf("it continues another %s than the one that is there", snapshotName(n))
	}
	f.head = r.hash()
	return nil
}
