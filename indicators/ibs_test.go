package indicators

import (
	"slices"
	"testing"

	"wick/indicators/shape"
)

func TestIBS(t *testing.T) {
	s := plainSeries([]float64{10, 10, 10, 8}, []float64{0, 0, 0, 8})
	s.Close = []float64{1, 5, 9, 8}
	r := compute(t, s, "ibs", `{}`)
	if want := []float64{0.1, 0.5, 0.9, nan}; !same(r.Lines[0].Values, want) {
		t.Errorf("got %v, want %v", r.Lines[0].Values, want)
	}
	if want := []Signal{shape.Mark(1, 0.5, shape.Oversold, Up)}; !slices.Equal(loud(r.Signals), want) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
}
