package indicators

import (
	"math"
	"slices"
	"testing"

	"wick/market"
)

// withExtra returns bars that have the given further columns.
func withExtra(n int, columns map[string][]float64) *market.Series {
	s := walk(n, 3)
	s.Extra = columns
	return s
}

func TestFunding(t *testing.T) {
	s := withExtra(5, map[string][]float64{market.ExtraFunding: {-0.0001, 0.0002, nan, -0.0001, -0.0003}})
	r := compute(t, s, "funding_rate", `{}`)
	if want := []float64{-0.01, 0.02, nan, -0.01, -0.03}; !same(r.Histogram[0].Values, want) {
		t.Errorf("funding %v, want %v", r.Histogram[0].Values, want)
	}
	if want := []Signal{Mark(1, 0.02, ZeroUp, Up)}; !slices.Equal(r.Signals, want) {
		t.Errorf("signals %v, want %v: a change across a gap cannot be dated", r.Signals, want)
	}
}

func TestOpenInterest(t *testing.T) {
	s := withExtra(4, map[string][]float64{market.ExtraOI: {100, 120, nan, 90}})
	if got, want := compute(t, s, "oi", `{}`).Lines[0].Values, []float64{100, 120, nan, 90}; !same(got, want) {
		t.Errorf("open interest %v, want %v", got, want)
	}
}

func TestLongShort(t *testing.T) {
	s := withExtra(3, map[string][]float64{market.ExtraLong: {0.4, 0.6, 0.3}, market.ExtraShort: {0.6, 0.4, 0.7}})
	r := compute(t, s, "ls_ratio", `{}`)
	if want := []Signal{Mark(1, 0.6, CrossUp, Up), Mark(2, 0.3, CrossDown, Down)}; !slices.Equal(r.Signals, want) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
	if long, short := r.Lines[0].Values, r.Lines[1].Values; !same(long, []float64{0.4, 0.6, 0.3}) || !same(short, []float64{0.6, 0.4, 0.7}) {
		t.Errorf("long %v, short %v", long, short)
	}
}

func TestFearGreedZones(t *testing.T) {
	index := []float64{24, 25, nan, 44, 45, 54, 80, 60, 10}
	r := compute(t, withExtra(9, map[string][]float64{market.ExtraFearGreed: index}), "fng", `{}`)
	if !same(r.Lines[0].Values, index) {
		t.Errorf("index %v, want %v", r.Lines[0].Values, index)
	}
	want := []Signal{Mark(1, 25, ZoneUp, Up), Mark(4, 45, ZoneUp, Up), Mark(6, 80, ExtremeGreed, Up), Mark(7, 60, ZoneDown, Down), Mark(8, 10, ExtremeFear, Down)}
	if !slices.Equal(r.Signals, want) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
}

// TestExternalAbsent computes without the column: tools refuse before, but a
// mistake there must show nothing and not panic.
func TestExternalAbsent(t *testing.T) {
	s := walk(4, 3)
	for _, name := range []string{"funding", "oi", "long_short", "fear_greed"} {
		r := compute(t, s, name, `{}`)
		for _, l := range r.Lines {
			if !same(l.Values, []float64{nan, nan, nan, nan}) {
				t.Errorf("%s: %s %v without data", name, l.Label, l.Values)
			}
		}
		if ind, _ := Lookup(name); len(ind.Needs) == 0 || ind.Category != External || len(r.Signals) != 0 {
			t.Errorf("%s: needs %v, category %s, signals %v", name, ind.Needs, ind.Category, r.Signals)
		}
	}
}

// TestExternalFirstSignal: a chart that begins with a bar shows the signals that a longer
// chart shows there.
func TestExternalFirstSignal(t *testing.T) {
	const n = 400
	columns := make(map[string][]float64)
	for k, name := range []string{market.ExtraFunding, market.ExtraOI, market.ExtraLong, market.ExtraShort, market.ExtraFearGreed} {
		for i := range n {
			wave := math.Sin(float64(i) / float64(5+k))
			if name == market.ExtraFearGreed {
				wave = 50 + 50*wave
			}
			columns[name] = append(columns[name], wave)
		}
	}
	s := withExtra(n, columns)
	for ind := range All() {
		if ind.Category != External {
			continue
		}
		request, err := New(ind.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		warmup, seen := request.Warmup(market.Hour1), 0
		for _, want := range request.Compute(s).Signals {
			if want.Bar < warmup {
				continue
			}
			seen++
			cut := request.Compute(s.Slice(want.Bar-warmup, n))
			if want.Bar = warmup; !slices.Contains(cut.Signals, want) {
				t.Errorf("%s: a chart lacks %s at its first bar", ind.Name, want.Label)
			}
		}
		if seen < 10 {
			t.Errorf("%s: only %d signals", ind.Name, seen)
		}
	}
}
