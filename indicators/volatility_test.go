package indicators

import (
	"math"
	"slices"
	"testing"

	"wick/indicators/kernel"
	"wick/market"
)

func TestADR(t *testing.T) {
	s := plainSeries([]float64{5, 7, 9}, []float64{4, 4, 4})
	if got, want := compute(t, s, "adr", `{"length":2}`).Lines[0].Values, []float64{nan, 2, 4}; !same(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestHistVolatility works the returns out one window at a time, around their
// mean.
func TestHistVolatility(t *testing.T) {
	s := walk(80, 11)
	s.Close[40], s.Low[40] = -1, -1 // no logarithm: its two returns are missing
	got := compute(t, s, "histvol", `{"length":10,"periods":365}`).Lines[0].Values
	want := kernel.NaNs(80)
	for i := 10; i < 80; i++ {
		var returns []float64
		for k := i - 9; k <= i; k++ {
			returns = append(returns, math.Log(s.Close[k])-math.Log(s.Close[k-1]))
		}
		want[i] = 100 * math.Sqrt(365) * plainDeviation(returns)
	}
	if !same(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if !math.IsNaN(got[50]) || math.IsNaN(got[51]) {
		t.Errorf("bars 50 and 51: %v and %v, want none and a value: the gap is ten bars long", got[50], got[51])
	}
}

// plainDeviation returns the population deviation of x.
func plainDeviation(x []float64) float64 {
	var mean, squares float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(x)))
}

// TestPeriodsOfAYear: figures a year count the bars that a year of the market has. Their root
// is what the ratio of a figure to that with one bar a year is.
func TestPeriodsOfAYear(t *testing.T) {
	const day = 24 * 60 * 60
	week := func(iv market.Interval, skip func(t int64) bool) *market.Series {
		s := &market.Series{Interval: iv}
		for at := int64(1_700_006_400); s.Len() < 400; at += iv.Seconds() { // a Wednesday
			if price := 100 + float64(s.Len()*s.Len()%17); !skip(at) {
				s.Append(market.Bar{Time: at, Open: price, High: price, Low: price, Close: price, Volume: 1})
			}
		}
		return s
	}
	always := func(int64) bool { return false }
	weekend := func(t int64) bool { d := t / day % 7; return d == 2 || d == 3 } // Saturday and Sunday
	session := func(t int64) bool { return weekend(t) || t%day < 14*3600 || t%day >= 21*3600 }
	days, hours := week("1d", weekend), week("1h", session)
	days.Hours = market.Hours{Open: 1_700_000_000, Close: 1_700_000_000 + 6*3600 + 1800} // six hours and a half
	hours.Hours = days.Hours
	for _, c := range []struct {
		what string
		s    *market.Series
		want float64
	}{
		{"days of a market that never closes", week("1d", always), 365},
		{"hours of a market that never closes", week("1h", always), 8760},
		{"days of an exchange", days, 252},
		{"hours of an exchange", hours, 252 * 7},
		{"weeks", week("1wk", always), 365.0 / 7},
	} {
		for _, name := range []string{"hist_volatility", "sharpe", "sortino"} {
			auto, one := compute(t, c.s, name, `{"length":10,"periods":"auto"}`).Lines[0].Values, compute(t, c.s, name, `{"length":10,"periods":1}`).Lines[0].Values
			last := c.s.Len() - 1
			if got := auto[last] / one[last]; math.Abs(got*got-c.want) > 1e-9*c.want {
				t.Errorf("%s of %s: %v bars in a year, want %v", name, c.what, got*got, c.want)
			}
		}
	}
}

// TestWilliamsVixFix looks at every window by itself.
func TestWilliamsVixFix(t *testing.T) {
	s := walk(200, 23)
	r := compute(t, s, "wvf", `{}`)
	fear := kernel.NaNs(200)
	for i := 21; i < 200; i++ {
		top := slices.Max(s.Close[i-21 : i+1])
		fear[i] = 100 * (top - s.Low[i]) / top
	}
	mean, dev, most := eachWindow(fear, 20, plainMean), eachWindow(fear, 20, plainDeviation), eachWindow(fear, 50, slices.Max[[]float64])
	band := kernel.NaNs(200)
	var want []Signal
	before := false
	for i := range fear {
		band[i] = mean[i] + 2*dev[i]
		now := fear[i] >= band[i] || fear[i] >= 0.85*most[i]
		if now && !before {
			want = append(want, Mark(i, fear[i], Spike, Up))
		}
		before = now
	}
	if !same(r.Histogram[0].Values, fear) || !same(r.Lines[0].Values, band) {
		t.Error("the values differ from the plain formula")
	}
	if len(want) == 0 || !slices.EqualFunc(r.Signals, want, func(a, b Signal) bool { return a.Bar == b.Bar && a.Label == b.Label }) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
}

// forever are the entries in which a price of the past stays for good, beside
// running totals, and why.
var forever = map[string]string{
	"drawdown":              "is measured from the highest price ever seen",
	"mcginley":              "follows so slowly from far away that it needs more bars than there are",
	"fibonacci_retracement": "spans the turning points, and the spike is one",
}

// TestSpikeLeavesNoTrace: one bar at 1e12 among prices near 100 changes nothing
// that is computed thousands of bars later, to a part in a billion.
func TestSpikeLeavesNoTrace(t *testing.T) {
	t.Parallel()
	const bars, after = 9000, 8600
	calm := world(bars, 100)
	spiky := like(calm, func(i int, b *market.Bar) {
		if i == bars-after {
			b.Open, b.High, b.Low, b.Close = 1e12, 1e12, 1e12, 1e12
			b.Volume = 1e12
		}
	})
	for ind := range All() {
		if ind.VisibleOnly() || slices.Contains(sinceFirstBar, ind.Name) || forever[ind.Name] != "" {
			continue
		}
		if testing.Short() && len(ind.Name)%3 > 0 {
			continue
		}
		request, err := New(ind.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := allSeries(request.Compute(calm).Tail(bars, 500))
		for label, values := range allSeries(request.Compute(spiky).Tail(bars, 500)) {
			var size float64
			for _, v := range want[label] {
				if finite(v) {
					size = max(size, math.Abs(v))
				}
			}
			for i, v := range values {
				if w := want[label][i]; math.IsNaN(v) != math.IsNaN(w) || math.Abs(v-w) > 1e-9*size {
					t.Errorf("%s, %s, %d bars after the spike: %v, without it %v", ind.Name, label, after-500+i, v, w)
					break
				}
			}
		}
	}
}
