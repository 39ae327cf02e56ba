package indicators

import (
	"math"
	"slices"
	"testing"

	"wick/indicators/kernel"
	"wick/market"
)

func TestReturns(t *testing.T) {
	prices := []float64{100, 110, 99, 121, -1, 5}
	s := plainSeries(prices, prices)
	if got, want := compute(t, s, "percent_return", `{}`).Histogram[0].Values, []float64{nan, 10, -10, 100.0 * 22 / 99, 100 * -122.0 / 121, nan}; !same(got, want) {
		t.Errorf("percent_return %v, want %v", got, want)
	}
	want := []float64{nan, nan, math.Log(0.99), math.Log(1.1), nan, math.Log(5.0 / 121)}
	if got := compute(t, s, "log_return", `{"length":2}`).Histogram[0].Values; !same(got, want) {
		t.Errorf("log_return %v, want %v", got, want)
	}
	r := compute(t, s, "drawdown", `{}`)
	if got, want := r.Lines[0].Values, []float64{0, 0, -10, 0, 100 * -122.0 / 121, 100 * -116.0 / 121}; !same(got, want) {
		t.Errorf("drawdown %v, want %v", got, want)
	}
	if want := []Signal{Mark(3, 0, NewHigh, Up)}; !slices.Equal(r.Signals, want) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
}

// eachWindow returns f of the last n values of x at every bar that has them.
func eachWindow(x []float64, n int, f func(window []float64) float64) []float64 {
	out := kernel.NaNs(len(x))
	for i := n - 1; i < len(x); i++ {
		out[i] = f(x[i-n+1 : i+1])
	}
	return out
}

// moment returns the k-th central moment of x, by two passes.
func moment(x []float64, k float64) float64 {
	var mean, sum float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += math.Pow(v-mean, k)
	}
	return sum / float64(len(x))
}

func last(x []float64) float64 { return x[len(x)-1] }

func plainMean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// TestWindows holds what is computed over a window against the textbook
// formula, window by window; at a price of 65000 too, where squares would
// leave nothing.
func TestWindows(t *testing.T) {
	dear := walk(300, 5)
	for i := range dear.Close {
		dear.Close[i] = 65000 + dear.Close[i]/1e4
	}
	dear.High, dear.Low = dear.Close, dear.Close
	for name, s := range map[string]*market.Series{"walk": walk(300, 5), "dear": dear} {
		tolerance := map[string]float64{"walk": 1e-9, "dear": 1e-5}[name] // a close has 12 digits behind the change there
		for _, c := range []struct {
			indicator string
			n         int
			plain     func(window []float64) float64
		}{
			{"zscore", 30, func(w []float64) float64 { return (last(w) - plainMean(w)) / plainDeviation(w) }},
			{"skew", 30, func(w []float64) float64 { return moment(w, 3) / math.Pow(moment(w, 2), 1.5) }},
			{"kurtosis", 30, func(w []float64) float64 { return moment(w, 4)/math.Pow(moment(w, 2), 2) - 3 }},
			{"efficiency_ratio", 11, func(w []float64) float64 { // ten changes
				var way float64
				for k := 1; k < len(w); k++ {
					way += math.Abs(w[k] - w[k-1])
				}
				return math.Abs(last(w)-w[0]) / way
			}},
			{"hurst", 108, plainHurst},
		} {
			got := compute(t, s, c.indicator, `{}`).Lines[0].Values
			for i, want := range eachWindow(s.Close, c.n, c.plain) {
				if math.IsNaN(want) != math.IsNaN(got[i]) || math.Abs(got[i]-want) > tolerance*max(1, math.Abs(want)) {
					t.Errorf("%s of %s, bar %d: %v, want %v", c.indicator, name, i, got[i], want)
					break
				}
			}
		}
	}
}

// plainHurst fits the line through four points by the usual sums, over the last
// 100 changes at each distance.
func plainHurst(w []float64) float64 {
	var sx, sy, sxx, sxy float64
	for _, d := range []int{1, 2, 4, 8} {
		var squares float64
		for k := len(w) - 100; k < len(w); k++ {
			squares += math.Pow(math.Log(w[k])-math.Log(w[k-d]), 2)
		}
		x, y := math.Log(float64(d)), math.Log(squares/100)
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	return (4*sxy - sx*sy) / (4*sxx - sx*sx) / 2
}

func TestShapeOfNothing(t *testing.T) {
	flat := []float64{7, 7, 7, 7, 7}
	if skew, kurtosis := kernel.Moments(flat, 3); !same(skew, kernel.NaNs(5)) || !same(kurtosis, kernel.NaNs(5)) {
		t.Errorf("of a flat price: %v, %v, want none", skew, kurtosis)
	}
}
