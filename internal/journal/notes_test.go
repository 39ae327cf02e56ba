package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"wick/internal/journal"
	"wick/internal/journal/journaltest"
)

// notes is the simplest owner of a journal: a list of texts.
type notes struct {
	store string
	seq   uint64
	texts []string
}

type note struct {
	Text string `json:"text"`
}

const kindNote = 2

func (s *notes) Restore(store string, seq uint64, snapshot []byte) error {
	var v struct {
		Texts []string `json:"texts"`
	}
	if snapshot != nil {
		if err := json.Unmarshal(snapshot, &v); err != nil {
			return err
		}
	}
	if uint64(len(v.Texts)) != seq {
		return fmt.Errorf("%d texts after %d records", len(v.Texts), seq)
	}
	s.store, s.seq, s.texts = store, seq, v.Texts
	return nil
}

func (s *notes) Decode(_ byte, payload []byte) (any, error) {
	n := new(note)
	return n, json.Unmarshal(payload, n)
}

func (s *notes) Apply(seq uint64, kind byte, event any) error {
	if seq != s.seq+1 || kind != kindNote {
		return fmt.Errorf("record %d of kind %d after %d", seq, kind, s.seq)
	}
	if event.(*note).Text == "impossible" {
		return errors.New("an impossible step")
	}
	s.seq, s.texts = seq, append(s.texts, event.(*note).Text)
	return nil
}

func (s *notes) Snapshot() (uint64, func() ([]byte, error)) {
	return s.seq, func() ([]byte, error) { return json.Marshal(map[string][]string{"texts": s.texts}) }
}

func (s *notes) String() string { return strings.Join(s.texts, "\n") }

var discard = slog.New(slog.DiscardHandler)

// open reads d and returns the journal and its state.
func open(d journal.Disk, o journal.FileOptions) (*journal.Journal, *notes, error) {
	s := new(notes)
	j, err := journal.Open(journal.NewFiles(d, o, discard), s, discard)
	return j, s, err
}

// load reads d as a start does and returns the state.
func load(d journal.Disk, recover bool) (*notes, error) {
	var o journal.FileOptions
	if recover {
		o.Recover = func(journal.Recovery) error { return nil }
	}
	_, s, err := open(d, o)
	return s, err
}

// newNote returns the record of a note.
func newNote(t *testing.T, text string) journal.Record {
	t.Helper()
	r, err := journal.NewRecord(kindNote, &note{text})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// write appends one note and waits until it is on disk.
func write(j *journal.Journal, seq uint64, text string) error {
	r, err := journal.NewRecord(kindNote, &note{text})
	if err != nil {
		return err
	}
	if err := j.Append(seq, r); err != nil {
		return err
	}
	return j.Commit(seq)
}

// smallStore returns a disk with four notes that was not stopped cleanly, and
// the state then.
func smallStore(t *testing.T) (*journaltest.Disk, string) {
	t.Helper()
	d := journaltest.NewDisk()
	j, s, err := open(d, journal.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"one", "two", strings.Repeat("three", 30), "four"} {
		if err := write(j, uint64(i)+1, text); err != nil {
			t.Fatal(err)
		}
	}
	return d, s.String()
}

const (
	journal1  = "journal-1.wal"
	snapshot1 = "snapshot-1.state"
)

// stride is 1: every case. With -short, as the race detector runs, it is 17: the
// detector has nothing to find in one goroutine and takes ten times as long.
func stride() int {
	if testing.Short() {
		return 17
	}
	return 1
}

// TestReadBack shows the whole life of a journal: what was committed is there
// after a crash, and after a clean stop.
func TestReadBack(t *testing.T) {
	d, want := smallStore(t)
	j, s, err := open(d.Cut(journaltest.Dropped), journal.FileOptions{})
	if err != nil || s.String() != want {
		t.Fatalf("after a crash: %v, %v", s.texts, err)
	}
	if err := write(j, 6, "out of turn"); err == nil {
		t.Error("a record with the wrong sequence was taken")
	}
	if err := write(j, 5, "five"); err != nil || j.Stats().Records != 5 {
		t.Errorf("%d records, %v", j.Stats().Records, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := write(j, 6, "six"); !errors.Is(err, journal.ErrStorage) {
		t.Errorf("a record after Close: %v", err)
	}
	if s, err := load(d, false); err != nil || !slices.Equal(s.texts[:4], strings.Split(want, "\n")) {
		t.Errorf("after a clean stop: %v, %v", s.texts, err)
	}
}
