package trade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/archive"
	"wick/exact"
	"wick/journal"
	"wick/journal/journaltest"
)

const segment1 = "archive-00000001.seg"

// TestArchive: old orders leave memory for the archive file, and their ids stay
// taken across a restart. With -short fewer orders are kept in memory.
func TestArchive(t *testing.T) {
	d, options, kept := journaltest.NewDisk(), testOptions(t), keptOrders
	if testing.Short() {
		kept = 500
		options.kept = kept
	}
	e, err := openOn(options, d)
	if err != nil {
		t.Fatal(err)
	}
	r := OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: 1e6, ClientOrderID: "first"}
	first, err := e.Place(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	open1 := place(t, e, Buy, Limit, "1", "90")
	for i := range kept {
		side := []Side{Buy, Sell}[i%2]
		if _, err := e.Place(t.Context(), OrderRequest{ClientOrderID: fmt.Sprint("n", i), Symbol: "AAA", Side: side, Type: Market, Quantity: 1e6}); err != nil {
			t.Fatal(err)
		}
	}
	check := func() {
		t.Helper()
		if n := len(must(e.Orders(false))); n != kept+1 {
			t.Errorf("%d orders are kept, want %d and the open one", n, kept)
		}
		if o := must(e.Orders(true)); len(o) != 1 || o[0].ID != open1.ID {
			t.Errorf("open orders %+v, want one", o)
		}
		if o, err := e.Place(t.Context(), r); err != nil || o.ID != first.ID {
			t.Errorf("a retry with an archived client_order_id gives %+v, %v", o, err)
		}
		for _, id := range []string{first.ID, "first"} {
			if o, err := e.Order(id); err != nil || o.ID != first.ID || o.Status != StatusFilled {
				t.Errorf("order %s is %+v, %v", id, o, err)
			}
		}
		if _, err := e.CancelOrder(Who{}, first.ID); code(err) != "order_filled" {
			t.Errorf("cancelling an archived order: %v, want order_filled", err)
		}
		if _, err := e.Order("o-none-1"); code(err) != "unknown_order" {
			t.Errorf("an order that never was: %v, want unknown_order", err)
		}
		if _, err := e.CancelOrder(Who{}, open1.ID); err != nil && code(err) != "order_cancelled" {
			t.Error(err)
		}
	}
	e.Close()
	whole := len(d.Files[segment1].Data)
	d.Files[segment1].Data = append(d.Files[segment1].Data, 200, 0, 0, 0, 1, 2, 3, 4, 2, 0) // a crash came while it was written
	if e, err = openOn(options, d); err != nil {
		t.Fatal(err)
	}
	check()
	if n := len(d.Files[segment1].Data); n != whole {
		t.Errorf("the torn end was not cut: %d bytes, want %d", n, whole)
	}
}

// buy places the i-th of a row of market orders, each with its own id.
func buy(t *testing.T, e *Engine, i int) (Order, error) {
	return e.Place(t.Context(), OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: exact.One, ClientOrderID: fmt.Sprint("c", i)})
}

// fewOptions keep five terminal orders in memory and begin a generation every
// twelve records, so that a short test archives often.
func fewOptions() Options {
	o := scriptOptions()
	o.files, o.kept = journal.FileOptions{MaxRecords: 12}, 5
	return o
}

// TestArchiveByEnd: the orders that ended last stay in the list, even if they were placed
// first: a client that asks what has changed must not miss the fill of an old order.
func TestArchiveByEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := journaltest.NewDisk()
		e, err := openOn(fewOptions(), d)
		if err != nil {
			t.Fatal(err)
		}
		long := place(t, e, Buy, Limit, "1", "90")
		for i := range 30 {
			time.Sleep(time.Second)
			if _, err := buy(t, e, i); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		if _, err := e.CancelOrder(Who{}, long.ID); err != nil {
			t.Fatal(err)
		}
		e.Close() // which writes a snapshot, and archives
		if e, err = openOn(fewOptions(), d); err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		var listed []string
		for _, o := range must(e.Orders(false)) {
			listed = append(listed, cmp.Or(o.ClientOrderID, o.ID))
		}
		if want := []string{long.ID, "c26", "c27", "c28", "c29"}; !slices.Equal(slices.Sorted(slices.Values(listed)), slices.Sorted(slices.Values(want))) {
			t.Errorf("%q are listed, want the five that ended last, %q", listed, want)
		}
	})
}

// TestFindArchived: every order of the archive is found, those that ended last first, in
// pieces of any size, and by each filter.
func TestFindArchived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, o := journaltest.NewDisk(), fewOptions()
		e, err := openOn(o, d)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for i := range 40 { // at second i; the last five stay in memory
			if _, err := e.Place(t.Context(), OrderRequest{Who: anyone(), Symbol: []string{"AAA", "BBB"}[i%2], Side: Buy, Type: Market, Quantity: exact.One, ClientOrderID: fmt.Sprint("c", i)}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		e.Close()
		if e, err = openOn(o, d); err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		find := func(f OrderFilter, skip, most int) (ids string) {
			found, err := e.FindArchived(t.Context(), f, skip, most)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range found.Orders {
				ids += o.ClientOrderID + " "
			}
			if found.More {
				ids += "and more"
			}
			return ids
		}
		second := func(i int) time.Time { return began.Add(time.Duration(i) * time.Second) }
		for _, c := range []struct {
			f          OrderFilter
			skip, most int
			want       string
		}{
			{OrderFilter{}, 0, 3, "c34 c33 c32 and more"},
			{OrderFilter{}, 30, 3, "c4 c3 c2 and more"},
			{OrderFilter{}, 32, 3, "c2 c1 c0 "},
			{OrderFilter{}, 99, 3, ""},
			{OrderFilter{Symbol: "bbb"}, 15, 5, "c3 c1 "},
			{OrderFilter{Status: StatusFilled, Symbol: "AAA"}, 0, 2, "c34 c32 and more"},
			{OrderFilter{Status: StatusCancelled}, 0, 2, ""},
			{OrderFilter{Status: StatusOpen}, 0, 2, ""},
			{OrderFilter{Since: second(33)}, 0, 9, "c34 c33 "},
			{OrderFilter{Until: second(2)}, 0, 9, "c1 c0 "},
			{OrderFilter{Since: second(10), Until: second(13)}, 1, 9, "c11 c10 "},
		} {
			if got := find(c.f, c.skip, c.most); got != c.want {
				t.Errorf("%+v after %d, at most %d: %s; want %s", c.f, c.skip, c.most, got, c.want)
			}
		}
	})
}

// TestTakeAsPlaced: the state that several replicas begin with has the orders in the order
// in which they were placed, also one that was open while others were archived.
func TestTakeAsPlaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := fewOptions()
		o.Dir = t.TempDir()
		e := openTest(t, o)
		want := []string{place(t, e, Buy, Limit, "1", "90").ID}
		for i := range 12 {
			time.Sleep(time.Second)
			placed, err := buy(t, e, i)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, placed.ID)
		}
		e.Close()
		store, seq, snapshot, err := Take(o.Dir)
		if err != nil {
			t.Fatal(err)
		}
		s, err := decodeState(store, seq, snapshot)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range s.orders {
			got = append(got, o.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("orders %q, want %q", got, want)
		}
	})
}

// TestArchiveOfClockSetBack: orders are archived, the power fails before a snapshot is
// written without them, and the clock is set back, so that later orders seem to have ended
// first. No order comes to the archive twice, also after one more start.
func TestArchiveOfClockSetBack(t *testing.T) {
	d, o := journaltest.NewDisk(), fewOptions()
	o.files.MaxRecords = 1 << 30
	e, err := openOn(o, d)
	if err != nil {
		t.Fatal(err)
	}
	row := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			if _, err := buy(t, e, i); err != nil {
				t.Fatal(err)
			}
		}
	}
	prune := func(most int) {
		t.Helper()
		if _, err := (*onDisk)(&e.book).prune(e.ahead.orders, most); err != nil {
			t.Fatal(err)
		}
	}
	// The archive looks for a record in the file that grows, whatever is settled: the
	// first of the two is to be full.
	var others [1<<16 - 3]archive.Record
	for i := range others {
		others[i] = archive.Record{Keys: []string{orderKey(fmt.Sprint("other-", i))}, Body: []byte("{}")}
	}
	if err := e.archive.Append(others[:]); err != nil {
		t.Fatal(err)
	}
	row(0, 10)
	prune(math.MaxInt)
	if n := e.archive.Head().Records; n != uint64(len(others))+5 {
		t.Fatalf("%d records are archived, want 5 beside the %d others", n, len(others))
	}
	d = d.Cut(journaltest.Dropped)
	synctest.Test(t, func(t *testing.T) { // where it is the year 2000
		if e, err = openOn(o, d); err != nil {
			t.Fatal(err)
		}
		row(10, 14)
		prune(4)
		row(14, 20)
		e.Close() // which writes a snapshot, and archives
		if e, err = openOn(o, d); err != nil {
			t.Fatal(err)
		}
		row(20, 30)
		e.Close()
	})
	times := make(map[string]int)
	if _, err := archive.Check(d, e.ahead.store, func(r archive.Record, _ archive.Head) error {
		times[r.Keys[0]]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for key, n := range times {
		if n != 1 {
			t.Errorf("%s is in the archive %d times", key, n)
		}
	}
	if len(times) != len(others)+25 {
		t.Errorf("%d orders are in the archive beside the others, want all but five of 30", len(times)-len(others))
	}
}

// TestArchiveEveryFailure cuts the power at every disk call of a run that archives
// most of its orders. The next start knows all that were acknowledged, and retries
// of all make no order twice.
func TestArchiveEveryFailure(t *testing.T) {
	const n = 40
	d, acked := journaltest.NewDisk(), new(atomic.Uint64)
	var placed []Order
	crashes := d.Crashes([]journaltest.Fate{journaltest.Dropped, journaltest.Kept, 1}, acked, func() {
		for _, half := range []int{0, n / 2} {
			e, err := openOn(fewOptions(), d)
			for i := half; i < half+n/2 && err == nil; i++ {
				var o Order
				o, err = buy(t, e, i)
				placed = append(placed, o)
				acked.Store(uint64(i) + 1)
			}
			if err != nil || e.Close() != nil {
				t.Fatal("the run failed on a good disk:", err)
			}
		}
	})
	for at := 0; at < len(crashes); at += stride() {
		c := crashes[at]
		e, err := openOn(fewOptions(), c.Disk)
		if err != nil {
			if c.Acked == 0 && strings.Contains(err.Error(), "damaged") {
				continue // the very first start
			}
			t.Fatalf("%s: the next start: %v", c.What, err)
		}
		for i := range n {
			o, err := buy(t, e, i)
			if err != nil || i < int(c.Acked) && o.ID != placed[i].ID {
				t.Fatalf("%s: retry of order %d gives %+v, %v", c.What, i, o, err)
			}
		}
		if got := must(e.Positions())[0].Quantity; got != n*exact.One {
			t.Fatalf("%s: the position is %s after %d orders of 1", c.What, got, n)
		}
	}
}

// TestArchiveDamage: what somebody changed in the archive is never served as
// truth and never lets an order be placed twice.
func TestArchiveDamage(t *testing.T) {
	d := journaltest.NewDisk()
	e, err := openOn(fewOptions(), d)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if _, err := buy(t, e, i); err != nil {
			t.Fatal(err)
		}
	}
	e.Close()
	change := func(old, new string) func(*journaltest.Disk) {
		return func(d *journaltest.Disk) {
			text := string(d.Files[segment1].Data)
			d.Files[segment1].Data = []byte(strings.Replace(text, old, new, 1))
		}
	}
	for name, harm := range map[string]func(*journaltest.Disk){
		"another client id": change(`"client_order_id":"c3"`, `"client_order_id":"x3"`),
		"another quantity":  change(`"quantity":1`, `"quantity":9`),
		"the file removed":  func(d *journaltest.Disk) { delete(d.Files, segment1) },
		"the end cut off":   func(d *journaltest.Disk) { f := d.Files[segment1]; f.Data = f.Data[:len(f.Data)-100] },
	} {
		c := d.Cut(journaltest.Kept)
		harm(c)
		before := c.String()
		if before == d.String() {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := openOn(fewOptions(), c); err == nil || !strings.Contains(err.Error(), "archive") || strings.Contains(err.Error(), "move the file away") {
			t.Errorf("%s: the start gives %v, want an error of the archive", name, err)
		}
	}
	c := d.Cut(journaltest.Kept)
	if e, err = openOn(fewOptions(), c); err != nil {
		t.Fatal(err)
	}
	c.Files[segment1].Data = slices.Clone(c.Files[segment1].Data)
	change(`"quantity":1`, `"quantity":9`)(c) // while it runs
	if o, err := buy(t, e, 0); !errors.Is(err, journal.ErrStorage) {
		t.Errorf("a retry of the changed order gives %+v, %v, want ErrStorage", o, err)
	}
	if o, err := buy(t, e, 1); err != nil || o.ClientOrderID != "c1" {
		t.Errorf("a retry of the order after it gives %+v, %v, want c1", o, err)
	}
}

// TestAuditShowsArchived: the audit begins with the archived orders, oldest
// first and once each, beside the process that owns the directory.
func TestAuditShowsArchived(t *testing.T) {
	o := fewOptions()
	o.Dir = t.TempDir()
	e := openTest(t, o)
	defer e.Close()
	for i := range 30 {
		if _, err := buy(t, e, i); err != nil {
			t.Fatal(err)
		}
	}
	archived := int(e.archive.Head().Records)
	lines := audit(t, o.Dir)
	for i, line := range lines[:archived] {
		if !strings.Contains(line, " order_archived ") || !strings.Contains(line, fmt.Sprintf(`"client_order_id":"c%d"`, i)) {
			t.Errorf("line %d is %s, want the archived order of that number", i, line)
		}
	}
	if archived < 10 || strings.Contains(lines[archived], " order_archived ") {
		t.Errorf("%d archived orders, want 10 or more, and then no other; but then %s", archived, lines[archived])
	}
}

// TestArchivedMeanwhile: an order is placed, filled and archived after another
// request with its client_order_id has searched the archive and before that one
// is accepted. It is found all the same.
func TestArchivedMeanwhile(t *testing.T) {
	e, err := openOn(fewOptions(), journaltest.NewDisk())
	if err != nil {
		t.Fatal(err)
	}
	r := OrderRequest{Symbol: "AAA", Side: Buy, Type: Market, Quantity: exact.One, ClientOrderID: "c0"}
	if o, err := e.earlier(&r); o != nil || err != nil {
		t.Fatalf("before the order was placed: %+v, %v, want none", o, err)
	}
	var first Order
	for i := range 30 { // the first of them are archived
		o, err := buy(t, e, i)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = o
		}
	}
	if e.archive.Head().Records == 0 || e.ahead.order(first.ID) != nil {
		t.Fatal("the first order was not archived")
	}
	if o, err := e.accept(r, inquiry{}); err != nil || o.ID != first.ID {
		t.Errorf("accepted %+v, %v; want the order %s", o, err, first.ID)
	}
}

// TestRecoverArchiveEveryFailure: the archive lost a record, or a whole file. A
// recovery makes the archive anew, from its own records and from the journals, and loses
// no order. The power is cut at every disk call of the recovery: each time a second
// recovery finishes, and then a start knows every order.
func TestRecoverArchiveEveryFailure(t *testing.T) {
	store := journaltest.NewDisk()
	e, err := openOn(fewOptions(), store)
	if err != nil {
		t.Fatal(err)
	}
	var placed []Order
	for i := range 30 {
		o, err := buy(t, e, i)
		if err != nil {
			t.Fatal(err)
		}
		placed = append(placed, o)
	}
	e.Close()
	o := fewOptions()
	var said Recovery
	o.Recover = func(r Recovery) error { said = r; return nil }
	for name, harm := range map[string]func(d *journaltest.Disk){
		"record": func(d *journaltest.Disk) {
			f := d.Files[segment1]
			f.Data[strings.Index(string(f.Data), `"client_order_id":"c3"`)] ^= 1
		},
		"file": func(d *journaltest.Disk) { delete(d.Files, segment1) },
	} {
		harmed := store.Cut(journaltest.Kept)
		harm(harmed)
		crashes := harmed.Crashes([]journaltest.Fate{journaltest.Dropped, journaltest.Kept, 1}, new(atomic.Uint64), func() {
			if _, err := openOn(o, harmed); err != nil || !strings.Contains(said.String(), "damaged: archive in") {
				t.Fatalf("%s: the recovery: %v\n%s", name, err, said)
			}
		})
		for i := 0; i < len(crashes); i += stride() {
			left, what := crashes[i].Disk, name+", "+crashes[i].What
			if _, err := openOn(o, left); err != nil {
				t.Fatalf("%s: the second recovery: %v\n%s", what, err, said)
			}
			e, err := openOn(fewOptions(), left)
			if err != nil {
				t.Fatalf("%s: start: %v", what, err)
			}
			for i, want := range placed {
				if got, err := buy(t, e, i); err != nil || got.ID != want.ID {
					t.Fatalf("%s: retry of order %d gives %+v, %v", what, i, got, err)
				}
			}
			if err := checkArchive(left, e.ahead); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
}

// TestArchiveBesides: many finished orders move to the archive without a snapshot,
// while others are placed. Every one is found, a retry makes none twice, and after a
// crash it is the same.
func TestArchiveBesides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 2*extraOrders + 100
		options := func() Options {
			o := fewOptions()
			o.files.MaxRecords = 1 << 30
			return o
		}
		d := journaltest.NewDisk()
		e, err := openOn(options(), d)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		go (*onDisk)(&e.book).thin(ctx)
		var placed [n]Order
		var clients sync.WaitGroup
		for first := range 4 {
			clients.Go(func() {
				for i := first; i < n; i += 4 {
					o, err := buy(t, e, i)
					if err != nil {
						t.Error(err)
						return
					}
					placed[i] = o
				}
			})
		}
		clients.Wait()
		synctest.Wait()
		stop()
		if got := e.archive.Head().Records; got < extraOrders {
			t.Fatalf("the archive has %d orders, want extraOrders or more", got)
		}
		if got := len(must(e.Orders(false))); got >= extraOrders+options().kept {
			t.Errorf("%d orders are still in memory, want fewer than extraOrders beside those that are kept", got)
		}
		check := func(e *Engine) {
			for i := 0; i < n; i += stride() {
				if o, err := buy(t, e, i); err != nil || o.ID != placed[i].ID {
					t.Fatalf("retry of order %d gives %+v, %v", i, o, err)
				}
				if o, err := e.Order(placed[i].ID); err != nil || o.ClientOrderID != placed[i].ClientOrderID {
					t.Fatalf("order %d is %+v, %v", i, o, err)
				}
			}
		}
		check(e)
		again, err := openOn(options(), d.Cut(journaltest.Dropped))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(must(again.Orders(false))); got != options().kept {
			t.Errorf("%d orders are in memory after a crash, want %d: the rest would leave a list that is read in pages", got, options().kept)
		}
		check(again)
		if got := again.archive.Head().Records; got < extraOrders {
			t.Errorf("the archive has %d orders after a crash, want extraOrders or more", got)
		}
	})
}

// TestArchivePauses: after the disk was too full to archive, not every further order
// causes another try. A minute later the orders are moved.
func TestArchivePauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := fewOptions()
		o.files.MaxRecords = 1 << 30
		d := journaltest.NewDisk()
		e, err := openOn(o, d)
		if err != nil {
			t.Fatal(err)
		}
		for i := range extraOrders + 2*o.kept {
			if _, err := buy(t, e, i); err != nil {
				t.Fatal(err)
			}
		}
		d.FailAt = d.Calls + 1 // the archive's first file; a second try would succeed
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go (*onDisk)(&e.book).thin(ctx)
		for range 10 {
			select {
			case e.crowded <- struct{}{}:
			default:
			}
			synctest.Wait()
		}
		if n := e.archive.Head().Records; n != 0 {
			t.Fatalf("%d orders are in the archive at once, want none on a full disk", n)
		}
		time.Sleep(thinPause)
		synctest.Wait()
		if e.archive.Head().Records == 0 {
			t.Error("a minute later no order was moved to the archive")
		}
	})
}
