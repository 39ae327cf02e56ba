package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"wick/internal/journal"
	"wick/internal/journal/journaltest"
)

// damagedStore returns a disk with two generations, and how many of its texts a recovery
// can keep. The newest snapshot is damaged, and so is a record of the newest journal.
func damagedStore(t *testing.T) (d *journaltest.Disk, texts []string, good int) {
	t.Helper()
	d, texts = newStore(t), script(45, 3)
	j, _, err := open(d, journal.FileOptions{MaxRecords: 25})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if err := write(j, uint64(i)+1, text); err != nil {
			t.Fatal(err)
		}
	}
	d.Files["snapshot-2.state"].Data[100] ^= 1
	f := d.Files["journal-2.wal"]
	frames := journaltest.Frames(f.Data)
	at := 0
	for _, r := range frames[:len(frames)-6] {
		at += r.Size
	}
	f.Data[at+20] ^= 1 // the sixth record from the end: five whole ones follow
	return d, texts, len(texts) - 6
}

// TestRecoverShows: the caller is told what is kept and given up before anything
// is changed, and can leave it at that.
func TestRecoverShows(t *testing.T) {
	d, _, good := damagedStore(t)
	before := d.String()
	var r journal.Recovery
	enough := errors.New("seen enough")
	if _, _, err := open(d, journal.FileOptions{Recover: func(got journal.Recovery) error { r = got; return enough }}); !errors.Is(err, enough) {
		t.Fatalf("recovery: %v", err)
	}
	if d.String() != before {
		t.Error("looking changed the directory")
	}
	if r.Seq != uint64(good) || len(r.Faults) != 2 || !r.Faults[0].Snapshot || r.Faults[0].File != "snapshot-2.state" || r.Faults[1].File != "journal-2.wal" {
		t.Errorf("it keeps %d records and sets aside %+v; want %d, the snapshot and the journal", r.Seq, r.Faults, good)
	}
}

// TestRecoverEveryFailure lets every disk call of a recovery fail, and the power
// fail there. Whatever fails, the good records are all there, in a directory that
// is complete or refused, and a second recovery finishes. The damaged files stay
// as they were.
func TestRecoverEveryFailure(t *testing.T) {
	store, texts, good := damagedStore(t)
	given := slices.Clone(store.Files["journal-2.wal"].Data)
	for k, done := 1, false; !done; k += 1 + stride()/8 { // every third call with -short
		for _, after := range []bool{false, true} {
			d := store.Cut(journaltest.Kept)
			d.FailAt, d.Forever, d.After = k, true, after
			_, err := load(d, true)
			done = err == nil
			for _, fate := range []journaltest.Fate{journaltest.Dropped, journaltest.Kept, 1} {
				what := fmt.Sprintf("call %d, after %t, fate %d", k, after, fate)
				left := d.Cut(fate)
				s, err := load(left, false)
				var damage *journal.DamageError
				if errors.As(err, &damage) {
					s, err = load(left, true)
				}
				if err != nil || !slices.Equal(s.texts, texts[:good]) {
					t.Fatalf("%s: %d of %d notes, %v", what, len(s.texts), good, err)
				}
				if f := left.Files["journal-2.wal"]; f == nil || !bytes.Equal(f.Data, given) {
					t.Fatalf("%s: what was given up is gone", what)
				}
				if s, err = load(left, true); err != nil || !slices.Equal(s.texts, texts[:good]) {
					t.Fatalf("%s, recovered once more: %d of %d notes, %v", what, len(s.texts), good, err)
				}
			}
		}
	}
}

// TestRecoverMissing: a recovery reports a missing journal, and does not take an empty
// directory for a store.
func TestRecoverMissing(t *testing.T) {
	d, _ := smallStore(t)
	delete(d.Files, journal1)
	var r journal.Recovery
	if _, _, err := open(d, journal.FileOptions{Recover: func(got journal.Recovery) error { r = got; return nil }}); err != nil {
		t.Fatal(err)
	}
	if len(r.Faults) != 1 || !strings.Contains(r.Faults[0].Err.Error(), "missing") {
		t.Errorf("a missing journal: %+v", r)
	}
	if _, err := load(journaltest.NewDisk(), true); err == nil || !strings.Contains(err.Error(), "no journal in") {
		t.Errorf("an empty directory: %v", err)
	}
}
