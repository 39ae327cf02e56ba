package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// timeLayout is how the files write the time: UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// stamp returns the present time as the files write it. It is for people: the program
// decides nothing by it.
func stamp() string { return time.Now().UTC().Format(timeLayout) }

// snapshotHead is what we write into every snapshot, before the members of the
// owner's own object.
type snapshotHead struct {
	Format int    `json:"format"`
	N      int    `json:"n"` // the generation of the journal that continues it
	Store  string `json:"store"`
	Seq    uint64 `json:"seq"`
	At     string `json:"at"`
	Before Hash   `json:"before"` // of the last record that the state includes
}

// encodeSnapshot returns a snapshot file. Its first line is a JSON object with the
// members of head and then those of state; its second line has the checksum of the first
// and the number of records that the state includes.
func encodeSnapshot(head snapshotHead, state []byte) ([]byte, error) {
	text, _ := json.Marshal(head) // texts, numbers and a hash can always be encoded
	members, ok := bytes.CutPrefix(state, []byte("{"))
	if !ok {
		return nil, fmt.Errorf("encode snapshot: the state %.40q is not a JSON object", state)
	}
	if text = text[:len(text)-1]; len(members) > 1 { // more than the closing brace
		text = append(text, ',')
	}
	text = append(append(text, members...), '\n')
	return append(text, trailer(text, head.Seq)...), nil
}

// trailer returns the last line of a snapshot file whose first line is text.
func trailer(text []byte, records uint64) []byte {
	return fmt.Appendf(nil, "{\"crc32c\":\"%08x\",\"records\":%d}\n", crc32.Checksum(text, castagnoli), records)
}

var errSnapshot = errors.New("damaged snapshot")

// decodeSnapshot reads what encodeSnapshot wrote as generation n, in the file at
// path, and returns its head and its line of JSON. It compares the last line byte by
// byte with what it must be, so that a flipped bit in that line is found too.
func decodeSnapshot(data []byte, path string, n int) (snapshotHead, []byte, error) {
	end := bytes.IndexByte(data, '\n') + 1
	var head snapshotHead
	if end == 0 || json.Unmarshal(data[:end], &head) != nil || !bytes.Equal(data[end:], trailer(data[:end], head.Seq)) {
		return head, nil, fmt.Errorf("%w: the checksum at its end does not match", errSnapshot)
	}
	if head.Format != format {
		return head, nil, &FormatError{path, head.Format}
	}
	if head.N != n {
		return head, nil, fmt.Errorf("%w: it says it is number %d", errSnapshot, head.N)
	}
	return head, data[:end], nil
}
