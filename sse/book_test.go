package sse

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// t0 is the time at which the tests of the book begin: a book has no clock of its own.
var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return t0.Add(d) }

func fired(seq uint64, when time.Time, to ...string) Record {
	return Record{At: when, Fired: &Entry{Seq: seq, At: when, Note: fmt.Sprint(seq)}, To: to}
}

func made(id, caller string, when time.Time) Record {
	return Record{At: when, Subscribed: &Subscription{ID: id, Caller: caller, Client: "client", CreatedAt: when.Format(time.RFC3339)}}
}

// text writes down all that a book holds.
func text(b *Book) string {
	queues, marks := b.Queues()
	out, err := json.Marshal([]any{b.Select(nil), queues, marks, b.callers})
	if err != nil {
		panic(err)
	}
	return string(out)
}

func seqs(b *Book, id string) string {
	var out []string
	for _, e := range b.queues[id].entries {
		out = append(out, fmt.Sprint(e.Seq))
	}
	return strings.Join(out, " ")
}

// TestBook plays records and looks at the queues.
func TestBook(t *testing.T) {
	b := NewBook()
	for i, step := range []struct {
		record Record
		a, b   string // the queues of a and b afterwards; - for none
	}{
		{made("a", "alice", at(0)), "", "-"},
		{made("b", "bob", at(0)), "", ""},
		{fired(10, at(0), "a", "b"), "10", "10"},
		{fired(11, at(time.Minute), "a"), "10 11", "10"},
		{Record{At: at(time.Minute), Marks: map[string]uint64{"a": 1 << 40, "gone": 3}}, "10 11", "10"}, // delivered stays
		{made("a", "alice's new token", at(time.Minute)), "10 11", "10"},
		{Record{At: at(time.Hour - 1)}, "10 11", "10"},
		{Record{At: at(time.Hour)}, "11", ""},
		{Record{At: at(0)}, "11", ""}, // a clock set back brings nothing back
		{fired(12, at(time.Hour+time.Minute), "a"), "12", ""},
		{Record{At: at(2 * time.Hour), Unsubscribed: "b"}, "12", "-"},
	} {
		apply := step.record
		if err := b.Apply(apply); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		for id, want := range map[string]string{"a": step.a, "b": step.b} {
			got := "-"
			if b.queues[id] != nil {
				got = seqs(b, id)
			}
			if got != want {
				t.Errorf("step %d: queue of %s is %q, want %q", i, id, got, want)
			}
		}
	}
	if b.Of("alice") != nil || b.Of("bob") != nil || b.Of("alice's new token").ID != "a" || b.Len() != 1 {
		t.Errorf("left: %s", text(b))
	}
	if b.queues["a"].mark != 11 {
		t.Errorf("mark %d, want 11", b.queues["a"].mark)
	}
}

// TestBookCapacity: a thousand entries, the oldest leave first.
func TestBookCapacity(t *testing.T) {
	b := NewBook()
	b.Apply(made("a", "alice", at(0)))
	for seq := range uint64(1005) {
		if err := b.Apply(fired(seq, at(0), "a")); err != nil {
			t.Fatal(err)
		}
	}
	if q := b.queues["a"].entries; len(q) != 1000 || q[0].Seq != 5 {
		t.Errorf("%d entries from %d, want 1000 from 5", len(q), q[0].Seq)
	}
}

// TestImpossibleRecords: a record that cannot come after the ones before it is refused
// and changes nothing. A journal that has such a record is damaged.
func TestImpossibleRecords(t *testing.T) {
	b := NewBook()
	b.Apply(made("a", "alice", at(0)))
	b.Apply(fired(10, at(0), "a"))
	before := text(b)
	for name, r := range map[string]Record{
		"unknown recipient":     fired(11, at(0), "a", "nobody"),
		"sequence again":        fired(10, at(0), "a"),
		"unknown end":           {Unsubscribed: "nobody"},
		"a second of a caller":  made("b", "alice", at(0)),
		"no id":                 made("", "bob", at(0)),
		"an id of two lines":    made("b\nid: 1", "bob", at(0)),
		"an id with a blank":    made("b c", "bob", at(0)),
		"an id that is no text": made("b\xff", "bob", at(0)),
	} {
		if err := b.Apply(r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if after := text(b); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

// TestSelect: oldest first, and those of one instant in the order of their ids.
func TestSelect(t *testing.T) {
	b := NewBook()
	for i, id := range []string{"s-9", "s-10", "s-11", "s-2"} {
		r := made(id, id, at(0))
		if r.Subscribed.CreatedAt = "2026-01-01T00:00:01Z"; i == 3 {
			r.Subscribed.CreatedAt = "2026-01-01T00:01:00Z"
		}
		b.Apply(r)
	}
	for _, c := range []struct {
		ok   func(*Subscription) bool
		want []string
	}{
		{nil, []string{"s-9", "s-10", "s-11", "s-2"}},
		{func(s *Subscription) bool { return s.ID != "s-10" }, []string{"s-9", "s-11", "s-2"}},
		{func(*Subscription) bool { return false }, nil},
	} {
		var got []string
		for _, s := range b.Select(c.ok) {
			got = append(got, s.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}

// TestFold: after random records, a copy and a book restored from a snapshot change with
// further records exactly as the first book does, and none of them changes another.
func TestFold(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 2))
		books := []*Book{NewBook()}
		for step := range 150 {
			record := randomRecord(r, step)
			var first error
			for i, b := range books {
				err := b.Apply(record)
				if i == 0 {
					first = err
				}
				if (err == nil) != (first == nil) || text(b) != text(books[0]) {
					t.Fatalf("seed %d, step %d: book %d is\n%s\nafter %v, the first is\n%s\nafter %v", seed, step, i, text(b), err, text(books[0]), first)
				}
			}
			if r.IntN(40) == 0 {
				books = append(books, books[0].Clone(), restored(t, books[0]))
			}
		}
	}
}

func randomRecord(r *rand.Rand, step int) Record {
	id, when := fmt.Sprint("s-", r.IntN(4)), at(time.Duration(step)*time.Minute)
	switch r.IntN(6) {
	case 0:
		return made(id, fmt.Sprint("caller", r.IntN(6)), when)
	case 1:
		return Record{At: when, Unsubscribed: id}
	case 2:
		return Record{At: when, Marks: map[string]uint64{id: uint64(r.IntN(step + 1))}}
	default:
		to := []string{"s-0", "s-1", "s-2", "s-3"}[r.IntN(4):]
		return fired(uint64(step), when, to[:1+r.IntN(len(to))]...)
	}
}

// restored returns a book made anew by what a journal keeps of one, with copies of its entries.
func restored(t testing.TB, b *Book) *Book {
	t.Helper()
	c := NewBook()
	take := func(r Record) {
		if err := c.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	for _, sub := range b.Select(nil) {
		take(Record{Subscribed: sub})
	}
	queues, marks := b.Queues()
	for id, entries := range queues {
		for _, e := range entries {
			take(Record{Fired: &Entry{Seq: e.Seq, Epoch: e.Epoch, At: e.At, Note: e.Note}, To: []string{id}})
		}
	}
	c.SetMarks(marks)
	return c
}
