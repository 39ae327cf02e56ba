package journal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func journalName(n int) string  { return fmt.Sprintf("journal-%d.wal", n) }
func snapshotName(n int) string { return fmt.Sprintf("snapshot-%d.json", n) }

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

// generations are the numbers of the files there are, ascending.
type generations struct {
	snapshots, journals []int
}

// findGenerations picks the files of a journal out of all names.
func findGenerations(names []string) (g generations) {
	for _, name := range names {
		if n := generation(name, "snapshot-", ".json"); n > 0 {
			g.snapshots = append(g.snapshots, n)
		}
		if n := generation(name, "journal-", ".wal"); n > 0 {
			g.journals = append(g.journals, n)
		}
	}
	slices.Sort(g.snapshots)
	slices.Sort(g.journals)
	return g
}

// magic tells a journal of ours from any other file.
const magic = "wick journal"

// header is the payload of the first record of every journal file. It ties the
// file to its snapshot: same store, same generation, and the record's sequence
// is the one to go on from.
type header struct {
	Magic  string `json:"magic"`
	Format int    `json:"format"`
	N      int    `json:"n"`
	Store  string `json:"store"`
	At     string `json:"at"`

	// From format 2 on: the hash of the record before and of the snapshot file.
	Before   Hash `json:"before"`
	Snapshot Hash `json:"snapshot"`
	// Aside are the files that the recovery that wrote this one could not use
	// as a whole.
	Aside []asideFile `json:"aside,omitempty"`
	// Gaps are the earlier journals that the recovery that wrote this one found
	// missing or damaged and did not need. They are left as they are.
	Gaps []span `json:"gaps,omitempty"`
}

// span is a row of generations.
type span struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// asideFile is a file that a recovery set aside, but for its first Good bytes.
type asideFile struct {
	File string `json:"file"`
	Good int64  `json:"good"`
}

// checkFormat returns a FormatError if r is the header of a later version's
// journal, whose other members may mean something else.
func checkFormat(r frame, path string) error {
	var h struct {
		Magic  string `json:"magic"`
		Format int    `json:"format"`
	}
	if r.kind == kindHeader && json.Unmarshal(r.payload, &h) == nil && h.Magic == magic && h.Format > format {
		return &FormatError{path, h.Format}
	}
	return nil
}

// end is the payload of the last record of a journal file that is complete. It
// is how a start knows that files of a later generation were deleted.
type end struct {
	Next int `json:"next"` // the generation that goes on
}

// endFrame returns the record that ends a journal after record seq, whose hash
// is before.
func endFrame(seq uint64, before Hash, next int) []byte {
	payload, err := json.Marshal(end{next})
	if err != nil {
		panic(err) // one number can always be encoded
	}
	return appendFrame(nil, seq, kindEnd, before[:], payload)
}

// readEnd returns the generation that a record names that ends a file.
func readEnd(r frame) (int, error) {
	var e end
	if err := json.Unmarshal(r.payload, &e); err != nil || e.Next < 1 {
		return 0, fmt.Errorf("it ends with %.40q, which names no generation", r.payload)
	}
	return e.Next, nil
}
