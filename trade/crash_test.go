package trade

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	rand "math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/internal/journal/journaltest"
	"wick/market"
	"wick/sse"
	"wick/trade/book"
)

// script is a run of random operations on an engine. The same seed does the
// same things: time comes from the bubble it runs in, ids from the store.
type script struct {
	rng    *rand.Rand
	e      *Engine
	acked  *atomic.Uint64 // all up to here was acknowledged
	orders []string
	alerts []string
}

// step does one operation and returns its error.
func (s *script) step(ctx context.Context) (err error) {
	quantity := exact.Decimal(1 + s.rng.Int64N(3e8))
	limit := exact.Decimal(50e8 + s.rng.Int64N(100e8))
	side := []book.Side{book.Buy, book.Sell}[s.rng.IntN(2)]
	caller := fmt.Sprint("caller", s.rng.IntN(3))
	client := fmt.Sprint("id", s.rng.IntN(40))
	level := 50 + float64(s.rng.IntN(10000))/100
	pick, op := s.rng.IntN(1<<20), s.rng.IntN(12)
	time.Sleep(time.Duration(1+s.rng.IntN(2000)) * time.Millisecond)
	switch op {
	case 0, 1:
		_, err = s.e.Place(ctx, book.OrderRequest{Symbol: "AAA", Side: side, Type: book.Market, Quantity: quantity, ClientOrderID: client})
	case 2, 3:
		var o book.Order
		if o, err = s.e.Place(ctx, book.OrderRequest{Symbol: "AAA", Side: side, Type: book.Limit, Quantity: quantity, Price: limit}); err == nil {
			s.orders = append(s.orders, o.ID)
		}
	case 4:
		if len(s.orders) > 0 {
			_, err = s.e.CancelOrder(book.Who{}, s.orders[pick%len(s.orders)])
		}
	case 5, 6:
		var a book.Alert
		c := []book.Condition{
			{Type: book.PriceAbove, Threshold: limit}, {Type: book.PriceBelow, Threshold: limit}, {Type: book.ProfitBelow, Threshold: limit - 100e8, Of: book.OfPosition},
			{Type: book.AtTime, Moment: book.Moment{Time: time.Now().Add(time.Minute).UTC().Format(time.RFC3339)}}, {Type: book.Daily, Moment: book.Moment{Time: "00:02"}},
		}[pick%5]
		if a, err = s.e.SetAlert(ctx, book.AlertRequest{Symbol: "AAA", Condition: c}); err == nil {
			s.alerts = append(s.alerts, a.ID)
		}
	case 7:
		if len(s.alerts) > 0 {
			id := s.alerts[pick%len(s.alerts)]
			if pick%3 == 0 {
				_, err = s.e.CancelAlert(book.Who{}, id)
			} else {
				_, err = s.e.SetAlert(ctx, book.AlertRequest{Changes: id, Condition: book.Condition{Type: book.PriceBelow, Threshold: limit}})
			}
		}
	case 8:
		if pick%4 == 0 {
			_, err = s.e.Unsubscribe(caller)
		} else {
			_, err = s.e.Subscribe(from(caller), Filter{})
		}
	case 9:
		_, _, err = s.e.Notifications("", pick%2 == 0, Page{Size: 1 << 20})
	case 10:
		if err = deliverSome(s.e, pick); err == nil {
			err = errors.Join(s.e.tidy(), s.e.pulse())
		}
	default:
		s.e.deliver(ctx, market.Update{Symbol: "AAA", Price: level, High: level + 1, Low: level - 1, At: time.Now().UnixMilli()})
	}
	s.acked.Store(s.e.ackedSeq())
	return err
}

func (e *Engine) ackedSeq() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.book.Seq
}

func scriptOptions() Options {
	return Options{
		Source: flat(100), Feed: quiet{}, Intervals: []market.Interval{market.Hour1},
		Rules: book.Rules{FeeRate: 100000, Slippage: 50000, Limits: book.Limits{OrdersPerSecond: 1 << 30}},
		epoch: func() string { return "00c0ffee" }, // the same ids in every run
		files: journal.FileOptions{MaxRecords: 25}, // several rotations in a short script
	}
}

// run plays n operations with a stop and a start in the middle, until the disk
// is dead or all is done, and keeps the last acknowledged sequence in acked.
func run(ctx context.Context, d *journaltest.Disk, n int, seed uint64, acked *atomic.Uint64) {
	s := &script{rng: rand.New(rand.NewPCG(seed, 1)), acked: acked}
	var err error
	for i := range n {
		if i == 0 || i == n/2 {
			if s.e != nil && s.e.Close() != nil {
				return
			}
			if s.e, err = openOn(scriptOptions(), d); err != nil {
				return
			}
			acked.Store(s.e.ackedSeq())
		}
		s.step(ctx)
	}
	s.e.Close()
}

// bubble runs f where time stands still unless it sleeps.
func bubble(t *testing.T, f func(ctx context.Context)) {
	synctest.Test(t, func(t *testing.T) { f(t.Context()) })
}

// newStore returns a disk with an empty store, so that all runs have one id.
func newStore(t *testing.T) *journaltest.Disk {
	d := journaltest.NewDisk()
	bubble(t, func(context.Context) {
		e, err := openOn(scriptOptions(), d)
		if err != nil {
			t.Fatal(err)
		}
		e.Close()
	})
	return d
}

// history plays the script on a good disk and returns the state after every
// record, encoded, and the number of disk calls.
func history(t *testing.T, store *journaltest.Disk, n int, seed uint64) (states map[uint64]string, calls int) {
	d := store.Cut(journaltest.Kept)
	s, err := tryLoad(d, false)
	if err != nil {
		t.Fatal(err)
	}
	states = map[uint64]string{s.Seq: encoded(t, s)}
	d.Calls = 0
	d.Written = func(name string, data []byte) {
		if !strings.HasSuffix(name, ".wal") {
			return
		}
		for _, f := range journaltest.Frames(data) {
			if f.Kind == journal.KindHeader || f.Kind == 255 { // the first and the last of a file
				continue
			}
			ev, err := book.DecodeEvent(f.Payload)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Apply(f.Seq, book.Kind(f.Kind), ev); err != nil {
				t.Fatal(err)
			}
			states[s.Seq] = encoded(t, s)
		}
	}
	bubble(t, func(ctx context.Context) { run(ctx, d, n, seed, new(atomic.Uint64)) })
	return states, d.Calls
}

func encoded(t testing.TB, s *book.State) string {
	text, err := s.Snapshot().Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// must returns what was read, which no test expects to fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// tryLoad reads the state from d as a start does.
func tryLoad(d journal.Disk, recover bool) (*book.State, error) {
	log := slog.New(slog.DiscardHandler)
	b := store{hub: sse.NewHub(nil), log: log}
	var o journal.FileOptions
	if recover {
		o.Recover = func(journal.Recovery) error { return nil }
	}
	err := b.read(d, journal.NewFiles(d, o, log))
	return b.book.State, err
}

// checkRecovery starts on d and compares with the history.
func checkRecovery(t *testing.T, d *journaltest.Disk, states map[uint64]string, acked uint64, what string) {
	t.Helper()
	s, err := tryLoad(d, false)
	if err != nil {
		t.Fatalf("%s: the next start: %v", what, err)
	}
	if s.Seq < acked {
		t.Fatalf("%s: recovered up to record %d, but %d was acknowledged", what, s.Seq, acked)
	}
	if got := encoded(t, s); got != states[s.Seq] {
		t.Fatalf("%s: recovered state at %d is\n%s\nwant\n%s", what, s.Seq, got, states[s.Seq])
	}
}

// stride is 1: every case. With -short, as the race detector runs, it is 17: the
// detector has nothing to find in one goroutine and takes ten times as long.
func stride() int {
	if testing.Short() {
		return 17
	}
	return 1
}

// TestEveryFailure lets every disk call of the script fail, once and from then
// on. Whatever fails, the next start finds all that was acknowledged and
// nothing that never was.
func TestEveryFailure(t *testing.T) {
	t.Parallel()
	const n, seed = 60, 7
	store := newStore(t)
	states, calls := history(t, store, n, seed)
	for k := 1; k <= calls; k += stride() {
		for _, forever := range []bool{false, true} {
			for _, after := range []bool{false, true} {
				d := store.Cut(journaltest.Kept)
				d.FailAt, d.Forever, d.After = k, forever, after
				acked := new(atomic.Uint64)
				bubble(t, func(ctx context.Context) { run(ctx, d, n, seed, acked) })
				checkRecovery(t, d.Cut(journaltest.Kept), states, acked.Load(), fmt.Sprintf("call %d of %d failed, forever %t, after %t", k, calls, forever, after))
			}
		}
	}
	t.Logf("%d calls, each failed 4 ways", calls)
}

// TestEveryCrash cuts the power at every disk call of a script of 200
// operations, before and after its effect, with the unsynced bytes dropped,
// kept, or cut at a sector.
func TestEveryCrash(t *testing.T) {
	t.Parallel()
	n, seed := 200, uint64(11)
	if testing.Short() {
		n = 80
	}
	d, acked := newStore(t), new(atomic.Uint64)
	states, calls := history(t, d, n, seed)
	crashes := d.Crashes([]journaltest.Fate{journaltest.Dropped, journaltest.Kept, 1, 2, 3}, acked, func() {
		bubble(t, func(ctx context.Context) { run(ctx, d, n, seed, acked) })
	})
	for i := 0; i < len(crashes); i += stride() {
		checkRecovery(t, crashes[i].Disk, states, crashes[i].Acked, crashes[i].What)
	}
	t.Logf("%d records, %d calls leave %d directories", len(states)-1, calls, len(crashes))
}
