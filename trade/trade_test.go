package trade

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"wick/internal/exact"
	"wick/internal/journal"
	"wick/market"
	"wick/trade/book"
)

// quiet is a feed that tells nothing: tests give their updates to deliver.
type quiet struct{}

func (quiet) Watch(string, ...market.Interval) {}

func (quiet) Await([]string) {}

func (quiet) Unwatch(string) {}

func (quiet) Resume(string, map[market.Interval]int64, float64, int64) {}

func (quiet) Period(string) time.Duration { return 0 }

func (quiet) Ages() map[string]time.Duration { return nil }

func (quiet) Run(ctx context.Context, _ func(market.Update)) error {
	<-ctx.Done()
	return nil
}

// flat is a source whose price is always the same; every symbol has history.
type flat float64

func (p flat) Bars(_ context.Context, q market.Query) (*market.Series, error) {
	at := time.Now()
	s := &market.Series{Symbol: q.Symbol, Interval: q.Interval, Source: "test", Synthetic: true, Forming: true, AsOf: at.UnixMilli()}
	end := q.Interval.Start(at.Unix())
	for i := q.Limit - 1; i >= 0; i-- {
		s.Append(market.Bar{Time: end - int64(i)*q.Interval.Seconds(), Open: float64(p), High: float64(p), Low: float64(p), Close: float64(p), Volume: 1})
	}
	return s, nil
}

func dec(t testing.TB, text string) exact.Decimal {
	t.Helper()
	d, err := exact.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// testOptions are those of a paper engine at a price of 100, no fee, no slippage.
func testOptions(t testing.TB) Options {
	return Options{
		Dir: t.TempDir(), Source: flat(100), Feed: quiet{}, Intervals: []market.Interval{market.Hour1},
		Rules: book.Rules{Limits: book.Limits{OrdersPerSecond: 1 << 30}},
	}
}

var clients atomic.Int64

// anyone returns a client that has not asked before, so that equal orders of a
// test are not taken for repetitions.
func anyone() book.Who { return book.Who{Client: fmt.Sprint("test ", clients.Add(1))} }

func openTest(t testing.TB, o Options) *Engine {
	t.Helper()
	e, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// openDir opens a state directory for the length of the test.
func openDir(t testing.TB, name string) *journal.Dir {
	t.Helper()
	d, err := journal.OpenDir(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// deliver hands the engine an update and waits until its bars are judged, too.
func (e *Engine) deliver(ctx context.Context, u market.Update) {
	e.onUpdate(ctx, u)
	e.judging.Wait()
}

// watchNeeded has the symbols watched that Run would have watched, and waits for it.
func (e *Engine) watchNeeded(ctx context.Context) {
	symbols, windows := e.toWatch()
	for _, symbol := range symbols {
		needs := windows[symbol]
		e.load(ctx, symbol, needs)
	}
}

// price gives the engine one update at a price, later than all before it.
func price(e *Engine, symbol string, p float64) {
	time.Sleep(2 * time.Millisecond)
	e.deliver(context.Background(), market.Update{Symbol: symbol, Synthetic: true, Price: p, High: p, Low: p, At: time.Now().UnixMilli()})
}

// TestOpenAgain shows the promise of the package in a small example: what was acknowledged
// is there after the next start, in the same bytes.
func TestOpenAgain(t *testing.T) {
	o := testOptions(t)
	e := openTest(t, o)
	ctx := t.Context()
	first, err := e.Place(ctx, book.OrderRequest{Symbol: "btcusdt", Side: book.Buy, Type: book.Market, Quantity: dec(t, "0.5"), ClientOrderID: "one"})
	if err != nil || first.Status != book.StatusFilled {
		t.Fatalf("market order: %+v, %v", first, err)
	}
	if _, err := e.Place(ctx, book.OrderRequest{Symbol: "BTCUSDT", Side: book.Buy, Type: book.Limit, Price: dec(t, "90"), Quantity: dec(t, "1")}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.SetAlert(ctx, book.AlertRequest{Symbol: "BTCUSDT", Condition: book.Condition{Type: book.PriceAbove, Threshold: dec(t, "110")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Subscribe(from("caller"), Filter{}); err != nil {
		t.Fatal(err)
	}
	price(e, "BTCUSDT", 111)
	if err := e.writeSeen(); err != nil {
		t.Fatal(err)
	}
	epoch := e.book.Epoch
	before, err := e.book.Snapshot().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openTest(t, o)
	defer e.Close()
	second := e.book.Epoch
	e.book.Seq, e.book.Epoch = e.book.Seq-1, epoch // without the record of the second start
	after, err := e.book.Snapshot().Encode()
	if err != nil {
		t.Fatal(err)
	}
	e.book.Seq, e.book.Epoch = e.book.Seq+1, second
	if string(before) != string(after) {
		t.Errorf("state before\n%s\nand after the restart\n%s", before, after)
	}
	again, err := e.Place(ctx, book.OrderRequest{Symbol: "BTCUSDT", Side: book.Buy, Type: book.Market, Quantity: dec(t, "0.5"), ClientOrderID: "one"})
	if err != nil || again.ID != first.ID {
		t.Errorf("the same client_order_id after the restart: %+v, %v; want order %s", again, err, first.ID)
	}
	if n, _, _ := e.Notifications("", false, Page{Size: 1 << 20}); len(n) != 1 || n[0].Value != "111" {
		t.Errorf("notifications after the restart: %+v", n)
	}
}

func unmarshal(t testing.TB, text []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(err)
	}
}
