package sse

import (
	"strings"
	"testing"
	"time"
)

// Last-Event-ID is a stranger's text. Whatever it is, what waits afterwards is
// a part of what is held, in order: everything, with a word about the gap, or
// exactly what follows an event that is held.
func FuzzLastEventID(f *testing.F) {
	for _, id := range []string{"", "alice-5", "bob-5", "-5", "5", "alice-", "alice--5", "alice-05", "alice-+5", "alice-5 ", "a\nid: 1-5", "-18446744073709551615", "-18446744073709551616"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		b := &box{name: "alice", label: "alice", open: true}
		for seq := uint64(3); seq <= 9; seq += 2 {
			b.insert(slot{item: &item{seq: seq, at: time.Now()}, to: nobody})
		}
		_, known := b.resume(id, 2, time.Now())
		var waiting []uint64
		for _, it := range b.take(nil) {
			waiting = append(waiting, it.seq)
		}
		if len(waiting) != b.waiting {
			t.Fatalf("%q: %d wait, %d are taken", id, b.waiting, len(waiting))
		}
		if !known {
			if len(waiting) != 4 {
				t.Fatalf("%q is not known, but only %v wait", id, waiting)
			}
			return
		}
		if !strings.Contains(id, "-") {
			t.Fatalf("%q is no event id, but known", id)
		}
		for i, seq := range waiting {
			if seq != 9-2*uint64(len(waiting)-1-i) {
				t.Fatalf("%q: %v is not the end of what is held", id, waiting)
			}
		}
		if len(waiting) == 4 {
			t.Fatalf("%q: the event that the client saw is sent again", id)
		}
	})
}
