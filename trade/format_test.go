package trade

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wick/delivery"
	"wick/journal"
)

// keptStore copies a store that an earlier version wrote. testdata/format1 was
// made by commit 2ab5a4b and left without a clean stop: two generations with all
// kinds of records of the paper broker, an archive, and beside it the state that
// commit 2ab5a4b itself had at the end, as it would have written it to a snapshot.
func keptStore(t *testing.T, name string) (dir string, want []byte) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name, "store"))); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", name, "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	want, _, _ = bytes.Cut(want, []byte("\n"))
	return dir, want
}

// TestFormat1 reads a store of the first format to the state that its writer
// had, member by member and byte by byte.
func TestFormat1(t *testing.T) {
	dir, want := keptStore(t, "format1")
	s, err := tryLoad(openDir(t, dir), false)
	if err != nil {
		t.Fatal(err)
	}
	var head struct {
		Store string
		Seq   uint64
	}
	unmarshal(t, want, &head)
	if s.store != head.Store || s.seq != head.Seq {
		t.Errorf("store %s at %d, want %s at %d", s.store, s.seq, head.Store, head.Seq)
	}
	var got, wanted map[string]json.RawMessage
	unmarshal(t, []byte(encoded(t, s)), &got)
	unmarshal(t, want, &wanted)
	got["queues"] = stillToGet(t, got["queues"], got["marks"])
	delete(got, "marks")
	delete(got, "archive") // the start takes the orders of archive.jsonl over
	for member, text := range got {
		if !bytes.Equal(text, wanted[member]) {
			t.Errorf("%s is\n%s\nwant\n%s", member, text, wanted[member])
		}
	}
	if len(got) != len(wanted)-5 { // format, n, store, seq and at are the journal's
		t.Errorf("%d members, want %d", len(got), len(wanted)-5)
	}
}

// stillToGet returns the queues without what is delivered, which the first
// format let go and later ones keep.
func stillToGet(t *testing.T, queues, marks json.RawMessage) json.RawMessage {
	t.Helper()
	var held map[string][]uint64
	var through map[string]uint64
	unmarshal(t, queues, &held)
	unmarshal(t, marks, &through)
	for id, seqs := range held {
		if held[id] = slices.DeleteFunc(seqs, func(seq uint64) bool { return seq <= through[id] }); len(held[id]) == 0 {
			delete(held, id)
		}
	}
	text, err := json.Marshal(held)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestFormat1Queues reads a store that commit 2ab5a4b left, as after a kill,
// with a queue in its snapshot and more of it in its journal. What was not yet
// delivered then is still to be delivered, under the same sequences; what was is
// held for a client that names an event.
func TestFormat1Queues(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(dir, os.DirFS("testdata/format1-queues/store")); err != nil {
		t.Fatal(err)
	}
	s, err := tryLoad(openDir(t, dir), false)
	if err != nil {
		t.Fatal(err)
	}
	alerts := make(map[uint64]string)
	book := s.book().Snapshot(func(e *delivery.Entry) { alerts[e.Seq] = e.Note.(*Notification).AlertID })
	const sub = "s-4dad8da0-2"
	if got, want := book.Queues[sub], []uint64{7, 9, 13, 15}; len(book.Queues) != 1 || !slices.Equal(got, want) || book.Marks[sub] != 9 {
		t.Errorf("queues %v delivered up to %v, want %v up to 9", book.Queues, book.Marks, want)
	}
	want := map[uint64]string{7: "a-4dad8da0-6", 9: "a-4dad8da0-8", 13: "a-4dad8da0-12", 15: "a-4dad8da0-14"}
	if !maps.Equal(alerts, want) || len(book.Subscriptions) != 2 || book.Subscriptions[0].Caller != "caller-1" {
		t.Errorf("alerts %v of %v, want %v", alerts, book.Subscriptions, want)
	}
}

// TestFormat1Damaged: the newest snapshot is gone and the header of its journal damaged. The
// whole records behind it are not taken for the rest of an unfinished write: a start refuses
// and an audit tells of damage, and a recovery shows the records and sets the file aside.
func TestFormat1Damaged(t *testing.T) {
	dir, _ := keptStore(t, "format1")
	name := filepath.Join(dir, "journal-2.wal")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[1] = 0x40 // the length
	if err := errors.Join(os.WriteFile(name, data, 0o600), os.Remove(filepath.Join(dir, "snapshot-2.json"))); err != nil {
		t.Fatal(err)
	}
	d := openDir(t, dir)
	if _, err := tryLoad(d, false); err == nil {
		t.Error("a start has read it")
	}
	if _, err := journal.Walk(d, func(journal.Entry) error { return nil }); err == nil {
		t.Error("an audit calls it sound")
	}
	var r journal.Recovery
	b := book{hub: delivery.NewHub(nil), recover: true}
	log := slog.New(slog.DiscardHandler)
	if err := b.read(d, journal.NewFiles(d, journal.FileOptions{Recover: func(got journal.Recovery) error { r = got; return nil }}, log), false, log); err != nil {
		t.Fatal(err)
	}
	if n := len(r.Lost); n == 0 || r.Lost[n-1].Seq != 27 { // the state of that version is of record 27
		t.Errorf("a recovery shows %d records that are lost", n)
	}
	if kept, err := os.ReadFile(name + ".damaged"); err != nil || !bytes.Equal(kept, data) {
		t.Errorf("the damaged file is not set aside: %d bytes, %v", len(kept), err)
	}
}

// TestFormat1Goes on: an engine works with such a store, and the snapshot it
// leaves begins and ends as one of that version does.
func TestFormat1GoesOn(t *testing.T) {
	dir, want := keptStore(t, "format1")
	o := testOptions(t)
	o.Dir = dir
	e := openTest(t, o)
	first, err := e.Place(t.Context(), OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: dec(t, "1.5"), ClientOrderID: "first"})
	if err != nil || first.ID != "o-c49e1bd0-5" {
		t.Errorf("an archived client_order_id gives %+v, %v", first, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "snapshot-3.json"))
	if err != nil {
		t.Fatal(err)
	}
	begin := []byte(`{"format":2,"n":3,"store":"c49e1bd030a73bfe","seq":27,"at":"`)
	members := want[bytes.Index(want, []byte(`,"trading":`)):bytes.Index(want, []byte(`,"notifications":`))]
	if !bytes.HasPrefix(text, begin) || !bytes.Contains(text, members) {
		t.Errorf("the new snapshot is\n%s\nwant it to begin with\n%s\nand have\n%s", text, begin, members)
	}
	var visited int
	h, err := journal.Walk(journal.ReadOnly(dir), func(journal.Entry) error { visited++; return nil })
	if err != nil || visited < 10 || h.First != 27 || len(h.Notes) != 1 || !strings.Contains(h.Notes[0], "begin after record 27") {
		t.Errorf("%d entries, %+v, %v", visited, h, err)
	}
}
