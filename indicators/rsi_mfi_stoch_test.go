package indicators

import (
	"slices"
	"testing"

	"wick/indicators/shape"
)

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
			want = append(want, shape.Mark(i, rsi[i], shape.RSIOversold, Up))
		}
		if rsi[i-1] > 70 && rsi[i] <= 70 {
			want = append(want, shape.Mark(i, rsi[i], shape.RSIOverbought, Down))
		}
		if k[i-1] < d[i-1] && k[i] >= d[i] && k[i] < 20 {
			want = append(want, shape.Mark(i, k[i], shape.StochOS, Up))
		}
		if k[i-1] > d[i-1] && k[i] <= d[i] && k[i] > 80 {
			want = append(want, shape.Mark(i, k[i], shape.StochOB, Down))
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
