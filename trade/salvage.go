package trade

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"wick/archive"
	"wick/journal"
)

// gap is a stretch of time from which records are missing.
type gap struct {
	from, to Time // a zero from means the first record, a zero to the last snapshot
	there    bool // at least one record is missing
}

// salvageArchive counts the orders of a damaged archive that recoverArchive would keep for
// the state s, and those that are in no file any more. They ended in the time that is
// missing, as far as it is known. It only reads.
func salvageArchive(d journal.Disk, s *state) (kept, lost int, missing gap, err error) {
	// Of all orders that are found, some are among those that s counts as archived. If s
	// counts more than those, the rest is lost.
	var all, noted digests // of all orders that are found, and of those that s counts as archived
	err = archive.Salvage(d, func(r archive.Record, number uint64) error {
		id := strings.TrimPrefix(r.Keys[0], orderKey(""))
		if s.order(id) != nil {
			return nil
		}
		// s counts the records that the archive had when the last snapshot was made; later
		// ones were added after that.
		all.add(id)
		if number <= s.archived.Records {
			noted.add(id)
		}
		return nil
	})
	if err != nil {
		return 0, 0, missing, err
	}
	missing, err = findEnded(d, s, func(o *Order) error {
		all.add(o.ID)
		noted.add(o.ID)
		return nil
	})
	return all.count(), max(0, int(s.archived.Records)-noted.count()), missing, err
}

// digests is a set of ids. It takes 8 bytes for each: an archive may have many
// millions.
type digests []uint64

// add puts an id into the set, as the first 8 bytes of its hash.
func (d *digests) add(id string) {
	sum := sha256.Sum256([]byte(id))
	*d = append(*d, binary.LittleEndian.Uint64(sum[:]))
}

// count returns how many different ids were added.
func (d *digests) count() int {
	slices.Sort(*d)
	*d = slices.Compact(*d)
	return len(*d)
}

// findEnded calls visit, once or several times, for every order in the journals and
// snapshots that ended before s and is not in s. Such an order was in the archive. It
// goes on after what is damaged or missing, and returns the time from which records are
// missing.
func findEnded(d journal.Disk, s *state, visit func(*Order) error) (missing gap, err error) {
	// An order at a broker may change after it ended, and even be open again: only the
	// newest that is found of it counts.
	type version struct {
		seq uint64
		*Order
	}
	atBroker := make(map[string]version)
	missing, err = findOrders(d, s, func(o *Order, seq uint64) error {
		switch {
		case s.order(o.ID) != nil:
		case o.Account != "":
			if seq >= atBroker[o.ID].seq {
				atBroker[o.ID] = version{seq, o}
			}
		case o.Status.Terminal():
			return visit(o)
		}
		return nil
	})
	for _, id := range sorted(atBroker) {
		if o := atBroker[id]; err == nil && o.Status.Terminal() {
			err = visit(o.Order)
		}
	}
	return missing, err
}

// findOrders calls visit for every order in the records of the journals up to s, with the
// sequence of the record, then for those of the snapshots. It returns the time from which
// records are missing.
func findOrders(d journal.Disk, s *state, visit func(o *Order, seq uint64) error) (missing gap, err error) {
	var failed error // by visit
	last, lastAt := uint64(0), Time{}
	open := make(map[string]*Order) // so far, because a record has only the ids of orders that end with another
	_, err = journal.Walk(d, func(r journal.Entry) error {
		if r.Kind == 0 { // the records before the first snapshot are gone
			old, err := decodeState(s.store, r.Seq, r.Payload)
			for i := 0; err == nil && i < len(old.orders); i++ {
				open[old.orders[i].ID] = old.orders[i]
			}
			return nil
		}
		ev, bad := decodeEvent(r.Payload)
		if bad != nil || r.Seq > s.seq {
			return nil
		}
		// A header has the sequence of the record before it, and any other record the next
		// one; otherwise some are missing.
		next := last + 1
		if r.Kind == journal.KindHeader {
			next = last
		}
		if r.Seq > next {
			missing.add(lastAt, ev.At)
		}
		last, lastAt = r.Seq, ev.At
		if r.Kind != journal.KindHeader {
			// An error of visit ends the walk. It is kept, to be told apart from damage.
			for _, o := range ev.changed(func(id string) *Order { return open[id] }) {
				if open[o.ID] = o; o.Status.Terminal() {
					delete(open, o.ID)
				}
				if failed == nil {
					failed = visit(o, r.Seq)
				}
			}
		}
		return failed
	})
	if failed != nil || journal.Unreadable(err) {
		return missing, err
	}
	// If the journals end before the state that is kept, the records in between are
	// missing, too.
	if last < s.seq {
		missing.add(lastAt, Time{})
	}
	return missing, journal.Snapshots(d, func(r journal.Entry) error {
		old, err := decodeState(s.store, r.Seq, r.Payload)
		if err != nil || r.Seq > s.seq {
			return nil // of a state that is not kept
		}
		for _, o := range old.orders {
			if err := visit(o, r.Seq); err != nil {
				return err
			}
		}
		return nil
	})
}

// add extends the gap to the end of another one, which comes later.
func (g *gap) add(from, to Time) {
	if !g.there {
		g.from = from
	}
	g.to, g.there = to, true
}

// String returns the gap in words: from when to when.
func (g gap) String() string {
	from, to := "the beginning", "the last snapshot"
	if !g.from.IsZero() {
		from = g.from.Format(timeLayout)
	}
	if !g.to.IsZero() {
		to = g.to.Format(timeLayout)
	}
	if !g.there {
		return "times that are not known"
	}
	return from + " to " + to
}
