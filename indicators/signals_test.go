package indicators

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestInOrder compares with the library's stable sort: any number of runs, and
// many signals on one bar, which must keep their order.
func TestInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		var signals []Signal
		for run := range rng.IntN(8) {
			bar := 0
			for range rng.IntN(10) {
				bar += rng.IntN(3)
				signals = append(signals, Signal{Bar: bar, Y: float64(run)})
			}
		}
		want := slices.Clone(signals)
		slices.SortStableFunc(want, func(a, b Signal) int { return a.Bar - b.Bar })
		if got := inOrder(slices.Clone(signals)); !slices.Equal(got, want) {
			t.Fatalf("inOrder(%v) = %v, want %v", signals, got, want)
		}
	}
}
