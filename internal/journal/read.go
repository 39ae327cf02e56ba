package journal

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"
)

// This file is the one reader of what [Files] and other logs have written. It yields
// records up to the first fault, and nothing behind that. A start, a recovery, a walk over
// the history, the index and logs that are no files all stand on it.

// readRecords returns the records in data from an offset on, each of which follows the one
// before it and the first of which follows the point p. Good is the offset after them, and
// fault is why the record there is none of them; it is nil at the end of data, and wraps
// errTorn if the rest is an unfinished write. A record that ends a file is the last one.
func readRecords(data []byte, good int, p Point) (records []frame, after Point, end int, fault error) {
	for good < len(data) {
		r, err := decodeFrame(data[good:], linkSize)
		next := p.Seq + 1
		if r.kind == kindEnd {
			next = p.Seq
		}
		switch ended := len(records) > 0 && records[len(records)-1].kind == kindEnd; {
		case err != nil && torn(data, good, err):
			err = fmt.Errorf("%w: %w", errTorn, err)
		case err != nil:
		case ended:
			err = errors.New("records follow the one that ends the file")
		case r.seq != next:
			err = fmt.Errorf("sequence %d follows %d", r.seq, p.Seq)
		case Hash(r.link) != p.Hash:
			err = errChain
		}
		if err != nil {
			return records, p, good, err
		}
		r.at, r.hash = good, sha256.Sum256(r.body)
		if records = append(records, r); r.kind != kindEnd { // the end of a file is not part of the history
			p.Seq, p.Hash = r.seq, r.hash
		}
		good += r.size
	}
	return records, p, good, nil
}

// journalFile is what the journal of one generation holds.
type journalFile struct {
	n       int
	name    string // of the file
	data    []byte
	header  header // meaningless if good is 0
	payload []byte // of the header
	began   Point  // the header
	records []frame
	next    int   // the generation that its last record says continues it; 0 without such a record
	after   Point // the last record
	good    int   // bytes up to the fault
	fault   error // why not all of the file is good, or nil; see readRecords
}

// readJournal reads the journal of generation n. It may still have the name under which it
// was written: a crash, or just the moment, has left a rotation before its last step.
func readJournal(d Disk, n int) (j journalFile) {
	for _, name := range []string{journalName(n), journalName(n) + unfinished, journalName(n)} {
		data, err := d.Read(name)
		j = parseJournal(data, err, d.Path(name), n)
		if j.name = name; !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return j
}

// parseJournal takes apart what reading the file at path has returned.
func parseJournal(data []byte, err error, path string, n int) journalFile {
	j := journalFile{n: n, data: data, fault: err}
	if err != nil {
		return j
	}
	var first frame
	if j.header, first, j.fault = decodeHeader(data, path, n); j.fault != nil {
		return j
	}
	j.payload, j.began = first.payload, Point{j.header.Store, first.seq, first.hash}
	j.records, j.after, j.good, j.fault = readRecords(data, first.size, j.began)
	if last := len(j.records) - 1; last >= 0 && j.records[last].kind == kindEnd {
		var e end
		if err := json.Unmarshal(j.records[last].payload, &e); err != nil || e.Next < 1 {
			j.good -= j.records[last].size
			j.fault = fmt.Errorf("it ends with %.40q, which names no generation", j.records[last].payload)
		}
		j.records, j.next = j.records[:last], e.Next
	}
	return j
}

// torn reports whether all that is wrong with the journal is an unfinished write behind
// its good records.
func (j *journalFile) torn() bool { return j.good > 0 && errors.Is(j.fault, errTorn) }

// follows checks that the journal continues the history that has come to p.
func (j *journalFile) follows(p Point) error {
	switch {
	case j.good == 0:
		return j.fault
	case j.header.Store != p.Store || j.began.Seq != p.Seq:
		return fmt.Errorf("it continues record %d of store %.40q, not record %d of %q", j.began.Seq, j.header.Store, p.Seq, p.Store)
	case j.header.Before != p.Hash:
		return errChain
	}
	return nil
}

// joins reports whether a journal with the header h, which goes on after record seq, follows
// the history that has come to last; without a store that has not begun. If not, the gap is
// what is between.
func joins(last Point, h header, seq uint64) (g gap, ok bool) {
	if last.Store == "" {
		return gap{0, seq}, h.Before == origin(h.Store, seq)
	}
	return gap{last.Seq, seq}, last.Store == h.Store && last.Seq == seq && last.Hash == h.Before
}

// gapError says which file is missing or wrong at a gap between generation last and the
// file called name, of generation n.
func gapError(d Disk, g gap, last, n int, name string) *DamageError {
	switch {
	case n > last+1:
		return &DamageError{File: d.Path(journalName(last + 1)), Offset: -1, Seq: g.After, Err: fmt.Errorf("%w: %s goes on after record %d", ErrMissing, name, g.Next)}
	case g.After == g.Next:
		return &DamageError{File: d.Path(journalName(max(last, 1))), Offset: -1, Seq: g.After, Err: fmt.Errorf("%s does not follow its last record: the hash of that one is another", name)}
	}
	return &DamageError{File: d.Path(journalName(last)), Offset: -1, Seq: g.After, Err: fmt.Errorf("it ends with record %d, and %s goes on after record %d: records are missing", g.After, name, g.Next)}
}

// replay applies the records of a journal to s, which has the state that the journal begins
// with. It returns the point after the last record that it applied, the number of bytes up
// to there, and why it stopped before the end of the file.
func (j *journalFile) replay(s State) (after Point, good int, err error) {
	after = j.began
	for i, event := range decodeAll(s, j.records) {
		r := j.records[i]
		if event == nil {
			return after, r.at, errors.New("its payload is no event")
		}
		if err := s.Apply(r.seq, r.kind, event); err != nil {
			return after, r.at, err
		}
		after.Seq, after.Hash = r.seq, r.hash
	}
	return after, j.good, j.fault
}

// decodeAll decodes the records on all processors, because a start spends nearly all its
// time on that. It returns nil for a payload that cannot be decoded.
func decodeAll(s State, records []frame) []any {
	all := make([]any, len(records))
	rest := all
	var wg sync.WaitGroup
	for part := range slices.Chunk(records, len(records)/runtime.GOMAXPROCS(0)+1) {
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
	return all
}

// Replay applies the frames in data to s, which has the state at p, and returns the point
// after the last one that it applied. It is for logs that keep the same records as [Files],
// but not in files: those store no part of a frame, so one that is not whole is an error.
func Replay(s State, data []byte, p Point) (Point, error) {
	records, _, _, fault := readRecords(data, 0, p)
	for _, r := range records {
		if r.kind == KindHeader || r.kind == kindEnd {
			fault = fmt.Errorf("a record of kind %d, which only files have", r.kind)
			break
		}
		event, err := s.Decode(r.kind, r.payload)
		if err == nil {
			err = s.Apply(r.seq, r.kind, event)
		}
		if err != nil {
			fault = err
			break
		}
		p.Seq, p.Hash = r.seq, r.hash
	}
	if fault != nil {
		return p, fmt.Errorf("record %d: %w", p.Seq+1, fault)
	}
	return p, nil
}
