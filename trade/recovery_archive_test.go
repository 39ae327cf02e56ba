package trade

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wick/archive"
	"wick/broker/alpaca/alpacatest"
	"wick/journal/journaltest"
)

// manyOrders returns a disk with 60 orders, most of them archived, over several
// journals.
func manyOrders(t *testing.T) (*journaltest.Disk, []Order) {
	t.Helper()
	d := journaltest.NewDisk()
	e, err := openOn(fewOptions(), d)
	if err != nil {
		t.Fatal(err)
	}
	var placed []Order
	for i := range 60 {
		o, err := buy(t, e, i)
		if err != nil {
			t.Fatal(err)
		}
		placed = append(placed, o)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return d, placed
}

// flip changes a bit in a file, within the client_order_id of an order.
func flip(d *journaltest.Disk, file string, i int) {
	data := d.Files[file].Data
	data[strings.Index(string(data), fmt.Sprintf(`"client_order_id":"c%d"`, i))] ^= 1
}

// TestRecoverCountsArchive: the archive and a journal are damaged or gone. Archived orders
// that are in any other file are kept. The recovery says how many are not, from when to
// when, and that their ids are unknown. The first journal has the orders c0 to c10 and the
// second c11 to c22.
func TestRecoverCountsArchive(t *testing.T) {
	store, placed := manyOrders(t)
	gone := func(names ...string) func(*journaltest.Disk) {
		return func(d *journaltest.Disk) {
			for _, name := range names {
				delete(d.Files, name)
			}
		}
	}
	for name, c := range map[string]struct {
		harm func(d *journaltest.Disk)
		lost []int
	}{
		"archive and first journal gone":    {gone(segment1, "journal-1.wal"), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		"archive damaged, a journal gone":   {func(d *journaltest.Disk) { flip(d, segment1, 3); gone("journal-1.wal")(d) }, []int{3}},
		"archive damaged, a journal too":    {func(d *journaltest.Disk) { flip(d, segment1, 3); flip(d, "journal-1.wal", 3) }, []int{3}},
		"archive damaged, journals whole":   {func(d *journaltest.Disk) { flip(d, segment1, 3) }, nil},
		"archive and a middle journal gone": {gone(segment1, "journal-2.wal"), []int{11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22}},
	} {
		t.Run(name, func(t *testing.T) {
			d := store.Cut(journaltest.Kept)
			c.harm(d)
			before := d.String()
			o := fewOptions()
			shown := errors.New("shown")
			var said Recovery
			o.Recover = func(r Recovery) error { said = r; return shown }
			if _, err := openOn(o, d); !errors.Is(err, shown) || d.String() != before {
				t.Fatalf("showing: %v, or something was changed", err)
			}
			text := said.String()
			if said.Orders != len(placed)-len(c.lost) || said.LostArchived != len(c.lost) ||
				!strings.Contains(text, fmt.Sprintf("kept: %d orders ", len(placed)-len(c.lost))) {
				t.Errorf("%d orders kept, %d given up; want %d given up\n%s", said.Orders, said.LostArchived, len(c.lost), text)
			}
			if len(c.lost) > 0 && (!strings.Contains(text, fmt.Sprintf("given up: %d finished orders of the archive, from ", len(c.lost))) ||
				!strings.Contains(text, "would be filled again")) {
				t.Errorf("it says\n%s", text)
			}
			o.Recover = func(Recovery) error { return nil }
			e, err := openOn(o, d)
			if err != nil {
				t.Fatal(err)
			}
			lost := make(map[int]bool)
			for _, i := range c.lost {
				lost[i] = true
			}
			for i, want := range placed {
				if _, err := e.Order(want.ID); (err != nil) != lost[i] {
					t.Errorf("order %d, which should be lost: %t, is %v", i, lost[i], err)
				}
			}
		})
	}
}

// TestRecoverArchiveOfOtherForm: the archive lost most of its orders. One of those that it
// still has was written by an earlier version, with other bytes than this version would
// write. A recovery adds the orders that are missing and leaves that one as it is.
func TestRecoverArchiveOfOtherForm(t *testing.T) {
	d, placed := manyOrders(t)
	store, err := openOn(fewOptions(), d.Cut(journaltest.Kept))
	if err != nil {
		t.Fatal(err)
	}
	delete(d.Files, segment1)
	a, err := archive.Open(d, store.ahead.store, archive.Head{})
	if err != nil {
		t.Fatal(err)
	}
	other := placed[3]
	other.Reason = "as an earlier version wrote it"
	if err := errors.Join(addToArchive(a, []*Order{&other}), a.Close()); err != nil {
		t.Fatal(err)
	}
	o := fewOptions()
	o.Recover = func(Recovery) error { return nil }
	e, err := openOn(o, d)
	if err != nil {
		t.Fatalf("the recovery: %v", err)
	}
	for i, want := range placed {
		if i == 3 {
			want = other
		}
		if got, err := e.Order(want.ID); err != nil || got.Reason != want.Reason {
			t.Errorf("order %d is %+v, %v; want %+v", i, got, err, want)
		}
	}
}

// TestRecoverReopened: an order at a broker was given up, turned up, and was filled; the
// archive that had it is gone. What is recovered of it is its end, and not that it was
// given up: whoever asks for it would place it again.
func TestRecoverReopened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := alpacatest.New()
		few := func(o *Options) { o.kept, o.files.MaxRecords = 1, 4 }
		l := startLive(t, v, few)
		answering(v, "POST", alpacatest.Fault{Late: 5 * time.Minute})
		late, err := l.place(OrderRequest{Side: Buy, Type: Market, Quantity: shares(1)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Minute)
		v.Set(func(v *alpacatest.Venue) { v.Faults = nil })
		if o := l.order(late.ID); o.Status != StatusRejected {
			t.Fatalf("after four minutes: %+v, want it given up", o)
		}
		time.Sleep(4 * time.Minute)
		if _, _, err := l.e.AcceptPositions(anyone()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(lateWithin + time.Hour)
		for range 4 {
			if _, err := l.place(OrderRequest{Side: Buy, Type: Market, Quantity: shares(1)}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(lateWithin)
		}
		if slices.ContainsFunc(must(l.e.Orders(false)), func(o Order) bool { return o.ID == late.ID }) {
			t.Fatal("the order is not in the archive yet")
		}
		l.stop()
		delete(l.disk.Files, segment1)
		l.start(few, func(o *Options) { o.Recover = func(Recovery) error { return nil } })
		defer l.stop()
		if o := l.order(late.ID); o.Status != StatusFilled || o.FilledQuantity != shares(1) {
			t.Errorf("after the recovery: %s with %s filled, %q, want it filled", o.Status, o.FilledQuantity, o.Reason)
		}
	})
}
