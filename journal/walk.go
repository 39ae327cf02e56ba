package journal

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Entry is one thing that a directory holds, as Walk tells it.
type Entry struct {
	File    string
	Seq     uint64
	Kind    byte   // of a record; 0 for a snapshot
	Payload []byte // of a record, or the JSON of a snapshot
}

// KindHeader is the kind of the entry that begins each journal.
const KindHeader = kindHeader

// Walk calls visit for the snapshot of the oldest generation in a directory, and
// then for every record of every journal there is, oldest first. It only reads
// and takes no lock, so it may run beside the process that owns the directory; a
// record that process is writing at that moment ends the walk quietly.
func Walk(dir string, visit func(Entry) error) error {
	names, err := list(dir)
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	g := findGenerations(names)
	if len(g.snapshots) > 0 {
		if err := walkSnapshot(dir, g.snapshots[0], visit); err != nil {
			return err
		}
	}
	for _, n := range g.journals {
		if err := walkJournal(dir, journalName(n), visit); err != nil {
			return err
		}
	}
	return nil
}

func walkSnapshot(dir string, n int, visit func(Entry) error) error {
	name := snapshotName(n)
	path := filepath.Join(dir, name)
	data, err := ReadFile(path)
	if err != nil {
		return err
	}
	head, state, err := decodeSnapshot(data, path, n)
	if isFormat(err) {
		return err
	}
	if err != nil {
		return &DamageError{File: path, Offset: -1, Err: err}
	}
	return visit(Entry{File: name, Seq: head.Seq, Payload: state})
}

func walkJournal(dir, name string, visit func(Entry) error) error {
	path := filepath.Join(dir, name)
	data, err := ReadFile(path)
	if err != nil {
		return err
	}
	frames, bad := scan(data, 0)
	if len(frames) > 0 {
		if err := checkFormat(frames[0], path); err != nil {
			return err
		}
	}
	at, seq := 0, uint64(0)
	for _, r := range frames {
		if err := visit(Entry{name, r.seq, r.kind, r.payload}); err != nil {
			return err
		}
		at, seq = at+r.size, r.seq
	}
	if bad != nil && !errors.Is(bad, errTorn) {
		return &DamageError{File: path, Offset: int64(at), Seq: seq, Err: bad}
	}
	return nil
}
