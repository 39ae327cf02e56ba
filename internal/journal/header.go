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

// generation returns the number in a name of the given shape, or 0.
func generation(name, prefix, suffix string) int {
	text, ok := strings.CutPrefix(name, prefix)
	text, ok2 := strings.CutSuffix(text, suffix)
	n, err := strconv.Atoi(text)
	if !ok || !ok2 || err != nil || n < 1 || strconv.Itoa(n) != text {
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

	// Recovered says that a recovery has begun this generation, and the other two what it
	// could not use: Cuts are the journals of which only the first bytes count from now on,
	// and Gaps the places where the history goes on after another record than the last.
	Recovered bool  `json:"recovered,omitempty"`
	Cuts      []cut `json:"cuts,omitempty"`
	Gaps      []gap `json:"gaps,omitempty"`
}

type cut struct {
	N    int `json:"n"`
	Good int `json:"good"` // bytes; 0 if the file does not count at all
}

type gap struct {
	After uint64 `json:"after"` // the last record before the gap
	Next  uint64 `json:"next"`  // the journal after the gap goes on after this record
}

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
func decodeHeader(data []byte, path string, n int) (h header, r frame, err error) {
	r, err = decodeFrame(data, 0)
	if err != nil {
		return h, r, fmt.Errorf("its first record: %w", err)
	}
	// The other members of another version's header may mean something else.
	var version struct {
		Magic  string `json:"magic"`
		Format int    `json:"format"`
	}
	if r.kind == KindHeader && json.Unmarshal(r.payload, &version) == nil && version.Magic == magic && version.Format != format {
		return h, r, &FormatError{path, version.Format}
	}
	if r.kind != KindHeader || json.Unmarshal(r.payload, &h) != nil || h.Magic != magic || h.N != n {
		return h, r, errors.New("it is no journal of wick, or not this one")
	}
	r.hash = sha256.Sum256(r.body)
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
	h, r, state, err := decodeSnapshot(data, name, sharedGeneration)
	return Point{h.Store, r.seq, h.Before}, state, err
}

// decodeSnapshot reads the snapshot of generation n from the content of the file at path.
func decodeSnapshot(data []byte, path string, n int) (h header, r frame, state []byte, err error) {
	h, r, err = decodeHeader(data, path, n)
	if err == nil {
		if state = data[r.size:]; sha256.Sum256(state) != h.Snapshot {
			err = errors.New("the checksum of its state does not match")
		}
	}
	return h, r, state, err
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

// noted is what the recoveries of a directory have noted in the headers of its journals.
type noted struct {
	store  string      // that the newest journal is of
	cuts   map[int]int // by generation
	gaps   []gap
	newest int // the last generation that a recovery began
}

// readNoted reads the headers of the given journals. One that cannot be read notes nothing:
// who reads that journal will see why.
func readNoted(d Disk, journals []int) noted {
	all := noted{cuts: make(map[int]int)}
	for _, n := range journals {
		f, err := d.Open(journalName(n))
		if err != nil {
			continue
		}
		r, err := readFrame(f, 0, 0)
		f.Close()
		var h header
		if err != nil || json.Unmarshal(r.payload, &h) != nil {
			continue
		}
		all.store, all.gaps = h.Store, append(all.gaps, h.Gaps...)
		for _, c := range h.Cuts {
			if c.N < n && c.Good >= 0 { // a recovery can tell of earlier journals only
				all.cuts[c.N] = c.Good
			}
		}
		if h.Recovered {
			all.newest = n
		}
	}
	return all
}

// has reports whether a recovery has noted a gap.
func (all noted) has(g gap) bool {
	return slices.ContainsFunc(all.gaps, func(o gap) bool { return o == g || o.After <= g.After && g.After <= g.Next && g.Next <= o.Next })
}

// read reads the journal of generation n as far as it counts; out reports that it does not
// count at all.
func (all noted) read(d Disk, n int) (j journalFile, out bool) {
	good, cut := all.cuts[n]
	if cut && good == 0 {
		return j, true
	}
	if j = readJournal(d, n); cut && good < len(j.data) {
		name := j.name
		j = parseJournal(j.data[:good], nil, d.Path(name), n)
		j.name = name
	}
	if j.good > 0 && j.header.Store != all.store {
		j.good, j.fault = 0, fmt.Errorf("it belongs to another store: %.40q, and the others to %q", j.header.Store, all.store)
	}
	return j, false
}
