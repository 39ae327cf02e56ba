package indicators

import (
	"math"
	"math/rand/v2"
	"testing"

	"wick/market"
)

// awkward returns prices that break careless kernels: a high level with tiny
// ticks, a stretch without movement, a spike that must leave no trace, equal
// neighbours, a jump to another level, a slow walk; behind some NaNs.
func awkward() []float64 {
	r := rand.New(rand.NewPCG(61, 803))
	x := []float64{nan, nan, nan}
	for range 700 {
		x = append(x, 65000+1e-4*float64(r.IntN(9)))
	}
	for range 300 {
		x = append(x, 64999.5)
	}
	x = append(x, 8e6)
	price := 64999.5
	for range 900 {
		price *= math.Exp(0.003 * r.NormFloat64())
		x = append(x, math.Round(price*4)/4)
	}
	for range 300 {
		x = append(x, 0.25+1e-7*r.Float64())
	}
	return x
}

// TestKernels holds every sliding kernel against the plain loop over each
// window, which is the definition.
func TestKernels(t *testing.T) {
	x := awkward()
	y := make([]float64, len(x))
	for i := range y {
		y[i] = math.Sin(float64(i)) + float64(i%17)
	}
	end := func(x []float64, n int) []float64 { e, _ := regression(x, n); return e }
	slope := func(x []float64, n int) []float64 { _, s := regression(x, n); return s }
	tests := []struct {
		name   string
		kernel func(x []float64, n int) []float64
		plain  func(w []float64) float64
	}{
		{"sma", sma, func(w []float64) float64 { return total(w) / float64(len(w)) }},
		{"rollingSum", rollingSum, total},
		{"wma", wma, plainWMA},
		{"variance", variance, func(w []float64) float64 { return plainCovariance(w, w) }},
		{"stdev", stdev, func(w []float64) float64 { return math.Sqrt(plainCovariance(w, w)) }},
		{"highest", highest, func(w []float64) float64 { return w[plainExtreme(w, 1)] }},
		{"lowest", lowest, func(w []float64) float64 { return w[plainExtreme(w, -1)] }},
		{"regression", end, func(w []float64) float64 { e, _ := plainRegression(w); return e }},
		{"slope", slope, func(w []float64) float64 { _, s := plainRegression(w); return s }},
		{"meanDeviation", meanDeviation, plainMeanDeviation},
	}
	for _, test := range tests {
		for _, n := range []int{1, 2, 3, 14, 61, 200, 500} {
			matches(t, test.name, n, x, test.kernel(x, n), test.plain)
		}
	}
	for _, n := range []int{2, 14, 300} {
		_, _, cov := covariance(x, y, n)
		for i := 3 + n - 1; i < len(x); i++ {
			wx, wy := x[i-n+1:i+1], y[i-n+1:i+1]
			scale := math.Sqrt(plainCovariance(wx, wx) * plainCovariance(wy, wy))
			if want := plainCovariance(wx, wy); math.Abs(cov[i]-want) > 1e-9*scale {
				t.Fatalf("covariance(%d) at %d: got %v, want %v", n, i, cov[i], want)
			}
		}
	}
}

// matches compares a kernel with the plain function of every full window. The
// scale of an error is the window's own: its level for levels, its movement
// for what measures movement.
func matches(t *testing.T, name string, n int, x, got []float64, plain func([]float64) float64) {
	t.Helper()
	if len(got) != len(x) {
		t.Fatalf("%s(%d): %d values for %d bars", name, n, len(got), len(x))
	}
	for i := range x {
		if i < 3+n-1 {
			if !math.IsNaN(got[i]) {
				t.Fatalf("%s(%d): %v at bar %d, before it is warm", name, n, got[i], i)
			}
			continue
		}
		w := x[i-n+1 : i+1]
		want := plain(w)
		scale := math.Abs(want)
		if name == "slope" { // may be zero while the prices move
			scale = max(scale, w[plainExtreme(w, 1)]-w[plainExtreme(w, -1)])
		}
		if math.IsNaN(got[i]) || math.Abs(got[i]-want) > 1e-9*scale {
			t.Fatalf("%s(%d) at %d: got %v, want %v", name, n, i, got[i], want)
		}
	}
}

func plainWMA(w []float64) float64 {
	var sum, weights float64
	for k, v := range w {
		sum += float64(k+1) * v
		weights += float64(k + 1)
	}
	return sum / weights
}

// plainCovariance subtracts a value of the window and then the mean first, so
// that it is exact to rounding at any level of prices.
func plainCovariance(a, b []float64) float64 {
	var ma, mb, sum float64
	for k := range a {
		ma += (a[k] - a[0]) / float64(len(a))
		mb += (b[k] - b[0]) / float64(len(b))
	}
	for k := range a {
		sum += (a[k] - a[0] - ma) * (b[k] - b[0] - mb)
	}
	return sum / float64(len(a))
}

func plainMeanDeviation(w []float64) float64 {
	var sum, mean float64
	for _, v := range w {
		mean += (v - w[0]) / float64(len(w))
	}
	for _, v := range w {
		sum += math.Abs(v - w[0] - mean)
	}
	return sum / float64(len(w))
}

func plainRegression(w []float64) (end, slope float64) {
	if len(w) == 1 {
		return w[0], 0
	}
	k := make([]float64, len(w))
	for i := range k {
		k[i] = float64(i)
	}
	slope = plainCovariance(k, w) / plainCovariance(k, k)
	var mean float64
	for _, v := range w {
		mean += (v - w[0]) / float64(len(w))
	}
	return w[0] + mean + slope*float64(len(w)-1)/2, slope
}

// plainExtreme returns the latest of the largest values of sign*w.
func plainExtreme(w []float64, sign float64) int {
	best := 0
	for k, v := range w {
		if sign*v >= sign*w[best] {
			best = k
		}
	}
	return best
}

func TestExtremesAt(t *testing.T) {
	x := awkward()
	for _, n := range []int{1, 2, 14, 200} {
		hi, lo := highestAt(x, n), lowestAt(x, n)
		for i := range x {
			wantHi, wantLo := -1, -1
			if i >= 3+n-1 {
				w := x[i-n+1 : i+1]
				wantHi, wantLo = i-n+1+plainExtreme(w, 1), i-n+1+plainExtreme(w, -1)
			}
			if hi[i] != wantHi || lo[i] != wantLo {
				t.Fatalf("n %d, bar %d: got %d and %d, want %d and %d", n, i, hi[i], lo[i], wantHi, wantLo)
			}
		}
	}
	// TA-Lib's rule for equal values, by hand: the second 5 takes over at bar 2;
	// when it leaves, the older 4 is taken although an equal one just came.
	got := extremeAt([]float64{5, 1, 5, 4, 4}, 2, 1, false)
	for i, want := range []int{-1, 0, 2, 2, 3} {
		if got[i] != want {
			t.Errorf("oldest of equal, bar %d: got %d, want %d", i, got[i], want)
		}
	}
}

// TestDeviationBounds shows that a spread next to nothing or beyond all bounds
// breaks no long window, and that between them the values are right.
func TestDeviationBounds(t *testing.T) {
	for _, step := range []float64{math.SmallestNonzeroFloat64, 1e-310, 1e-9, 1e9, 1e300, math.MaxFloat64 / 2} {
		x := make([]float64, 1000)
		for i := range x {
			x[i] = step * float64(i*7%3-1)
		}
		for i, d := range meanDeviation(x, 200)[199:] {
			if want := plainMeanDeviation(x[i : i+200]); step < 1e300 && step > 1e-300 && math.Abs(d-want) > 1e-9*want {
				t.Fatalf("steps of %v, window %d: got %v, want %v", step, i, d, want)
			}
		}
	}
}

// TestKernelsKeep shows that what comes later changes no bit of what was: some
// kernels take bars by twos, fours or blocks, and any of them may be cut short.
func TestKernelsKeep(t *testing.T) {
	x := awkward()
	kernels := []func([]float64, int) []float64{sma, ema, rma, wma, stdev, meanDeviation, highest}
	for k, kernel := range kernels {
		for _, n := range []int{1, 14, 61, 200} {
			whole := kernel(x, n)
			for end := range x[:1200] {
				if end > 600 && end%7 > 0 {
					continue
				}
				for i, v := range kernel(x[:end], n) {
					if math.Float64bits(v) != math.Float64bits(whole[i]) {
						t.Fatalf("kernel %d over %d: bar %d is %v with %d bars, %v with all", k, n, i, v, end, whole[i])
					}
				}
			}
		}
	}
}

// TestAverages checks the averages made of others against their definitions
// in terms of ema and sma, which the vectors check, and all against short
// input and leading NaNs.
func TestAverages(t *testing.T) {
	x := awkward()
	for _, kind := range averages {
		whole := average(kind, x[3:], 10)
		late := average(kind, x, 10)
		for i, want := range whole {
			if got := late[i+3]; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("%s: three leading NaNs change bar %d from %v to %v", kind, i, want, got)
			}
		}
		for n := range 12 {
			if got := average(kind, x[3:3+n], 10); len(got) != n {
				t.Errorf("%s of %d bars has %d values", kind, n, len(got))
			}
			if got := average(kind, nans(n), 10); firstValid(got) != n {
				t.Errorf("%s of %d NaNs has a value", kind, n)
			}
		}
	}
	if got := rma([]float64{1, 3, 5}, 2); got[1] != 2 || got[2] != 3.5 {
		t.Errorf("rma: got %v, want NaN, 2, 3.5", got)
	}
}

func TestSmallKernels(t *testing.T) {
	x := []float64{nan, 1, 4, 9}
	tests := []struct {
		name      string
		got, want []float64
	}{
		{"shift", shift(x, 1), []float64{nan, nan, 1, 4}},
		{"shift by more than there is", shift(x, 9), []float64{nan, nan, nan, nan}},
		{"change", change(x, 2), []float64{nan, nan, nan, 8}},
		{"cumulative", cumulative(x), []float64{nan, 1, 5, 14}},
		{"nz", nz(x), []float64{0, 1, 4, 9}},
		{"minus", minus(x, x), []float64{nan, 0, 0, 0}},
	}
	s := &market.Series{}
	s.Append(market.Bar{High: 3, Low: 1, Close: 2})
	s.Append(market.Bar{High: 9, Low: 5, Close: 6})
	s.Append(market.Bar{High: 5, Low: 4, Close: 4})
	tests = append(tests, []struct {
		name      string
		got, want []float64
	}{
		{"true range over gaps", trueRange(s), []float64{nan, 7, 2}},
		{"Pine's true range", trueRangePine(s), []float64{2, 7, 2}},
	}...)
	for _, test := range tests {
		for i, want := range test.want {
			if got := test.got[i]; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s: got %v, want %v", test.name, test.got, test.want)
				break
			}
		}
	}
}
