package trade

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wick/internal/exact"
	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/trade/alert"
	"wick/trade/book"
)

// BenchmarkPlace64 places market orders from 64 clients on a real disk, each
// waiting for its fsync, and states the raw fsync rate of the same disk in the
// same run: orders/s beyond fsyncs/s are the gain of the group commit. Orders
// are kept for ever, so it also states what one takes in memory.
func BenchmarkPlace64(b *testing.B) {
	o := testOptions(b)
	raw := rawSyncs(b, b.TempDir())
	e := openTest(b, o)
	defer e.Close()
	if err := e.ensure(b.Context(), "AAA"); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	var index sync.WaitGroup
	index.Go(func() { e.keepIndex(ctx) })
	defer index.Wait() // before the directory goes
	defer cancel()
	syncs, used := e.Status().Syncs, heapInUse()
	const clients = 64
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ResetTimer()
	for c := range clients {
		wg.Go(func() {
			for i := 0; left.Add(-1) >= 0; i++ {
				side := []book.Side{book.Buy, book.Sell}[i%2]
				if _, err := e.Place(context.Background(), book.OrderRequest{
					Symbol: "AAA", Side: side, Type: book.Market, Quantity: 1e6, ClientOrderID: fmt.Sprint(c, ":", i)}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	seconds := b.Elapsed().Seconds()
	b.ReportMetric(float64(b.N)/seconds, "orders/s")
	b.ReportMetric(raw, "raw-fsyncs/s")
	b.ReportMetric(float64(b.N)/float64(e.Status().Syncs-syncs), "orders/fsync")
	b.ReportMetric((heapInUse()-used)/float64(b.N), "B/order")
}

// heapInUse returns the bytes that are alive.
func heapInUse() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// rawSyncs measures write and fsync of a record's size, one after the other.
func rawSyncs(b *testing.B, dir string) float64 {
	f, err := os.Create(filepath.Join(dir, "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	record := make([]byte, 500)
	start := time.Now()
	n := 0
	for ; time.Since(start) < 300*time.Millisecond; n++ {
		f.Write(record)
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	return float64(n) / time.Since(start).Seconds()
}

// BenchmarkUpdate is a whole update through the engine, a million alerts
// waiting and none firing.
func BenchmarkUpdate(b *testing.B) {
	e, err := openOn(testOptions(b), journaltest.NewDisk())
	if err != nil {
		b.Fatal(err)
	}
	if err := e.ensure(b.Context(), "AAA"); err != nil {
		b.Fatal(err)
	}
	alerts := make(map[string]*book.Alert)
	for i := range 1_000_000 {
		a := &book.Alert{ID: fmt.Sprintf("a-01234567-%d", i), Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: 110*exact.One + exact.Decimal(i)*1000}}
		alerts[a.ID] = a
	}
	e.book.Alerts, e.watching = alerts, alert.NewIndex(alerts)
	u := market.Update{Symbol: "AAA", Price: 100, High: 100.5, Low: 99.5, At: time.Now().UnixMilli()}
	b.ReportAllocs()
	for b.Loop() {
		u.At++
		e.deliver(context.Background(), u)
	}
}

// BenchmarkQuietOrders is an update that reaches none of as many stops and limits as a symbol
// may have.
func BenchmarkQuietOrders(b *testing.B) {
	o := testOptions(b)
	o.Limits.Open, o.Limits.OpenPerSymbol, o.Limits.PositionNotional, o.Limits.OrderNotional = 1<<20, book.MaxOpenPerSymbol, 1<<62, 1<<62
	e, err := openOn(o, journaltest.NewDisk())
	if err != nil {
		b.Fatal(err)
	}
	for i := range book.MaxOpenPerSymbol {
		r := book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Sell, Type: book.Stop, Quantity: 1e6, StopPrice: exact.Decimal(50+i%40) * exact.One}
		if i%2 == 0 {
			r = book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Sell, Type: book.Limit, Quantity: 1e6, Price: exact.Decimal(150+i%40) * exact.One}
		}
		if _, err := e.Place(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	price(e, "AAA", 100)
	price(e, "AAA", 100)
	u := market.Update{Symbol: "AAA", Price: 101, High: 101, Low: 99, At: time.Now().UnixMilli()}
	for b.Loop() {
		u.At++
		e.deliver(context.Background(), u)
	}
}
