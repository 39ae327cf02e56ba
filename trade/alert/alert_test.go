package alert

import (
	"fmt"
	"math"
	rand "math/rand/v2"
	"slices"
	"testing"
	"time"

	"wick/indicators"
	"wick/internal/exact"
	"wick/market"
	"wick/trade/book"
)

// TestIndex holds the two sorted lists to a linear scan under random traffic.
func TestIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	alerts := map[string]*book.Alert{}
	x := NewIndex(nil)
	for i := range 20_000 {
		switch {
		case r.IntN(2) == 0 || len(alerts) == 0:
			a := &book.Alert{ID: fmt.Sprint("a-", i), Symbol: "AAA", Condition: book.Condition{Type: book.PriceAbove, Threshold: exact.Decimal(1 + r.IntN(1000))}}
			if r.IntN(2) == 0 {
				a.Condition.Type = book.PriceBelow
			}
			alerts[a.ID] = a
			x.Replace(nil, a)
		default:
			for id, a := range alerts {
				x.Replace(a, nil)
				delete(alerts, id)
				break
			}
		}
		low := exact.Decimal(1 + r.IntN(1000))
		high := low + exact.Decimal(r.IntN(50))
		var want []string
		for id, a := range alerts {
			if a.Condition.Type == book.PriceAbove && a.Condition.Threshold <= high || a.Condition.Type == book.PriceBelow && a.Condition.Threshold >= low {
				want = append(want, id)
			}
		}
		var got []string
		one := float64(exact.One)
		tick, _ := book.NewTick(market.Update{Symbol: "AAA", Price: float64(high) / one, High: float64(high) / one, Low: float64(low) / one})
		for _, a := range x.Reached(tick) {
			got = append(got, a.ID)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("step %d: lists %v, scan %v", i, got, want)
		}
	}
}

// TestSignalWithoutNumber: a signal whose own value is no number has the close as its value.
func TestSignalWithoutNumber(t *testing.T) {
	w := Waiting{Alert: &book.Alert{Condition: book.Condition{Type: book.IndicatorSignal, Signal: "up"}}}
	for _, y := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		r := &closed{&indicators.Result{Signals: []indicators.Signal{{Bar: 3, Y: y, Label: "up"}}}, 3}
		if value, ok := w.met(r, 42); value != 42 || !ok {
			t.Errorf("a signal at %g: %g, %t; want 42, true", y, value, ok)
		}
	}
}

// TestLagsOfMonths: a bar of another market is due when its month is over, however long
// that is.
func TestLagsOfMonths(t *testing.T) {
	at := func(month time.Month, day int) int64 { return time.Date(2026, month, day, 0, 0, 0, 0, time.UTC).Unix() }
	for _, c := range []struct {
		newest time.Month // that the other market has
		month  time.Month // of the day that has closed
		day    int
		want   bool
	}{
		{time.January, time.February, 27, false},
		{time.January, time.February, 28, true},
		{time.January, time.March, 1, false}, // nothing was traded in February
		{time.March, time.April, 29, false},
		{time.March, time.April, 30, true},
		{time.April, time.May, 30, false},
		{time.April, time.May, 31, true},
	} {
		s := &market.Series{Interval: market.Day1, Time: []int64{at(c.month, c.day-1), at(c.month, c.day)}}
		other := &market.Series{Interval: market.Month1, Time: []int64{at(c.newest, 1)}}
		if got := lags(other, s); got != c.want {
			t.Errorf("with %s, at the close of %s %d: %t, want %t", c.newest, c.month, c.day, got, c.want)
		}
	}
}
