// Package archive keeps finished records on disk for ever, and finds them by key. The
// trading engine moves orders there that nothing can change any more. A client that
// sends one of them again after years gets the first answer.
//
// # On disk
//
// Records are appended to segment files, archive-00000001.seg and so on. Each record
// has a checksum, its number and the SHA-256 of the record before it; the first one has
// a hash of the store's identity instead. A record that was changed, removed, swapped or
// copied in from elsewhere breaks that chain, and [Check] names the place.
//
// A segment that is full gets an index file, archive-00000001.idx: a table of
// key digests and offsets in pages of 4 KiB with a checksum each, so a look-up
// reads one page per segment. For the segment that still grows the same table is kept in
// memory, and a start makes it from the records. An index can always be made anew from
// its segment.
//
// # Crashes
//
// [Archive.Append] returns when the records are on disk. A crash before that
// leaves a torn last frame, which the next start cuts off; the caller still has
// those records and appends them again. Appending a record that is there already does
// nothing, so a caller that does not know how far it got repeats the whole call. But it
// must not append records again that were there when it called [Archive.Settle], or that
// are covered by the head that it gave to [Open]: Append does not look for those, because
// to look for every record in every segment would be slow.
//
// # Trust
//
// A start reads the heads of all files and the growing segment, but not the rest: an
// archive of ten million records opens in well under a second. Damage elsewhere shows
// when a look-up reads it, as an error that names the file, and never as a wrong answer.
// One goroutine at a time may append. Look-ups may run at the same time as an append and
// as each other, and do not wait for the disk to write what is being appended.
package archive

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"wick/journal"
)

// segmentRecords is how many records a segment holds. With more, a start is slower,
// because it reads the growing segment (6 µs and 180 bytes of memory for each record).
// With fewer, a look-up is slower, because it asks every segment, and there are more open
// files, two for each segment. It is a variable only for the tests.
var segmentRecords = 1 << 16

// ErrExists reports a record whose first key belongs to another record.
var ErrExists = errors.New("the archive has another record under this key")

// Archive is an open archive. Of full segments it keeps only their place in the chain in
// memory: keys and offsets stay in the index files, so ten million records take little
// memory.
type Archive struct {
	disk  journal.Disk
	store string // whose archive it is; in every segment's head

	mu     sync.RWMutex // guards all below; only Append changes them, after the records are on disk
	sealed []*segment   // the full segments, oldest first; each has an index
	grow   *segment     // the segment that is appended to; nil before the first record
	// Offsets of the records of the growing segment, by the digest of each key, oldest
	// first. A full segment has an index for this.
	recent map[uint64][]int64
	head   Head

	settled uint64 // records up to this number are not appended again
	failed  error  // why nothing can be appended any more, or nil; only Append uses it
}

// Open opens the archive of a store, which may be empty. The store's identity is part of
// every segment, so a file of another store is refused. Everything up to noted, the head
// that the caller has stored last, must be there. A torn append at the end, which a crash
// left, is cut off.
func Open(d journal.Disk, store string, noted Head) (*Archive, error) {
	a := &Archive{disk: d, store: store, recent: make(map[uint64][]int64), settled: noted.Records}
	a.head.Hash = origin(store)
	count, err := segments(d)
	for n := 1; err == nil && n <= count; n++ {
		err = a.open(n, n == count)
	}
	if err == nil {
		err = a.has(noted)
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// origin is the hash that the first record follows. Because it is made from the
// store's identity, no chain of another store can begin with it.
func origin(store string) [sha256.Size]byte { return sha256.Sum256([]byte("wick archive " + store)) }

// segments returns how many segments there are. They are numbered from 1. If one is
// missing segments returns an error, because its records would be missing too.
func segments(d journal.Disk) (int, error) {
	names, err := d.List()
	if err != nil {
		return 0, err
	}
	have, last := 0, 0
	for _, name := range names {
		var n int
		if _, err := fmt.Sscanf(name, "archive-%08d.seg", &n); err == nil && name == segmentName(n) {
			have, last = have+1, max(last, n)
		}
	}
	if have != last {
		return 0, fmt.Errorf("%d archive segments, but the last is %s: put the missing files back", have, segmentName(last))
	}
	return last, nil
}

// open adds segment n. A segment without a good index is read as a whole. If it is full
// it gets an index; if it is the last and not full, it is the growing one.
func (a *Archive) open(n int, last bool) error {
	f, err := a.disk.Open(segmentName(n))
	if err != nil {
		return err
	}
	// The segment counts as the growing one until its index or its frames say
	// otherwise.
	a.grow = &segment{number: n, first: a.head.Records + 1, data: f}
	size, err := f.Size()
	switch {
	case err != nil:
		return err
	case size < int64(headSize) && last:
		return a.startSegment(a.grow) // a crash came while the head was written
	}
	if err := a.grow.checkHead(a.store, a.head.Hash); err != nil {
		return err
	}
	// A good index says how many records there are and what the last hash is, so a
	// full segment is not read.
	if a.grow.index = openIndex(a.disk, a.store, a.grow); a.grow.index != nil {
		a.head = Head{a.head.Records + uint64(a.grow.records), a.grow.index.last}
		a.sealed, a.grow = append(a.sealed, a.grow), nil
		return nil
	}
	if err := a.scan(); err != nil {
		return err
	}
	switch {
	case a.grow.records == segmentRecords:
		return a.seal()
	case !last:
		return &damageError{segmentName(n), a.grow.size, errors.New("it ends early: the next segment goes on after records that are missing here")}
	}
	return nil
}

// scan reads the frames of the growing segment and cuts off a torn end. If a torn append
// cannot have left what is at the end, scan returns a damageError and cuts nothing.
func (a *Archive) scan() error {
	s := a.grow
	end, err := walk(s, a.head, func(at int64, r Record, h Head) error {
		a.remember(at, r)
		s.records, a.head = s.records+1, h
		return nil
	})
	s.size = end
	if err == nil {
		return nil
	}
	if err := torn(s.data, end, err); err != nil {
		return &damageError{segmentName(s.number), end, err}
	}
	return errors.Join(s.data.Truncate(end), s.data.Sync())
}

// has returns an error if a head, which the caller has stored earlier with its own state,
// is not part of the chain. Then the archive was restored from an older copy, or is
// another one.
func (a *Archive) has(h Head) error {
	switch {
	case h == Head{} || h == a.head || h == (Head{Hash: origin(a.store)}):
		return nil
	case h.Records > a.head.Records:
		return fmt.Errorf("the archive has %d records, but %d were written: put the missing files back", a.head.Records, h.Records)
	}
	// The head is in the middle. The segment that has it is read from its start; the hash
	// that its first record follows is the last one of the segment before.
	found := errors.New("found")
	before := Head{Hash: origin(a.store)}
	for _, s := range a.all() {
		if h.Records < s.first+uint64(s.records) {
			_, err := walk(s, before, func(_ int64, _ Record, made Head) error {
				if made == h {
					return found
				}
				return nil
			})
			if !errors.Is(err, found) {
				return fmt.Errorf("the archive has no record %d with hash %x: it is not the one that was written", h.Records, h.Hash)
			}
			return nil
		}
		before = Head{s.first + uint64(s.records) - 1, s.index.last}
	}
	return nil
}

// all returns the segments, oldest first. The capacity of a.sealed is cut, so that the
// append copies it.
func (a *Archive) all() []*segment {
	if a.grow == nil {
		return a.sealed
	}
	return append(a.sealed[:len(a.sealed):len(a.sealed)], a.grow)
}

// remember adds the offset of a record of the growing segment to the tables in memory.
func (a *Archive) remember(at int64, r Record) {
	a.grow.offsets = append(a.grow.offsets, at)
	for _, key := range r.Keys {
		d := digest(key)
		a.recent[d] = append(a.recent[d], at)
	}
}

// Head returns the end of the chain.
func (a *Archive) Head() Head {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.head
}

// Close closes the files. After it no method may be called.
func (a *Archive) Close() error {
	var errs []error
	for _, s := range a.all() {
		errs = append(errs, s.data.Close())
		if s.index != nil {
			errs = append(errs, s.index.file.Close())
		}
	}
	return errors.Join(errs...)
}

// Append adds records and returns when they are on disk. It leaves out a record that is
// there already and not settled. If the first key of a record belongs to another one that
// is not settled, Append returns ErrExists and adds nothing. After an error that wraps
// [journal.ErrRetry] the call may be repeated: the archive is good, and may have a part
// of the records. After any other error the archive must be opened anew first.
func (a *Archive) Append(records []Record) error {
	if a.failed != nil {
		return a.failed
	}
	fresh, err := a.fresh(records)
	if err != nil {
		return err
	}
	for len(fresh) > 0 {
		// There is no segment yet, or the last one is full.
		if a.grow == nil {
			if err := a.startSegment(&segment{number: len(a.sealed) + 1, first: a.head.Records + 1}); err != nil {
				return err
			}
		}
		// No more than the segment has room for; write may take fewer.
		n, err := a.write(fresh[:min(len(fresh), segmentRecords-a.grow.records)])
		if err != nil {
			return err
		}
		fresh = fresh[n:]
		if a.grow.records == segmentRecords {
			if err := a.seal(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fresh returns the records, each once, that are not in the part of the archive that is
// not settled.
func (a *Archive) fresh(records []Record) ([]Record, error) {
	var fresh []Record
	place := make(map[string]int, len(records)) // in fresh, by first key
	for _, r := range records {
		if err := r.check(); err != nil {
			return nil, err
		}
		old, ok, err := a.lookup(r.Keys[0], a.settled)
		if i, twice := place[r.Keys[0]]; twice {
			old, ok = fresh[i], true
		}
		switch {
		case err != nil:
			return nil, err
		// The same record: the caller has repeated a call after an error.
		case ok && bytes.Equal(old.Body, r.Body):
		case ok:
			return nil, fmt.Errorf("%w: %q", ErrExists, r.Keys[0])
		default:
			place[r.Keys[0]] = len(fresh)
			fresh = append(fresh, r)
		}
	}
	return fresh, nil
}

// Settle says that the records that are in the archive now will not be appended again.
// Append then looks for a record only in segments that have later ones.
func (a *Archive) Settle() { a.settled = a.head.Records }

// Holds reports whether the record with this key is in the archive and not settled, so
// that it may be appended again. Only the goroutine that appends may call it. Usually
// everything is settled, and then it reads nothing.
func (a *Archive) Holds(key string) (bool, error) {
	if a.settled == a.head.Records {
		return false, nil
	}
	_, ok, err := a.lookup(key, a.settled)
	return ok, err
}

// startSegment writes the head of s and makes s the growing segment. If a crash left a
// file with a part of a head, that is overwritten. Look-ups do not see the segment before
// its head is synced.
func (a *Archive) startSegment(s *segment) error {
	head := segmentHead(a.store, s.number, s.first, a.head.Hash)
	if s.data == nil {
		f, err := a.disk.Create(segmentName(s.number))
		if err != nil {
			return fmt.Errorf("%w: %w", journal.ErrRetry, err)
		}
		s.data = f
	} else if err := s.data.Truncate(0); err != nil {
		return err
	}
	if err := journal.WriteSynced(s.data, head); err != nil { // the next attempt makes the file anew
		return fmt.Errorf("%w: %w", journal.ErrRetry, errors.Join(err, s.data.Close()))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s.size, a.grow = int64(len(head)), s
	return nil
}

// write appends records to the growing segment, as many as one write may have, and
// returns how many that were. Look-ups see them only when they are on disk.
func (a *Archive) write(records []Record) (int, error) {
	s, head := a.grow, a.head
	var text []byte
	var at []int64
	for _, r := range records {
		if len(text) > maxAppend-frameHead-maxFrame {
			break
		}
		at = append(at, s.size+int64(len(text)))
		// The head moves with every frame, so that each is chained to the one before
		// it in the same write.
		text, head = appendFrame(text, r, head)
	}
	if err := journal.WriteSynced(s.data, text); err != nil {
		return 0, a.undo(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range at {
		a.remember(at[i], records[i])
	}
	s.records, s.size, a.head = s.records+len(at), s.size+int64(len(text)), head
	return len(at), nil
}

// undo cuts a failed write off the growing segment. All before it was synced earlier, so
// the segment is good again if the cut succeeds. If it fails, nothing more may be
// appended, because the file may end with half a frame.
func (a *Archive) undo(cause error) error {
	s := a.grow
	if err := cmp.Or(s.data.Truncate(s.size), s.data.Sync()); err != nil {
		a.failed = fmt.Errorf("%w; the end of the write cannot be cut off: %w", cause, err)
		return a.failed
	}
	return fmt.Errorf("%w: %w", journal.ErrRetry, cause)
}

// seal makes the index of the growing segment, which is full. Until the index has its
// name the segment counts as growing, so after a crash the work is only repeated.
func (a *Archive) seal() error {
	index, err := makeIndex(a.disk, a.store, a.grow, a.head.Hash, a.recent)
	if err != nil {
		return fmt.Errorf("%w: %w", journal.ErrRetry, err) // another attempt makes the same index
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.grow.index, a.grow.offsets = index, nil
	a.sealed, a.grow = append(a.sealed, a.grow), nil
	clear(a.recent)
	return nil
}

// Lookup returns the newest record that has the key, and false if there is none.
func (a *Archive) Lookup(key string) (Record, bool, error) { return a.lookup(key, 0) }

// lookup is Lookup, but skips the segments whose records are all among the first n.
func (a *Archive) lookup(key string, n uint64) (Record, bool, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	d := digest(key)
	if a.grow != nil {
		offsets := a.recent[d]
		for i := len(offsets) - 1; i >= 0; i-- {
			if r, ok, err := a.grow.match(offsets[i], key); ok || err != nil {
				return r, ok, err
			}
		}
	}
	// One buffer serves all segments. The newest comes first: it is the most likely to
	// be asked for.
	page := make([]byte, pageSize)
	for _, s := range slices.Backward(a.sealed) {
		if s.first+uint64(s.records) <= n+1 {
			break
		}
		offsets, err := s.index.find(d, page)
		if err != nil {
			return Record{}, false, err
		}
		for _, at := range offsets {
			if r, ok, err := s.match(at, key); ok || err != nil {
				return r, ok, err
			}
		}
	}
	return Record{}, false, nil
}

// At returns the record with a number; the first is 1.
func (a *Archive) At(number uint64) (Record, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for _, s := range slices.Backward(a.all()) {
		if number < s.first {
			continue
		}
		at, err := s.offset(int(number - s.first))
		if err != nil {
			return Record{}, err
		}
		f, err := readFrame(s.data, at)
		if err == nil && f.after.Records != number {
			err = errChain
		}
		if err != nil {
			return Record{}, &damageError{segmentName(s.number), at, err}
		}
		return f.record, nil
	}
	return Record{}, fmt.Errorf("the archive has no record %d", number)
}

// digest returns what the indexes have instead of a key. Clients choose keys, and may
// choose several with the same digest: each such key only costs one more read.
func digest(key string) uint64 {
	sum := sha256.Sum256([]byte(key))
	return binary.LittleEndian.Uint64(sum[:])
}
