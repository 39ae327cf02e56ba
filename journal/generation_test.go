package journal

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWithout compares the parts of a span that others do not cover with what a look at
// every generation gives, for spans of all kinds: apart, overlapping, empty.
func TestWithout(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		s := span{1 + r.IntN(10), 10 + r.IntN(10)}
		var noted []span
		for range r.IntN(5) {
			noted = append(noted, span{r.IntN(22), r.IntN(22)})
		}
		var got, want []int
		for _, rest := range s.without(slices.Clone(noted)) {
			for n := rest.First; n <= rest.Last; n++ {
				got = append(got, n)
			}
		}
		for n := s.First; n <= s.Last; n++ {
			if !slices.ContainsFunc(noted, func(g span) bool { return g.First <= n && n <= g.Last }) {
				want = append(want, n)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v without %v is %v, want %v", s, noted, got, want)
		}
	}
}
