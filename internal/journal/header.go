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

	// Recovered says that a recovery has begun this generation, and the other two say what it
	// could not use: Cuts are the journals of which only the first bytes count from now on,
	// and Gaps the places where the history goes on after another record than the last.
	Recovered bool  `json:"recovered,omitempty"`
	Cuts      []cut `json:"cuts,omitempty"`
	Gaps      []gap `json:"gaps,omitempty"`

	at Point // of the record that it was read from; set by readNoted
}

type cut struct {
	N    int `json:"n"`
	Good int `json:"good"` // bytes; 0 if the file does not count at all
}

type gap struct {
	After uint64 `json:"after"` // the last record before the gap
	Next  uint64 `json:"next"`  // the journal after the gap goes on after this record
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

// endFrame returns the record that ends a journal after the record at p.
func endFrame(p Point, next int) []byte {
	payload, _ := json.Marshal(end{next}) // one number can always be encoded
	return appendFrame(nil, p.Seq, kindEnd, p.Hash[:], payload)
}

// noted is what the headers of the journals of a directory say.
type noted struct {
	store     string         // that the newest is of
	heads     map[int]header // of those that can be read, by generation
	cuts      map[int]int    // bytes that count, by generation, as a recovery has noted
	gaps      []gap          // as a recovery has noted
	recovered int            // the last generation that a recovery began
}

// readNoted reads the headers of the given journals. It ignores one that cannot be read: reading
// that journal returns the reason.
func readNoted(d Reader, journals []int) noted {
	all := noted{heads: make(map[int]header), cuts: make(map[int]int)}
	for _, n := range journals {
		r, err := readFrame(d, journalName(n), 0, 0)
		var h header
		if err != nil || json.Unmarshal(r.Payload, &h) != nil {
			continue
		}
		h.at = h.point(r)
		all.heads[n], all.store, all.gaps = h, h.Store, append(all.gaps, h.Gaps...)
		for _, c := range h.Cuts {
			if c.N < n && c.Good >= 0 { // a recovery can tell of earlier journals only
				all.cuts[c.N] = c.Good
			}
		}
		if h.Recovered {
			all.recovered = n
		}
	}
	return all
}

// first is the record after which a journal goes on: 0 if the history begins with it, or if
// that cannot be read.
func (all noted) first(n int) uint64 {
	h := all.heads[n]
	if h.begins(h.at.Seq) {
		return 0
	}
	return h.at.Seq
}

// has reports whether a recovery has noted a gap.
func (all noted) has(g gap) bool {
	return slices.ContainsFunc(all.gaps, func(o gap) bool { return o == g || o.After <= g.After && g.After <= g.Next && g.Next <= o.Next })
}

// read reads the journal of generation n as far as it counts; out reports that it does not
// count at all.
func (all noted) read(d Reader, n int) (j journalFile, out bool) {
	good, cut := all.cuts[n]
	if cut && good == 0 {
		return j, true
	}
	if j = readJournal(d, n); cut && good < len(j.data) {
		j = journalFile{n: n, name: j.name, data: j.data[:good]}
		j.parse(d)
	}
	if j.good > 0 && j.header.Store != all.store {
		j.good, j.fault = 0, fmt.Errorf("it belongs to another store: %.40q, and the others to %q", j.header.Store, all.store)
	}
	return j, false
}

// joins reports whether a file with the header h, whose state is that after record seq, follows
// a history that ends at last. A point without a store is before any history: only a file that
// begins one follows it. If the file does not follow, joins returns the gap between the two.
func joins(last Point, h header, seq uint64) (g gap, ok bool) {
	if last.Store == "" {
		return gap{0, seq}, h.begins(seq)
	}
	return gap{last.Seq, seq}, last.Store == h.Store && last.Seq == seq && last.Hash == h.Before
}

// gapError says which file is missing or wrong at a gap between generation last and the
// file called name, of generation n.
func gapError(d Reader, g gap, last, n int, name string) *DamageError {
	e := &DamageError{File: d.Path(journalName(max(last, 1))), Offset: -1, Seq: g.After}
	switch {
	case n > last+1:
		e.File, e.Err = d.Path(journalName(last+1)), fmt.Errorf("%w: %s goes on after record %d", ErrMissing, name, g.Next)
	case g.After == g.Next:
		e.Err = fmt.Errorf("%s does not follow its last record: that one has a different hash", name)
	default:
		e.Err = fmt.Errorf("it ends with record %d, and %s goes on after record %d: records are missing", g.After, name, g.Next)
	}
	return e
}
