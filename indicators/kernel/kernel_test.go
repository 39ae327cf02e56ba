package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
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
	end := func(x []float64, n int) []float64 { e, _ := Regression(x, n); return e }
	slope := func(x []float64, n int) []float64 { _, s := Regression(x, n); return s }
	tests := []struct {
		name   string
		kernel func(x []float64, n int) []float64
		plain  func(w []float64) float64
	}{
		{"sma", SMA, func(w []float64) float64 { return total(w) / float64(len(w)) }},
		{"rollingSum", RollingSum, total},
		{"wma", WMA, plainWMA},
		{"variance", Variance, func(w []float64) float64 { return plainCovariance(w, w) }},
		{"stdev", StdDev, func(w []float64) float64 { return math.Sqrt(plainCovariance(w, w)) }},
		{"highest", Highest, func(w []float64) float64 { return w[plainExtreme(w, 1)] }},
		{"lowest", Lowest, func(w []float64) float64 { return w[plainExtreme(w, -1)] }},
		{"regression", end, func(w []float64) float64 { e, _ := plainRegression(w); return e }},
		{"slope", slope, func(w []float64) float64 { _, s := plainRegression(w); return s }},
		{"meanDeviation", MeanDeviation, plainMeanDeviation},
	}
	for _, test := range tests {
		for _, n := range []int{1, 2, 3, 14, 61, 200, 500} {
			matches(t, test.name, n, x, test.kernel(x, n), test.plain)
		}
	}
	for _, n := range []int{2, 14, 300} {
		_, _, cov := Covariance(x, y, n)
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

// TestDecimal: means of cents that are equal in truth are equal, in any order and
// unit, and are the float nearest to the truth; what is not a price of a few digits
// stays as it is.
func TestDecimal(t *testing.T) {
	for _, unit := range []float64{1, 3, 1e-6, 1e6} {
		thirds := means(3, []float64{10.01*unit + 10.03*unit + 10.02*unit, 10.02*unit + 10.02*unit + 10.02*unit, 10.03*unit + 10.02*unit + 10.01*unit})
		if thirds[0] != thirds[1] || thirds[1] != thirds[2] || math.Abs(thirds[0]-10.02*unit) > 1e-12*unit {
			t.Errorf("unit %v: %.17g", unit, thirds)
		}
	}
	for sum := 1500; sum < 1600; sum++ { // in cents
		low := float64(sum/3) / 100
		high := float64(sum-2*(sum/3)) / 100
		if got, want := means(3, []float64{high + low + low})[0], float64(sum)/100/3; got != want {
			t.Errorf("a third of %d cents: %.17g, want %.17g", sum, got, want)
		}
	}
	for _, v := range []float64{0, -0.5, 1e-300, 1e300, math.MaxFloat64, 123456.789} {
		if got := means(1, []float64{v})[0]; got != v {
			t.Errorf("%v became %v", v, got)
		}
	}
	if got := means(3, []float64{math.NaN()})[0]; got == got {
		t.Errorf("NaN became %v", got)
	}
}

func TestExtremesAt(t *testing.T) {
	x := awkward()
	for _, n := range []int{1, 2, 14, 200} {
		hi, lo := ExtremeAt(x, n, 1, true), ExtremeAt(x, n, -1, true)
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
	got := ExtremeAt([]float64{5, 1, 5, 4, 4}, 2, 1, false)
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
		for i, d := range MeanDeviation(x, 200)[199:] {
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
	kernels := []func([]float64, int) []float64{SMA, EMA, RMA, WMA, StdDev, MeanDeviation, Highest}
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
	for _, kind := range Averages {
		whole := Average(kind, x[3:], 10)
		late := Average(kind, x, 10)
		for i, want := range whole {
			if got := late[i+3]; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("%s: three leading NaNs change bar %d from %v to %v", kind, i, want, got)
			}
		}
		for n := range 12 {
			if got := Average(kind, x[3:3+n], 10); len(got) != n {
				t.Errorf("%s of %d bars has %d values", kind, n, len(got))
			}
			if got := Average(kind, NaNs(n), 10); FirstValid(got) != n {
				t.Errorf("%s of %d NaNs has a value", kind, n)
			}
		}
	}
	if got := RMA([]float64{1, 3, 5}, 2); got[1] != 2 || got[2] != 3.5 {
		t.Errorf("rma: got %v, want NaN, 2, 3.5", got)
	}
}

func TestSmallKernels(t *testing.T) {
	x := []float64{nan, 1, 4, 9}
	tests := []struct {
		name      string
		got, want []float64
	}{
		{"shift", Shift(x, 1), []float64{nan, nan, 1, 4}},
		{"shift by more than there is", Shift(x, 9), []float64{nan, nan, nan, nan}},
		{"change", Change(x, 2), []float64{nan, nan, nan, 8}},
		{"cumulative", Cumulative(x), []float64{nan, 1, 5, 14}},
		{"nz", ZeroNaN(x), []float64{0, 1, 4, 9}},
		{"minus", Minus(x, x), []float64{nan, 0, 0, 0}},
	}
	s := &market.Series{}
	s.Append(market.Bar{High: 3, Low: 1, Close: 2})
	s.Append(market.Bar{High: 9, Low: 5, Close: 6})
	s.Append(market.Bar{High: 5, Low: 4, Close: 4})
	tests = append(tests, []struct {
		name      string
		got, want []float64
	}{
		{"true range over gaps", TrueRange(s), []float64{nan, 7, 2}},
		{"Pine's true range", TrueRangePine(s), []float64{2, 7, 2}},
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

// TestPlainWindows holds the windowed kernels of single indicators against the
// plain loop over each window, on the input that breaks careless ones.
func TestPlainWindows(t *testing.T) {
	x := awkward()
	for _, n := range []int{1, 2, 3, 14, 150} {
		if n > 1 {
			matches(t, "rankCorrelation", n, x, shifted(RankCorrelation(x, n), 1000), func(w []float64) float64 { return 1000 + plainSpearman(w) })
		}
	}
	for _, n := range []int{1, 2, 30, 400} {
		rank := PercentRank(x, n, false)
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

// plainSpearman ranks by counting, equal values sharing the mean of their ranks,
// and correlates ranks and places.
func plainSpearman(w []float64) float64 {
	ranks, places := make([]float64, len(w)), make([]float64, len(w))
	for i, v := range w {
		ranks[i], places[i] = 0.5, float64(i)
		for _, u := range w {
			if u < v {
				ranks[i]++
			} else if u == v {
				ranks[i] += 0.5
			}
		}
	}
	spread := plainCovariance(ranks, ranks) * plainCovariance(places, places)
	if spread == 0 {
		return 0
	}
	return 100 * plainCovariance(ranks, places) / math.Sqrt(spread)
}

// TestRollingSumHoles shows that a NaN spoils the windows that
// hold it and no other, and zeros after anything add up to zero.
func TestRollingSumHoles(t *testing.T) {
	got := RollingSum([]float64{nan, 1, 2, nan, 4, 5, 6, 0.1, 1e300, 0, 0, 0}, 3)
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
	got := RollingSum(x, 77)
	for i := 76; i < len(x); i++ {
		if want := total(x[i-76 : i+1]); math.Abs(got[i]-want) > 1e-12*want {
			t.Fatalf("at %d: got %v, want %v", i, got[i], want)
		}
	}
}

// same reports whether two series are equal, NaN where NaN is, to 1e-9.
func same(got, want []float64) bool {
	if len(got) != len(want) {
		return false
	}
	for i, w := range want {
		if math.IsNaN(w) != math.IsNaN(got[i]) || math.Abs(got[i]-w) > 1e-9*max(1, math.Abs(w)) {
			return false
		}
	}
	return true
}

// leaps are columns in which values leap from bar to bar or cancel out.
var leaps = map[string]func(i int) float64{
	"every other value is zero": func(i int) float64 { return float64(i % 2 * 5) },
	"values cancel out":         func(i int) float64 { return []float64{1, -1, 0, 0, 0, 0, 0}[i%7] * 1e6 },
	"far apart":                 func(i int) float64 { return math.Pow(10, float64(i%9)*2) * float64(1-i%2*2) },
}

// TestMeansOfLeaps: however values leap and cancel out, a mean is right.
func TestMeansOfLeaps(t *testing.T) {
	const bars, n = 20_000, 1000
	for name, of := range leaps {
		x := column(bars, of)
		got := SMA(x, n)
		for i := n - 1; i < bars; i += 97 {
			sum, size := 0.0, 0.0
			for _, v := range x[i-n+1 : i+1] {
				sum, size = sum+v, size+math.Abs(v)
			}
			if math.Abs(got[i]-sum/n) > 1e-12*size/n {
				t.Errorf("%s: bar %d is %v, want %v", name, i, got[i], sum/n)
			}
		}
	}
}

// BenchmarkMeansOfLeaps: they take a few steps a bar, not one for each value of the window.
func BenchmarkMeansOfLeaps(b *testing.B) {
	for name, of := range leaps {
		x := column(20_000, of)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				SMA(x, 1000)
			}
		})
	}
}

// column returns n values.
func column(n int, of func(i int) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = of(i)
	}
	return x
}

// total returns the plain sum of x.
func total(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}
