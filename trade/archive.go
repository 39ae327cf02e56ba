package trade

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"wick/archive"
	"wick/journal"
)

// keptOrders is how many terminal orders stay in memory. Of more than that, the ones that
// ended first move to the archive when a snapshot is written, or earlier, as soon as there
// are extraOrders too many. Every write waits while a snapshot is made, but none waits for
// the earlier moves, which leave the snapshot little to do.
const (
	keptOrders  = 10_000
	extraOrders = 2_000
)

// archiveHead is the end of the archive as a snapshot notes it. At the next start the
// archive must have at least these records.
type archiveHead struct {
	Records uint64 `json:"records"`
	Hash    string `json:"hash"`
}

// noted returns h as a snapshot notes it, nil for an empty archive.
func noted(h archive.Head) *archiveHead {
	if h.Records == 0 {
		return nil
	}
	return &archiveHead{h.Records, hex.EncodeToString(h.Hash[:])}
}

// head returns the end of the archive that a snapshot noted. It is the inverse of noted.
func (n *archiveHead) head() (h archive.Head, err error) {
	if n == nil {
		return h, nil
	}
	hash, err := hex.DecodeString(n.Hash)
	if err != nil || len(hash) != sha256.Size {
		return h, fmt.Errorf("the archive's hash %.80q is not one", n.Hash)
	}
	return archive.Head{Records: n.Records, Hash: [sha256.Size]byte(hash)}, nil
}

// The archive finds an order by its own id and by the client's. Clients choose
// theirs, so the two kinds of keys are kept apart.
func orderKey(id string) string { return "order " + id }

// clientKey is orderKey for the id that a client chose.
func clientKey(id string) string { return "client " + id }

// orderRecord returns an order as the archive keeps it.
func orderRecord(o *Order) archive.Record {
	body, err := json.Marshal(o)
	if err != nil { // our own types can always be encoded
		panic(err)
	}
	r := archive.Record{Keys: []string{orderKey(o.ID)}, Body: body}
	if o.ClientOrderID != "" {
		r.Keys = append(r.Keys, clientKey(o.ClientOrderID))
	}
	return r
}

// addToArchive appends orders and returns when they are on disk. An order that the
// archive has already is not added again: a crash may have come after it was archived,
// and before a snapshot was written without it.
func addToArchive(a *archive.Archive, orders []*Order) error {
	records := make([]archive.Record, len(orders))
	for i, o := range orders {
		records[i] = orderRecord(o)
	}
	return a.Append(records)
}

// checkArchive reads the whole archive and returns what is wrong with it.
func checkArchive(d journal.Disk, s *state) error {
	_, err := readArchive(d, s.store, s.archived, func([]byte) error { return nil })
	return err
}

// archiveAdvice ends the error of a damaged archive.
const archiveAdvice = "; restore the directory from a copy, or let wick --recover show what can be kept"

// archiveError says where a damaged archive is and what to do about it.
func archiveError(d journal.Disk, err error) error {
	if notDamaged(err) {
		return err
	}
	return fmt.Errorf("archive in %s: %w%s", d.Path(""), err, archiveAdvice)
}

// notDamaged reports whether err says that a file cannot be read, or that a later version
// of wick wrote it, and not that its content is damaged.
func notDamaged(err error) bool { return errors.Is(err, archive.ErrLater) || journal.Unreadable(err) }

// archiveBatch is how many orders are archived by one sync.
const archiveBatch = 4096

// addMissing is like addToArchive, but an order that the archive has with other content
// is no error: it stays as it is in the archive.
func addMissing(a *archive.Archive, orders []*Order) error {
	err := addToArchive(a, orders)
	if !errors.Is(err, archive.ErrExists) {
		return err
	}
	for _, o := range orders {
		if err := addToArchive(a, []*Order{o}); err != nil && !errors.Is(err, archive.ErrExists) {
			return err
		}
	}
	return nil
}

// readArchive calls visit for the orders of the archive. It returns the end of the archive,
// and an error if the archive lacks the record that was noted as its end.
func readArchive(d journal.Disk, store string, noted archive.Head, visit func(order []byte) error) (archive.Head, error) {
	// The journal notes the archive's head at each snapshot. An archive that was put
	// back from an older copy lacks that record, although nothing in it is damaged.
	seen := noted.Records == 0
	end, err := archive.Check(d, store, func(r archive.Record, h archive.Head) error {
		seen = seen || h == noted
		return visit(r.Body)
	})
	if err == nil && !seen {
		err = fmt.Errorf("it has %d records and not the one that the journal notes as its %d-th", end.Records, noted.Records)
	}
	if err != nil {
		return end, archiveError(d, err)
	}
	return end, nil
}
