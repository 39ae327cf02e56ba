package indicators

import (
	"math"
	"slices"
	"testing"

	"wick/indicators/shape"
	"wick/market"
)

func TestVolumeIndicators(t *testing.T) {
	s := walk(6, 1)
	s.Volume = []float64{10, 20, 30, 100, 5, 0}
	s.Open = []float64{1, 1, 1, 2, 1, 1}
	s.Close = []float64{1, 2, 2, 1, 1, 2}
	r := compute(t, s, "volume", `{"length":2,"spike":1.5}`)
	if want := []float64{nan, 15, 25, 65, 52.5, 2.5}; !same(r.Lines[0].Values, want) {
		t.Errorf("average %v, want %v", r.Lines[0].Values, want)
	}
	if want := []Signal{shape.Mark(3, 100, shape.Spike, Down)}; !slices.Equal(r.Signals, want) { // 100 >= 97.5, on a falling bar
		t.Errorf("spikes %v, want %v", r.Signals, want)
	}
	if got, want := compute(t, s, "rvol", `{"length":2}`).Lines[0].Values, []float64{nan, nan, 2, 4, 5.0 / 65, 0}; !same(got, want) {
		t.Errorf("relative volume %v, want %v", got, want)
	}
	if got, want := compute(t, s, "net_volume", `{}`).Histogram[0].Values, []float64{nan, 20, 0, -100, 0, 0}; !same(got, want) {
		t.Errorf("net volume %v, want %v", got, want)
	}
}

// TestNoVolumeAtTheStart: a bar without volume among the first, where the line is not known
// yet, does not end it for ever.
func TestNoVolumeAtTheStart(t *testing.T) {
	for call, first := range map[string]int{"vfi(1, 0.2, 2.5, 3, 5)": 32, "pvo(12, 1, 9)": 11} {
		s := like(world(200, 100), func(i int, b *market.Bar) {
			if b.Volume = 1000 + float64(i); i == 2 {
				b.Volume = 0
			}
		})
		line := formulaOf(t, s, call)
		if at := slices.IndexFunc(line, func(v float64) bool { return v == v }); at != first || math.IsNaN(line[199]) {
			t.Errorf("%s begins on bar %d with %v and ends with %v; want bar %d, and a value at the end", call, at, line[max(at, 0)], line[199], first)
		}
	}
}
