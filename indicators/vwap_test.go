package indicators

import (
	"math"
	"slices"
	"testing"

	"wick/indicators/kernel"
)

// TestVWAPBands adds each day up from its first bar anew, in two passes.
func TestVWAPBands(t *testing.T) {
	s := walk(60, 9) // hourly from midnight
	s.Volume[24], s.Volume[25] = 0, 0
	r := compute(t, s, "vwap_bands", `{"std_dev":1.5}`)
	upper, mid, lower := kernel.NaNs(60), kernel.NaNs(60), kernel.NaNs(60)
	for i := range 60 {
		var volume, mean, squares float64
		price := func(k int) float64 { return (s.High[k] + s.Low[k] + s.Close[k]) / 3 }
		for k := i / 24 * 24; k <= i; k++ {
			volume += s.Volume[k]
			mean += s.Volume[k] * price(k)
		}
		if volume == 0 {
			continue
		}
		mean /= volume
		for k := i / 24 * 24; k <= i; k++ {
			squares += s.Volume[k] * (price(k) - mean) * (price(k) - mean)
		}
		dev := math.Sqrt(squares / volume)
		upper[i], mid[i], lower[i] = mean+1.5*dev, mean, mean-1.5*dev
	}
	for k, want := range [][]float64{upper, mid, lower} {
		for i := range want {
			if math.IsNaN(want[i]) != math.IsNaN(r.Lines[k].Values[i]) || math.Abs(want[i]-r.Lines[k].Values[i]) > 1e-6 {
				t.Errorf("%s, bar %d: %v, want %v", r.Lines[k].Label, i, r.Lines[k].Values[i], want[i])
			}
		}
	}
	for _, sig := range r.Signals {
		i := sig.Bar
		if sig.Label == TouchUpper && s.High[i] < upper[i] || sig.Label == TouchLower && s.Low[i] > lower[i] || upper[i] == lower[i] {
			t.Errorf("%+v: the band was not touched", sig)
		}
	}
	if len(r.Signals) == 0 {
		t.Error("no band was touched in 60 bars")
	}
}

func TestVWAPWithoutSession(t *testing.T) {
	s := plainSeries([]float64{10, 20, 40, 10}, []float64{10, 20, 40, 10})
	s.Volume = []float64{1, 3, 0, 4}
	// 10; (10+60)/4; the same; (10+60+40)/8
	if got, want := compute(t, s, "vwap_anchored", `{}`).Lines[0].Values, []float64{10, 17.5, 17.5, 13.75}; !slices.Equal(got, want) {
		t.Errorf("anchored at the first bar: %v, want %v", got, want)
	}
	for i := range s.Time {
		s.Time[i] += 1769817600 // 2026-01-31
	}
	for _, third := range []string{`1769824800`, `"1769824800"`, `1769824800.0`, `"2026-01-31 02:00"`, `"2026-01-31T03:00:00+01:00"`} {
		if got, want := compute(t, s, "avwap", `{"anchor":`+third+`}`).Lines[0].Values, []float64{nan, nan, nan, 10}; !same(got, want) {
			t.Errorf("anchored at the third, %s: %v, want %v", third, got, want)
		}
	}
	for _, first := range []string{`0`, `"0"`, `null`, `"2026-01-31"`, `20260131`, `"20260130"`} {
		if got, want := compute(t, s, "avwap", `{"anchor":`+first+`}`).Lines[0].Values, []float64{10, 17.5, 17.5, 13.75}; !slices.Equal(got, want) {
			t.Errorf("anchored at the first, %s: %v, want %v", first, got, want)
		}
	}
	if got, want := compute(t, s, "rolling_vwap", `{"length":2}`).Lines[0].Values, []float64{nan, 17.5, 20, 10}; !same(got, want) {
		t.Errorf("over two bars: %v, want %v", got, want)
	}
}
