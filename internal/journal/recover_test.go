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
// fail there; whatever fails, the good records are all there, in a directory that
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

// TestGivenUpCountsNowhere: the state refuses a record that is whole, and whole ones follow it, in its
// journal and in the next one; after a recovery, and after a second one that goes back further, none of
// those that were given up is in the history, at its end or in the index.
func TestGivenUpCountsNowhere(t *testing.T) {
	d := newStore(t)
	j, _, err := open(d, journal.FileOptions{MaxRecords: 4})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 7 { // generation 2 goes on after 4
		if err := write(j, uint64(i)+1, fmt.Sprint("kept ", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	write(j, 8, "impossible") // it is on disk, and the journal is broken
	check := func(what string, last uint64, want ...string) {
		t.Helper()
		var got []string
		h, err := journal.Walk(d, func(e journal.Entry) error {
			if e.Kind == kindNote {
				got = append(got, string(e.Payload))
			}
			return nil
		})
		if err != nil || h.Last != last || len(got) != int(last) || strings.Contains(fmt.Sprint(got), "impossible") {
			t.Errorf("%s: the history ends with %d, %q, %v", what, h.Last, got, err)
		}
		newest, err := journal.Newest(d, 1<<20)
		if given := slices.ContainsFunc(newest, func(e journal.Entry) bool { return bytes.Contains(e.Payload, []byte("impossible")) }); err != nil || given {
			t.Errorf("%s: what was given up is at its end: %t, %v", what, given, err)
		}
		x, err := journal.OpenIndex(d, noteKeys, discard)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for _, text := range append(want, "impossible") {
			entries, err := x.Find(text)
			if texts := found(t, entries, err); (len(texts) == 1) != (text != "impossible") {
				t.Errorf("%s: %q is found as %q", what, text, texts)
			}
		}
	}
	if _, err := load(d, true); err != nil {
		t.Fatal(err)
	}
	check("recovered", 7, "kept 2", "kept 7")
	if j, _, err = open(d, journal.FileOptions{}); err == nil {
		err = write(j, 8, "later")
	}
	if err != nil {
		t.Fatal(err)
	}
	check("and written on", 8, "kept 7")
	// The journal of the first recovery is lost, and what was written to it.
	f := d.Files["journal-3.wal"]
	f.Data[len(f.Data)-3] ^= 1
	if f = d.Files["snapshot-3.state"]; f != nil {
		f.Data[len(f.Data)-3] ^= 1
	}
	if _, err := load(d, true); err != nil {
		t.Fatal(err)
	}
	check("recovered once more", 7, "kept 2", "kept 7")
}
