package journal_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"wick/internal/journal"
	"wick/internal/journal/journaltest"
)

// script returns n notes of very different lengths: one in four may fill several
// sectors. Every snapshot has all notes before it, so that longer ones would make
// the tests slower and prove no more.
func script(n int, seed uint64) []string {
	r := rand.New(rand.NewPCG(seed, 1))
	texts := make([]string, n)
	for i := range texts {
		size := r.IntN(40)
		if i%4 == 3 {
			size *= r.IntN(40)
		}
		texts[i] = fmt.Sprint(i, strings.Repeat("x", size))
	}
	return texts
}

// run plays the notes on d and returns how many were acknowledged.
func run(d *journaltest.Disk, texts []string) int {
	acked := new(atomic.Uint64)
	play(d, texts, acked)
	return int(acked.Load())
}

// play writes the notes in groups of one to four, with a stop and a start in the
// middle, until the disk is dead or all is done. It counts in acked how many were
// acknowledged.
func play(d *journaltest.Disk, texts []string, acked *atomic.Uint64) {
	o := journal.FileOptions{MaxRecords: 25} // several rotations in a short script
	j, _, err := open(d, o)
	if err != nil {
		return
	}
	r := rand.New(rand.NewPCG(3, 4))
	for at, stopped := 0, false; at < len(texts); {
		if at >= len(texts)/2 && !stopped {
			if stopped = true; j.Close() != nil {
				return
			}
			if j, _, err = open(d, o); err != nil {
				return
			}
		}
		for range min(1+r.IntN(4), len(texts)-at) {
			record, err := journal.NewRecord(kindNote, &note{texts[at]})
			if err != nil || j.Append(uint64(at)+1, record) != nil {
				return
			}
			at++
		}
		if j.Commit(uint64(at)) != nil {
			return
		}
		acked.Store(uint64(at))
	}
	j.Close()
}

// newStore returns a disk with an empty store: power cuts during the very first
// start are TestFirstStart's.
func newStore(t *testing.T) *journaltest.Disk {
	t.Helper()
	d := journaltest.NewDisk()
	if _, _, err := open(d, journal.FileOptions{}); err != nil {
		t.Fatal(err)
	}
	return d.Cut(journaltest.Kept)
}

// checkRecovery starts on d: it must find a prefix of the script that has all
// that was acknowledged.
func checkRecovery(t *testing.T, d *journaltest.Disk, texts []string, acked int, what string) {
	t.Helper()
	s, err := load(d, false)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if len(s.texts) < acked || !slices.Equal(s.texts, texts[:len(s.texts)]) {
		t.Fatalf("%s: %d notes of which %d were acknowledged, or others than were written", what, len(s.texts), acked)
	}
	if h, _, err := walk(d); err != nil || h.Last != s.seq {
		t.Fatalf("%s: the history after the start: %+v, %v", what, h, err)
	}
}

// TestEveryFailure lets every disk call of the script fail, once and from then
// on. Whatever fails, the next start finds all that was acknowledged and
// nothing that never was.
func TestEveryFailure(t *testing.T) {
	store, texts := newStore(t), script(60, 7)
	good := store.Cut(journaltest.Kept)
	if acked := run(good, texts); acked != len(texts) {
		t.Fatalf("%d notes on a good disk", acked)
	}
	for k := 1; k <= good.Calls; k += stride() {
		for _, forever := range []bool{false, true} {
			for _, after := range []bool{false, true} {
				d := store.Cut(journaltest.Kept)
				d.FailAt, d.Forever, d.After = k, forever, after
				acked := run(d, texts)
				checkRecovery(t, d.Cut(journaltest.Kept), texts, acked, fmt.Sprintf("call %d of %d failed, forever %t, after %t", k, good.Calls, forever, after))
			}
		}
	}
	t.Logf("%d calls, each failed 4 ways", good.Calls)
}

// TestEveryCrash cuts the power at every disk call of a script of 200 notes,
// before and after its effect, with the unsynced bytes dropped, kept, or cut at
// a sector.
func TestEveryCrash(t *testing.T) {
	t.Parallel()
	texts := script(200, 11)
	d, acked := newStore(t), new(atomic.Uint64)
	crashes := d.Crashes([]journaltest.Fate{journaltest.Dropped, journaltest.Kept, 1, 2, 3}, acked, func() { play(d, texts, acked) })
	for i := 0; i < len(crashes); i += stride() {
		checkRecovery(t, crashes[i].Disk, texts, int(crashes[i].Acked), crashes[i].What)
	}
	t.Logf("%d calls leave %d directories", d.Calls, len(crashes))
}

// TestFirstStart cuts the power at every disk call of the first start on an
// empty directory: the next start succeeds.
func TestFirstStart(t *testing.T) {
	good := journaltest.NewDisk()
	if _, _, err := open(good, journal.FileOptions{}); err != nil {
		t.Fatal(err)
	}
	for k := 1; k <= good.Calls; k++ {
		for _, after := range []bool{false, true} {
			for _, unsynced := range []journaltest.Fate{journaltest.Dropped, journaltest.Kept} {
				d := journaltest.NewDisk()
				d.FailAt, d.Forever, d.After = k, true, after
				open(d, journal.FileOptions{})
				checkRecovery(t, d.Cut(unsynced), nil, 0, fmt.Sprintf("power cut at call %d, after %t, fate %d", k, after, unsynced))
			}
		}
	}
}

// TestUnfinishedRotation: the power failed when a rotation had made its journal and
// not yet its snapshot. The start goes on in the generation before and removes that
// journal: its header says after which record it goes on, and once others were
// written that would be wrong. A recovery would take it for damaged.
func TestUnfinishedRotation(t *testing.T) {
	d, _ := smallStore(t)
	j, _, err := open(d, journal.FileOptions{MaxRecords: 5})
	if err != nil {
		t.Fatal(err)
	}
	d.FailAt, d.Forever = d.Calls+6, true // write and sync of the record; create, write and sync of journal-2.wal
	if err := write(j, 5, "five"); err != nil {
		t.Fatal(err)
	}
	d = d.Cut(journaltest.Kept)
	if h, _, err := walk(d); err != nil || len(h.Notes) != 1 || !strings.HasPrefix(h.Notes[0], "journal-2.wal: a rotation was not finished") {
		t.Fatalf("before the start: %q, %v", h.Notes, err)
	}
	j, _, err = open(d, journal.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if h, _, err := walk(d); err != nil || len(h.Notes) != 0 {
		t.Errorf("after the start: %q, %v; want nothing of note", h.Notes, err)
	}
	if err := write(j, 6, "six"); err != nil {
		t.Fatal(err)
	}
	var r journal.Recovery
	_, s, err := open(d, journal.FileOptions{Recover: func(got journal.Recovery) error { r = got; return nil }})
	if err != nil || s.seq != 6 || len(r.Aside) != 0 {
		t.Errorf("a recovery of a sound directory keeps %d of 6 records and sets aside %+v, %v", s.seq, r.Aside, err)
	}
}

// TestUnfinishedRotationIsNoDamage: a rotation failed in the middle, as on a full disk, and
// records went to the journal before it; then came a crash. Its own journal is empty, has a
// part of its header, zeros in its place, or a header that is out of date. Walk, a start and
// a recovery all take the directory for sound and keep every record.
func TestUnfinishedRotationIsNoDamage(t *testing.T) {
	d, _ := smallStore(t)
	j, _, err := open(d, journal.FileOptions{MaxRecords: 5})
	if err != nil {
		t.Fatal(err)
	}
	d.FailAt = d.Calls + 6 // as in TestUnfinishedRotation, but once
	if err := write(j, 5, "five"); err != nil {
		t.Fatal(err)
	}
	unborn := d.Files["journal-2.wal"]
	header := unborn.Data
	if j, _, err = open(d, journal.FileOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := write(j, 6, "six"); err != nil {
		t.Fatal(err)
	}
	d.Files["journal-2.wal"] = unborn // the start has removed it
	left := [][]byte{make([]byte, len(header))}
	for cut := range len(header) + 1 {
		left = append(left, header[:cut])
	}
	for _, data := range left {
		c := d.Cut(journaltest.Kept)
		c.Files["journal-2.wal"].Data = slices.Clone(data)
		if h, _, err := walk(c); err != nil || len(h.Notes) != 1 || !strings.HasPrefix(h.Notes[0], "journal-2.wal: a rotation was not finished") {
			t.Fatalf("%d bytes: Walk notes %q, %v", len(data), h.Notes, err)
		}
		if s, err := load(c.Cut(journaltest.Kept), false); err != nil || s.seq != 6 {
			t.Fatalf("%d bytes: a start has %d of 6 records, %v", len(data), s.seq, err)
		}
		var r journal.Recovery
		_, s, err := open(c, journal.FileOptions{Recover: func(got journal.Recovery) error { r = got; return nil }})
		if err != nil || s.seq != 6 || len(r.Aside) != 0 || len(r.History) != 0 {
			t.Fatalf("%d bytes: a recovery keeps %d of 6 records and sets aside %+v, %v", len(data), s.seq, r.Aside, err)
		}
		if h, _, err := walk(c); err != nil || len(h.Notes) != 0 {
			t.Fatalf("%d bytes: after the recovery Walk notes %q, %v", len(data), h.Notes, err)
		}
	}
}

// TestNoUnfinishedRotation: a journal without records and without a snapshot is no unfinished
// rotation if a later journal holds records, or if its header says that it goes on after
// records that are not there. A recovery says that something is missing, and Walk finds
// nothing wrong with what it leaves.
func TestNoUnfinishedRotation(t *testing.T) {
	for name, harm := range map[string]func(d *journaltest.Disk){
		"a later one has records": func(d *journaltest.Disk) {},
		"records are gone":        func(d *journaltest.Disk) { delete(d.Files, "journal-3.wal") },
	} {
		d := journaltest.NewDisk()
		j, _, err := open(d, journal.FileOptions{MaxRecords: 2})
		if err != nil {
			t.Fatal(err)
		}
		for seq := range uint64(5) {
			if err := write(j, seq+1, "note"); err != nil {
				t.Fatal(err)
			}
		}
		if newest(d) != 3 {
			t.Fatalf("%d generations, want 3", newest(d))
		}
		delete(d.Files, "snapshot-2.json")
		delete(d.Files, "snapshot-3.json")
		for _, n := range []string{journal1, "journal-2.wal"} { // all but the header
			data := d.Files[n].Data
			d.Files[n].Data = data[:8+binary.LittleEndian.Uint32(data)]
		}
		harm(d)
		var r journal.Recovery
		_, _, err = open(d, journal.FileOptions{Recover: func(got journal.Recovery) error { r = got; return nil }})
		if err != nil || !slices.ContainsFunc(r.Aside, func(a journal.Aside) bool { return a.File == "snapshot-2.json" }) {
			t.Errorf("%s: a recovery sets aside %+v, %v, want that snapshot-2.json is missing", name, r.Aside, err)
		}
		if h, _, err := walk(d); err != nil {
			t.Errorf("%s: after the recovery Walk finds %v, %q", name, err, h.Notes)
		}
	}
}
