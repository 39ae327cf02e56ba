package journal

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"slices"
)

// Files is a log in a directory. It has no lock: only one goroutine at a time may use it.
type Files struct {
	disk    Disk
	out     *slog.Logger
	options FileOptions

	file    File   // the present journal
	n       int    // its generation
	at      Point  // the last record or header
	size    int64  // bytes of the present journal that are known to be good
	records int    // records in the present journal
	buffer  []byte // memory for the next group
}

// FileOptions configure a log in a directory.
type FileOptions struct {
	// A snapshot is due when the journal has grown to either bound; zero means
	// 4 MiB and 10,000 records, which a start reads within a tenth of a second.
	MaxBytes   int64
	MaxRecords int

	// Recover, if not nil, makes Read keep the good part of a damaged directory. Read
	// calls it before it changes anything, with what it will keep and give up. If Recover
	// returns an error, Read returns it and changes nothing.
	Recover func(Recovery) error

	// Closed, if not nil, is called after each rotation, before any record is written to
	// the new generation. It must not wait for a commit.
	Closed func()
}

// NewFiles returns the log in d. It reads and writes nothing before Read.
func NewFiles(d Disk, o FileOptions, out *slog.Logger) *Files {
	o.MaxBytes, o.MaxRecords = cmp.Or(o.MaxBytes, 4<<20), cmp.Or(o.MaxRecords, 10_000)
	return &Files{disk: d, options: o, out: out}
}

// Append writes records with one call and waits until they are on disk. After a failed
// write the file may hold a part of them. That part is cut off again if the disk allows
// it (a full one does), and nothing is ever written behind it. A snapshot is due when
// the journal has reached one of its bounds.
func (f *Files) Append(first uint64, records []Record) (due bool, err error) {
	if first != f.at.Seq+1 {
		return false, fmt.Errorf("record %d cannot follow record %d", first, f.at.Seq)
	}
	var head Hash
	f.buffer, head = AppendRecords(f.buffer[:0], first, f.at.Hash, records)
	if err := f.write(); err != nil {
		return false, err
	}
	f.at.Seq, f.at.Hash = f.at.Seq+uint64(len(records)), head
	f.size += int64(len(f.buffer))
	f.records += len(records)
	return f.size >= f.options.MaxBytes || f.records >= f.options.MaxRecords, nil
}

// write appends the buffer to the file and waits until it is on disk, under its name: what
// is in a file that somebody has deleted is lost.
func (f *Files) write() error {
	_, err := f.file.Write(f.buffer)
	unknown := false
	if err == nil {
		err = f.file.Sync()
		unknown = err != nil
	}
	if err == nil {
		err = f.Check()
	}
	if err == nil {
		return nil
	}
	// A record that is refused must not be there after the next start, not even after a
	// power cut.
	cut := f.file.Truncate(f.size)
	if cut == nil && !unknown {
		cut = f.file.Sync()
	}
	if cut != nil {
		f.out.Error("the end of a failed write cannot be cut off", "error", cut)
		unknown = true
	}
	if unknown {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return err
}

// Head returns the hash of the last record or header.
func (f *Files) Head() Hash { return f.at.Hash }

// Check returns an error if the directory is no longer the one that was locked, or if
// the name of the present journal no longer leads to the open file.
func (f *Files) Check() error { return f.disk.Held(journalName(f.n), f.file) }

// Read brings s to the state that the directory holds and makes the log ready to
// be appended to. In an empty directory it makes a new store.
func (f *Files) Read(s State) (uint64, error) {
	names, err := f.disk.List()
	if err != nil {
		return 0, fmt.Errorf("state directory: %w", err)
	}
	switch journals := generations(names, "journal-", ".wal"); {
	case f.options.Recover != nil:
		err = f.recover(s, names)
	case len(journals) > 0:
		var j journalFile
		if j, f.at, err = load(f.disk, s, slices.Max(journals), math.MaxUint64); err == nil {
			err = f.openNewest(&j)
		}
	default:
		err = f.fresh(s, names)
	}
	if err == nil {
		f.tidy(names)
	}
	return f.at.Seq, err
}

// openNewest opens the newest journal for writing. It cuts off an unfinished write at its
// end, nothing of which was ever acknowledged; the shorter length is on disk before anything
// is written behind it.
func (f *Files) openNewest(j *journalFile) error {
	if j.name != journalName(j.n) { // a crash kept the rotation from its last step
		if err := f.disk.Rename(j.name, journalName(j.n)); err != nil {
			return err
		}
	}
	file, err := f.disk.Open(journalName(j.n))
	if err != nil {
		return err
	}
	f.file, f.n, f.size, f.records = file, j.n, int64(j.good), len(j.records)-1
	if !j.torn() {
		return nil
	}
	f.out.Warn("journal ends in an unfinished write, cutting it off",
		"file", f.disk.Path(journalName(j.n)), "offset", j.good, "bytes", len(j.data)-j.good, "last_good_sequence", f.at.Seq)
	return errors.Join(file.Truncate(int64(j.good)), file.Sync())
}

// fresh makes an empty store, in a directory without a journal.
func (f *Files) fresh(s State, names []string) error {
	for _, n := range generations(names, "snapshot-", ".state") {
		if !slices.Contains(names, journalName(n)+unfinished) { // or else a crash came in the first start
			return damage(f.disk, journalName(n), -1, 0, ErrMissing)
		}
	}
	f.at = NewPoint()
	if err := s.Restore(f.at.Store, 0, nil); err != nil {
		return err
	}
	return f.begin(s, header{N: 1})
}

// begin begins a generation with the state of s.
func (f *Files) begin(s State, h header) error {
	_, encode := s.Snapshot()
	state, err := encode()
	if err != nil {
		return err
	}
	return f.next(state, h)
}

// Snapshot begins the next generation with the given state. What a crash leaves after each
// step, and what the next start makes of it:
//
//  1. The new journal is on disk, with its header and under a temporary name. The start
//     goes on in the present generation, and removes it.
//  2. The snapshot is on disk under its name. The same.
//  3. The present journal gets a last record that names the next generation. With that the
//     new generation counts, and the start gives its journal its name.
//  4. The new journal has its name, and the next record goes there.
//  5. The snapshot before the last is removed. One earlier stays: should the newest be
//     damaged, it and its journal give the same state. Journals stay: they are the history.
//
// If something fails before step 3, such as for lack of room or of file descriptors, the
// caller may try again.
func (f *Files) Snapshot(state []byte) error {
	if err := f.next(state, header{N: f.n + 1}); err != nil {
		return err
	}
	f.remove(snapshotName(f.n - 2))
	if f.options.Closed != nil {
		f.options.Closed()
	}
	return nil
}

// next does the first four steps of Snapshot. H has the number of the generation, and what
// a recovery notes.
func (f *Files) next(state []byte, h header) error {
	first, name := encodeHeader(h, f.at, state), journalName(h.N)
	err := create(f.disk, name+unfinished, first)
	if err == nil {
		err = WriteAtomic(f.disk, snapshotName(h.N), slices.Concat(first, state))
	}
	if err != nil {
		return err
	}
	if f.file != nil {
		last, _ := json.Marshal(end{h.N}) // one number can always be encoded
		if err := WriteSynced(f.file, appendFrame(nil, f.at.Seq, kindEnd, f.at.Hash[:], last)); err != nil {
			return err
		}
		f.file.Close() // an error loses nothing: the file was synced after every write
		f.file = nil
	}
	if err = f.disk.Rename(name+unfinished, name); err == nil {
		f.file, err = f.disk.Open(name)
	}
	f.n, f.size, f.records, f.at.Hash = h.N, int64(len(first)), 0, sha256.Sum256(first[frameHead:])
	return err
}

// tidy removes what a crash has left unfinished. It removes only files with names that this
// package gives: a file called thesis.tmp in the directory belongs to the owner.
func (f *Files) tidy(names []string) {
	for _, name := range names {
		left := name == probeName || generation(name, "snapshot-", ".state") > f.n
		for _, shape := range [][2]string{{"snapshot-", ".state"}, {"journal-", ".wal"}, {"journal-", ".idx"}} {
			left = left || generation(name, shape[0], shape[1]+unfinished) > 0
		}
		if left {
			f.remove(name)
		}
	}
}

// remove removes a file that nobody needs. If that fails it takes room and does no harm.
func (f *Files) remove(name string) {
	if err := f.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.out.Warn("file stays that is not needed", "file", f.disk.Path(name), "error", err)
	}
}

// Close closes the journal. All in it was synced when it was written.
func (f *Files) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// Import makes a store in the directory d, which must have no journal. It begins with the
// state after record seq of a store, does not have the records before, and goes on with
// the given ones.
func Import(d Disk, store string, seq uint64, state []byte, records []Record) error {
	names, err := d.List()
	if err != nil {
		return err
	}
	if len(generations(names, "snapshot-", ".state"))+len(generations(names, "journal-", ".wal")) > 0 {
		return fmt.Errorf("%s has a journal already: choose an empty directory", d.Path(""))
	}
	f := &Files{disk: d, out: slog.New(slog.DiscardHandler), at: PointAfter(store, seq)}
	err = f.next(state, header{N: 1})
	for part := range slices.Chunk(records, 1000) {
		if err == nil {
			_, err = f.Append(f.at.Seq+1, part)
		}
	}
	return errors.Join(err, f.Close())
}
