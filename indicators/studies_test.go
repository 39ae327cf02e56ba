package indicators

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"wick/indicators/kernel"
	"wick/market"
)

// first returns the values of the first line.
func first(t *testing.T, s *market.Series, name, params string) []float64 {
	t.Helper()
	return compute(t, s, name, params).Lines[0].Values
}

// TestStudiesByHand works small examples out by hand.
func TestStudiesByHand(t *testing.T) {
	tests := []struct {
		name      string
		got, want []float64
	}{
		// Of 3, 1, 2 two are at most 2; of 1, 2, 2 all are at most 5.
		{"percent_rank", first(t, closes(3, 1, 2, 2, 5), "percent_rank", `{"length":3}`), []float64{nan, nan, nan, 200. / 3, 100}},
		{"cumulative_sum", first(t, closes(3, 1, 2), "cumulative_sum", `{"source":"close"}`), []float64{3, 4, 6}},
		// Falls: 4 to 2 is half; from 5 to 4 a fifth.
		{"max_drawdown", first(t, closes(4, 2, 3, 5, 4), "max_drawdown", `{"length":3}`), []float64{nan, nan, -50, 0, -20}},
		// Returns 1, -0.5, 1: mean 0.5, squares 0.25 + 1 + 0.25 over 3.
		{"sharpe", first(t, closes(1, 2, 1, 2), "sharpe", `{"length":3,"periods":4}`), []float64{nan, nan, nan, 2 * 0.5 / math.Sqrt(0.5)}},
		// The only loss is 0.5: root of 0.25/3.
		{"sortino", first(t, closes(1, 2, 1, 2), "sortino", `{"length":3,"periods":4}`), []float64{nan, nan, nan, 2 * 0.5 / math.Sqrt(0.25/3)}},
		// The range is half the change: 13 pulls it to 12.5, 8 pushes it to 10.
		{"range_filter", first(t, closes(10, 12, 13, 12, 8), "range_filter", `{"length":1,"mult":0.5}`), []float64{nan, 12, 12.5, 12.5, 10}},
		// Distance 2: 8 below; it rises to 11 with 13, and at 10 the side changes to 12.
		{"ratchet", stopOf(ratchet([]float64{10, 9, 13, 12, 10}, []float64{2, 2, 2, 2, 2})), []float64{8, 8, 11, 11, 12}},
		// Weights 1, e^-0.5, e^-2 from the newest.
		{"nadaraya_watson", first(t, closes(1, 2, 4), "nadaraya_watson", `{"length":3,"bandwidth":1}`),
			[]float64{nan, nan, (4 + 2*math.Exp(-0.5) + math.Exp(-2)) / (1 + math.Exp(-0.5) + math.Exp(-2))}},
		// Of a straight line the regression is the line itself, once and twice.
		{"zlsma", first(t, closes(1, 2, 3, 4, 5, 6), "zlsma", `{"length":3}`), []float64{nan, nan, nan, nan, 5, 6}},
	}
	for _, test := range tests {
		if !same(test.got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, test.got, test.want)
		}
	}
}

func stopOf[T any](stop []float64, _ T) []float64 { return stop }

// TestStudiesPlain compares with loops written from the published formulas.
func TestStudiesPlain(t *testing.T) {
	s := world(900, 50)
	x := s.Close
	plain := map[string][]float64{
		"trama": plainTRAMA(s, 99), "alphatrend": plainAlphaTrend(s), "vfi": plainVFI(s), "ssl_channel": plainSSL(s),
	}
	for name, want := range plain {
		if got := first(t, s, name, `{}`); !same(got, want) {
			t.Errorf("%s differs from the formula", name)
		}
	}
	wae := compute(t, s, "waddah_attar", `{}`)
	fast, slow := kernel.EMA(x, 20), kernel.EMA(x, 40)
	upper, lower := compute(t, s, "bbands", `{}`).Lines[1].Values, compute(t, s, "bbands", `{}`).Lines[2].Values
	for i := 41; i < len(x); i++ {
		want := 150 * ((fast[i] - slow[i]) - (fast[i-1] - slow[i-1]))
		if got := wae.Histogram[0].Values[i]; math.Abs(got-want) > 1e-9 {
			t.Fatalf("waddah_attar trend at %d: %v, want %v", i, got, want)
		}
		if got := wae.Lines[0].Values[i]; math.Abs(got-(upper[i]-lower[i])) > 1e-9 {
			t.Fatalf("waddah_attar explosion at %d: %v, want %v", i, got, upper[i]-lower[i])
		}
	}
}

func plainTRAMA(s *market.Series, n int) []float64 {
	out := kernel.NaNs(s.Len())
	extreme := func(i int) (hi, lo float64) { return slices.Max(s.High[i-n+1 : i+1]), slices.Min(s.Low[i-n+1 : i+1]) }
	fresh := func(i int) float64 {
		if i < n { // the window before is not whole
			return 0
		}
		hi, lo := extreme(i)
		if oldHi, oldLo := extreme(i - 1); hi > oldHi || lo < oldLo {
			return 1
		}
		return 0
	}
	before := s.Close[n-2]
	for i := n - 1; i < s.Len(); i++ {
		var share float64
		for k := i - n + 1; k <= i; k++ {
			share += fresh(k) / float64(n)
		}
		before += share * share * (s.Close[i] - before)
		out[i] = before
	}
	return out
}

func plainAlphaTrend(s *market.Series) []float64 {
	const n = 14
	out := kernel.NaNs(s.Len())
	for i := n; i < s.Len(); i++ {
		var reach, rises, all float64
		for k := i - n + 1; k <= i; k++ {
			reach += max(s.High[k], s.Close[k-1]) - min(s.Low[k], s.Close[k-1])
			p, before := s.High[k]+s.Low[k]+s.Close[k], s.High[k-1]+s.Low[k-1]+s.Close[k-1]
			if p-before > 1e-9 { // more than rounding of the sums
				rises += p * s.Volume[k]
			}
			if math.Abs(p-before) > 1e-9 {
				all += p * s.Volume[k]
			}
		}
		rising := all > 0 && rises/all >= 0.5
		if rising {
			out[i] = s.Low[i] - reach/n
			if i > n {
				out[i] = max(out[i], out[i-1])
			}
		} else {
			out[i] = s.High[i] + reach/n
			if i > n {
				out[i] = min(out[i], out[i-1])
			}
		}
	}
	return out
}

// TestAlphaTrendCrosses: the script's signals are Pine's crossover and crossunder of the
// line and itself two bars ago. The line often stands still, and a bar on which the two
// meet is no crossing; a rule in the same words is true on the same bars.
func TestAlphaTrendCrosses(t *testing.T) {
	q := market.Query{Symbol: "BTCUSDT", Interval: market.Hour1, Limit: 1000}
	s, err := market.Sample{}.At(q, time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	line := plainAlphaTrend(s)
	var want []string
	met := 0
	for i := 3; i < len(line); i++ {
		switch now, before := line[i]-line[i-2], line[i-1]-line[i-3]; {
		case now > 0 && before <= 0:
			want = append(want, fmt.Sprintf("%d cross_up", i))
		case now < 0 && before >= 0:
			want = append(want, fmt.Sprintf("%d cross_down", i))
		case now == 0 && before != 0:
			met++
		}
	}
	if got := marks(compute(t, s, "alphatrend", `{}`).Signals); got != strings.Join(want, ", ") || len(want) < 20 || met < 20 {
		t.Errorf("got %s\nwant %s, with %d bars on which the lines meet", got, strings.Join(want, ", "), met)
	}
	for label, when := range map[string]string{"cross_up": "alphatrend crosses above alphatrend[2]", "cross_down": "alphatrend crosses below alphatrend[2]"} {
		var ours, rule []int
		for _, signal := range compute(t, s, "alphatrend", `{}`).Signals {
			if signal.Label == label {
				ours = append(ours, signal.Bar)
			}
		}
		for _, signal := range compute(t, s, "rule", `{"when":"`+when+`"}`).Signals {
			if signal.Label == "becomes_true" {
				rule = append(rule, signal.Bar)
			}
		}
		if !slices.Equal(ours, rule) {
			t.Errorf("%s on %v, the rule on %v", label, ours, rule)
		}
	}
}

func plainVFI(s *market.Series) []float64 {
	const n = 130
	p := make([]float64, s.Len())
	for i := range p {
		p[i] = (s.High[i] + s.Low[i] + s.Close[i]) / 3
	}
	usual := func(i int) float64 { return plainMean(s.Volume[i-n : i]) }
	flow := func(i int) float64 {
		var returns []float64
		for k := i - 29; k <= i; k++ {
			returns = append(returns, math.Log(p[k]/p[k-1]))
		}
		cutoff, volume := 0.2*plainDeviation(returns)*s.Close[i], min(s.Volume[i], 2.5*usual(i))
		switch move := p[i] - p[i-1]; {
		case move > cutoff:
			return volume
		case move < -cutoff:
			return -volume
		}
		return 0
	}
	raw := kernel.NaNs(s.Len())
	for i := 2*n - 1; i < s.Len(); i++ {
		raw[i] = 0
		for k := i - n + 1; k <= i; k++ {
			raw[i] += flow(k) / usual(i)
		}
	}
	return kernel.EMA(raw, 3)
}

func plainSSL(s *market.Series) []float64 {
	out := kernel.NaNs(s.Len())
	side := 0
	for i := 9; i < s.Len(); i++ {
		high, low := plainMean(s.High[i-9:i+1]), plainMean(s.Low[i-9:i+1])
		if s.Close[i] > high {
			side = 1
		} else if s.Close[i] < low {
			side = -1
		}
		switch side {
		case 1:
			out[i] = high
		case -1:
			out[i] = low
		}
	}
	return out
}

// TestTrailingStudies: PMax is the stop of its average, OTT that of another, half
// a percentage further and two bars late.
func TestTrailingStudies(t *testing.T) {
	s := world(600, 50)
	r := compute(t, s, "pmax", `{}`)
	stop, _ := ratchet(kernel.EMA(kernel.MedianPrice(s), 10), kernel.Scaled(kernel.ATRPine(s, 10), 3))
	for i := 40; i < s.Len(); i++ {
		below, above := r.Lines[0].Values[i], r.Lines[1].Values[i]
		if got := max(kernel.ZeroNaN([]float64{below})[0], kernel.ZeroNaN([]float64{above})[0]); math.Abs(got-stop[i]) > 1e-9 {
			t.Fatalf("pmax at %d: %v, want %v", i, got, stop[i])
		}
	}
	// OTT on a straight rise of 1 a bar: the oscillator is 100, so the average is
	// an exponential one of length 2; the stop is 1.4 % below it.
	var x []float64
	for i := range 60 {
		x = append(x, 100+float64(i))
	}
	lines := compute(t, closes(x...), "ott", `{}`).Lines
	average := lines[0].Values[57]
	if got, want := lines[1].Values[59], average*(1-0.014)*(1+0.007); math.Abs(got-want) > 1e-9 || math.Abs(average-(157-0.5)) > 1e-9 {
		t.Errorf("ott %v with average %v, want %v with 156.5", got, average, want)
	}
	// Smoothed Heikin Ashi with lengths 1 is Heikin Ashi.
	ha, smooth := compute(t, s, "heikin_ashi", `{}`), compute(t, s, "smoothed_heikin_ashi", `{"length":1,"smooth":1}`)
	if !same(smooth.Lines[0].Values, ha.Lines[0].Values) || !same(smooth.Lines[1].Values, ha.Lines[3].Values) {
		t.Error("smoothed_heikin_ashi of lengths 1 is not heikin_ashi")
	}
}

// TestStructure draws a rise, its break and a turn by hand, with swings one bar
// wide: highs at bars 2 and 6, a low at bar 4.
func TestStructure(t *testing.T) {
	s := closes(1, 2, 5, 4, 3, 6, 8, 7, 2, 1, 9)
	got := events(compute(t, s, "market_structure", `{"left":1,"right":1}`))
	if want := []string{"10 choch_up", "5 bos_up", "8 choch_down"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// Gaps from 2 to 4 and from 4 to 4.5, both filled by the low of 2 at bar 4; one
	// from 6 to 8, filled by bar 6; one down from 8 to 6 at bar 7.
	bars := &market.Series{}
	for i, b := range [][2]float64{{2, 1}, {4, 2}, {5, 4}, {6, 4.5}, {6, 2}, {9, 8}, {8, 6}, {6, 5}} {
		bars.Append(market.Bar{Time: int64(i), Open: b[1], High: b[0], Low: b[1], Close: b[0], Volume: 1})
	}
	gaps := compute(t, bars, "fvg", `{}`)
	if got, want := events(gaps), []string{"2 gap_up", "3 gap_up", "4 gap_filled", "5 gap_up", "6 gap_filled", "7 gap_down"}; !slices.Equal(got, want) {
		t.Errorf("gaps: got %v, want %v", got, want)
	}
	for label, want := range map[string][]float64{
		"Up low": {nan, nan, 2, 4, nan, 6, nan, nan}, "Up high": {nan, nan, 4, 4.5, nan, 8, nan, nan},
		"Down low": {nan, nan, nan, nan, nan, nan, nan, 6}, "Down high": {nan, nan, nan, nan, nan, nan, nan, 8},
	} {
		if got := line(t, gaps, label); !same(got, want) {
			t.Errorf("%s: got %v, want %v", label, got, want)
		}
	}
}

// TestDayLevels: two days of hourly bars; the second shows the first one's high,
// low and close, and from its first bar on, which ends the range, the range of that.
func TestDayLevels(t *testing.T) {
	s := &market.Series{Interval: market.Hour1}
	for i := range 48 {
		price := 100 + float64(max(0, i%24-3)) - 10*float64(i/24)
		s.Append(market.Bar{Time: int64(i) * 3600, Open: price, High: price + 1, Low: price - 1, Close: price, Volume: 1})
	}
	previous := compute(t, s, "previous_levels", `{}`).Lines
	for k, want := range []float64{120, 121, 99} { // close, high, low
		if got := previous[k].Values[30]; got != want {
			t.Errorf("%s of the day before: %v, want %v", previous[k].Label, got, want)
		}
	}
	opening := compute(t, s, "opening_range", `{}`)
	if hi, lo := opening.Lines[0].Values, opening.Lines[1].Values; hi[24] != 91 || lo[24] != 89 || hi[25] != 91 || lo[25] != 89 || hi[23] != 101 {
		t.Errorf("opening range %v to %v", hi[23:27], lo[23:27])
	}
	if got := events(opening); !slices.Equal(got, []string{"29 breakout_up", "5 breakout_up"}) {
		t.Errorf("breakouts %v", got)
	}
}

// TestOpeningRange: the range of an hour is known at the close of the bar that ends it, so
// the bar after that can leave it, and not before; also if the hour closed at its high. Bars
// of a day have none.
func TestOpeningRange(t *testing.T) {
	for _, c := range []struct {
		iv    market.Interval
		first int // the first bar with a range
	}{{market.Minute30, 1}, {market.Hour1, 0}, {market.Minute15, 3}, {market.Hour4, 0}, {market.Day1, -1}} {
		s := &market.Series{Interval: c.iv}
		for i := range 6 {
			price := 100.0
			if i > c.first {
				price = 103
			}
			b := market.Bar{Time: 1769817600 + int64(i)*c.iv.Seconds(), Open: price, High: price + 1, Low: price - 1, Close: price, Volume: 1}
			if i == c.first {
				b.Close = b.High
			}
			s.Append(b)
		}
		r := compute(t, s, "opening_range", `{"minutes":60}`)
		if got := slices.IndexFunc(r.Lines[0].Values, func(x float64) bool { return x == 101 }); got != c.first {
			t.Errorf("%s: the range begins at bar %d, want %d", c.iv, got, c.first)
		}
		var want []string
		if c.first >= 0 {
			want = []string{fmt.Sprint(c.first+1, " breakout_up")}
		}
		if got := events(r); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.iv, got, want)
		}
	}
}
