package trade

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/internal/journal/journaltest"
	"wick/trade/book"
)

// TestFinished: old orders leave memory and are found in the journal, and their ids stay
// taken across a restart. With -short fewer orders are kept in memory.
func TestFinished(t *testing.T) {
	d, options, kept := journaltest.NewDisk(), testOptions(t), keptOrders
	if testing.Short() {
		kept = 500
		options.kept = kept
	}
	e, err := openOn(options, d)
	if err != nil {
		t.Fatal(err)
	}
	r := book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: 1e6, ClientOrderID: "first"}
	first, err := e.Place(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	open1 := place(t, e, book.Buy, book.Limit, "1", "90")
	for i := range kept {
		side := []book.Side{book.Buy, book.Sell}[i%2]
		if _, err := e.Place(t.Context(), book.OrderRequest{ClientOrderID: fmt.Sprint("n", i), Symbol: "AAA", Side: side, Type: book.Market, Quantity: 1e6}); err != nil {
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
			t.Errorf("a retry with the client_order_id of a finished order gives %+v, %v", o, err)
		}
		for _, id := range []string{first.ID, "first"} {
			if o, err := e.Order(id); err != nil || o.ID != first.ID || o.Status != book.StatusFilled {
				t.Errorf("order %s is %+v, %v", id, o, err)
			}
		}
		if _, err := e.CancelOrder(book.Who{}, first.ID); code(err) != "order_filled" {
			t.Errorf("cancelling a finished order: %v, want order_filled", err)
		}
		if _, err := e.Order("o-none-1"); code(err) != "unknown_order" {
			t.Errorf("an order that never was: %v, want unknown_order", err)
		}
		if _, err := e.CancelOrder(book.Who{}, open1.ID); err != nil && code(err) != "order_cancelled" {
			t.Error(err)
		}
	}
	e.Close()
	if e, err = openOn(options, d); err != nil {
		t.Fatal(err)
	}
	check()
}

// buy places the i-th of a row of market orders, each with its own id.
func buy(t *testing.T, e *Engine, i int) (book.Order, error) {
	return e.Place(t.Context(), book.OrderRequest{Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One, ClientOrderID: fmt.Sprint("c", i)})
}

// fewOptions keep five terminal orders in memory and begin a generation every
// twelve records, so that orders leave memory often in a short test.
func fewOptions() Options {
	o := scriptOptions()
	o.files, o.kept = journal.FileOptions{MaxRecords: 12}, 5
	return o
}

// TestFinishedByEnd: the orders that ended last stay in the list, even if they were placed
// first: a client that asks what has changed must not miss the fill of an old order.
func TestFinishedByEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := journaltest.NewDisk()
		e, err := openOn(fewOptions(), d)
		if err != nil {
			t.Fatal(err)
		}
		long := place(t, e, book.Buy, book.Limit, "1", "90")
		for i := range 30 {
			time.Sleep(time.Second)
			if _, err := buy(t, e, i); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		if _, err := e.CancelOrder(book.Who{}, long.ID); err != nil {
			t.Fatal(err)
		}
		e.Close()
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

// TestCountPlaced: what was placed within an hour counts also at the next start, however many
// orders came after it.
func TestCountPlaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, o := journaltest.NewDisk(), fewOptions()
		e, err := openOn(o, d)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 60 {
			r := book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Market, Quantity: exact.One, Worth: exact.One.Money()}
			if i == 0 {
				r.Worth = (1000 * exact.One).Money()
			}
			if _, err := e.Place(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second) // those of a dozen records leave memory together
		}
		e.Close()
		if e, err = openOn(o, d); err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		total := exact.Money{}
		err = e.CountPlaced(func(_ string, worth exact.Money, _ time.Time) { total, _ = total.Add(worth) })
		if want := (1059 * exact.One).Money(); err != nil || total != want {
			t.Errorf("%v counts after a start, %v, want %v", total, err, want)
		}
	})
}

// TestFindArchived: every order that has left memory is found, those that ended last first, in
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
			if _, err := e.Place(t.Context(), book.OrderRequest{Who: anyone(), Symbol: []string{"AAA", "BBB"}[i%2], Side: book.Buy, Type: book.Market, Quantity: exact.One, ClientOrderID: fmt.Sprint("c", i)}); err != nil {
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
			{OrderFilter{Status: book.StatusFilled, Symbol: "AAA"}, 0, 2, "c34 c32 and more"},
			{OrderFilter{Status: book.StatusCancelled}, 0, 2, ""},
			{OrderFilter{Status: book.StatusOpen}, 0, 2, ""},
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
// in which they were placed, also one that was open while others left memory.
func TestTakeAsPlaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := fewOptions()
		o.Dir = t.TempDir()
		e := openTest(t, o)
		want := []string{place(t, e, book.Buy, book.Limit, "1", "90").ID}
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
		s, err := book.DecodeState(store, seq, snapshot)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range s.Orders {
			got = append(got, o.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("orders %q, want %q", got, want)
		}
	})
}

// TestFinishedEveryFailure cuts the power at every disk call of a run in which most
// orders leave memory. The next start knows all that were acknowledged, and retries
// of all make no order twice.
func TestFinishedEveryFailure(t *testing.T) {
	const n = 40
	d, acked := journaltest.NewDisk(), new(atomic.Uint64)
	var placed []book.Order
	crashes := d.Crashes([]journaltest.Fate{journaltest.Dropped, journaltest.Kept, 1}, acked, func() {
		for _, half := range []int{0, n / 2} {
			e, err := openOn(fewOptions(), d)
			for i := half; i < half+n/2 && err == nil; i++ {
				var o book.Order
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
		if got := must(e.Positions(false))[0].Quantity; got != n*exact.One {
			t.Fatalf("%s: the position is %s after %d orders of 1", c.What, got, n)
		}
	}
}

// TestFinishedDamage: what somebody changed in a closed journal or in its index is never
// served as truth and never lets an order be placed twice.
func TestFinishedDamage(t *testing.T) {
	d := journaltest.NewDisk()
	e, err := openOn(fewOptions(), d)
	if err != nil {
		t.Fatal(err)
	}
	var first book.Order
	for i := range 30 {
		o, err := buy(t, e, i)
		if err != nil {
			t.Fatal(err)
		}
		if i == 3 {
			first = o
		}
	}
	e.Close()
	if e, err = openOn(fewOptions(), d); err != nil { // which makes what is missing of the index
		t.Fatal(err)
	}
	e.Close()
	change := func(name string) func(*journaltest.Disk) {
		return func(d *journaltest.Disk) {
			f := d.Files[name]
			f.Data = []byte(strings.Replace(string(f.Data), `"client_order_id":"c3"`, `"client_order_id":"x3"`, 1))
		}
	}
	gone := func(names ...string) func(*journaltest.Disk) {
		return func(d *journaltest.Disk) {
			for _, name := range names {
				delete(d.Files, name)
			}
		}
	}
	flip := func(at int) func(*journaltest.Disk) {
		return func(d *journaltest.Disk) {
			f := d.Files["journal-1.idx"]
			f.Data[(at+len(f.Data))%len(f.Data)] ^= 1
		}
	}
	for _, c := range []struct {
		name          string
		harm          func(*journaltest.Disk)
		start, answer string // part of the error; empty if it succeeds
	}{
		{"record changed", change("journal-1.wal"), "", "journal-1.wal at byte"},
		{"record changed, and no index", func(d *journaltest.Disk) { change("journal-1.wal")(d); gone("journal-1.idx")(d) }, "journal-1.wal at byte", ""},
		{"journal gone", gone("journal-1.wal"), "", "journal-1.wal"},
		{"both gone", gone("journal-1.wal", "journal-1.idx"), "journal-1.wal", ""},
		{"index gone", gone("journal-1.idx"), "", ""},
		{"journal cut", func(d *journaltest.Disk) { d.Files["journal-1.wal"].Data = d.Files["journal-1.wal"].Data[:700] }, "", "journal-1.wal"},
		{"journal replaced by nonsense", func(d *journaltest.Disk) { d.Files["journal-1.wal"].Data = []byte("nonsense") }, "", "journal-1.wal"},
		{"head of the index changed", flip(20), "", ""},
		{"filter of the index changed", flip(100), "", ""},
		{"table of the index changed", flip(-10), "", "journal-1.idx is damaged"},
		{"index of another journal", func(d *journaltest.Disk) { d.Files["journal-1.idx"].Data = slices.Clone(d.Files["journal-2.idx"].Data) }, "", ""},
	} {
		c2 := d.Cut(journaltest.Kept)
		c.harm(c2)
		e, err := openOn(fewOptions(), c2)
		if (err == nil) != (c.start == "") || err != nil && !strings.Contains(err.Error(), c.start) {
			t.Errorf("%s: the start gives %v, want %q", c.name, err, c.start)
		}
		if err != nil {
			continue
		}
		o, err := buy(t, e, 3)
		if c.answer == "" && (err != nil || o.ID != first.ID) {
			t.Errorf("%s: a retry gives %s, %v, want %s", c.name, o.ID, err, first.ID)
		}
		if c.answer != "" && (!errors.Is(err, journal.ErrStorage) || !strings.Contains(err.Error(), c.answer)) {
			t.Errorf("%s: a retry gives %+v, %v, want ErrStorage that says %q", c.name, o, err, c.answer)
		}
		if o, err := buy(t, e, 29); err != nil || o.ClientOrderID != "c29" {
			t.Errorf("%s: a retry of another order gives %+v, %v", c.name, o, err)
		}
	}
}

// TestFinishedRecovered: a closed journal is damaged or gone; a recovery notes that, and the
// next start goes on. The orders whose records are whole are found as long as there is an
// index; the others are not known any more.
func TestFinishedRecovered(t *testing.T) {
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
	if e, err = openOn(fewOptions(), d); err != nil {
		t.Fatal(err)
	}
	e.Close()
	for name, c := range map[string]struct {
		harm func(*journaltest.Disk)
		lost bool
	}{
		"record changed": {func(d *journaltest.Disk) {
			f := d.Files["journal-1.wal"]
			f.Data = []byte(strings.Replace(string(f.Data), `"client_order_id":"c3"`, `"client_order_id":"x3"`, 1))
		}, false},
		"journal and index gone": {func(d *journaltest.Disk) { delete(d.Files, "journal-1.wal"); delete(d.Files, "journal-1.idx") }, true},
	} {
		c2, o := d.Cut(journaltest.Kept), fewOptions()
		c.harm(c2)
		said := ""
		o.Recover = func(r Recovery) error { said = r.String(); return nil }
		if e, err = openOn(o, c2); err != nil || !strings.Contains(said, "history: journal-1.wal") {
			t.Fatalf("%s: the recovery: %v\n%s", name, err, said)
		}
		e.Close()
		if e, err = openOn(fewOptions(), c2); err != nil {
			t.Fatalf("%s: the start after it: %v", name, err)
		}
		if _, err := e.Order("c5"); (err != nil) != c.lost {
			t.Errorf("%s: an order behind the damage: %v", name, err)
		}
		if _, err := e.Order("c20"); err != nil {
			t.Errorf("%s: an order of another journal: %v", name, err)
		}
	}
}

// TestFinishedAsBefore: orders of every kind leave memory, whose records are in several
// journals: stops that trailed, exits that ended with another, orders that were replaced or
// have expired. Each is found as it was.
func TestFinishedAsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, o := journaltest.NewDisk(), fewOptions()
		e, err := openOn(o, d)
		if err != nil {
			t.Fatal(err)
		}
		do := func(r book.OrderRequest) book.Order {
			t.Helper()
			r.Symbol = "AAA"
			placed, err := e.Place(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			return placed
		}
		want := make(map[string]book.Order) // each as it was last in memory
		fill := func(from, to int) {
			for i := from; i < to; i++ {
				time.Sleep(time.Second)
				for _, o := range must(e.Orders(false)) {
					want[o.ID] = o
				}
				o, err := buy(t, e, i)
				if err != nil {
					t.Fatal(err)
				}
				want[o.ID] = o
			}
		}
		ten := exact.One / 10
		do(book.OrderRequest{Side: book.Buy, Type: book.Market, Quantity: ten, StopLoss: book.Exit{Price: dec(t, "80")}, TakeProfit: book.Exit{Price: dec(t, "150")}})
		fill(0, 15)
		do(book.OrderRequest{Side: book.Sell, Type: book.TrailingStop, Quantity: ten, TrailAmount: dec(t, "5")})
		limit1 := do(book.OrderRequest{Side: book.Buy, Type: book.Limit, Quantity: ten, Price: dec(t, "50")})
		price(e, "AAA", 108)
		fill(15, 30)
		do(book.OrderRequest{Side: book.Buy, Type: book.Limit, Quantity: ten, Price: dec(t, "51"), Replaces: limit1.ID})
		price(e, "AAA", 101)
		for _, o := range must(e.Orders(true)) {
			if _, err := e.CancelOrder(book.Who{}, o.ID); err != nil && code(err) != "order_cancelled" {
				t.Fatal(err)
			}
		}
		fill(30, 60)
		e.Close()
		if e, err = openOn(o, d); err != nil {
			t.Fatal(err)
		}
		if n := len(must(e.Orders(false))); n != o.kept {
			t.Errorf("%d orders in memory, want %d", n, o.kept)
		}
		for id, was := range want {
			if is, err := e.Order(id); err != nil || asJSON(t, is) != asJSON(t, was) {
				t.Errorf("an order was\n%s\nand is %v\n%s", asJSON(t, was), err, asJSON(t, is))
			}
		}
		found, err := e.FindArchived(t.Context(), OrderFilter{}, 0, 1000)
		if err != nil || len(found.Orders) != len(want)-o.kept {
			t.Errorf("%d orders are listed, %v, want all %d but those in memory", len(found.Orders), err, len(want))
		}
	})
}

// asJSON returns an order as a client gets it.
func asJSON(t *testing.T, o book.Order) string {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestGiveKeepsFinished: a store that was made from another log has the orders of that in
// its own journal, and finds them once they have left memory.
func TestGiveKeepsFinished(t *testing.T) {
	d, o := journaltest.NewDisk(), fewOptions()
	e, err := openOn(o, d)
	if err != nil {
		t.Fatal(err)
	}
	open := place(t, e, book.Buy, book.Limit, "1", "90")
	for i := range 8 {
		if _, err := buy(t, e, i); err != nil {
			t.Fatal(err)
		}
	}
	o.Dir = filepath.Join(t.TempDir(), "given")
	if err := errors.Join(e.Close(), Give(journal.NewFiles(d, journal.FileOptions{}, slog.New(slog.DiscardHandler)), o.Dir)); err != nil {
		t.Fatal(err)
	}
	e = openTest(t, o)
	for i := 8; i < 40; i++ {
		if _, err := buy(t, e, i); err != nil {
			t.Fatal(err)
		}
	}
	e.Close()
	e = openTest(t, o)
	defer e.Close()
	for i := range 40 {
		if _, err := e.Order(fmt.Sprint("c", i)); err != nil {
			t.Errorf("order c%d: %v", i, err)
		}
	}
	if all := must(e.Orders(true)); len(all) != 1 || all[0].ID != open.ID {
		t.Errorf("open orders %+v, want the one of before", all)
	}
	if v, err := Verify(o.Dir, journal.Hash{}); err != nil {
		t.Errorf("%+v, %v", v, err)
	}
}

// meanwhile is a venue that does something while an order is on its way to it.
type meanwhile struct {
	book.Venue
	do func()
}

func (v meanwhile) Prepare(ctx context.Context, symbol string) (book.Arrival, error) {
	v.do()
	return v.Venue.Prepare(ctx, symbol)
}

// TestFinishedMeanwhile: an order is placed and filled after another request with its
// client_order_id has looked for it and before that one is accepted. It is the answer of
// both, also if it has left memory since.
func TestFinishedMeanwhile(t *testing.T) {
	for _, others := range []int{1, 40} {
		e, err := openOn(fewOptions(), journaltest.NewDisk())
		if err != nil {
			t.Fatal(err)
		}
		var first book.Order
		paper := e.venue
		e.venue = meanwhile{paper, func() {
			e.venue = paper
			for i := range others {
				o, err := buy(t, e, i)
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					first = o
				}
			}
			if there := e.book.Order(first.ID) != nil; there != (others == 1) {
				t.Fatalf("after %d orders the first is in memory: %t", others, there)
			}
		}}
		if o, err := buy(t, e, 0); err != nil || o.ID != first.ID {
			t.Errorf("%d orders in between: %+v, %v; want the order %s", others, o, err, first.ID)
		}
	}
}

// TestFinishedBeside: orders leave memory beside the writers, without waiting for the next
// rotation, and every one is found meanwhile.
func TestFinishedBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := openOn(fewOptions(), journaltest.NewDisk())
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go e.keepIndex(ctx)
		const n = 200
		var placed [n]book.Order
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
					if again, err := buy(t, e, i/2/4*4+first); err != nil || again.ID != placed[i/2/4*4+first].ID {
						t.Errorf("a retry gives %+v, %v", again, err)
					}
				}
			})
		}
		clients.Wait()
		synctest.Wait()
		if got, most := len(must(e.Orders(false))), fewOptions().kept+fewOptions().files.MaxRecords+1; got > most {
			t.Errorf("%d orders are in memory, want those of the present generation beside the kept ones, at most %d", got, most)
		}
		for i, want := range placed {
			if o, err := e.Order(want.ID); err != nil || o.ClientOrderID != fmt.Sprint("c", i) {
				t.Fatalf("order %d is %+v, %v", i, o, err)
			}
		}
	})
}
