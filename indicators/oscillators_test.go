package indicators

import (
	"math"
	"slices"
	"testing"

	"wick/market"
)

// TestRMI: over one bar it is RSI, which vectors judge; over five it is worked
// out by hand for rises and falls of one size.
func TestRMI(t *testing.T) {
	s := walk(100, 19)
	if got, want := compute(t, s, "rmi", `{"momentum":1}`).Lines[0].Values, compute(t, s, "rsi", `{}`).Lines[0].Values; !same(got, want) {
		t.Errorf("over one bar: %v, want RSI %v", got[14:20], want[14:20])
	}
	// Changes over two bars: 2, 2, -1, 1; averages of two: (2, 0), (1, 0.5),
	// and after 1 more: (1, 0.25).
	if got, want := first(t, closes(1, 2, 3, 4, 2, 5), "rmi", `{"length":2,"momentum":2}`), []float64{nan, nan, nan, 100, 100 * 1 / 1.5, 100 * 1 / 1.25}; !same(got, want) {
		t.Errorf("over two bars: %v, want %v", got, want)
	}
}

// TestRVI works with windows of two, whose deviation is half the change, and
// an average of one, which is the value itself.
func TestRVI(t *testing.T) {
	prices := []float64{1, 3, 2, 2, 4}
	got := compute(t, plainSeries(prices, prices), "rvi", `{"length":2,"smooth":1}`).Lines[0].Values
	if want := []float64{nan, 100, 0, 0, 100}; !same(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// An average of two: deviations 1, 0.5, 0, 1, up in the first and last.
	// The mean of the first two, then two thirds of the way to the next.
	got = compute(t, plainSeries(prices, prices), "rvi", `{"length":2,"smooth":2}`).Lines[0].Values
	up, down := 0.5, 0.25
	want := []float64{nan, nan, 100 * up / (up + down), 0, 0}
	up, down = up/3, down/3
	want[3] = 100 * up / (up + down)
	up, down = up/3+2.0/3, down/3
	want[4] = 100 * up / (up + down)
	if !same(got, want) {
		t.Errorf("smoothed: got %v, want %v", got, want)
	}
}

func TestIBS(t *testing.T) {
	s := plainSeries([]float64{10, 10, 10, 8}, []float64{0, 0, 0, 8})
	s.Close = []float64{1, 5, 9, 8}
	r := compute(t, s, "ibs", `{}`)
	if want := []float64{0.1, 0.5, 0.9, nan}; !same(r.Lines[0].Values, want) {
		t.Errorf("got %v, want %v", r.Lines[0].Values, want)
	}
	if want := []Signal{Mark(1, 0.5, Oversold, Up)}; !slices.Equal(loud(r.Signals), want) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
}

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

// TestRSIMFIStoch compares the lines with those of the entries that vectors
// judge, and writes the rules of the marks out.
func TestRSIMFIStoch(t *testing.T) {
	s := swings(600)
	r := compute(t, s, "rsi_combo", `{}`)
	stoch := compute(t, s, "stoch", `{"length":14,"smooth":3,"d":3}`)
	rsi, mfi := compute(t, s, "rsi", `{}`).Lines[0].Values, compute(t, s, "mfi", `{}`).Lines[0].Values
	k, d := r.Lines[2].Values, r.Lines[3].Values
	if !same(r.Lines[0].Values, rsi) || !same(r.Lines[1].Values, mfi) || !same(k[17:], stoch.Lines[0].Values[17:]) || !same(d, stoch.Lines[1].Values) {
		t.Error("a line differs from its own entry")
	}
	var want []Signal
	for i := 1; i < s.Len(); i++ {
		if rsi[i-1] < 30 && rsi[i] >= 30 {
			want = append(want, Mark(i, rsi[i], RSIOversold, Up))
		}
		if rsi[i-1] > 70 && rsi[i] <= 70 {
			want = append(want, Mark(i, rsi[i], RSIOverbought, Down))
		}
		if k[i-1] < d[i-1] && k[i] >= d[i] && k[i] < 20 {
			want = append(want, Mark(i, k[i], StochOS, Up))
		}
		if k[i-1] > d[i-1] && k[i] <= d[i] && k[i] > 80 {
			want = append(want, Mark(i, k[i], StochOB, Down))
		}
		up, down := rsi[i] > 50 && mfi[i] > 50 && k[i] > 50, rsi[i] < 50 && mfi[i] < 50 && k[i] < 50
		if (r.Histogram[0].Values[i] == 5) != up || (r.Histogram[1].Values[i] == 5) != down {
			t.Errorf("bar %d: trend bars %v %v with RSI %v, MFI %v, K %v", i, r.Histogram[0].Values[i], r.Histogram[1].Values[i], rsi[i], mfi[i], k[i])
		}
	}
	if !slices.Equal(loud(r.Signals), want) || len(want) < 10 {
		t.Errorf("%d signals, want %d", len(r.Signals), len(want))
	}
	if r := compute(t, s, "combo", `{"show_entry_dots":false,"show_trend_bars":false}`); len(loud(r.Signals))+len(r.Histogram) != 0 {
		t.Error("what is switched off is shown")
	}
}
