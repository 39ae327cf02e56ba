package journaltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"wick/internal/journal"
)

// Kind is the kind of the records that [Log] appends.
const Kind = 7

// note is the payload of such a record.
type note struct {
	Text string `json:"text"`
}

// Notes is a [journal.State] that remembers the texts of its records.
type Notes struct {
	Store string
	Seq   uint64
	Texts []string // of all records, those of a snapshot included
	From  int      // how many of them came from a snapshot
}

// Restore begins with the texts of a snapshot.
func (n *Notes) Restore(store string, seq uint64, snapshot []byte) error {
	var v struct {
		Texts []string `json:"texts"`
	}
	if len(snapshot) > 0 {
		if err := json.Unmarshal(snapshot, &v); err != nil {
			return err
		}
	}
	*n = Notes{store, seq, v.Texts, len(v.Texts)}
	return nil
}

// Decode reads a payload.
func (n *Notes) Decode(_ byte, payload []byte) (any, error) {
	v := new(note)
	err := json.Unmarshal(payload, v)
	return v, err
}

// Apply adds a text.
func (n *Notes) Apply(seq uint64, kind byte, event any) error {
	if seq != n.Seq+1 || kind != Kind {
		return fmt.Errorf("record %d of kind %d follows %d", seq, kind, n.Seq)
	}
	n.Seq, n.Texts = seq, append(n.Texts, event.(*note).Text)
	return nil
}

// Snapshot returns the texts as a JSON object.
func (n *Notes) Snapshot() (uint64, func() ([]byte, error)) {
	return n.Seq, func() ([]byte, error) { return json.Marshal(map[string][]string{"texts": n.Texts}) }
}

// Record returns a record with a text.
func Record(t testing.TB, text string) journal.Record {
	r, err := journal.NewRecord(Kind, &note{text})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Log holds an implementation of [journal.Log] to what its interface promises.
// Each call of open returns a log on the same store, which is empty at first. The log
// before was closed, or just abandoned, as in a crash. A snapshot must be due after some
// megabytes.
func Log(t *testing.T, open func(t *testing.T) journal.Log) {
	s := &suite{T: t, open: open}
	s.start()
	store := s.notes.Store
	if store == "" || s.notes.Seq != 0 || len(s.notes.Texts) != 0 {
		t.Fatalf("a new store is restored as %+v, want one with a name and no record", s.notes)
	}
	s.append("one")
	s.append("two", "three")
	s.wrongSequences()
	s.crash("what was appended is there after a crash")
	s.append("four")
	s.snapshot()
	s.crash("a snapshot stands for what was before it")
	if s.notes.From != 4 {
		t.Errorf("%d records came from the snapshot, want 4", s.notes.From)
	}
	s.append("five")
	s.close()
	s.start()
	s.same("what follows a snapshot is there after a stop")
	s.many()
	s.crash("a snapshot that was due is there")
	s.append("the last")
	s.crash("the log goes on after it")
	if s.notes.Store != store {
		t.Errorf("the store is called %q and was %q", s.notes.Store, store)
	}
	s.close()
}

// suite is the state of [Log].
type suite struct {
	*testing.T
	open  func(t *testing.T) journal.Log
	log   journal.Log
	notes *Notes
	want  []string // all that was appended
}

// start opens the log and reads it.
func (s *suite) start() {
	s.Helper()
	s.log, s.notes = s.open(s.T), &Notes{}
	seq, err := s.log.Read(s.notes)
	if err != nil || seq != s.notes.Seq {
		s.Fatalf("read: sequence %d with the state at %d, %v", seq, s.notes.Seq, err)
	}
}

// append appends records as one group and reports whether a snapshot is due.
func (s *suite) append(texts ...string) bool {
	s.Helper()
	var records []journal.Record
	for _, text := range texts {
		records = append(records, Record(s, text))
	}
	head := s.log.Head()
	due, err := s.log.Append(uint64(len(s.want))+1, records)
	if err != nil {
		s.Fatalf("append %d records after %d: %v", len(texts), len(s.want), err)
	}
	if s.log.Head() == head {
		s.Errorf("the head is still %s", head)
	}
	s.want = append(s.want, texts...)
	return due
}

// wrongSequences: a record that does not follow the last is refused and leaves
// the log as it is.
func (s *suite) wrongSequences() {
	for _, first := range []uint64{0, 1, uint64(len(s.want)), uint64(len(s.want)) + 2} {
		if _, err := s.log.Append(first, []journal.Record{Record(s, "wrong")}); err == nil {
			s.Errorf("record %d was taken after %d", first, len(s.want))
		}
	}
}

// snapshot stores the state that the records add up to.
func (s *suite) snapshot() {
	s.Helper()
	text, err := json.Marshal(map[string][]string{"texts": s.want})
	if err == nil {
		err = s.log.Check()
	}
	if err == nil {
		err = s.log.Snapshot(text)
	}
	if err != nil {
		s.Fatalf("snapshot: %v", err)
	}
}

// crash opens the log anew without closing it, and compares.
func (s *suite) crash(why string) {
	s.Helper()
	head := s.log.Head()
	s.start()
	s.same(why)
	if s.log.Head() != head {
		s.Errorf("%s: the head is %s and was %s", why, s.log.Head(), head)
	}
}

func (s *suite) same(why string) {
	s.Helper()
	if !slices.Equal(s.notes.Texts, s.want) {
		s.Fatalf("%s: read %d texts ending with %.20q, want %d", why, len(s.notes.Texts), last(s.notes.Texts), len(s.want))
	}
}

func last(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[len(texts)-1]
}

// many appends until a snapshot is due, in groups and with records as long as
// they may be, and takes it. None is due right after it.
func (s *suite) many() {
	long := strings.Repeat("x", 60<<10)
	for range 1000 {
		if s.append(long, "short", string(bytes.Repeat([]byte("y"), 30<<10))) {
			s.snapshot()
			if s.append("after the snapshot") {
				s.Error("a snapshot is due right after one")
			}
			return
		}
	}
	s.Error("no snapshot is due after 90 MB")
}

func (s *suite) close() {
	s.Helper()
	if err := s.log.Close(); err != nil {
		s.Fatalf("close: %v", err)
	}
}
