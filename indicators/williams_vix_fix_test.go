package indicators

import (
	"slices"
	"testing"

	"wick/indicators/kernel"
	"wick/indicators/shape"
)

// TestWilliamsVixFix looks at every window by itself.
func TestWilliamsVixFix(t *testing.T) {
	s := walk(200, 23)
	r := compute(t, s, "wvf", `{}`)
	fear := kernel.NaNs(200)
	for i := 21; i < 200; i++ {
		top := slices.Max(s.Close[i-21 : i+1])
		fear[i] = 100 * (top - s.Low[i]) / top
	}
	mean, dev, most := eachWindow(fear, 20, plainMean), eachWindow(fear, 20, plainDeviation), eachWindow(fear, 50, slices.Max[[]float64])
	band := kernel.NaNs(200)
	var want []Signal
	before := false
	for i := range fear {
		band[i] = mean[i] + 2*dev[i]
		now := fear[i] >= band[i] || fear[i] >= 0.85*most[i]
		if now && !before {
			want = append(want, shape.Mark(i, fear[i], shape.Spike, Up))
		}
		before = now
	}
	if !same(r.Histogram[0].Values, fear) || !same(r.Lines[0].Values, band) {
		t.Error("the values differ from the plain formula")
	}
	if len(want) == 0 || !slices.EqualFunc(r.Signals, want, func(a, b Signal) bool { return a.Bar == b.Bar && a.Label == b.Label }) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
}
