package journal

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
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

// readJournal reads the journal of generation n.
func readJournal(d Disk, n int) (j journalFile) {
	j.n = n
	if j.data, j.fault = d.Read(journalName(n)); j.fault != nil {
		return j
	}
	first, err := decodeFrame(j.data, 0)
	if err != nil && torn(j.data, 0, err) {
		err = fmt.Errorf("%w: %w", errTorn, err)
	}
	if err != nil {
		j.fault = fmt.Errorf("its first record: %w", err)
		return j
	}
	if j.fault = checkFormat(first, d.Path(journalName(n))); j.fault != nil {
		return j
	}
	if first.kind != KindHeader || json.Unmarshal(first.payload, &j.header) != nil || j.header.Magic != magic || j.header.N != n {
		j.fault = errors.New("it is no journal of wick, or not this one")
		return j
	}
	j.payload, j.began = first.payload, Point{j.header.Store, first.seq, sha256.Sum256(first.body)}
	j.records, j.after, j.good, j.fault = readRecords(j.data, first.size, j.began)
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

// unborn reports whether the journal holds no record, and at most a part of its header. A
// rotation leaves that if it does not come to its snapshot.
func (j *journalFile) unborn() bool {
	if j.good == 0 {
		return errors.Is(j.fault, errTorn)
	}
	return j.fault == nil && len(j.records) == 0 && j.next == 0
}

// follows checks that the journal continues what was read before it: the record at p, and
// the snapshot with the hash sum if that is not nil.
func (j *journalFile) follows(p Point, sum *Hash) error {
	switch {
	case j.good == 0:
		return j.fault
	case j.header.Store != p.Store || j.began.Seq != p.Seq:
		return fmt.Errorf("it continues record %d of store %.40q, not record %d of %q", j.began.Seq, j.header.Store, p.Seq, p.Store)
	case j.header.Before != p.Hash:
		return errChain
	case sum != nil && j.header.Snapshot != *sum:
		return fmt.Errorf("it continues another %s than the one that is there", snapshotName(j.n))
	}
	return nil
}

// restore brings s to the snapshot of generation n, and returns the hash of that file.
func (f *Files) restore(s State, n int) (sum Hash, err error) {
	data, err := f.disk.Read(snapshotName(n))
	if err != nil {
		return sum, err
	}
	head, state, err := decodeSnapshot(data, f.disk.Path(snapshotName(n)), n)
	if err != nil {
		return sum, err
	}
	if err := s.Restore(head.Store, head.Seq, state); err != nil {
		return sum, fmt.Errorf("%w: %w", errSnapshot, err)
	}
	f.at = Point{head.Store, head.Seq, head.Before}
	return sha256.Sum256(data), nil
}

// replay applies the records of a journal to s, which has the state at f.at, and moves f.at
// to the last record that it applied. F.size is then the number of bytes up to there. The
// error says why it stopped before the end of the file.
func (f *Files) replay(s State, j *journalFile, sum *Hash) error {
	f.size, f.records = 0, 0
	if err := j.follows(f.at, sum); err != nil {
		return err
	}
	f.at = j.began
	for i, event := range decodeAll(s, j.records) {
		r := j.records[i]
		f.size = int64(r.at)
		if event == nil {
			return errors.New("its payload is no event")
		}
		if err := s.Apply(r.seq, r.kind, event); err != nil {
			return err
		}
		f.at.Seq, f.at.Hash = r.seq, r.hash
		f.records++
	}
	f.size = int64(j.good)
	return j.fault
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
