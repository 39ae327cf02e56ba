package journal

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A generation n is two files that begin with the same record, its header: the snapshot
// goes on with the state as a JSON object, and the journal with the records since. So either
// file says of which store and record it is, and the header has the hash of the state.

func journalName(n int) string  { return fmt.Sprintf("journal-%d.wal", n) }
func snapshotName(n int) string { return fmt.Sprintf("snapshot-%d.state", n) }
func indexName(n int) string    { return fmt.Sprintf("journal-%d.idx", n) }

// unfinished is the end of the name of a file that is still being written.
const unfinished = ".tmp"

// maxGeneration is more than a disk has room for: a name with a higher number is not ours.
const maxGeneration = 1e9

// generation returns the number in a name of the given shape, or 0.
func generation(name, prefix, suffix string) int {
	text, ok := strings.CutPrefix(name, prefix)
	text, ok2 := strings.CutSuffix(text, suffix)
	n, err := strconv.Atoi(text)
	if !ok || !ok2 || err != nil || n < 1 || n > maxGeneration || strconv.Itoa(n) != text {
		return 0
	}
	return n
}

// generations returns the numbers in all names of the given shape, ascending.
func generations(names []string, prefix, suffix string) (all []int) {
	for _, name := range names {
		if n := generation(name, prefix, suffix); n > 0 {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// magic tells a journal of ours from any other file.
const magic = "wick journal"

// header is the payload of the first record of a journal and of a snapshot. The sequence
// of that record is the one of the last record that the state includes.
type header struct {
	Magic    string `json:"magic"`
	Format   int    `json:"format"`
	N        int    `json:"n"`
	Store    string `json:"store"`
	At       string `json:"at"`       // for people: the program decides nothing by it
	Before   Hash   `json:"before"`   // of the last record that the state includes
	Snapshot Hash   `json:"snapshot"` // of the state

	// Recovered says that a recovery has begun this generation. Of the generations before it
	// only the records that the state includes count, and what is wrong with them is known.
	Recovered bool `json:"recovered,omitempty"`

	at Point // of the record that it was read from; set by readPast
}

// point is the place in the history of the record r, in a file with this header.
func (h *header) point(r Entry) Point { return Point{h.Store, r.Seq, r.Hash} }

// begins reports whether the history begins with this header, whose state is that after
// record seq.
func (h *header) begins(seq uint64) bool { return h.Before == origin(h.Store, seq) }

// encodeHeader returns the record that begins the generation h.N after the point p, whose
// state is given.
func encodeHeader(h header, p Point, state []byte) []byte {
	h.Magic, h.Format, h.Store, h.Before, h.Snapshot = magic, format, p.Store, p.Hash, sha256.Sum256(state)
	h.At = time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	payload, _ := json.Marshal(h) // texts, numbers and hashes can always be encoded
	return appendFrame(nil, p.Seq, KindHeader, nil, payload)
}

// decodeHeader reads the header at the start of data, which is the content of the file at
// path, of generation n.
func decodeHeader(data []byte, path string, n int) (h header, r Entry, err error) {
	r, err = decodeFrame(data, 0)
	if err != nil {
		return h, r, fmt.Errorf("its first record: %w", err)
	}
	// The other members of another version's header may mean something else.
	var version struct {
		Magic  string `json:"magic"`
		Format int    `json:"format"`
	}
	if r.Kind == KindHeader && json.Unmarshal(r.Payload, &version) == nil && version.Magic == magic && version.Format != format {
		return h, r, &FormatError{path, version.Format}
	}
	if r.Kind != KindHeader || json.Unmarshal(r.Payload, &h) != nil || h.Magic != magic || h.N != n {
		return h, r, errors.New("it is no journal of wick, or not this one")
	}
	return h, r, nil
}

// EncodeSnapshot returns a snapshot of the state at p, for a log that is not in files.
func EncodeSnapshot(p Point, state []byte) []byte {
	return append(encodeHeader(header{N: sharedGeneration}, p, state), state...)
}

// sharedGeneration is the generation in the header of a snapshot that is in no directory.
const sharedGeneration = 1

// DecodeSnapshot reads what EncodeSnapshot returned; name is for error texts.
func DecodeSnapshot(data []byte, name string) (p Point, state []byte, err error) {
	h, r, err := decodeSnapshot(data, name, sharedGeneration)
	return Point{h.Store, r.Seq, h.Before}, r.Payload, err
}

// readSnapshot reads the snapshot of generation n. It has the sequence and the hash of its
// header.
func readSnapshot(d Reader, n int) (h header, state Entry, err error) {
	name := snapshotName(n)
	data, err := d.Read(name)
	if err == nil {
		h, state, err = decodeSnapshot(data, d.Path(name), n)
	}
	state.File = name
	return h, state, err
}

// decodeSnapshot reads the snapshot of generation n from the content of the file at path.
func decodeSnapshot(data []byte, path string, n int) (h header, state Entry, err error) {
	h, state, err = decodeHeader(data, path, n)
	if err == nil {
		state.Kind, state.Payload = 0, data[state.size:]
		if sha256.Sum256(state.Payload) != h.Snapshot {
			err = errors.New("the checksum of its state does not match")
		}
	}
	return h, state, err
}

// end is the payload of the last record of a journal that another one continues. It shows
// a start when that one was deleted.
type end struct {
	Next int `json:"next"` // the generation that continues this one
}

// past is what the headers of the journals of a directory say.
type past struct {
	store     string         // that the newest is of
	heads     map[int]header // of those that can be read, by generation
	recovered int            // the last generation that a recovery began
}

// readPast reads the headers of the given journals. It ignores one that cannot be read: reading
// that journal returns the reason.
func readPast(d Reader, journals []int) past {
	p := past{heads: make(map[int]header)}
	for _, n := range journals {
		r, err := readFrame(d, journalName(n), 0, 0)
		var h header
		if err != nil || json.Unmarshal(r.Payload, &h) != nil {
			continue
		}
		if h.at = h.point(r); h.Recovered {
			p.recovered = n
		}
		p.heads[n], p.store = h, h.Store
	}
	return p
}

// first is the record after which a journal goes on: 0 if the history begins with it, or if
// that cannot be read.
func (p past) first(n int) uint64 {
	h := p.heads[n]
	if h.begins(h.at.Seq) {
		return 0
	}
	return h.at.Seq
}

// excuses reports whether a recovery did without what is wrong with generation n.
func (p past) excuses(n int, err error) bool {
	return n < p.recovered && err != nil && !Unreadable(err)
}

// errGivenUp is what is wrong with a journal, or the rest of one, that a recovery has given up.
var errGivenUp = errors.New("what follows was given up")

// read reads the journal of generation n as far as it counts.
func (p past) read(d Reader, n int) journalFile {
	j := readJournal(d, n)
	for later, h := range p.heads {
		if i := slices.IndexFunc(j.records, func(r Entry) bool { return r.Seq > h.at.Seq }); h.Recovered && later > n && i >= 0 {
			j.good, j.fault, j.next, j.records = j.records[i].at, errGivenUp, 0, j.records[:i]
		}
	}
	if j.good > 0 && j.header.Store != p.store {
		j.good, j.fault = 0, fmt.Errorf("it belongs to another store: %.40q, and the others to %q", j.header.Store, p.store)
	}
	return j
}
