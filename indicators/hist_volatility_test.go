package indicators

import (
	"math"
	"testing"

	"wick/indicators/kernel"
)

// TestHistVolatility works the returns out one window at a time, around their
// mean.
func TestHistVolatility(t *testing.T) {
	s := walk(80, 11)
	s.Close[40], s.Low[40] = -1, -1 // no logarithm: its two returns are missing
	got := compute(t, s, "histvol", `{"length":10,"periods":365}`).Lines[0].Values
	want := kernel.NaNs(80)
	for i := 10; i < 80; i++ {
		var returns []float64
		for k := i - 9; k <= i; k++ {
			returns = append(returns, math.Log(s.Close[k])-math.Log(s.Close[k-1]))
		}
		want[i] = 100 * math.Sqrt(365) * plainDeviation(returns)
	}
	if !same(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if !math.IsNaN(got[50]) || math.IsNaN(got[51]) {
		t.Errorf("bars 50 and 51: %v and %v, want none and a value: the gap is ten bars long", got[50], got[51])
	}
}

// plainDeviation returns the population deviation of x.
func plainDeviation(x []float64) float64 {
	var mean, squares float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(x)))
}
