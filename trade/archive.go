package trade

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"wick/journal"
)

// archive is the file of orders that left memory, one JSON object a line, only
// ever appended to. A client_order_id stays taken for ever, so those that carry
// one are kept at hand, about 400 bytes each.
type archive struct {
	ids map[string]*Order // client_order_id to the order
}

// archiveName is the name of the file.
const archiveName = "archive.jsonl"

// openArchive reads the ids. A last line that a crash cut short is cut off: its
// order is still in the snapshot, which was to be written after it.
func openArchive(d journal.Disk) (archive, error) {
	a := archive{ids: make(map[string]*Order)}
	data, err := d.Read(archiveName)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return a, err
	}
	good, err := readArchive(data, a.add)
	if err != nil {
		return a, fmt.Errorf("%s is damaged at byte %d: %w; repair the line or move the file away", d.Path(archiveName), good, err)
	}
	if good == len(data) {
		return a, nil
	}
	f, err := d.Open(archiveName)
	if err != nil {
		return a, err
	}
	return a, errors.Join(f.Truncate(int64(good)), f.Sync(), f.Close())
}

// readArchive calls visit for every order of an archive file, oldest first. It
// returns where the last whole line ends or, with an error, a bad one begins.
func readArchive(data []byte, visit func(*Order)) (int, error) {
	good := bytes.LastIndexByte(data, '\n') + 1
	for at := 0; at < good; {
		end := at + bytes.IndexByte(data[at:good], '\n')
		o := new(Order)
		if err := json.Unmarshal(data[at:end], o); err != nil {
			return at, err
		}
		visit(o)
		at = end + 1
	}
	return good, nil
}

// add keeps an order at hand if it has a client_order_id.
func (a archive) add(o *Order) {
	if o.ClientOrderID != "" {
		a.ids[o.ClientOrderID] = o
	}
}

// append writes orders to the archive and waits until they are on disk. After a
// crash between this and the snapshot they are written again: a line may come
// twice, and says the same both times.
func (a archive) append(d journal.Disk, orders []*Order) error {
	var text []byte
	for _, o := range orders {
		line, err := json.Marshal(o)
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	f, err := d.Open(archiveName)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = d.Create(archiveName)
	}
	if err != nil {
		return err
	}
	return errors.Join(journal.WriteSynced(f, text), f.Close())
}
