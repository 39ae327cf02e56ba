package journal

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Entry is one thing that a directory holds, as Walk tells it.
type Entry struct {
	File    string
	Seq     uint64
	Kind    byte   // of a record; 0 for a snapshot
	Payload []byte // of a record, or the JSON of a snapshot
	Hash    Hash   // its place in the history; zero for a snapshot and in the first format
}

// KindHeader is the kind of the entry that begins each journal.
const KindHeader = kindHeader

// History is what Walk found.
type History struct {
	Store string
	Last  uint64   // the newest record
	Head  Hash     // its hash, or that of the header behind it; zero if no file has hashes
	First uint64   // the record after which the hashes begin
	Files int      // journal files
	Notes []string // what is no damage, and the owner should know
}

// Walk calls visit for every record of every journal in a directory, oldest
// first, and before them for the oldest snapshot if the records before it are
// gone. It checks that every record follows the one before it, from the first to
// the last, and that the snapshots are those that were written then. What does
// not fit is a [DamageError]; the end of an unfinished write is only noted.
//
// It only reads and takes no lock, so it may run beside the process that owns
// the directory.
func Walk(d Disk, visit func(Entry) error) (History, error) {
	names, err := d.List()
	if err != nil {
		return History{}, fmt.Errorf("state directory: %w", err)
	}
	g := findGenerations(names)
	if len(g.snapshots)+len(g.journals) == 0 {
		return History{}, fmt.Errorf("there is no journal in %s", d.Path(""))
	}
	w := walker{disk: d, visit: visit, headers: make(map[int]header)}
	if len(g.snapshots) > 0 {
		w.newest = g.snapshots[len(g.snapshots)-1]
		if len(g.journals) == 0 || g.journals[0] >= g.snapshots[0] {
			err = w.snapshot(g.snapshots[0], true)
		}
	}
	for i := 0; err == nil && i < len(g.journals); i++ {
		err = w.journal(g.journals[i])
		if i == len(g.journals)-1 && w.ended > g.journals[i] && w.there(w.ended) {
			g.journals = append(g.journals, w.ended) // begun since we listed the files
		}
	}
	if err == nil {
		err = w.missing()
	}
	for i := 0; err == nil && i < len(g.snapshots); i++ {
		err = w.snapshot(g.snapshots[i], false)
	}
	return w.History, err
}

// walker is the state of a walk.
type walker struct {
	History
	disk    Disk
	visit   func(Entry) error
	newest  int            // the newest snapshot
	last    int            // the generation of the journal read last
	ended   int            // the generation that it says goes on, or 0
	headers map[int]header // of the journals read, by generation
}

// there reports whether generation n has a journal.
func (w *walker) there(n int) bool {
	f, err := w.disk.Open(journalName(n))
	return err == nil && f.Close() == nil
}

// damage builds the error for a file, and leaves one about a later format alone.
func (w *walker) damage(name string, at int64, err error) error {
	if isFormat(err) {
		return err
	}
	return &DamageError{File: w.disk.Path(name), Offset: at, Seq: w.Last, Err: err,
		advice: "put the file back from a copy; if wick refuses to start, wick --recover shows what can be kept"}
}

func (w *walker) note(format string, args ...any) {
	w.Notes = append(w.Notes, fmt.Sprintf(format, args...))
}

// journal walks over the journal of generation n.
func (w *walker) journal(n int) error {
	name := journalName(n)
	data, err := w.disk.Read(name)
	if err != nil {
		return w.damage(name, -1, err)
	}
	first, err := decodeFrame(data, 0)
	if n > w.newest && w.newest > 0 && first.size == len(data) {
		w.note("%s: a rotation was not finished; the next start repeats it", name)
		return nil
	}
	if err == nil {
		err = w.header(first, n)
	}
	if err == nil && n > w.newest {
		err = fmt.Errorf("it continues %s, which is missing", snapshotName(n))
	}
	if err != nil {
		return w.damage(name, 0, err)
	}
	if err := w.visit(Entry{name, first.seq, first.kind, first.payload, w.Head}); err != nil {
		return err
	}
	w.Files++
	at := first.size
	frames, bad := scan(data, at, linkSize(w.headers[n].Format))
	for _, r := range frames {
		if err := w.record(name, int64(at), r); err != nil {
			return err
		}
		at += r.size
	}
	if errors.Is(bad, errTorn) {
		w.note("%s: an unfinished write of %d bytes at byte %d, which the next start cuts off", name, len(data)-at, at)
	} else if bad != nil {
		return w.damage(name, int64(at), bad)
	}
	return nil
}

// header checks that the header r of journal n goes on from what was read.
func (w *walker) header(r frame, n int) error {
	if err := checkFormat(r, w.disk.Path(journalName(n))); err != nil {
		return err
	}
	var h header
	if r.kind != kindHeader || json.Unmarshal(r.payload, &h) != nil || h.Magic != magic || h.N != n {
		return errors.New("it is no journal of wick, or not this one")
	}
	skipped := slices.ContainsFunc(h.Aside, func(a asideFile) bool { return a.File == journalName(w.ended) })
	switch {
	case w.last == 0:
		w.Store, w.Last = h.Store, r.seq
	case h.Store != w.Store:
		return fmt.Errorf("it belongs to store %.40q, and the file before it to %q", h.Store, w.Store)
	case w.ended > 0 && w.ended != n && !skipped:
		return fmt.Errorf("%s, which goes on after record %d, is missing", journalName(w.ended), w.Last)
	case r.seq != w.Last:
		return fmt.Errorf("it continues record %d, and the file before it ends with record %d: records are missing", r.seq, w.Last)
	}
	if h.Format >= chained {
		if err := w.link(r, h); err != nil {
			return err
		}
	} else if w.Head != (Hash{}) {
		return errors.New("it has no hashes, and the file before it has")
	}
	for _, a := range h.Aside {
		w.note("%s: begun by a recovery at %s, which set aside %s from byte %d on", journalName(n), h.At, a.File, a.Good)
	}
	w.last, w.ended, w.headers[n] = n, 0, h
	return nil
}

// link checks the hash in a header and takes the header's own.
func (w *walker) link(r frame, h header) error {
	switch {
	case w.Head != (Hash{}):
		if h.Before != w.Head {
			return errChain
		}
	case h.Before != origin(h.Store, r.seq):
		return fmt.Errorf("the history before it, up to record %d, is missing: put the earlier journal files back", r.seq)
	default:
		if w.First = r.seq; r.seq > 0 {
			w.note("%s: the hashes begin after record %d; the records before were written by a wick that kept none", journalName(h.N), r.seq)
		}
	}
	w.Head = r.hash()
	return nil
}

// record checks the record at an offset of a file and visits it.
func (w *walker) record(name string, at int64, r frame) error {
	next := w.Last + 1
	if r.kind == kindEnd {
		next = w.Last
	}
	var err error
	switch {
	case w.ended > 0:
		err = errors.New("records follow the one that ends the file")
	case r.seq != next:
		err = fmt.Errorf("sequence %d follows %d", r.seq, w.Last)
	case len(r.link) > 0 && Hash(r.link) != w.Head:
		err = errChain
	case r.kind == kindEnd:
		w.ended, err = readEnd(r)
	default:
		w.Last = r.seq
		if len(r.link) > 0 {
			w.Head = r.hash()
		}
		return w.visit(Entry{name, r.seq, r.kind, r.payload, w.Head})
	}
	if err != nil {
		return w.damage(name, at, err)
	}
	return nil
}

// missing reports files that must be there after the last journal.
func (w *walker) missing() error {
	switch {
	case w.ended > 0:
		return w.damage(journalName(w.last), -1, fmt.Errorf("it is continued by %s and %s, which are missing", snapshotName(w.ended), journalName(w.ended)))
	case w.last < w.newest:
		return w.damage(journalName(w.newest), -1, errMissing)
	}
	return nil
}

// snapshot checks a snapshot against the journal that continues it, and visits
// it if told to.
func (w *walker) snapshot(n int, visit bool) error {
	name := snapshotName(n)
	data, err := w.disk.Read(name)
	if errors.Is(err, fs.ErrNotExist) && n < w.newest {
		return nil // removed since we listed the files
	}
	var head snapshotHead
	var state []byte
	if err == nil {
		head, state, err = decodeSnapshot(data, w.disk.Path(name), n)
	}
	h, ok := w.headers[n]
	switch {
	case err != nil:
	case ok && (h.Store != head.Store || h.Format >= chained && h.Snapshot != sha256.Sum256(data)):
		err = fmt.Errorf("%s continues another snapshot than this one", journalName(n))
	case visit:
		return w.visit(Entry{File: name, Seq: head.Seq, Payload: state})
	}
	if err != nil {
		return w.damage(name, -1, err)
	}
	return nil
}
