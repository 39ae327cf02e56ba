package indicators

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBucketSort compares with the library's stable sort: values in order,
// scattered, equal, crowded by one that is far away, and at the ends of what a
// number can be.
func TestBucketSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	columns := map[string]func(i int) float64{
		"rising":    func(i int) float64 { return float64(i) },
		"scattered": func(int) float64 { return rng.NormFloat64() },
		"equal":     func(int) float64 { return 7 },
		"ticks":     func(int) float64 { return float64(rng.IntN(5)) },
		"crowded":   func(i int) float64 { return rng.Float64() + 1e12*float64(i/99) },
		"tiny":      func(int) float64 { return math.SmallestNonzeroFloat64 * float64(rng.IntN(9)) },
		"huge":      func(int) float64 { return math.MaxFloat64 * (2*rng.Float64() - 1) },
		"zeros":     func(int) float64 { return math.Copysign(0, rng.NormFloat64()) },
	}
	for name, value := range columns {
		s := newBucketSort(100) // used again for each size, as a caller may
		for n := range 101 {
			x, got, want := make([]float64, n), make([]int32, n), make([]int32, n)
			for i := range x {
				x[i], want[i] = value(i), int32(i)
			}
			slices.SortStableFunc(want, func(i, j int32) int { return cmp.Compare(x[i], x[j]) })
			s.sort(x, got)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: order of %v is %v, want %v", name, x, got, want)
			}
		}
	}
}
