package indicators

import (
	"math"
	"slices"
	"testing"

	"wick/indicators/kernel"
	"wick/indicators/shape"
)

// TestKalmanVolume works the filter out from its formula, every window by
// itself.
func TestKalmanVolume(t *testing.T) {
	const n, window = 12, 200
	s := walk(400, 13)
	signed := kernel.NaNs(400)
	for i := 2; i < 400; i++ {
		signed[i] = -s.Volume[i]
		if s.Close[i] > s.Close[i-2] {
			signed[i] = s.Volume[i]
		}
	}
	weighted := func(w []float64) float64 {
		var sum, weights float64
		for k, v := range w {
			sum, weights = sum+float64(k+1)*v, weights+float64(k+1)
		}
		return sum / weights
	}
	plainHull := func(x []float64) []float64 {
		fast, slow := eachWindow(x, n/2, weighted), eachWindow(x, n, weighted)
		for i := range fast {
			fast[i] = 2*fast[i] - slow[i]
		}
		return eachWindow(fast, 3, weighted) // √12 rounded down
	}
	share, whole := plainHull(signed), plainHull(s.Volume)
	for i := range share {
		share[i] = math.Max(-1, math.Min(1, share[i]/whole[i]))
	}
	want, m := kernel.NaNs(400), nan
	for i, unit := range eachWindow(share, window, plainDeviation) {
		if v := share[i] / unit; math.IsNaN(m) {
			m = v
		} else {
			m = 0.06*v + 0.94*m
		}
		want[i] = m
	}
	r := compute(t, s, "kalman_volume", `{"vzo_length":12}`)
	if !same(r.Lines[0].Values, want) {
		t.Errorf("got %v, want %v", r.Lines[0].Values[210:230], want[210:230])
	}
	if kernel.FirstValid(want) != 2+(n-1)+(3-1)+(window-1) {
		t.Errorf("first value at bar %d", kernel.FirstValid(want))
	}
	if !same(r.Lines[1].Values, eachWindow(want, 10, plainMean)) {
		t.Error("the signal line is not the average of ten")
	}
}

// TestKalmanSignals crosses a signal line at 0 from every zone.
func TestKalmanSignals(t *testing.T) {
	line := []float64{-0.7, 0.1, -0.1, 0.1, 0.1, 0.7, -0.1, -0.5, 0.2}
	signal := make([]float64, len(line))
	got := kalmanSignals(line, signal, 0.6)
	want := []Signal{
		shape.Mark(1, 0.1, shape.BuyOversold, Up), shape.Mark(2, -0.1, shape.Sell, Down), shape.Mark(3, 0.1, shape.Buy, Up), shape.Mark(6, -0.1, shape.SellOverbought, Down), shape.Mark(8, 0.2, shape.Buy, Up),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// A cross down from below the zone, or up from above it, says nothing.
	if got := kalmanSignals([]float64{-0.7, -0.9}, []float64{-0.8, -0.8}, 0.6); len(got) != 0 {
		t.Errorf("from below the zone: %v", got)
	}
}
