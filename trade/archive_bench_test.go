package trade

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"wick/archive"
	"wick/exact"
	"wick/journal"
)

var archivedOrders = flag.Int("archived", 20_000, "how many orders BenchmarkArchived puts into the archive")

// BenchmarkArchived measures what an owner of many archived orders waits for: a
// start, the retry of the oldest order, and an export of all by the audit.
//
//	go test ./trade -run '^$' -bench Archived -benchtime 1x -args -archived 10000000
func BenchmarkArchived(b *testing.B) {
	o := testOptions(b)
	fillArchive(b, o, *archivedOrders)
	var e *Engine
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			before := heap0()
			e = openTest(b, o)
			b.ReportMetric(float64(heap0()-before)/(1<<20), "MiB-live")
			b.StopTimer()
			e.Close()
			b.StartTimer()
		}
	})
	e = openTest(b, o)
	defer e.Close()
	for _, c := range []struct{ name, id string }{{"retry", "c0"}, {"unknown", "none"}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if o, err := e.archived(clientKey(c.id)); err != nil || (o != nil) != (c.name == "retry") {
					b.Fatal(o, err)
				}
			}
		})
	}
	b.Run("export", func(b *testing.B) {
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

// fillArchive makes a store whose archive has n filled orders.
func fillArchive(b *testing.B, o Options, n int) {
	b.Helper()
	e := openTest(b, o)
	at := Time{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	price := 100 * exact.One
	var batch []*Order
	for i := range n {
		batch = append(batch, &Order{
			ID: fmt.Sprintf("o-%s-%d", e.ahead.store[:8], i), ClientOrderID: fmt.Sprint("c", i), Symbol: "BTCUSDT", Side: Buy, Type: Market,
			Quantity: exact.One, Status: StatusFilled, FilledQuantity: exact.One, AveragePrice: &price, Broker: paperName, CreatedAt: at, UpdatedAt: at,
		})
		if len(batch) == 16384 || i == n-1 {
			if err := addToArchive(e.archive, batch); err != nil {
				b.Fatal(err)
			}
			e.archive.Settle()
			batch = batch[:0]
		}
	}
	if err := e.Close(); err != nil { // the snapshot notes the head
		b.Fatal(err)
	}
	d, err := journal.OpenDir(o.Dir, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	if head, err := archive.Check(d, e.ahead.store, func(archive.Record, archive.Head) error { return nil }); err != nil || head != e.ahead.archived {
		b.Fatal(head, err)
	}
}
