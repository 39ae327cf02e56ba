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

// readSnapshot restores s from the snapshot of generation n.
func (f *Files) readSnapshot(s State, n int) error {
	name := snapshotName(n)
	data, err := f.disk.Read(name)
	if err != nil {
		return err
	}
	head, state, err := decodeSnapshot(data, f.disk.Path(name), n)
	if err != nil {
		return err
	}
	if err := s.Restore(head.Store, head.Seq, state); err != nil {
		return fmt.Errorf("%w: %w", errSnapshot, err)
	}
	f.store, f.seq, f.head = head.Store, head.Seq, head.Before
	f.from, f.sum = n, sha256.Sum256(data)
	return nil
}

// replay applies the records of a journal file to s, which has the state before them. It
// returns how many bytes of the file are good, and the number of records in them; f.seq
// and f.head are then those of the last good record. The error says why it stopped before
// the end of the file; it wraps errTorn if the rest is an unfinished write.
func (f *Files) replay(s State, data []byte, n int) (good, records int, err error) {
	first, err := decodeFrame(data, 0)
	if err != nil {
		return 0, 0, fmt.Errorf("its first record: %w", err)
	}
	if err := f.checkHeader(first, n); err != nil {
		return 0, 0, err
	}
	frames, bad := scan(data, first.size)
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
		f.head = e.hash
		good += r.size
		records++
	}
	return good, records, bad
}

// checkHeader checks that r, the first record of journal n, continues what was read
// before it, and stores in f what it says.
func (f *Files) checkHeader(r frame, n int) error {
	if err := checkFormat(r, f.disk.Path(journalName(n))); err != nil {
		return err
	}
	var h header
	if r.kind != KindHeader || json.Unmarshal(r.payload, &h) != nil || h.Magic != magic {
		return errors.New("it is no journal of wick")
	}
	if h.N != n || h.Store != f.store || r.seq != f.seq {
		return fmt.Errorf("it continues record %d of store %.40q as number %d, not record %d of %q as %d",
			r.seq, h.Store, h.N, f.seq, f.store, n)
	}
	f.header, f.began, f.ended = h, r.seq, 0
	switch {
	case h.Before != f.before():
		return errChain
	case n == f.from && h.Snapshot != f.sum:
		return fmt.Errorf("it continues another %s than the one that is there", snapshotName(n))
	}
	f.head = r.hash()
	return nil
}

// follows checks that r continues what was read.
func (f *Files) follows(r frame) error {
	next := f.seq + 1
	if r.kind == kindEnd {
		next = f.seq
	}
	if r.seq != next {
		return fmt.Errorf("sequence %d follows %d", r.seq, f.seq)
	}
	if Hash(r.link) != f.head {
		return errChain
	}
	return nil
}

// decoded is what decodeAll makes from one record.
type decoded struct {
	event any // nil if the payload cannot be decoded
	hash  Hash
}

// decodeAll decodes and hashes the records on all processors, because a start spends
// nearly all its time on that.
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
				out[i].hash = r.hash()
			}
		})
	}
	wg.Wait()
	return all
}

// damage returns a DamageError for a file that cannot be trusted, or err itself if it
// shows no damage.
func (f *Files) damage(name string, at int64, seq uint64, err error) error {
	if d := damageOf(f.disk.Path(name), at, seq, err); d != nil {
		return d
	}
	return err
}
