package indicators

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSearches compares the searches for signals, which go by bits, with the
// sentences that define them, on lines that touch, part, vanish and are -0.
func TestSearches(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	steps := []float64{-2, -1, math.Copysign(0, -1), 0, 1, 2, math.NaN(), 1e-6, -1e-6}
	for range 200 {
		a, b := make([]float64, rng.IntN(600)), make([]float64, 600)
		for i := range a {
			a[i], b[i] = steps[rng.IntN(len(steps))], steps[rng.IntN(5)]
		}
		b = b[:len(a)]
		flat := func(level float64) []float64 { return slices.Repeat([]float64{level}, len(a)) }
		tests := []struct {
			name      string
			got, want []Signal
		}{
			{"crossings", crossings(a, b, "up", "down"), plainCrossings(a, b, b, "up", "down")},
			{"crossings up", crossings(a, b, "up", ""), plainCrossings(a, b, b, "up", "")},
			{"crossings down", crossings(a, b, "", "down"), plainCrossings(a, b, b, "", "down")},
			{"level", levelCrossings(a, 0, "up", "down"), plainCrossings(a, flat(0), flat(0), "up", "down")},
		}
		for _, test := range tests {
			if !slices.Equal(test.got, test.want) {
				t.Fatalf("%s of %v and %v:\ngot  %v\nwant %v", test.name, a, b, test.got, test.want)
			}
		}
	}
}

// plainCrossings returns where a is above lo and was not on the bar before, and where it is
// below hi and was not.
func plainCrossings(a, lo, hi []float64, up, down string) []Signal {
	var signals []Signal
	for i := 1; i < len(a); i++ {
		if up != "" && a[i-1] <= lo[i-1] && a[i] > lo[i] {
			signals = append(signals, Mark(i, a[i], up, Up))
		} else if down != "" && a[i-1] >= hi[i-1] && a[i] < hi[i] {
			signals = append(signals, Mark(i, a[i], down, Down))
		}
	}
	return signals
}
