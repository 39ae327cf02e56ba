package indicators

import (
	"slices"
	"testing"

	"wick/indicators/shape"
	"wick/market"
)

// TestZigZag follows a price by hand, at 10 percent: up to 120 at bar 2, back
// to 100 (confirmed at bar 3: 108 is enough), down to 95 at bar 4, up through
// 104.5 at bar 5, and on to 130, the leg under way.
func TestZigZag(t *testing.T) {
	prices := []float64{100, 110, 120, 100, 95, 105, 130, 125}
	r := compute(t, plainSeries(prices, prices), "zigzag", `{"deviation":10}`)
	want := []Signal{shape.Mark(1, 100, shape.PivotLow, Up), shape.Mark(3, 120, shape.PivotHigh, Down), shape.Mark(5, 95, shape.PivotLow, Up)}
	if !slices.Equal(r.Signals, want) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
	if got, want := r.Lines[0].Values, []float64{100, 110, 120, 107.5, 95, 112.5, 130, nan}; !same(got, want) {
		t.Errorf("line %v, want %v", got, want)
	}
}

// TestPivotHighLow has a high of 5 at bar 2, known at bar 3, and one of 4 at
// bar 5; lows at bars 4 and 6.
func TestPivotHighLow(t *testing.T) {
	highs := []float64{1, 2, 5, 3, 2, 4, 1, 2}
	lows := []float64{0, 1, 4, 2, 1, 3, 0, 1}
	r := compute(t, plainSeries(highs, lows), "pivot_high_low", `{"left":2,"right":1}`)
	if got, want := r.Lines[0].Values, []float64{nan, nan, nan, 5, 5, 5, 4, 4}; !same(got, want) {
		t.Errorf("high %v, want %v", got, want)
	}
	if got, want := r.Lines[1].Values, []float64{nan, nan, nan, nan, nan, 1, 1, 0}; !same(got, want) {
		t.Errorf("low %v, want %v", got, want)
	}
	want := []Signal{shape.Mark(3, 5, shape.PivotHigh, Down), shape.Mark(5, 1, shape.PivotLow, Up), shape.Mark(6, 4, shape.PivotHigh, Down), shape.Mark(7, 0, shape.PivotLow, Up)}
	if !slices.Equal(r.Signals, want) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
}

func TestFibonacci(t *testing.T) {
	up := plainSeries([]float64{110, 150, 200, 180}, []float64{100, 120, 150, 170}) // 100, then 200
	r := compute(t, up, "auto_fib", `{}`)
	var got []float64
	for _, h := range r.HLines {
		got = append(got, h.Y)
	}
	if want := []float64{200, 176.4, 161.8, 150, 138.2, 121.4, 100}; !same(got, want) || r.HLines[4].Label != "61.8%" {
		t.Errorf("levels %v, want %v", r.HLines, want)
	}
	down := plainSeries([]float64{200, 150, 110}, []float64{150, 120, 100}) // 200, then 100
	if r := compute(t, down, "fib", `{}`); r.HLines[0].Y != 100 || r.HLines[6].Y != 200 {
		t.Errorf("after a fall: %v, want 0 at 100 and 1 at 200", r.HLines)
	}
}

// TestSequential counts by hand: the close falls from bar 0 on, so the first
// close below the one four bars before is bar 4, and the ninth bar 12. Every
// close is at or below the low two bars before, so the countdown takes bars 12
// to 24. Then price rises: nine rises end at bar 34, four bars after the turn.
func TestSequential(t *testing.T) {
	var prices []float64
	for i := range 26 {
		prices = append(prices, float64(100-i))
	}
	for i := range 10 {
		prices = append(prices, float64(80+3*i))
	}
	s := plainSeries(prices, prices)
	got := compute(t, s, "td_sequential", `{}`).Signals
	want := []Signal{shape.Mark(12, 88, shape.SetupBuy, Up), shape.Mark(24, 76, shape.CountdownBuy, Up), shape.Mark(34, 104, shape.SetupSell, Down)}
	if !slices.Equal(got, want) {
		t.Errorf("signals %v, want %v", got, want)
	}
	if got := sequential(&market.Series{}, 9, 13); got != nil {
		t.Errorf("of no bars: %v", got)
	}
}
