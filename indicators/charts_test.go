package indicators

import (
	"math"
	"slices"
	"testing"

	"wick/indicators/kernel"
)

// The indicators that no vectors judge: by hand, by the plain definition, or
// by entries that vectors do judge.

// line returns the series called label of an indicator.
func line(t *testing.T, r *Result, label string) []float64 {
	t.Helper()
	values, err := seriesOf(r, label)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// TestStopsByHand: with a length of 1 the range of a bar is how far it closed from the bar
// before, and half of it the distance of the stop. The stops rise with the closes, turn at 9,
// fall after them and turn at 10.5. The first bar has no range, so that its stop lies on the
// close, which is above no stop of the UT Bot.
func TestStopsByHand(t *testing.T) {
	s := closes(10, 11, 12, 9, 8, 10.5)
	want, rising := []float64{10, 10.5, 11.5, 10.5, 8.5, 9.25}, []bool{true, true, true, false, false, true}
	for name, params := range map[string]string{"volatility_stop": `{"length":1,"mult":0.5}`, "ut_bot": `{"length":1,"key":0.5}`} {
		r := compute(t, s, name, params)
		for i, y := range want {
			side := 1
			if rising[i] && (i > 0 || name == "volatility_stop") {
				side = 0
			}
			if got, none := r.Lines[side].Values[i], r.Lines[1-side].Values[i]; got != y || !isNaN(none) {
				t.Errorf("%s, bar %d: %v and on the other side %v, want %v and none", name, i, got, none, y)
			}
		}
	}
}

func TestLinregChannelPlain(t *testing.T) {
	s := world(400, 100)
	r := compute(t, s, "linreg_channel", `{"length":30,"mult":2.5}`)
	for i := 29; i < s.Len(); i++ {
		w := s.Close[i-29 : i+1]
		end, slope := plainRegression(w)
		var squares float64
		for k, v := range w {
			d := v - (end - slope*float64(29-k))
			squares += d * d
		}
		reach := 2.5 * math.Sqrt(squares/30)
		got := []float64{r.Lines[0].Values[i], r.Lines[1].Values[i], r.Lines[2].Values[i]}
		if !same(got, []float64{end, end + reach, end - reach}) {
			t.Fatalf("bar %d: %v, want %v ± %v", i, got, end, reach)
		}
	}
}

// TestChopZonePlain takes the angle from the arc cosine, as TradingView does.
func TestChopZonePlain(t *testing.T) {
	s := world(400, 100)
	got := line(t, compute(t, s, "chop_zone", `{}`), "Angle")
	average := line(t, compute(t, s, "ema", `{"length":34}`), "EMA")
	for i := 34; i < s.Len(); i++ {
		hi, lo := slices.Max(s.High[i-29:i+1]), slices.Min(s.Low[i-29:i+1])
		rise := (average[i] - average[i-1]) / ((s.High[i] + s.Low[i] + s.Close[i]) / 3) * (25 / (hi - lo) * lo)
		want := math.Acos(1/math.Sqrt(1+rise*rise)) * 180 / math.Pi
		if rise < 0 {
			want = -want
		}
		if math.Abs(got[i]-want) > 1e-6 { // the arc cosine is blunt near 1
			t.Fatalf("bar %d: %v, want %v", i, got[i], want)
		}
	}
}

func TestDeMarkerPlain(t *testing.T) {
	s := world(400, 100)
	got := line(t, compute(t, s, "demarker", `{"length":9}`), "DeMarker")
	for i := 9; i < s.Len(); i++ {
		var up, down float64
		for k := i - 8; k <= i; k++ {
			up += math.Max(s.High[k]-s.High[k-1], 0)
			down += math.Max(s.Low[k-1]-s.Low[k], 0)
		}
		if want := up / (up + down); math.Abs(got[i]-want) > 1e-12 {
			t.Fatalf("bar %d: %v, want %v", i, got[i], want)
		}
	}
	if !math.IsNaN(got[8]) {
		t.Errorf("bar 8 has %v, but eight changes are not nine", got[8])
	}
}

// TestFromJudged composes what the entries show from others that vectors judge.
func TestFromJudged(t *testing.T) {
	s := world(600, 100)
	of := func(name, overrides, label string) []float64 { return line(t, compute(t, s, name, overrides), label) }
	short, long := compute(t, s, "bbands", `{"length":20}`), compute(t, s, "bbands", `{"length":50}`)
	trend := kernel.NaNs(s.Len())
	for i := 49; i < s.Len(); i++ {
		below := math.Abs(line(t, short, "Lower")[i] - line(t, long, "Lower")[i])
		above := math.Abs(line(t, short, "Upper")[i] - line(t, long, "Upper")[i])
		trend[i] = 100 * (below - above) / line(t, short, "Middle")[i]
	}
	tests := []struct {
		name      string
		got, want []float64
	}{
		{"bbtrend", of("bbtrend", `{}`, "BBTrend"), trend},
		{"smi_ergodic", kernel.Scaled(of("smi_ergodic", `{}`, "SMIE"), 100), of("tsi", `{"long":20,"short":5}`, "TSI")},
		{"woodies_cci", of("woodies_cci", `{"source":"hlc3"}`, "CCI"), of("cci", `{"length":14}`, "CCI")},
		{"woodies_cci turbo", of("woodies_cci", `{"source":"hlc3"}`, "Turbo"), of("cci", `{"length":6}`, "CCI")},
		{"starc middle", of("starc", `{}`, "Middle"), of("sma", `{"length":5}`, "SMA")},
		{"starc upper", kernel.Minus(of("starc", `{}`, "Upper"), of("starc", `{}`, "Middle")), kernel.Scaled(of("atr", `{"length":15}`, "ATR"), 2)},
	}
	for _, test := range tests {
		if !same(test.got, test.want) {
			t.Errorf("%s differs", test.name)
		}
	}
}

// TestDaysByHand: mean prices 10.625 and 10.575, then 12.05, 12.425 and 12.55;
// high 12, low 8 and close 11 of the day before.
func TestDaysByHand(t *testing.T) {
	got := line(t, compute(t, pivotDays(), "twap", `{}`), "TWAP")
	if want := []float64{10.625, 10.6, 12.05, 12.2375, 37.025 / 3}; !same(got, want) {
		t.Errorf("TWAP %v, want %v", got, want)
	}
	r := compute(t, pivotDays(), "cpr", `{"period":"day"}`)
	for label, want := range map[string]float64{"P": 31. / 3, "TC": 32. / 3, "BC": 10} {
		if got := line(t, r, label); !same(got, []float64{nan, nan, want, want, want}) {
			t.Errorf("%s %v, want %v on the second day", label, got, want)
		}
	}
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
