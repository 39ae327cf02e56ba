package journal_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"wick/internal/journal"
	"wick/internal/journal/journaltest"
)

// noteKeys finds a note by its text and by its last digit; those that end in 7 end something.
func noteKeys(_ byte, payload []byte) (k journal.Keys, err error) {
	var n note
	if err := json.Unmarshal(payload, &n); err != nil {
		return k, err
	}
	last := n.Text[len(n.Text)-1:]
	k.All = []string{n.Text, "digit " + last}
	if last == "7" {
		k.Ended = []string{n.Text}
	}
	return k, nil
}

// found returns the texts of records.
func found(t *testing.T, entries []journal.Entry, err error) (texts []string) {
	t.Helper()
	for _, e := range entries {
		var n note
		if bad := json.Unmarshal(e.Payload, &n); bad != nil {
			err = bad
		}
		texts = append(texts, n.Text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// TestIndex: records of closed generations are found by their keys, oldest first, also by an
// index that is made while the journal grows, and by one that has lost some of its files.
func TestIndex(t *testing.T) {
	d := journaltest.NewDisk()
	j, _, err := open(d, journal.FileOptions{MaxRecords: 10})
	if err != nil {
		t.Fatal(err)
	}
	x, err := journal.OpenIndex(d, noteKeys, discard)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		if err := write(j, uint64(i)+1, fmt.Sprint("note ", i)); err != nil {
			t.Fatal(err)
		}
		if i == 95 {
			if err := x.Update(); err != nil || x.Generations() != 9 || x.Len() != 9 {
				t.Fatalf("in the middle: %d generations, %d ended, %v", x.Generations(), x.Len(), err)
			}
		}
	}
	if err := x.Update(); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		if round > 0 { // from the files, of which some are gone in the last round
			if x, err = journal.OpenIndex(d, noteKeys, discard); err != nil {
				t.Fatal(err)
			}
		}
		entries, err := x.Find("note 33")
		if got := found(t, entries, err); !slices.Equal(got, []string{"note 33"}) {
			t.Errorf("round %d: found %q", round, got)
		}
		entries, err = x.Find("digit 4")
		if got := found(t, entries, err); len(got) != 20 || got[0] != "note 4" || got[19] != "note 194" {
			t.Errorf("round %d: found %q", round, got)
		}
		if entries, err := x.Find("nothing"); err != nil || len(entries) > 0 {
			t.Errorf("round %d: found %v, %v", round, entries, err)
		}
		for _, n := range []int{20, 13, 1, 0} {
			i := n
			for ending, err := range x.Endings(n) {
				i--
				want := fmt.Sprint("note ", 10*i+7)
				if err != nil || ending.Digest != journal.Digest(want) {
					t.Fatalf("round %d: the ending %d is %d, %v", round, i, ending.Digest, err)
				}
				if e, err := ending.Read(); err != nil || !strings.Contains(string(e.Payload), want) {
					t.Errorf("round %d: the ending %d is %s, %v", round, i, e.Payload, err)
				}
			}
			if i != 0 {
				t.Errorf("round %d: of %d endings the first %d are missing", round, n, i)
			}
		}
		if x.Len() != 20 {
			t.Errorf("round %d: %d endings, want 20", round, x.Len())
		}
		delete(d.Files, "journal-4.idx")
		delete(d.Files, "journal-20.idx")
	}
}

// TestIndexBitFlips flips bits of an index and of the journal beside it. Every search gives
// the right answer or an error.
func TestIndexBitFlips(t *testing.T) {
	d := journaltest.NewDisk()
	j, _, err := open(d, journal.FileOptions{MaxRecords: 10})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 11 {
		if err := write(j, uint64(i)+1, fmt.Sprint("note ", i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := journal.OpenIndex(d, noteKeys, discard); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, name := range []string{"journal-1.idx", journal1} {
		for bit := 0; bit < 8*len(d.Files[name].Data); bit += stride() {
			c := d.Cut(journaltest.Kept)
			c.Files[name].Data[bit/8] ^= 1 << (bit % 8)
			x, err := journal.OpenIndex(c, noteKeys, discard)
			if err != nil {
				refused++
				continue
			}
			for i := range 10 {
				key := fmt.Sprint("note ", i)
				entries, err := x.Find(key)
				if err != nil {
					refused++
				} else if got := found(t, entries, nil); !slices.Equal(got, []string{key}) {
					t.Fatalf("%s with bit %d flipped: %s is %q", name, bit, key, got)
				}
			}
		}
	}
	if refused == 0 {
		t.Error("no search was refused")
	}
}
