package archive

import "fmt"

// Each calls f with every record, oldest first, and the head that it makes. It
// checks the chain on the way and stops at the first error. The record's body
// is f's until it returns.
func (a *Archive) Each(f func(r Record, h Head) error) error {
	head := Head{Hash: origin(a.store)}
	for _, s := range a.all() {
		at, err := walk(s, head, func(_ int64, r Record, h Head) error {
			head = h
			return f(r, h)
		})
		if err != nil {
			return &DamageError{segmentName(s.number), at, err}
		}
	}
	if head != a.head {
		return fmt.Errorf("the archive's records end at %d, its indexes at %d", head.Records, a.head.Records)
	}
	return nil
}

// Verify reads everything: it checks that every record follows the one before
// it and can be found under each of its keys and by its number.
func (a *Archive) Verify() error {
	return a.Each(func(r Record, h Head) error {
		for _, key := range r.Keys {
			if _, ok, err := a.Lookup(key); err != nil {
				return err
			} else if !ok {
				return fmt.Errorf("record %d is not in the index under %q: remove the .idx file, and the next start makes it anew", h.Records, key)
			}
		}
		_, err := a.At(h.Records)
		return err
	})
}
