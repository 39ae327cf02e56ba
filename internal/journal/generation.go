package journal

import (
	"cmp"
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

// generations are the numbers of the snapshots and journals in a directory, ascending.
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

// header is the payload of the first record of every journal file. It belongs to the
// snapshot of the same store and generation, and the sequence of the header record is
// that of the snapshot.
type header struct {
	Magic  string `json:"magic"`
	Format int    `json:"format"`
	N      int    `json:"n"`
	Store  string `json:"store"`
	At     string `json:"at"`

	// The hash of the record before and of the snapshot file.
	Before   Hash `json:"before"`
	Snapshot Hash `json:"snapshot"`
	// Aside are the files that could not be used as a whole, if a recovery wrote this
	// header.
	Aside []asideFile `json:"aside,omitempty"`
	// Gaps are the earlier journals that the recovery found missing or damaged and did
	// not need. They are left as they are.
	Gaps []span `json:"gaps,omitempty"`
}

// span is a range of generations, both ends included.
type span struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// gaps returns the generations that the header of journal n says are missing or damaged. A
// recovery can tell of earlier journals only.
func (h header) gaps(n int) (gaps []span) {
	for _, g := range h.Gaps {
		gaps = append(gaps, span{g.First, min(g.Last, n-1)})
	}
	for _, a := range h.Aside {
		if m := generation(a.File, "journal-", ".wal"); m > 0 {
			gaps = append(gaps, span{m, m})
		}
	}
	return gaps
}

// joined returns the same generations in as few spans as there can be.
func joined(spans []span) (out []span) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.First, b.First) })
	for _, s := range spans {
		switch last := len(out) - 1; {
		case s.First > s.Last:
		case last >= 0 && s.First-1 <= out[last].Last:
			out[last].Last = max(out[last].Last, s.Last)
		default:
			out = append(out, s)
		}
	}
	return out
}

// covers reports whether all generations of o are in s.
func (s span) covers(o span) bool { return s.First <= o.First && o.Last <= s.Last }

// asideFile is a file that a recovery set aside. Its first Good bytes stay under its own
// name.
type asideFile struct {
	File string `json:"file"`
	Good int64  `json:"good"`
}

// checkFormat returns a FormatError if r is the header of another version's
// journal, whose other members may mean something else.
func checkFormat(r frame, path string) error {
	var h struct {
		Magic  string `json:"magic"`
		Format int    `json:"format"`
	}
	if r.kind == KindHeader && json.Unmarshal(r.payload, &h) == nil && h.Magic == magic && h.Format != format {
		return &FormatError{path, h.Format}
	}
	return nil
}

// end is the payload of the last record of a journal file that another one continues. It
// shows a start when the files of that next generation were deleted.
type end struct {
	Next int `json:"next"` // the generation that continues this one
}

// endFrame returns the record that ends a journal after the record at p.
func endFrame(p Point, next int) []byte {
	payload, _ := json.Marshal(end{next}) // one number can always be encoded
	return appendFrame(nil, p.Seq, kindEnd, p.Hash[:], payload)
}
