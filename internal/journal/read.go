package journal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"sync"
)

// This file is the one reader of what [Files] and other logs have written. It returns
// records up to the first fault, and nothing behind that. A start, a recovery, a walk over
// the history, the index and logs that are no files all use it.

// readRecords returns the records in data from the offset at on, up to the first that is bad or
// does not follow the one before it. The first must follow the point p. Good is the offset at
// which it stopped, and fault says why: nil at the end of data, an error that wraps errTorn if
// the rest is an unfinished write. A record that ends a file is the last one.
func readRecords(name string, data []byte, at int, p Point) (records []Entry, good int, fault error) {
	for good, ended := at, false; good < len(data); {
		r, err := decodeFrame(data[good:], linkSize)
		next := p.Seq + 1
		if r.Kind == kindEnd { // is no step of the history
			next = p.Seq
		}
		switch {
		case err != nil && torn(data, good, err):
			err = fmt.Errorf("%w: %w", errTorn, err)
		case err != nil:
		case ended:
			err = errors.New("records follow the one that ends the file")
		case r.Seq != next:
			err = fmt.Errorf("sequence %d follows %d", r.Seq, p.Seq)
		case Hash(r.link) != p.Hash:
			err = errChain
		}
		if err != nil {
			return records, good, err
		}
		r.File, r.at = name, good
		records = append(records, r)
		p.Seq, p.Hash, ended = r.Seq, r.Hash, r.Kind == kindEnd
		good += r.size
	}
	return records, len(data), nil
}

// journalFile is what the journal of one generation holds.
type journalFile struct {
	n       int
	name    string // of the file
	data    []byte
	header  header
	records []Entry // the header first, without the one that ends the file; none if good is 0
	next    int     // the generation that its last record says continues it; 0 without such a record
	good    int     // bytes up to the fault
	fault   error   // why not all of the file is good, or nil; see readRecords
}

// readJournal reads the journal of generation n. It may still have the name under which it
// was written: a crash, or just the moment, has left a rotation before its last step.
func readJournal(d Reader, n int) (j journalFile) {
	for _, name := range []string{journalName(n), journalName(n) + unfinished, journalName(n)} {
		j = journalFile{n: n, name: name}
		if j.data, j.fault = d.Read(name); !errors.Is(j.fault, fs.ErrNotExist) {
			break
		}
	}
	if j.fault == nil {
		j.parse(d)
	}
	return j
}

// parse reads the header and the records from the content of the file.
func (j *journalFile) parse(d Reader) {
	var first Entry
	if j.header, first, j.fault = decodeHeader(j.data, d.Path(j.name), j.n); j.fault != nil {
		return
	}
	first.File = j.name
	j.records = []Entry{first}
	records, good, fault := readRecords(j.name, j.data, first.size, j.began())
	if last := len(records) - 1; last >= 0 && records[last].Kind == kindEnd {
		var e end
		if err := json.Unmarshal(records[last].Payload, &e); err != nil || e.Next < 1 || e.Next > maxGeneration {
			good, fault = records[last].at, fmt.Errorf("it ends with %.40q, which names no generation", records[last].Payload)
		}
		records, j.next = records[:last], e.Next
	}
	j.records, j.good, j.fault = append(j.records, records...), good, fault
}

// began is the point at which a good journal begins, and after the one at which it ends.
func (j *journalFile) began() Point { return j.header.point(j.records[0]) }

func (j *journalFile) after() Point { return j.header.point(j.records[len(j.records)-1]) }

// torn reports whether all that is wrong with the journal is an unfinished write behind
// its good records.
func (j *journalFile) torn() bool { return j.good > 0 && errors.Is(j.fault, errTorn) }

// follows checks that the journal continues the history that has come to p. A point without a
// store is before any history: only a journal that begins one follows it.
func (j *journalFile) follows(p Point) error {
	switch {
	case j.good == 0:
		return j.fault
	case p.Store == "" && j.header.begins(j.records[0].Seq):
		return nil
	case j.header.Store != p.Store || j.records[0].Seq != p.Seq:
		return fmt.Errorf("it continues record %d of store %.40q, not record %d of %q", j.records[0].Seq, j.header.Store, p.Seq, p.Store)
	case j.header.Before != p.Hash:
		return errChain
	}
	return nil
}

// Load brings s to the newest state that a directory holds, but not beyond the record last. It
// checks all that a start checks and changes nothing.
func Load(d Reader, s State, last uint64) error {
	names, err := d.List()
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	journals := generations(names, "journal-", ".wal")
	if len(journals) == 0 {
		return errNoJournal(d)
	}
	_, _, err = load(d, s, slices.Max(journals), last)
	return err
}

// errNoJournal reports a directory without a journal.
func errNoJournal(d Reader) error { return fmt.Errorf("there is no journal in %s", d.Path("")) }

// load is Load for a directory of which newest is the last journal with its name. It returns
// the journal that is to be continued, and after which point.
func load(d Reader, s State, newest int, last uint64) (j journalFile, at Point, err error) {
	j = readJournal(d, newest)
	if j.fault == nil && j.next > 0 {
		next := readJournal(d, j.next)
		err := next.follows(j.after())
		if errors.Is(err, fs.ErrNotExist) {
			return j, at, damage(d, j.name, j.good, j.after().Seq, fmt.Errorf("it is continued by %s, which is missing", journalName(j.next)))
		} else if err != nil {
			return j, at, damage(d, next.name, 0, j.after().Seq, err)
		}
		j = next
	}
	if j.good == 0 {
		return j, at, damage(d, j.name, 0, 0, j.fault)
	}
	at, err = restore(d, s, j.n)
	if err == nil && at != j.began() {
		err = errOther(j.n)
	}
	if err != nil {
		return j, at, damage(d, snapshotName(j.n), -1, 0, err)
	}
	at, good, err := j.replay(s, last)
	if err != nil && (err != j.fault || !j.torn()) {
		return j, at, damage(d, j.name, good, at.Seq, err)
	}
	return j, at, nil
}

// restore brings s to the snapshot of generation n, and returns the point of its header.
func restore(d Reader, s State, n int) (began Point, err error) {
	h, state, err := readSnapshot(d, n)
	if err != nil {
		return began, err
	}
	return h.point(state), s.Restore(h.Store, state.Seq, state.Payload)
}

// errOther reports that the two files of a generation have different headers.
func errOther(n int) error {
	return fmt.Errorf("%s and %s do not belong together", snapshotName(n), journalName(n))
}

// replay applies the records of a journal to s, which has the state that the journal begins
// with, but none beyond the record last. It returns the point after the last record that it
// applied, the number of bytes up to there, and why it stopped before the end of the file.
func (j *journalFile) replay(s State, last uint64) (after Point, good int, err error) {
	after, failed, err := apply(s, j.records[1:], j.began(), last)
	if err != nil {
		return after, failed.at, err
	}
	return after, j.good, j.fault
}

// apply applies records to s, which has the state at p, but none beyond the record last. It
// returns the point after the last one that it applied, and which one failed, and why.
func apply(s State, records []Entry, p Point, last uint64) (after Point, failed Entry, err error) {
	if i := slices.IndexFunc(records, func(r Entry) bool { return r.Seq > last }); i >= 0 {
		records = records[:i]
	}
	// They are decoded on all processors, because a start spends nearly all its time on that.
	events, errs := make([]any, len(records)), make([]error, len(records))
	var wg sync.WaitGroup
	for part := range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := part; i < len(records); i += runtime.GOMAXPROCS(0) {
				events[i], errs[i] = s.Decode(records[i].Kind, records[i].Payload)
			}
		})
	}
	wg.Wait()
	for i, r := range records {
		err := errs[i]
		if err == nil {
			err = s.Apply(r.Seq, r.Kind, events[i])
		}
		if err != nil {
			return p, r, err
		}
		p.Seq, p.Hash = r.Seq, r.Hash
	}
	return p, failed, nil
}

// Replay applies the frames in data to s, which has the state at p, and returns the point
// after the last one that it applied. It is for logs that keep the same records as [Files],
// but not in files: those store no part of a frame, so one that is not whole is an error.
func Replay(s State, data []byte, p Point) (Point, error) {
	records, _, fault := readRecords("", data, 0, p)
	p, _, err := apply(s, records, p, math.MaxUint64)
	if err = cmp.Or(err, fault); err != nil {
		err = fmt.Errorf("record %d: %w", p.Seq+1, err)
	}
	return p, err
}
