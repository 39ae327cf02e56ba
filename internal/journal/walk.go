package journal

import (
	"cmp"
	"crypto/sha256"
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
// snapshots were not changed since they were written. If something is wrong in a file Walk
// goes on with the next file, and in the end returns the first fault as a [DamageError].
// An unfinished write at the end of a journal is only noted, and so are files that a
// recovery found missing or damaged.
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

// Newest returns the newest records, headers included, oldest first: those of as many
// journals as have payloads of most bytes together. It reads no others, and checks nothing
// but these files. It may run while another process uses the directory.
func Newest(d Disk, most int) (entries []Entry, err error) {
	names, err := d.List()
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	for _, n := range slices.Backward(findGenerations(names).journals) {
		j := readJournal(d, n)
		if j.good == 0 && !j.unborn() {
			return entries, j.fault
		}
		if j.good == 0 {
			continue
		}
		file := []Entry{{journalName(n), j.began.Seq, KindHeader, j.payload, j.began.Hash}}
		for _, r := range j.records {
			file = append(file, Entry{journalName(n), r.seq, r.kind, r.payload, r.hash})
			most -= len(r.payload)
		}
		if entries = append(file, entries...); most <= 0 {
			break
		}
	}
	return entries, nil
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
		if i == len(g.journals)-1 && w.next > g.journals[i] && w.there(journalName(w.next)) {
			g.journals = append(g.journals, w.next) // begun since we listed the files
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
	next    int            // the next generation, which its last record names, or 0
	broken  bool           // the journal read last is damaged, so the next one need not follow it
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
	return nil
}

// judge divides the faults in two. Those that a later recovery has noted become Notes;
// the others become Damage, and judge returns the first of those.
func (w *walker) judge() error {
	counted := 0 // the last generation that Incomplete counts
	for _, f := range w.faults {
		if at, ok := w.known(f.about); ok {
			if w.Incomplete == 0 {
				w.FirstIncomplete = journalName(f.about.First)
			}
			w.Incomplete += f.about.Last - max(f.about.First-1, counted)
			counted = f.about.Last
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
			if g.Last = min(g.Last, n-1); g.First <= about.First && about.First <= g.Last {
				at = h.At
			}
			noted = append(noted, g)
		}
	}
	return at, slices.ContainsFunc(joined(noted), func(g span) bool { return g.covers(about) })
}

func (w *walker) note(format string, args ...any) {
	w.Notes = append(w.Notes, fmt.Sprintf(format, args...))
}

// journal walks over the journal of generation n.
func (w *walker) journal(n int) error {
	name, about, j := journalName(n), span{n, n}, readJournal(w.disk, n)
	if n > w.newest && w.there(snapshotName(n)) {
		w.newest = n // begun since we listed the files
	}
	switch {
	// A journal is ended only once the next generation has its snapshot.
	case n > w.newest && w.newest > 0 && j.unborn() && w.next != n:
		w.note("%s: a rotation was not finished; the next start repeats it", name)
		return nil
	case j.good == 0:
		w.last, w.next, w.broken = n, 0, true
		return w.damage(name, 0, about, j.fault)
	}
	if w.Store = cmp.Or(w.Store, j.header.Store); j.header.Store != w.Store {
		w.broken = true
		return w.damage(name, 0, about, fmt.Errorf("it belongs to another store: %.40q, and the others to %q", j.header.Store, w.Store))
	}
	if !w.broken {
		if name, about, err := w.continues(&j); err != nil {
			if err := w.damage(name, -1, about, err); err != nil {
				return err
			}
		}
	}
	for _, a := range j.header.Aside {
		w.note("%s: begun by a recovery at %s, which set aside %s from byte %d on", name, j.header.At, a.File, a.Good)
	}
	w.Files++
	w.last, w.next, w.headers[n], w.broken = n, j.next, j.header, false
	w.Last, w.Head = j.began.Seq, j.began.Hash
	if err := w.visit(Entry{name, w.Last, KindHeader, j.payload, w.Head}); err != nil {
		return err
	}
	if n > w.newest {
		if err := w.damage(name, 0, span{}, fmt.Errorf("it continues %s, which is missing", snapshotName(n))); err != nil {
			return err
		}
	}
	for _, r := range j.records {
		w.Last, w.Head = r.seq, r.hash
		if err := w.visit(Entry{name, r.seq, r.kind, r.payload, r.hash}); err != nil {
			return err
		}
	}
	switch {
	case j.torn():
		w.note("%s: an unfinished write of %d bytes at byte %d, which the next start cuts off", name, len(j.data)-j.good, j.good)
	case j.fault != nil:
		w.broken = true
		return w.damage(name, int64(j.good), about, j.fault)
	}
	return nil
}

// continues checks that a journal follows what was read before. If it does not, it returns
// the file that is wrong, the generations that are missing or damaged, and an error.
func (w *walker) continues(j *journalFile) (name string, about span, err error) {
	this, last := journalName(j.n), span{w.last, w.last}
	skipped := slices.ContainsFunc(j.header.Aside, func(a asideFile) bool { return a.File == journalName(w.next) })
	begins := j.header.Before == origin(j.header.Store, j.began.Seq)
	switch {
	case w.last == 0 && begins:
		if w.First = j.began.Seq; w.First > 0 {
			w.note("%s: the hashes begin after record %d; those before were written elsewhere", this, w.First)
		}
		return "", span{}, nil
	case w.last == 0 && j.n == 1:
		return this, span{1, 1}, errChain
	case w.last == 0:
		return journalName(1), span{1, j.n - 1}, fmt.Errorf("%w: %s, the oldest that is there, goes on after record %d", ErrMissing, this, j.began.Seq)
	case w.next > 0 && w.next != j.n && !skipped || j.n > w.last+1 && j.began.Seq > w.Last:
		return journalName(w.last + 1), span{w.last + 1, j.n - 1}, fmt.Errorf("%w: %s goes on after record %d", ErrMissing, this, j.began.Seq)
	case j.began.Seq != w.Last:
		return journalName(w.last), last, fmt.Errorf("it ends with record %d, and %s goes on after record %d: records are missing", w.Last, this, j.began.Seq)
	case j.header.Before != w.Head:
		return journalName(w.last), last, fmt.Errorf("%s does not follow its last record: the hash of that one is another", this)
	}
	return "", span{}, nil
}

// missing notes files that must be there after the last journal.
func (w *walker) missing() error {
	if w.next == 0 {
		w.next = w.newest
	}
	if w.last >= w.next {
		return nil
	}
	err := w.damage(journalName(w.next), -1, span{}, ErrMissing)
	if err == nil && w.next > w.newest {
		err = w.damage(snapshotName(w.next), -1, span{}, ErrMissing)
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
