package indicators

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPlainWindows holds the windowed kernels of single indicators against the
// plain loop over each window, on the input that breaks careless ones.
func TestPlainWindows(t *testing.T) {
	x := awkward()
	for _, n := range []int{1, 2, 3, 14, 150} {
		matches(t, "convolve", n, x, convolve(x, almaWeights(n, 0.85, 6)), func(w []float64) float64 { return plainALMA(w, 0.85, 6) })
		matches(t, "windowUlcer", n, x, windowUlcer(x, n), plainUlcer)
		if n > 1 {
			matches(t, "rankCorrelation", n, x, shifted(rankCorrelation(x, n), 1000), func(w []float64) float64 { return 1000 + plainSpearman(w) })
			matches(t, "gravity", n, x, gravity(x, n), plainGravity)
		}
	}
	for _, n := range []int{1, 2, 30, 400} {
		rank := percentRank(x, n)
		for i := 3 + n; i < len(x); i++ {
			below := 0
			for _, v := range x[i-n : i] {
				if v < x[i] {
					below++
				}
			}
			if want := 100 * float64(below) / float64(n); rank[i] != want {
				t.Fatalf("percentRank(%d) at %d: got %v, want %v", n, i, rank[i], want)
			}
		}
	}
}

// shifted adds by: a relative error of what may be zero is measured there.
func shifted(x []float64, by float64) []float64 {
	out := slices.Clone(x)
	for i := range out {
		out[i] += by
	}
	return out
}

func plainALMA(w []float64, offset, sigma float64) float64 {
	var sum, weights float64
	for j, v := range w {
		d := float64(j) - offset*float64(len(w)-1)
		s := float64(len(w)) / sigma
		weight := math.Exp(-d * d / (2 * s * s))
		sum += weight * v
		weights += weight
	}
	return sum / weights
}

func plainUlcer(w []float64) float64 {
	var sum float64
	top := w[0]
	for _, v := range w {
		top = max(top, v)
		fall := 100 * (v - top) / top
		sum += fall * fall
	}
	return sum / float64(len(w))
}

// plainSpearman ranks by counting: equal values share the mean of their ranks.
func plainSpearman(w []float64) float64 {
	n := float64(len(w))
	var sum float64
	for i, v := range w {
		rank := 0.5
		for _, u := range w {
			if u < v {
				rank++
			} else if u == v {
				rank += 0.5
			}
		}
		d := rank - float64(i+1)
		sum += d * d
	}
	return 100 * (1 - 6*sum/(n*(n*n-1)))
}

func plainGravity(w []float64) float64 {
	var weighted, sum float64
	for i, v := range w {
		weighted += float64(len(w)-i) * v
		sum += v
	}
	return -weighted / sum
}

// TestRollingSumHoles shows that a NaN spoils the windows that
// hold it and no other, and zeros after anything add up to zero.
func TestRollingSumHoles(t *testing.T) {
	got := rollingSum([]float64{nan, 1, 2, nan, 4, 5, 6, 0.1, 1e300, 0, 0, 0}, 3)
	want := []float64{nan, nan, nan, nan, nan, nan, 15, 11.1, 1e300, 1e300, 1e300, 0}
	if !same(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestRollingSumLong compares a long run of mixed sizes with the plain sum.
func TestRollingSumLong(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	x := make([]float64, 5000)
	for i := range x {
		x[i] = math.Exp(30 * (r.Float64() - 0.5))
	}
	got := rollingSum(x, 77)
	for i := 76; i < len(x); i++ {
		if want := total(x[i-76 : i+1]); math.Abs(got[i]-want) > 1e-12*want {
			t.Fatalf("at %d: got %v, want %v", i, got[i], want)
		}
	}
}

// TestPieces: cutting the bars changes nothing, at whatever length.
func TestPieces(t *testing.T) {
	x := world(9000, 100).Close
	for i := range x {
		x[i] = math.Round(x[i]) // equal values too
	}
	for _, n := range []int{2, 10, 999} {
		for name, kernel := range map[string]func([]float64, int) []float64{"percentRanks": percentRanks, "rankCorrelations": rankCorrelations} {
			if !same(inPieces(x, n, kernel), kernel(x, n)) {
				t.Errorf("%s(%d) in pieces differs from the whole", name, n)
			}
		}
	}
}
