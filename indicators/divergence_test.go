package indicators

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wick/market"
)

// plainSeries returns bars whose highs and lows are those given; open and close
// lie between them.
func plainSeries(highs, lows []float64) *market.Series {
	s := &market.Series{}
	for i := range highs {
		mid := (highs[i] + lows[i]) / 2
		s.Append(market.Bar{Time: int64(i) * 3600, Open: mid, High: highs[i], Low: lows[i], Close: mid, Volume: 1})
	}
	return s
}

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
		{"a gap is no neighbour", []float64{1, 3, nan, 1, 1, 1}, 1, 1, nil},
		{"after a gap", []float64{9, nan, 1, 3, 1}, 1, 1, []int{3}},
		{"leading gap only delays", []float64{nan, nan, 1, 3, 1}, 1, 1, []int{3}},
		{"no bars", nil, 1, 1, nil},
	} {
		if got := peaks(c.x, c.left, c.right); !slices.Equal(got, c.want) {
			t.Errorf("%s: peaks(%v, %d, %d) = %v, want %v", c.name, c.x, c.left, c.right, got, c.want)
		}
	}
	if got := troughs([]float64{3, 2, 1, 2, 3}, 2, 2); !slices.Equal(got, []int{2}) {
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
				x[i] = nan
			}
		}
		left, right := 1+rng.IntN(4), 1+rng.IntN(4)
		if got, want := peaks(x, left, right), plainPeaks(x, left, right); !slices.Equal(got, want) {
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
		want  []divergence
	}{
		{"higher high, lower peak", tops(5, 6), tops(5, 4), []divergence{{bearish, 2, 6, 8}}},
		{"lower high, higher peak", tops(6, 5), tops(4, 5), []divergence{{hiddenBearish, 2, 6, 8}}},
		{"lower low, higher trough", bottoms(5, 4), bottoms(4, 5), []divergence{{bullish, 2, 6, 8}}},
		{"higher low, lower trough", bottoms(4, 5), bottoms(5, 4), []divergence{{hiddenBullish, 2, 6, 8}}},
		{"both higher", tops(5, 6), tops(5, 6), nil},
		{"equal highs", tops(5, 5), tops(5, 4), nil},
		{"equal peaks", tops(5, 6), tops(5, 5), nil},
	} {
		s := plainSeries(c.price, c.price)
		if got := divergences(s, c.osc, 2, 2, 4); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		if got := divergences(s, c.osc, 2, 2, 3); len(got) != 0 {
			t.Errorf("%s: pivots 4 bars apart compared within 3: %v", c.name, got)
		}
	}
}

// TestDivergencesPlain compares with a double loop over all pairs of bars.
func TestDivergencesPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var total int
	for range 300 {
		n := 80
		highs, lows, osc := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			lows[i] = 10 + 5*rng.Float64()
			highs[i] = lows[i] + rng.Float64()
			osc[i] = math.Round(20 * rng.Float64())
		}
		left, right, within := 1+rng.IntN(3), 1+rng.IntN(3), 3+rng.IntN(20)
		got := divergences(plainSeries(highs, lows), osc, left, right, within)
		want := plainDivergences(highs, lows, osc, left, right, within)
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		total += len(want)
	}
	if total < 1000 {
		t.Errorf("only %d divergences compared", total)
	}
}

func order(a, b divergence) int {
	if a.to != b.to {
		return a.to - b.to
	}
	return int(a.kind) - int(b.kind)
}

func plainDivergences(highs, lows, osc []float64, left, right, within int) []divergence {
	down := make([]float64, len(osc))
	for i, v := range osc {
		down[i] = -v
	}
	var found []divergence
	for to := range osc {
		for from := range to {
			if to-from > within {
				continue
			}
			pair := func(pivots []int) bool {
				k := slices.Index(pivots, to)
				return k > 0 && pivots[k-1] == from
			}
			if pair(plainPeaks(osc, left, right)) {
				if highs[to] > highs[from] && osc[to] < osc[from] {
					found = append(found, divergence{bearish, from, to, to + right})
				}
				if highs[to] < highs[from] && osc[to] > osc[from] {
					found = append(found, divergence{hiddenBearish, from, to, to + right})
				}
			}
			if pair(plainPeaks(down, left, right)) {
				if lows[to] < lows[from] && osc[to] > osc[from] {
					found = append(found, divergence{bullish, from, to, to + right})
				}
				if lows[to] > lows[from] && osc[to] < osc[from] {
					found = append(found, divergence{hiddenBullish, from, to, to + right})
				}
			}
		}
	}
	return found
}

// TestAddDivergences checks what reaches a result: the signal on the bar of
// confirmation, the line between the extremes, solid or dashed.
func TestAddDivergences(t *testing.T) {
	ind := &Indicator{Name: "test", Params: divParams()}
	price := []float64{0, 1, 5, 1, 0, 1, 6, 1, 0}
	osc := []float64{0, 1, 5, 1, 0, 1, 4, 1, 0.5}
	for _, c := range []struct {
		show, label string
	}{{"regular", BearDiv}, {"all", BearDiv}, {"hidden", ""}, {"off", ""}} {
		a, err := ind.Resolve(raw(`{"divergence":"` + c.show + `","pivot_left":2,"pivot_right":2}`))
		if err != nil {
			t.Fatal(err)
		}
		r := &Result{}
		addDivergences(r, plainSeries(price, price), osc, a)
		if c.label == "" {
			if len(r.Signals)+len(r.DivLines) != 0 {
				t.Errorf("%s: got %v %v, want nothing", c.show, r.Signals, r.DivLines)
			}
			continue
		}
		if want := []Signal{{8, 0.5, c.label, Down}}; !slices.Equal(r.Signals, want) {
			t.Errorf("%s: signals %v, want %v", c.show, r.Signals, want)
		}
		if want := []DivLine{{X1: 2, Y1: 5, X2: 6, Y2: 4, Tone: Down}}; !slices.Equal(r.DivLines, want) {
			t.Errorf("%s: lines %v, want %v", c.show, r.DivLines, want)
		}
	}
	// The same two tops the other way round: a hidden one, dashed.
	a, err := ind.Resolve(raw(`{"divergence":"hidden","pivot_left":2,"pivot_right":2}`))
	if err != nil {
		t.Fatal(err)
	}
	r := &Result{}
	addDivergences(r, plainSeries(osc, osc), price, a)
	if want := []DivLine{{X1: 2, Y1: 5, X2: 6, Y2: 6, Dashed: true, Tone: Down}}; !slices.Equal(r.DivLines, want) {
		t.Errorf("hidden: lines %v, want %v", r.DivLines, want)
	}
}
