package journal_test

import (
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

// TestUnfinishedRotation: a rotation stops at each of its steps, because the disk fails or
// the power. A walk and a start find every record and nothing wrong, and a recovery of what
// the start has left gives nothing up. If the rotation failed before its third step, the
// journal goes on.
func TestUnfinishedRotation(t *testing.T) {
	for k := 3; k <= 12; k++ { // the record is written and synced before
		for _, forever := range []bool{true, false} {
			d, _ := smallStore(t)
			j, _, err := open(d, journal.FileOptions{MaxRecords: 5})
			if err != nil {
				t.Fatal(err)
			}
			d.FailAt, d.Forever = d.Calls+k, forever
			if err := write(j, 5, "five"); err != nil {
				t.Fatal(err)
			}
			want := 5
			d.FailAt = 0
			if err := write(j, 6, "six"); err == nil {
				want = 6
			} else if k < 9 { // the third step is a write and a sync
				t.Fatalf("call %d: %v", k, err)
			}
			for _, fate := range []journaltest.Fate{journaltest.Kept, journaltest.Dropped} {
				c := d.Cut(fate)
				if h, _, err := walk(c); err != nil || h.Last != uint64(want) {
					t.Fatalf("call %d: Walk: %+v, %v", k, h, err)
				}
				if s, err := load(c, false); err != nil || len(s.texts) != want {
					t.Fatalf("call %d: a start has %d of %d records, %v", k, len(s.texts), want, err)
				}
				var r journal.Recovery
				_, s, err := open(c, journal.FileOptions{Recover: func(got journal.Recovery) error { r = got; return nil }})
				if err != nil || len(s.texts) != want || len(r.Faults)+len(r.History) > 0 {
					t.Fatalf("call %d: a recovery keeps %d of %d records, %+v, %v", k, len(s.texts), want, r, err)
				}
				if h, _, err := walk(c); err != nil || len(h.Notes) > 0 {
					t.Fatalf("call %d: after the recovery Walk notes %q, %v", k, h.Notes, err)
				}
			}
		}
	}
}
