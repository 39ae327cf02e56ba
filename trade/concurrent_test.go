package trade

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"wick/internal/exact"
	"wick/market"
	"wick/trade/book"
)

// TestConcurrent has writers, readers, prices and snapshots at the same time,
// for the race detector, and at the end compares the states.
func TestConcurrent(t *testing.T) {
	o := testOptions(t)
	o.Limits.Alerts = 1 << 20
	var mu sync.Mutex
	told := map[string]int{}
	o.Notify = func(n book.Notification, _ []string) {
		mu.Lock()
		defer mu.Unlock()
		told[n.AlertID]++
	}
	o.files.MaxRecords = 50
	e := openTest(t, o)
	ctx := context.Background()
	var writers, others sync.WaitGroup
	stop := make(chan struct{})
	for w := range 8 {
		writers.Go(func() {
			for i := range 20 {
				side := []book.Side{book.Buy, book.Sell}[i%2]
				if _, err := e.Place(ctx, book.OrderRequest{Symbol: "AAA", Side: side, Type: book.Market, Quantity: exact.One, ClientOrderID: fmt.Sprint(w, "-", i)}); err != nil {
					t.Error(err)
				}
				limit, err := e.Place(ctx, book.OrderRequest{Who: anyone(), Symbol: "AAA", Side: book.Buy, Type: book.Limit, Price: 50 * exact.One, Quantity: exact.One})
				if err != nil {
					t.Error(err)
				}
				if _, err := e.CancelOrder(book.Who{}, limit.ID); err != nil {
					t.Error(err)
				}
				if _, err := e.SetAlert(ctx, book.AlertRequest{Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: 90 * exact.One}}); err != nil {
					t.Error(err)
				}
				if _, err := e.Subscribe(from(fmt.Sprint("caller", w)), Filter{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	others.Go(func() { // the feed's goroutine
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				price(e, "AAA", 100+float64(i%3))
			}
		}
	})
	others.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				must(e.Orders(false))
				must(e.Positions(false))
				must(e.Alerts(""))
				e.Status()
				e.Window("AAA", market.Hour1)
				deliverSome(e, 0)
				e.tidy()
			}
		}
	})
	writers.Wait()
	close(stop)
	others.Wait()
	price(e, "AAA", 100)
	if n := len(must(e.Orders(false))); n != 8*20*2 {
		t.Errorf("%d orders, want 320", n)
	}
	if len(must(e.Positions(false))) != 0 || len(must(e.Orders(true))) != 0 || len(must(e.Alerts(""))) != 0 {
		t.Errorf("positions %v, open orders %v and alerts %v are left, want none", must(e.Positions(false)), must(e.Orders(true)), must(e.Alerts("")))
	}
	if len(told) != 8*20 {
		t.Errorf("%d alerts were told, want 160", len(told))
	}
	for id, n := range told {
		if n != 1 {
			t.Errorf("alert %s was told %d times", id, n)
		}
	}
	if err := e.writeSeen(); err != nil {
		t.Error(err)
	}
	want := encoded(t, e.book.State)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	s, err := tryLoad(openDir(t, o.Dir), false)
	if err != nil || encoded(t, s) != want {
		t.Errorf("the next start reads another state, or none: %v", err)
	}
}
