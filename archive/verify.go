package archive

import (
	"errors"

	"wick/journal"
)

// Check reads the whole archive of a store and calls visit with every record, oldest
// first, and the head after it. It checks that every record follows the one before it and
// that the indexes are right, and returns the last head. The memory of a record is used
// again after visit returns. Check changes nothing and may run while another process
// appends: an unfinished record at the very end is not reported as an error.
func Check(d journal.Disk, store string, visit func(r Record, h Head) error) (Head, error) {
	a := &Archive{disk: d, store: store, head: Head{Hash: origin(store)}}
	count, err := segments(d)
	for n := 1; err == nil && n <= count; n++ {
		err = a.checkSegment(n, n == count, visit)
	}
	return a.head, err
}

// checkSegment checks segment n, which must continue at a.head, and sets a.head to its
// end.
func (a *Archive) checkSegment(n int, last bool, visit func(r Record, h Head) error) error {
	f, err := a.disk.Open(segmentName(n))
	if err != nil {
		return err
	}
	defer f.Close()
	s := &segment{number: n, first: a.head.Records + 1, data: f}
	// The last segment may have no head yet: the process that appends is writing it,
	// or crashed while it did.
	if size, err := f.Size(); err != nil || size < int64(headSize) && last {
		return err
	}
	if err := s.checkHead(a.store, a.head.Hash); err != nil {
		return err
	}
	if s.index = openIndex(a.disk, a.store, s); s.index != nil { // without one, the next start makes it
		defer s.index.file.Close()
	}
	var refused error // the error of visit, which is no damage
	var entries []entry
	at, err := walk(s, a.head, func(at int64, r Record, h Head) error {
		if s.index != nil {
			// Collect from the records what the index must have.
			s.offsets = append(s.offsets, at)
			for _, key := range r.Keys {
				entries = append(entries, entry{digest(key), at})
			}
		}
		a.head = h
		refused = visit(r, h)
		return refused
	})
	switch {
	case refused != nil:
		return refused
	case err != nil && last && s.index == nil && torn(f, at, err) == nil:
		return nil
	case err != nil:
		return &damageError{segmentName(n), at, err}
	case s.index != nil:
		return a.checkIndex(s, entries)
	}
	return nil
}

// checkIndex checks that the index of a segment is the one that its records give.
func (a *Archive) checkIndex(s *segment, entries []entry) error {
	got, err := a.disk.Read(s.index.name)
	if err != nil {
		return err
	}
	want, _, _ := layIndex(a.store, s, a.head.Hash, entries)
	if at := firstDifference(got, want); at < len(got) || len(got) < len(want) {
		return &damageError{s.index.name, int64(at), errors.New("it is not the index of its segment; remove this file, and the next start makes it anew")}
	}
	return nil
}
