package trade

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"wick/internal/exact"
	"wick/trade/book"
)

var finishedOrders = flag.Int("finished", 20_000, "how many finished orders BenchmarkFinished puts into the journal")

// BenchmarkFinished measures what an owner of many finished orders waits for: a start, the
// retry of the oldest order, the look for one that nobody used, and the audit of all.
//
//	go test ./trade -run '^$' -bench Finished -benchtime 1x -timeout 2h -args -finished 10000000
func BenchmarkFinished(b *testing.B) {
	o := testOptions(b)
	fillJournal(b, o, *finishedOrders)
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			before := heap0()
			e := openTest(b, o)
			b.ReportMetric(float64(heap0()-before)/(1<<20), "MiB-live")
			b.StopTimer()
			e.Close()
			b.StartTimer()
		}
	})
	e := openTest(b, o)
	defer e.Close()
	for _, c := range []struct{ name, id string }{{"retry", "c0"}, {"unknown", "none"}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if o, err := e.archive.order(clientKey(c.id)); err != nil || (o != nil) != (c.name == "retry") {
					b.Fatal(o, err)
				}
			}
		})
	}
	b.Run("page", func(b *testing.B) { // the last one
		for b.Loop() {
			if found, err := e.FindArchived(b.Context(), OrderFilter{}, e.archive.Len()-keptOrders-100, 100); err != nil || len(found.Orders) == 0 {
				b.Fatal(len(found.Orders), err)
			}
		}
	})
	b.Run("audit", func(b *testing.B) {
		for b.Loop() {
			if err := Audit(o.Dir, io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// heap0 returns how many bytes of the heap are in use after a collection.
func heap0() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// fillJournal makes a store with n filled orders, each a record of its journal.
func fillJournal(b *testing.B, o Options, n int) {
	b.Helper()
	o.kept = 100 // so that the snapshots meanwhile are short
	e := openTest(b, o)
	at := book.Time{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	price := 100 * exact.One
	for i := 0; i < n; {
		if err := e.Do(func(s *book.State) error {
			for range min(1000, n-i) {
				if err := e.book.Propose(book.KindPlaced, &book.Event{At: at, Order: &book.Order{
					ID: s.NewID("o"), ClientOrderID: fmt.Sprint("c", i), Symbol: "BTCUSDT", Side: book.Buy, Type: book.Market,
					Quantity: exact.One, Status: book.StatusFilled, FilledQuantity: exact.One, AveragePrice: &price, Broker: book.PaperName, CreatedAt: at, UpdatedAt: at,
				}}); err != nil {
					return err
				}
				i++
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		b.Fatal(err)
	}
}
