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
)

// Files is a log in a directory. It has no lock: only one goroutine at a time may use it.
type Files struct {
	disk    Disk
	out     *slog.Logger
	options FileOptions

	file    File   // the present journal
	n       int    // its generation
	old     []int  // the generations that may still have a snapshot, ascending
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

	// Recover, if not nil, makes Read keep the good part of a damaged directory and
	// set the rest aside. Read calls it before it changes anything, with what it will
	// keep and give up. If Recover returns an error, Read returns it and changes nothing.
	Recover func(Recovery) error

	// Closed, if not nil, is called after each rotation, before any record is written to
	// the new generation. It must not wait for a commit.
	Closed func()

	// Look makes Read check all that a start checks and change nothing. Afterwards
	// the log cannot be appended to.
	Look bool
}

// Recovery is what a recovery keeps of a directory and what it gives up.
type Recovery struct {
	Seq     uint64  // the last record that is kept
	Aside   []Aside // the files that are not good as a whole
	History []error // what is wrong with earlier journals, which only the history needs
}

// Aside is a file that a recovery sets aside under a name that ends in .damaged.
type Aside struct {
	File   string
	Offset int64 // where the part begins that is given up
	Bytes  int64 // its length; 0 if the file is missing
	Err    error // what is wrong with it; ErrMissing if it is not there
}

// Snapshot reports whether the file is a snapshot. What it held is given up only
// if a journal is set aside too: the journals hold the same.
func (a Aside) Snapshot() bool { return generation(a.File, "snapshot-", ".json") > 0 }

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

// Snapshot begins the next generation with the given state. What a crash leaves
// after each step, and what the next start makes of it:
//
//  1. The new journal has its name and its header, synced. Its generation has no
//     snapshot yet and it holds no record: the start deletes it and goes on in
//     the present generation, which is complete.
//  2. The snapshot's content is synced under a temporary name. The same; the
//     temporary file is deleted.
//  3. The snapshot has its name, and the directory is synced. The new generation
//     is complete, and the next record goes there.
//  4. The journal so far gets a last record that names the next generation. If a
//     crash prevents that, the next start adds it.
//  5. The snapshot before the last is deleted. One earlier stays: should the
//     newest be damaged, it and its journal give the same state. Journals stay:
//     they are the history.
//
// The journal comes first so that a snapshot with a name always has its journal:
// a missing one is therefore damage, and not a crash.
//
// If something fails before step 3, such as for lack of room or of file descriptors,
// the present generation is still complete, and the caller may try again. From step 3 on
// no further descriptor is needed.
func (f *Files) Snapshot(state []byte) error {
	if err := f.next(state, nil, nil); err != nil {
		return err
	}
	f.dropOld()
	if f.options.Closed != nil {
		f.options.Closed()
	}
	return nil
}

// next does the first four steps of Snapshot. For a recovery, aside are the files that
// it sets aside, and gaps the earlier journals that are missing or damaged and not
// needed; the header of the new journal names both. Otherwise both are nil.
func (f *Files) next(state []byte, aside []asideFile, gaps []span) error {
	if f.n == math.MaxInt {
		return fmt.Errorf("%s has the highest number there is, and no generation can follow it", journalName(f.n))
	}
	n, at := f.n+1, stamp()
	text, err := encodeSnapshot(snapshotHead{format, n, f.at.Store, f.at.Seq, at, f.at.Hash}, state)
	if err != nil {
		return err
	}
	// Texts, numbers and hashes can always be encoded.
	payload, _ := json.Marshal(header{magic, format, n, f.at.Store, at, f.at.Hash, sha256.Sum256(text), aside, gaps})
	first := appendFrame(nil, f.at.Seq, KindHeader, nil, payload)
	file, err := f.disk.Create(journalName(n))
	if err != nil {
		return retryable(err)
	}
	if err = WriteSynced(file, first); err != nil {
		err = retryable(err)
	} else {
		err = WriteAtomic(f.disk, snapshotName(n), text)
	}
	if err != nil {
		file.Close()
		return err
	}
	if f.file != nil {
		f.end(n)
	}
	f.file, f.n, f.size, f.records = file, n, int64(len(first)), 0
	f.at.Hash = sha256.Sum256(first[frameHead:])
	f.old = append(f.old, n)
	return nil
}

// end writes the last record of the present journal, which generation next continues,
// and closes the file. An error does no harm: the next start adds a missing last record.
func (f *Files) end(next int) {
	if err := WriteSynced(f.file, endFrame(f.at, next)); err != nil {
		f.out.Warn("journal not ended", "file", f.disk.Path(journalName(f.n)), "error", err)
	}
	f.file.Close() // an error loses nothing: the file was synced after every write
}

// dropOld removes all snapshots but the last two. A file that cannot be removed takes
// room and does no harm.
func (f *Files) dropOld() {
	for ; len(f.old) > 0 && f.old[0] < f.n-1; f.old = f.old[1:] {
		name := snapshotName(f.old[0])
		if err := f.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.out.Warn("old file stays", "file", f.disk.Path(name), "error", err)
		}
	}
}

// Close closes the journal. All in it was synced when it was written.
func (f *Files) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}
