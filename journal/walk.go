package journal

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Entry is a record or a snapshot that Walk found.
type Entry struct {
	File    string
	Seq     uint64
	Kind    byte   // of a record; 0 for a snapshot
	Payload []byte // of a record, or the JSON of a snapshot
	Hash    Hash   // of the record; zero for a snapshot
}

// History is what Walk found.
type History struct {
	Store  string
	Last   uint64   // the sequence of the newest record
	Head   Hash     // its hash, or that of a header after it; zero if no file has hashes
	First  uint64   // the record after which the hashes begin
	Files  int      // number of journal files
	Notes  []string // what the owner should know although it is no damage
	Damage []error  // all damage, oldest file first, at most maxDamage

	// Incomplete is how many journals a recovery has noted as missing or damaged, and
	// FirstIncomplete the first of them. The history goes on after them.
	Incomplete      int
	FirstIncomplete string
}

// maxDamage is how many faults are reported one by one.
const maxDamage = 100

// Walk calls visit for every record of every journal in a directory, oldest first, and
// before them for the oldest snapshot if the records before it are gone. It checks that
// every record follows the one before it, from the first to the last, and that the
// snapshots were not changed since they were written. If something is wrong Walk goes on
// with the next record that is whole, and in the end returns the first fault as a
// [DamageError]. An unfinished write at the end of a journal is only noted, and so are
// files that a recovery found missing or damaged.
//
// It only reads and takes no lock, so it may run while another process uses the
// directory.
func Walk(d Disk, visit func(Entry) error) (History, error) {
	w, err := walkAll(d, visit)
	if err == nil && len(w.faults) > 0 {
		err = w.judge()
	}
	return w.History, err
}

// walkAll is Walk without the call of judge: it returns the faults as it found them.
func walkAll(d Disk, visit func(Entry) error) (*walker, error) {
	w := &walker{disk: d, visit: visit, headers: make(map[int]header)}
	names, err := d.List()
	if err != nil {
		return w, fmt.Errorf("state directory: %w", err)
	}
	g := findGenerations(names)
	if len(g.snapshots)+len(g.journals) == 0 {
		return w, fmt.Errorf("there is no journal in %s", d.Path(""))
	}
	w.find(g.snapshots)
	if w.newest > 0 && (len(g.journals) == 0 || g.journals[0] >= g.snapshots[0]) {
		err = w.snapshot(g.snapshots[0], true)
	}
	for i := 0; err == nil && i < len(g.journals); i++ {
		err = w.journal(g.journals[i])
		if i == len(g.journals)-1 && w.ended > g.journals[i] && w.there(journalName(w.ended)) {
			g.journals = append(g.journals, w.ended) // begun since we listed the files
		}
	}
	if err == nil {
		err = w.missing()
	}
	for i := 0; err == nil && i < len(g.snapshots); i++ {
		err = w.snapshot(g.snapshots[i], false)
	}
	return w, err
}

// walker is the state of a walk.
type walker struct {
	History
	disk    Disk
	visit   func(Entry) error
	newest  int            // the newest snapshot
	last    int            // the generation of the journal read last
	ended   int            // the next generation, which its end record names, or 0
	broken  bool           // what was read last is damaged, so the next record need not follow it
	judged  int            // the generation of the last snapshot that was reported as damaged
	headers map[int]header // of the journals read, by generation
	faults  []fault
}

// fault is damage, and the generations whose journals are missing or damaged; none if
// the damage is that of a snapshot.
type fault struct {
	err   *DamageError
	about span
}

// find notes the newest snapshot and the name of its store, by which a journal of
// another store is recognized.
func (w *walker) find(snapshots []int) {
	for _, n := range slices.Backward(snapshots) {
		w.newest = max(w.newest, n)
		if data, err := w.disk.Read(snapshotName(n)); err == nil {
			if head, _, err := decodeSnapshot(data, "", n); err == nil {
				w.Store = head.Store
				return
			}
		}
	}
}

// there reports whether a file of this name exists.
func (w *walker) there(name string) bool {
	f, err := w.disk.Open(name)
	return err == nil && f.Close() == nil
}

// damage notes that err shows damage in a file, and returns nil. If err shows none,
// because a later version wrote the file or it cannot be read at all, damage returns err,
// which ends the walk.
func (w *walker) damage(name string, at int64, about span, err error) error {
	d := damageOf(w.disk.Path(name), at, w.Last, err)
	if d == nil {
		return err
	}
	d.advice = "put the file back from a copy; if wick refuses to start, wick --recover shows what can be kept"
	w.faults = append(w.faults, fault{d, about})
	w.broken = w.broken || about != (span{}) // a snapshot is not part of the chain of records
	return nil
}

// judge divides the faults in two. Those that a later recovery has noted become Notes;
// the others become Damage, and judge returns the first of those.
func (w *walker) judge() error {
	var about span // of the fault before: all faults of one file have the same
	var at string
	var ok bool
	counted := 0 // the last generation that Incomplete counts
	for _, f := range w.faults {
		if f.about != about {
			about = f.about
			at, ok = w.known(about)
		}
		if ok {
			if w.Incomplete == 0 {
				w.FirstIncomplete = journalName(about.First)
			}
			w.Incomplete += about.Last - max(about.First-1, counted)
			counted = about.Last
			w.note("%s; the recovery at %s noted it, and the history is incomplete there", f.err.what(), at)
		} else if len(w.Damage) < maxDamage {
			w.Damage = append(w.Damage, f.err)
		}
	}
	if len(w.Damage) == 0 {
		return nil
	}
	return w.Damage[0]
}

// known reports whether later recoveries have noted all journals of a span as missing or
// damaged, and returns the time of one of them.
func (w *walker) known(about span) (at string, ok bool) {
	if about.First == 0 || about.First > about.Last {
		return "", false
	}
	var noted []span
	for n, h := range w.headers {
		for _, g := range h.Gaps {
			g.Last = min(g.Last, n-1) // a recovery can tell of earlier journals only
			if g.First <= about.First && about.First <= g.Last {
				at = h.At
			}
			noted = append(noted, g)
		}
	}
	return at, len(about.without(noted)) == 0
}

func (w *walker) note(format string, args ...any) {
	w.Notes = append(w.Notes, fmt.Sprintf(format, args...))
}

// journal walks over the journal of generation n.
func (w *walker) journal(n int) error {
	name := journalName(n)
	data, err := w.disk.Read(name)
	if err != nil {
		return w.damage(name, -1, span{n, n}, err)
	}
	first, err := decodeFrame(data, 0)
	if n > w.newest && w.there(snapshotName(n)) {
		w.newest = n // begun since we listed the files
	}
	// A journal is ended only once the next generation has its snapshot.
	if n > w.newest && w.newest > 0 && holdsNone(data) && w.ended != n {
		w.note("%s: a rotation was not finished; the next start repeats it", name)
		return nil
	}
	if err == nil {
		err = w.header(first, n)
	}
	at := first.size
	switch {
	case errors.Is(err, errForeign):
		return w.damage(name, 0, span{n, n}, err)
	case err != nil:
		err = w.damage(name, 0, span{n, n}, err)
		at, w.ended = nextFrame(data, 1), 0
	default:
		w.Files++
		err = w.visit(Entry{name, first.seq, first.kind, first.payload, w.Head})
	}
	if err == nil && n > w.newest {
		err = w.damage(name, 0, span{}, fmt.Errorf("it continues %s, which is missing", snapshotName(n)))
	}
	w.last = n
	if err == nil {
		err = w.records(n, data, at)
	}
	return err
}

// records walks over the records of journal n from an offset on.
func (w *walker) records(n int, data []byte, at int) error {
	name := journalName(n)
	for at < len(data) {
		r, err := decodeFrame(data[at:], linkSize)
		switch {
		case err == nil:
			err = w.record(n, int64(at), r)
			at += r.size
		case torn(data, at, err):
			w.note("%s: an unfinished write of %d bytes at byte %d, which the next start cuts off", name, len(data)-at, at)
			return nil
		default:
			err = w.damage(name, int64(at), span{n, n}, err)
			at = nextFrame(data, at+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errForeign reports a file that is not of this store.
var errForeign = errors.New("it belongs to another store")

// header checks that r, the header of journal n, continues what was read before, notes
// damage if it does not, and stores what it says in w. It returns an error if r is not
// the header of this journal.
func (w *walker) header(r frame, n int) error {
	if err := checkFormat(r, w.disk.Path(journalName(n))); err != nil {
		return err
	}
	var h header
	if r.kind != KindHeader || json.Unmarshal(r.payload, &h) != nil || h.Magic != magic || h.N != n {
		return errors.New("it is no journal of wick, or not this one")
	}
	if w.Store = cmp.Or(w.Store, h.Store); h.Store != w.Store {
		return fmt.Errorf("%w: %.40q, and the others to %q", errForeign, h.Store, w.Store)
	}
	if !w.broken {
		if name, about, err := w.continues(r, h); err != nil {
			if err := w.damage(name, -1, about, err); err != nil {
				return err
			}
		}
	}
	for _, a := range h.Aside {
		w.note("%s: begun by a recovery at %s, which set aside %s from byte %d on", journalName(n), h.At, a.File, a.Good)
	}
	w.Head = r.hash()
	w.last, w.ended, w.broken, w.headers[n], w.Last = n, 0, false, h, r.seq
	return nil
}

// continues checks that a header follows what was read before. If it does not, it
// returns the file that is wrong, the generations that are missing or damaged, and an
// error.
func (w *walker) continues(r frame, h header) (name string, about span, err error) {
	name, about = journalName(h.N), span{h.N, h.N}
	skipped := slices.ContainsFunc(h.Aside, func(a asideFile) bool { return a.File == journalName(w.ended) })
	switch {
	case w.last == 0:
		err = w.begins(r, h)
	case w.ended > 0 && w.ended != h.N && !skipped || h.N > w.last+1 && r.seq > w.Last:
		err = fmt.Errorf("%w: %s goes on after record %d", ErrMissing, journalName(h.N), r.seq)
	case r.seq != w.Last:
		return journalName(w.last), span{w.last, w.last}, fmt.Errorf("it ends with record %d, and %s goes on after record %d: records are missing", w.Last, journalName(h.N), r.seq)
	case w.Head == (Hash{}):
		err = w.begins(r, h)
	case h.Before != w.Head:
		return journalName(w.last), span{w.last, w.last}, fmt.Errorf("%s does not follow its last record: the hash of that one is another", journalName(h.N))
	}
	if errors.Is(err, ErrMissing) {
		name, about = journalName(w.last+1), span{w.last + 1, h.N - 1}
	}
	return name, about, err
}

// begins checks the header of the oldest journal.
func (w *walker) begins(r frame, h header) error {
	switch {
	case h.Before != origin(h.Store, r.seq) && h.N == 1:
		return errChain
	case h.Before != origin(h.Store, r.seq):
		return fmt.Errorf("%w: %s, the oldest that is there, goes on after record %d", ErrMissing, journalName(h.N), r.seq)
	default:
		if w.First = r.seq; r.seq > 0 {
			w.note("%s: the hashes begin after record %d; those before were written elsewhere", journalName(h.N), r.seq)
		}
	}
	return nil
}

// record checks the record at an offset of journal n and visits it, even if it does not
// follow the one before, but not if its sequence is not higher than that of the one
// before.
func (w *walker) record(n int, at int64, r frame) error {
	name, next := journalName(n), w.Last+1
	if r.kind == kindEnd {
		next = w.Last
	}
	var err error
	switch {
	case w.ended > 0:
		err = errors.New("records follow the one that ends the file")
	case r.seq < next, r.seq != next && !w.broken:
		err = fmt.Errorf("sequence %d follows %d", r.seq, w.Last)
	case Hash(r.link) != w.Head && !w.broken:
		err = errChain
	}
	if err == nil && r.kind == kindEnd {
		w.ended, err = readEnd(r)
	}
	if err != nil {
		if err := w.damage(name, at, span{n, n}, err); err != nil {
			return err
		}
	}
	if r.kind == kindEnd || r.seq < next {
		return nil
	}
	w.Last, w.broken = r.seq, false
	w.Head = r.hash()
	return w.visit(Entry{name, r.seq, r.kind, r.payload, w.Head})
}

// missing notes files that must be there after the last journal.
func (w *walker) missing() error {
	if w.ended == 0 {
		w.ended = w.newest
	}
	if w.last >= w.ended {
		return nil
	}
	err := w.damage(journalName(w.ended), -1, span{}, ErrMissing)
	if err == nil && w.ended > w.newest {
		err = w.damage(snapshotName(w.ended), -1, span{}, ErrMissing)
	}
	return err
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
	case ok && (h.Store != head.Store || h.Snapshot != sha256.Sum256(data)):
		err = fmt.Errorf("%s continues another snapshot than this one", journalName(n))
	case visit:
		return w.visit(Entry{File: name, Seq: head.Seq, Payload: state})
	}
	if err == nil || w.judged == n {
		return nil
	}
	w.judged = n
	return w.damage(name, -1, span{}, err)
}

// Snapshots calls visit for every whole snapshot in a directory, oldest first.
func Snapshots(d Disk, visit func(Entry) error) error {
	names, err := d.List()
	for _, n := range findGenerations(names).snapshots {
		name := snapshotName(n)
		data, e := d.Read(name)
		if e != nil {
			continue
		}
		if head, state, e := decodeSnapshot(data, d.Path(name), n); e == nil && err == nil {
			err = visit(Entry{File: name, Seq: head.Seq, Payload: state})
		}
	}
	return err
}
