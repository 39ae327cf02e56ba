//go:build unix

package trade

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
	"wick/trade/book"
)

// BenchmarkStart opens a store with 100,000 records since its snapshot.
func BenchmarkStart(b *testing.B) {
	const records = 100_000
	o := testOptions(b)
	o.files.MaxRecords, o.files.MaxBytes = 1<<30, 1<<40
	e := openTest(b, o)
	if err := e.ensure(b.Context(), "AAA"); err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	for c := range 64 {
		wg.Go(func() {
			for i := range records/64 + 1 {
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
	e.dir.Close() // no clean stop: the journal is to be replayed
	info, err := os.Stat(filepath.Join(o.Dir, "journal-1.wal"))
	if err != nil {
		b.Fatal(err)
	}
	d := openDir(b, o.Dir)
	spent := cpuTime()
	for b.Loop() {
		s, err := tryLoad(d, false)
		if err != nil || s.Seq < records {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuTime()-spent).Milliseconds())/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(records), "records")
	b.ReportMetric(float64(info.Size())/1e6, "MB")
}

// cpuTime is what the process has used: on a shared machine the clock says
// more about the neighbours.
func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
