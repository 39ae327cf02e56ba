package indicators

import (
	"math"
	"slices"
	"testing"

	"wick/market"
)

// TestTrailingByHand: distance 4 throughout. At bar 2 the line rises above the
// short band of 54: rising. At bar 3 it falls through the long band of 56, but
// also back below the short band, which counts first. At bar 4 it lies above
// the new long band of 43 after it lay below the old one, which counts as a
// cross of that band too: falling.
func TestTrailingByHand(t *testing.T) {
	x := []float64{50, 50, 60, 47, 46, 40}
	stop, up := trailing(x, []float64{4, 4, 4, 4, 4, 4})
	if want := []bool{true, true, true, true, false, false}; !slices.Equal(up, want) {
		t.Errorf("rising %v, want %v", up, want)
	}
	if want := []float64{46, 46, 56, 43, 50, 44}; !slices.Equal(stop, want) {
		t.Errorf("stops %v, want %v", stop, want)
	}
}

// TestWordsAndValues checks by hand what the texts of four entries say.
func TestWordsAndValues(t *testing.T) {
	// Woodie's CCI of closes: highs and lows far away change nothing.
	s := walk(60, 4)
	wide := like(s, func(_ int, b *market.Bar) { b.High, b.Low = 10*b.High, b.Low/10 })
	if !same(compute(t, s, "woodies_cci", `{}`).Lines[0].Values, compute(t, wide, "woodies_cci", `{}`).Lines[0].Values) {
		t.Error("woodies_cci depends on highs and lows")
	}
	// Spearman's correlation of 3, 1, 1, 2: ranks 4, 1.5, 1.5, 3, whose
	// correlation with 1, 2, 3, 4 is -1.5/√(5*4.5).
	rci := compute(t, closes(3, 1, 1, 2), "rank_correlation", `{"length":4}`).Lines[0].Values[3]
	if want := -100 * 1.5 / math.Sqrt(5*4.5); math.Abs(rci-want) > 1e-9 {
		t.Errorf("rank_correlation %v, want %v", rci, want)
	}
	// Classic pivots of a day 13, 10, 11: P = 34/3, range 3.
	days := &market.Series{Interval: market.Minute5}
	days.Append(market.Bar{Time: 0, Open: 10, High: 13, Low: 10, Close: 11})
	days.Append(market.Bar{Time: 86400, Open: 11, High: 12, Low: 11, Close: 12})
	p := 34.0 / 3
	for k, want := range []float64{p, 2*p - 10, 2*p - 13, p + 3, p - 3, p + 6, p - 6, p + 9, p - 9} {
		if got := compute(t, days, "pivot_classic", `{}`).Lines[k].Values[1]; math.Abs(got-want) > 1e-12 {
			t.Errorf("pivot_classic line %d: %v, want %v", k, got, want)
		}
	}
	// Across gaps the way is longer than the range can be.
	gaps := like(walk(30, 1), func(i int, b *market.Bar) {
		level := 100 + 50*float64(i%2)
		b.Open, b.High, b.Low, b.Close = level, level+1, level-1, level
	})
	if chop := compute(t, gaps, "choppiness", `{}`).Lines[0].Values[29]; chop < 97 {
		t.Errorf("choppiness across gaps is %v", chop)
	}
}
