package trade

import (
	"bytes"
	"testing"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/internal/journal/journaltest"
	"wick/trade/book"
)

// usedStore returns an engine in which some of everything has happened, and its
// disk.
func usedStore(t testing.TB) (*Engine, *journaltest.Disk) {
	t.Helper()
	d, o := journaltest.NewDisk(), scriptOptions()
	o.files = journal.FileOptions{}
	e, err := openOn(o, d)
	if err != nil {
		t.Fatal(err)
	}
	e.SetAlert(t.Context(), book.AlertRequest{Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: exact.One}})
	e.Subscribe(from("caller"), Filter{})
	price(e, "AAA", 100)
	if _, err := e.Place(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One}); err != nil {
		t.Fatal(err)
	}
	return e, d
}

// FuzzEvents takes any steps, one a line: the kind's byte, then the payload; none
// may panic, one that is refused must leave a state that can be written, and what
// is written reads back as the same.
func FuzzEvents(f *testing.F) {
	e, d := usedStore(f)
	var lines []byte
	for _, r := range journaltest.Frames(d.Files["journal-1.wal"].Data) {
		if r.Kind != journal.KindHeader {
			lines = append(append(append(lines, r.Kind), r.Payload...), '\n')
		}
	}
	f.Add(lines)
	store := e.book.Store
	f.Fuzz(func(t *testing.T, data []byte) {
		s := book.NewState(store)
		for line := range bytes.Lines(data) {
			if ev, err := book.DecodeEvent(line[1:]); err == nil && s.Apply(s.Seq+1, book.Kind(line[0]), ev) != nil {
				break
			}
		}
		text := encoded(t, s)
		again, err := book.DecodeState(store, s.Seq, []byte(text))
		if err != nil || encoded(t, again) != text {
			t.Fatalf("after %q the state %s is read as %v", data, text, err)
		}
	})
}

// FuzzSnapshot restores any text; what is taken can be written again.
func FuzzSnapshot(f *testing.F) {
	e, _ := usedStore(f)
	f.Add([]byte(encoded(f, e.book.State)))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := book.DecodeState("store", 7, data); err == nil {
			encoded(t, s)
		}
	})
}
