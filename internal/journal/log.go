package journal

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
)

// State is what the records add up to. The owner of a journal implements it.
type State interface {
	// Restore replaces the state by the one a snapshot holds, as of record seq
	// of the store with this name; a nil snapshot stands for an empty store. On
	// an error the state is as before.
	Restore(store string, seq uint64, snapshot []byte) error
	// Decode turns the payload of a record into what was given to NewRecord. A
	// start calls it from several goroutines at once.
	Decode(kind byte, payload []byte) (event any, err error)
	// Apply is called for each record once it is on disk, by one goroutine at a time and
	// in the order of the sequences. An owner that has not taken the step yet, because it
	// reads the log of another process or is being started, takes it now. An error says
	// that this record cannot follow this state: a start reports it as damage.
	Apply(seq uint64, kind byte, event any) error
	// Snapshot returns the state as it is now: the sequence of its last record, which
	// need not be on disk yet, and a function that returns the state as a JSON object that
	// Restore understands. The journal calls the function, once at most, when Apply was
	// called for that record and before it is called for the next. Writers wait meanwhile.
	Snapshot() (seq uint64, encode func() ([]byte, error))
}

// Log stores records in order. [Files] keeps them in a directory. A log is used
// by one goroutine at a time; [Journal] sees to that. Every implementation must
// pass journaltest.Log.
type Log interface {
	// Read brings s to the newest state that the log has, and returns the sequence of the
	// last record. It is called before anything else. [Journal.Resume] calls it again on a
	// log that others append to.
	Read(s State) (seq uint64, err error)
	// Append stores records, the first of them under the sequence first, and returns when
	// they are durable. It fails if first does not follow the last sequence: then somebody
	// else writes to the same log. After any error the log must not be appended to again;
	// after one that wraps ErrUnknown nobody knows which of the records are stored. Due
	// reports whether a snapshot is due: so much was appended since the last one that
	// reading it would slow down a start.
	Append(first uint64, records []Record) (due bool, err error)
	// Head returns the hash of the last record that was read or appended, or of what a
	// snapshot has put after it.
	Head() Hash
	// Check returns an error if the log is no longer where it was opened.
	Check() error
	// Snapshot stores the state after the last record appended, so that a start need not
	// read earlier records. An error that wraps ErrRetry says that nothing has changed and
	// the log can be used as before.
	Snapshot(state []byte) error
	// Close closes the log. All that was appended is durable already.
	Close() error
}

// ErrUnknown reports a step that may or may not be on disk. The next start shows which.
var ErrUnknown = errors.New("outcome unknown")

// ErrRetry reports that a snapshot could not be written because of something that may be
// available again later, such as room or a file descriptor.
var ErrRetry = errors.New("cannot be done at the moment")

// Record is one step of the owner's state.
type Record struct {
	kind    byte
	payload []byte
	event   any // what the payload was made from, so that Apply need not decode it
}

// NewRecord encodes event as the payload of a record. The event must encode to a JSON
// object of at most 96 KiB and must not be changed afterwards. The owner chooses the
// kind, from 2 to 254. The numbers of kinds are on disk, so none may get another meaning
// later.
func NewRecord(kind byte, event any) (Record, error) {
	payload, err := json.Marshal(event)
	if err != nil {
		return Record{}, fmt.Errorf("encode record: %w", err)
	}
	if len(payload) > maxPayload {
		return Record{}, fmt.Errorf("a record of %d bytes, at most %d are kept", len(payload), maxPayload)
	}
	return Record{kind, payload, event}, nil
}

// AppendRecords appends the frames of records to b. The first of them has the sequence
// first and follows the record whose hash is before. It returns b and the hash of the
// last record.
func AppendRecords(b []byte, first uint64, before Hash, records []Record) ([]byte, Hash) {
	for i, r := range records {
		start := len(b)
		b = appendFrame(b, first+uint64(i), r.kind, before[:], r.payload)
		before = sha256.Sum256(b[start+frameHead:])
	}
	return b, before
}
