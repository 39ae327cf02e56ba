package trade

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"wick/archive"
	"wick/journal"
	"wick/limit"
)

// keptOrders is how many terminal orders stay in memory. Older ones move to
// the archive when a snapshot is written, or before, as soon as there are
// extraOrders of them: whoever places an order waits for a snapshot, but not for
// these.
const (
	keptOrders  = 10_000
	extraOrders = 2_000
)

// archiveHead is the end of the archive as a snapshot notes it: so much of it
// must be there at the next start.
type archiveHead struct {
	Records uint64 `json:"records"`
	Hash    string `json:"hash"`
}

// noted returns what a snapshot says of an archive; nothing of an empty one.
func noted(h archive.Head) *archiveHead {
	if h.Records == 0 {
		return nil
	}
	return &archiveHead{h.Records, hex.EncodeToString(h.Hash[:])}
}

// head returns the archive's end that a snapshot has noted, the inverse of noted.
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
func orderKey(id string) string  { return "order " + id }
func clientKey(id string) string { return "client " + id }

// orderRecord returns an order as the archive keeps it.
func orderRecord(o *Order) archive.Record {
	r := archive.Record{Keys: []string{orderKey(o.ID)}, Body: o.appendJSON(make([]byte, 0, 512))}
	if o.ClientOrderID != "" {
		r.Keys = append(r.Keys, clientKey(o.ClientOrderID))
	}
	return r
}

// addToArchive appends orders and returns when they are on disk. Those that are
// there already, because a crash came before the snapshot that leaves them out,
// are not added again.
func addToArchive(a *archive.Archive, orders []*Order) error {
	records := make([]archive.Record, len(orders))
	for i, o := range orders {
		records[i] = orderRecord(o)
	}
	return a.Append(records)
}

// archived returns the order in the archive under a key, or nil. It reads a page
// per segment of the archive. A damaged one is an error: a wrong "there is none"
// would let the same order be placed twice.
func (b *book) archived(key string) (*Order, error) {
	r, ok, err := b.archive.Lookup(key)
	if err == nil && !ok {
		return nil, nil
	}
	o := new(Order)
	if err == nil {
		err = json.Unmarshal(r.Body, o)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: whether there is a %s cannot be said: %w", journal.ErrStorage, limit.Clip(key), err)
	}
	return o, nil
}

// openArchive opens the archive of the store that was read. It is called once
// the store is known, which the journal may ask a snapshot for already.
func (b *book) openArchive() error {
	if b.archive != nil {
		return nil
	}
	if b.recover {
		if err := b.recoverArchive(); err != nil {
			return err
		}
	}
	a, err := archive.Open(b.disk, b.shown.store, b.shown.archived)
	if err != nil {
		return archiveError(b.disk, err)
	}
	if err := takeOver(b.disk, a); err != nil {
		return errors.Join(err, a.Close())
	}
	b.archive = a
	return nil
}

// closeArchive closes the archive once nobody appends to it.
func (b *book) closeArchive() error {
	b.pruning.Lock()
	defer b.pruning.Unlock()
	return b.archive.Close()
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

// notDamaged reports whether err says that a file cannot be used, and not that
// something is wrong with what is in it.
func notDamaged(err error) bool { return errors.Is(err, archive.ErrLater) || journal.Unreadable(err) }

// recoverArchive makes a damaged archive anew: from the records that are whole,
// and from what the journals and snapshots have of its orders.
func (b *book) recoverArchive() error {
	if err := checkArchive(b.disk, b.shown); err == nil || notDamaged(err) {
		return err
	}
	// The whole records first, then what journals and snapshots have beside them, in
	// batches of one sync each.
	if _, err := archive.Rebuild(b.disk, b.shown.store); err != nil {
		return err
	}
	b.shown.archived = archive.Head{} // what was noted is no longer in it
	a, err := archive.Open(b.disk, b.shown.store, archive.Head{})
	if err != nil {
		return err
	}
	var batch []*Order
	_, err = findEnded(b.disk, b.shown, func(o *Order) error {
		if batch = append(batch, o); len(batch) < archiveBatch {
			return nil
		}
		defer func() { batch = batch[:0] }()
		return addMissing(a, batch)
	})
	if err == nil {
		err = addMissing(a, batch)
	}
	return errors.Join(err, a.Close())
}

// archiveBatch is how many orders are archived by one sync.
const archiveBatch = 4096

// addMissing is addToArchive for orders of which the archive may have some in
// another form: those stay as they are.
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

// oldArchive is the file that earlier versions kept archived orders in, one JSON
// object a line, and takenOver its name once the archive has them.
const (
	oldArchive = "archive.jsonl"
	takenOver  = "archive.jsonl.taken-over"
)

// takeOver brings the orders of an earlier version's file into the archive. The
// file gets another name when all are there, so a crash before that only repeats
// the work.
func takeOver(d journal.Disk, a *archive.Archive) error {
	f, err := d.Open(oldArchive)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var batch []*Order
	// In batches: the file may be larger than memory, and adding orders one by one
	// would be slow.
	at, err := readOldArchive(f, func(line []byte) error {
		o := new(Order)
		if err := json.Unmarshal(line, o); err != nil {
			return err
		}
		if batch = append(batch, o); len(batch) < archiveBatch {
			return nil
		}
		defer func() { batch = batch[:0] }()
		return addToArchive(a, batch)
	})
	if err == nil {
		err = addToArchive(a, batch)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be taken over at byte %d: %w; restore the file from a copy", d.Path(oldArchive), at, err)
	}
	return d.Rename(oldArchive, takenOver)
}

// readOldArchive calls visit for every line of an earlier version's file, which is the
// JSON of an order, oldest first, and returns the offset where it stopped. A last line
// without its end was being written when a crash came: its order is in the snapshot.
func readOldArchive(f io.ReaderAt, visit func(line []byte) error) (at int64, err error) {
	in := bufio.NewReader(io.NewSectionReader(f, 0, math.MaxInt64))
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return at, nil
		}
		if err == nil {
			err = visit(bytes.TrimSuffix(line, []byte("\n")))
		}
		if err != nil {
			return at, err
		}
		at += int64(len(line))
	}
}
