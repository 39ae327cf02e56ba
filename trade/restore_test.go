package trade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/internal/journal/journaltest"
	"wick/sse"
	"wick/trade/book"
)

// life is what a client gets from one process: an order, an alert that fires,
// a subscription and an event.
type life struct{ order, resting, alert, subscription, event string }

// liveOnce places orders, sets and fires an alert, and receives its event.
func liveOnce(t *testing.T, e *Engine, caller string) (l life) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	sub, err := e.Subscribe(from(caller), Filter{})
	must(err)
	o, err := e.Place(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One, ClientOrderID: caller})
	must(err)
	resting, err := e.Place(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Limit, Quantity: exact.One, Price: 50 * exact.One, ClientOrderID: caller + "-resting"})
	must(err)
	a, err := e.SetAlert(t.Context(), book.AlertRequest{Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: 110 * exact.One}})
	must(err)
	price(e, "AAA", 120)
	ctx, cancel := context.WithCancel(t.Context())
	e.hub.Push(ctx, caller, func(event sse.Event) error {
		l.event = event.ID
		cancel()
		return nil
	})
	return life{o.ID, resting.ID, a.ID, sub.ID, l.event}
}

// TestRestoreKeepsIDsApart: a backup is restored after more was done; the new process uses
// the sequences since the backup again; still no id that a client got after the backup
// names something else now, and ids from before the backup name what they did.
func TestRestoreKeepsIDsApart(t *testing.T) {
	o := scriptOptions()
	o.epoch = nil
	o.Hub = sse.NewHub(func(any) []byte { return []byte("{}") })
	d := journaltest.NewDisk()
	e, err := openOn(o, d)
	if err != nil {
		t.Fatal(err)
	}
	before := liveOnce(t, e, "before")
	backup := d.Cut(journaltest.Kept)
	lost := liveOnce(t, e, "after")

	o.Hub = sse.NewHub(func(any) []byte { return []byte("{}") })
	if e, err = openOn(o, backup); err != nil {
		t.Fatal(err)
	}
	// As many records as were written after the backup, so the sequences meet.
	again := liveOnce(t, e, "after")
	if e.book.Order(before.order) == nil || e.book.Order(before.resting) == nil {
		t.Errorf("orders from before the backup are unknown: %+v", before)
	}
	for what, ids := range map[string][2]string{
		"order": {lost.order, again.order}, "resting": {lost.resting, again.resting}, "alert": {lost.alert, again.alert},
		"subscription": {lost.subscription, again.subscription}, "event": {lost.event, again.event},
	} {
		if ids[0] == ids[1] || ids[0] == "" || ids[1] == "" {
			t.Errorf("%s: the id %q was given out again as %q", what, ids[0], ids[1])
		}
	}
	if _, err := e.CancelOrder(book.Who{}, lost.resting); !refused(err, "unknown_order") {
		t.Errorf("cancel of an order that is lost: %v, want unknown_order", err)
	}
	if _, err := e.CancelOrder(book.Who{}, before.resting); err != nil {
		t.Errorf("cancel of an order from before the backup: %v", err)
	}
}

// refused reports whether err is a refusal with a code.
func refused(err error, code book.Code) bool {
	var r *book.Refusal
	return errors.As(err, &r) && r.Code == code
}

// TestEpochPerStart: every start has its own epoch, also one after a kill. Alerts are
// still sorted by age, whichever epoch their ids have.
func TestEpochPerStart(t *testing.T) {
	o := scriptOptions()
	o.epoch = nil
	d := journaltest.NewDisk()
	epochs := make(map[string]bool)
	var ids []string
	for range 12 {
		e, err := openOn(o, d)
		if err != nil {
			t.Fatal(err)
		}
		epochs[e.book.Epoch] = true
		a, err := e.SetAlert(t.Context(), book.AlertRequest{Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: 110 * exact.One}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, a.ID)
		var got []string
		for _, a := range must(e.Alerts("")) {
			got = append(got, a.ID)
		}
		if fmt.Sprint(got) != fmt.Sprint(ids) {
			t.Fatalf("alerts %v, want them by age: %v", got, ids)
		}
	}
	if len(epochs) != 12 || epochs[""] {
		t.Errorf("12 starts have the epochs %v, want 12 that are not empty", epochs)
	}
}

// TestRestoreEveryFailure restores a backup from every point of a run, starts on it and
// places orders, cuts the power at every disk call of that, and starts again; what the
// backup had and what was acknowledged since must be there, once.
func TestRestoreEveryFailure(t *testing.T) {
	const n = 24
	d := journaltest.NewDisk()
	e, err := openOn(fewOptions(), d)
	if err != nil {
		t.Fatal(err)
	}
	var placed []book.Order
	for i := range n {
		if i%8 == 3 { // a backup taken from the running process
			restoreFails(t, d.Cut(journaltest.Kept), placed)
		}
		o, err := buy(t, e, i)
		if err != nil {
			t.Fatal(err)
		}
		placed = append(placed, o)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	restoreFails(t, d.Cut(journaltest.Kept), placed)
}

// restoreFails starts on a backup, which has the first of a series of orders, and places
// more. It cuts the power at each disk call of that, and a start must go on from what is
// left.
func restoreFails(t *testing.T, d *journaltest.Disk, had []book.Order) {
	t.Helper()
	const more = 14 // at least one rotation
	known, acked := slices.Clone(had), new(atomic.Uint64)
	acked.Store(uint64(len(had)))
	crashes := d.Crashes([]journaltest.Fate{journaltest.Dropped, journaltest.Kept, 1}, acked, func() {
		e, err := openOn(fewOptions(), d)
		for i := len(had); err == nil && i < len(had)+more; i++ {
			var o book.Order
			o, err = buy(t, e, i)
			known = append(known, o)
			acked.Store(uint64(len(known)))
		}
		if err != nil || e.Close() != nil {
			t.Fatal("not written on a good disk:", err)
		}
	})
	for at := 0; at < len(crashes); at += stride() {
		left, what := crashes[at].Disk, fmt.Sprintf("backup of %d orders, %s", len(had), crashes[at].What)
		e, err := openOn(fewOptions(), left)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for i := range len(had) + more {
			if o, err := buy(t, e, i); err != nil || i < int(crashes[at].Acked) && o.ID != known[i].ID {
				t.Fatalf("%s: retry of order %d gives %+v, %v", what, i, o, err)
			}
		}
		if got := must(e.Positions(false))[0].Quantity; got != exact.Decimal(len(had)+more)*exact.One {
			t.Fatalf("%s: the position is %s, want %d", what, got, len(had)+more)
		}
		if _, err := journal.Walk(left, func(journal.Entry) error { return nil }); err != nil {
			t.Fatalf("%s: the history cannot be read: %v", what, err)
		}
	}
}
