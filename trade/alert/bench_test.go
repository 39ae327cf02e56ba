package alert

import (
	"fmt"
	"testing"

	"wick/internal/exact"
	"wick/market"
	"wick/trade/book"
)

// waitingAlerts returns n price alerts on one symbol, half on either side of
// 100.
func waitingAlerts(n int) (map[string]*book.Alert, *Index) {
	alerts := make(map[string]*book.Alert, n)
	for i := range n {
		c := book.Condition{Type: book.PriceAbove, Threshold: 110*exact.One + exact.Decimal(i)*1000}
		if i%2 == 0 {
			c = book.Condition{Type: book.PriceBelow, Threshold: 90*exact.One - exact.Decimal(i)*1000}
		}
		a := &book.Alert{ID: fmt.Sprintf("a-01234567-%d", i), Symbol: "AAA", Condition: c}
		alerts[a.ID] = a
	}
	return alerts, NewIndex(alerts)
}

// BenchmarkQuietTick is a price that fires none of the alerts that wait, by
// the sorted lists and by looking at each.
func BenchmarkQuietTick(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		alerts, index := waitingAlerts(n)
		b.Run(fmt.Sprint("lists/", n), func(b *testing.B) {
			b.ReportAllocs()
			var reached []*book.Alert
			t, _ := book.NewTick(market.Update{Symbol: "AAA", Price: 100, High: 100.00000001, Low: 99.99999999})
			for b.Loop() {
				reached = index.Reached(t)
			}
			if len(reached) != 0 {
				b.Fatal("fired")
			}
		})
		b.Run(fmt.Sprint("scan/", n), func(b *testing.B) {
			list := make([]*book.Alert, 0, n)
			for _, a := range alerts {
				list = append(list, a)
			}
			t, _ := book.NewTick(market.Update{Symbol: "AAA", Price: 100, High: 100.00000001, Low: 99.99999999})
			fired := 0
			for b.Loop() {
				for _, a := range list {
					fired += len(t.Meets(a))
				}
			}
			if fired != 0 {
				b.Fatal("fired")
			}
		})
	}
}

// BenchmarkSetAlert sets and cancels with a million waiting, in memory.
func BenchmarkSetAlert(b *testing.B) {
	_, index := waitingAlerts(1_000_000)
	a := &book.Alert{ID: "a", Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: 105 * exact.One}}
	for b.Loop() {
		index.Replace(nil, a)
		index.Replace(a, nil)
	}
}
