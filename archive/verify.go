package archive

import (
	"errors"
	"fmt"
	"slices"

	"wick/journal"
)

// Check reads the whole archive of a store and calls visit with every record,
// oldest first, and the head that it makes. It checks that every record follows
// the one before it and that the indexes lead to it, and returns the last head.
// The record is visit's until it returns. Check changes nothing and may run
// beside the process that appends: what is being written at that moment, like
// the torn end after a crash, ends it quietly.
func Check(d journal.Disk, store string, visit func(r Record, h Head) error) (Head, error) {
	a := &Archive{disk: d, store: store, head: Head{Hash: origin(store)}}
	count, err := segments(d)
	for n := 1; err == nil && n <= count; n++ {
		err = a.checkSegment(n, n == count, visit)
	}
	return a.head, err
}

// checkSegment checks segment n, which goes on from a's head, and moves the head
// to its end.
func (a *Archive) checkSegment(n int, last bool, visit func(r Record, h Head) error) error {
	f, err := a.disk.Open(segmentName(n))
	if err != nil {
		return err
	}
	defer f.Close()
	s := &segment{number: n, first: a.head.Records + 1, data: f}
	if size, err := f.Size(); err != nil || size < int64(headSize) && last {
		return err
	}
	if err := a.checkHead(s); err != nil {
		return err
	}
	if ix, err := openIndex(a.disk, a.store, s); err == nil { // without one, the next start makes it
		defer ix.file.Close()
		s.index = ix
	}
	var refused error // by visit, which is no damage
	at, err := walk(s, a.head, func(at int64, r Record, h Head) error {
		if s.index != nil {
			if err := s.index.leads(r, at, int(h.Records-s.first)); err != nil {
				return err
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
		return &DamageError{segmentName(n), at, err}
	case s.index != nil && (a.head != Head{s.first + uint64(s.records) - 1, s.index.last}):
		return &DamageError{indexName(n), 0, errors.New("it ends with another record than its segment; remove this file, and the next start makes it anew")}
	}
	return nil
}

// leads checks that the index finds a record, which is the i-th of its segment
// and stands at an offset, under each of its keys and by its number.
func (ix *index) leads(r Record, at int64, i int) error {
	page := make([]byte, pageSize)
	for _, key := range r.Keys {
		offsets, err := ix.find(digest(key), page)
		if err != nil {
			return err
		}
		if !slices.Contains(offsets, at) {
			return fmt.Errorf("%s does not lead to it under %q: remove that file, and the next start makes it anew", ix.name, key)
		}
	}
	got, err := ix.offset(i)
	if err == nil && got != at {
		err = fmt.Errorf("%s says that it stands at byte %d: remove that file, and the next start makes it anew", ix.name, got)
	}
	return err
}
