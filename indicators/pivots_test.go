package indicators

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPeaks(t *testing.T) {
	for _, c := range []struct {
		name        string
		x           []float64
		left, right int
		want        []int
	}{
		{"one peak", []float64{1, 2, 3, 2, 1}, 2, 2, []int{2}},
		{"not yet confirmed", []float64{1, 2, 3, 2}, 2, 2, nil},
		{"too little before it", []float64{2, 3, 2, 1}, 2, 2, nil},
		{"a plateau has none", []float64{1, 3, 3, 1, 1}, 1, 1, nil},
		{"an equal value on the left", []float64{1, 3, 2, 3, 1}, 2, 1, nil},
		{"an equal value out of reach", []float64{1, 3, 2, 3, 1}, 1, 1, []int{1, 3}},
		{"a gap is no neighbour", []float64{1, 3, math.NaN(), 1, 1, 1}, 1, 1, nil},
		{"after a gap", []float64{9, math.NaN(), 1, 3, 1}, 1, 1, []int{3}},
		{"leading gap only delays", []float64{math.NaN(), math.NaN(), 1, 3, 1}, 1, 1, []int{3}},
		{"no bars", nil, 1, 1, nil},
	} {
		if got := only(pivots(c.x, c.left, c.right)); !slices.Equal(got, c.want) {
			t.Errorf("%s: peaks(%v, %d, %d) = %v, want %v", c.name, c.x, c.left, c.right, got, c.want)
		}
	}
	if got := other(pivots([]float64{3, 2, 1, 2, 3}, 2, 2)); !slices.Equal(got, []int{2}) {
		t.Errorf("troughs of a valley = %v, want [2]", got)
	}
}

// TestPeaksPlain holds the one-pass search against looking at every neighbour,
// on few distinct values, so that ties abound, and with gaps.
func TestPeaksPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		x := make([]float64, rng.IntN(40))
		for i := range x {
			x[i] = float64(rng.IntN(6))
			if rng.IntN(15) == 0 {
				x[i] = math.NaN()
			}
		}
		left, right := 1+rng.IntN(4), 1+rng.IntN(4)
		if got, want := only(pivots(x, left, right)), plainPeaks(x, left, right); !slices.Equal(got, want) {
			t.Fatalf("peaks(%v, %d, %d) = %v, want %v", x, left, right, got, want)
		}
	}
}

func plainPeaks(x []float64, left, right int) []int {
	var found []int
	for c := left; c+right < len(x); c++ {
		peak := true
		for k := c - left; k <= c+right; k++ {
			peak = peak && (k == c || x[c] > x[k])
		}
		if peak {
			found = append(found, c)
		}
	}
	return found
}

// TestDivergenceKinds draws the four kinds by hand: two tops (or bottoms) at
// bars 2 and 6, pivots of width 2, known at bar 8.
func TestDivergenceKinds(t *testing.T) {
	tops := func(first, second float64) []float64 { return []float64{0, 1, first, 1, 0, 1, second, 1, 0} }
	bottoms := func(first, second float64) []float64 { return []float64{9, 8, first, 8, 9, 8, second, 8, 9} }
	for _, c := range []struct {
		name  string
		price []float64
		osc   []float64
		want  []Divergence
	}{
		{"higher high, lower peak", tops(5, 6), tops(5, 4), []Divergence{{Bearish, 2, 6, 8}}},
		{"lower high, higher peak", tops(6, 5), tops(4, 5), []Divergence{{HiddenBearish, 2, 6, 8}}},
		{"lower low, higher trough", bottoms(5, 4), bottoms(4, 5), []Divergence{{Bullish, 2, 6, 8}}},
		{"higher low, lower trough", bottoms(4, 5), bottoms(5, 4), []Divergence{{HiddenBullish, 2, 6, 8}}},
		{"both higher", tops(5, 6), tops(5, 6), nil},
		{"equal highs", tops(5, 5), tops(5, 4), nil},
		{"equal peaks", tops(5, 6), tops(5, 5), nil},
	} {
		if got := Divergences(c.price, c.price, c.osc, 2, 2, 4); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		if got := Divergences(c.price, c.price, c.osc, 2, 2, 3); len(got) != 0 {
			t.Errorf("%s: pivots 4 bars apart compared within 3: %v", c.name, got)
		}
	}
}

// TestDivergencesPlain compares with a double loop over all pairs of bars.
func TestDivergencesPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rounds, total := 300, 0
	if testing.Short() {
		rounds = 30
	}
	for range rounds {
		n := 80
		highs, lows, osc := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			lows[i] = 10 + 5*rng.Float64()
			highs[i] = lows[i] + rng.Float64()
			osc[i] = math.Round(20 * rng.Float64())
		}
		left, right, within := 1+rng.IntN(3), 1+rng.IntN(3), 3+rng.IntN(20)
		got := Divergences(highs, lows, osc, left, right, within)
		want := plainDivergences(highs, lows, osc, left, right, within)
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		total += len(want)
	}
	if total < 3*rounds {
		t.Errorf("only %d divergences compared", total)
	}
}

func order(a, b Divergence) int {
	if a.To != b.To {
		return a.To - b.To
	}
	return int(a.Kind) - int(b.Kind)
}

func plainDivergences(highs, lows, osc []float64, left, right, within int) []Divergence {
	down := make([]float64, len(osc))
	for i, v := range osc {
		down[i] = -v
	}
	peaks, troughs := plainPeaks(osc, left, right), plainPeaks(down, left, right)
	var found []Divergence
	for to := range osc {
		for from := range to {
			if to-from > within {
				continue
			}
			pair := func(pivots []int) bool {
				k := slices.Index(pivots, to)
				return k > 0 && pivots[k-1] == from
			}
			if pair(peaks) {
				if highs[to] > highs[from] && osc[to] < osc[from] {
					found = append(found, Divergence{Bearish, from, to, to + right})
				}
				if highs[to] < highs[from] && osc[to] > osc[from] {
					found = append(found, Divergence{HiddenBearish, from, to, to + right})
				}
			}
			if pair(troughs) {
				if lows[to] < lows[from] && osc[to] > osc[from] {
					found = append(found, Divergence{Bullish, from, to, to + right})
				}
				if lows[to] > lows[from] && osc[to] < osc[from] {
					found = append(found, Divergence{HiddenBullish, from, to, to + right})
				}
			}
		}
	}
	return found
}
