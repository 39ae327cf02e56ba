package indicators

import (
	"math"
	"slices"
	"strings"
	"testing"

	"wick/market"
)

// path returns bars that go from turn to turn by 1 a bar, so that every true
// range, and their mean, is 1.
func path(turns ...float64) *market.Series {
	x := []float64{turns[0]}
	for _, to := range turns[1:] {
		for at := x[len(x)-1]; at != to; x = append(x, at) {
			at += math.Copysign(1, to-at)
		}
	}
	return closes(x...)
}

// candlesOf returns bars of open, high, low and close.
func candlesOf(rows ...[4]float64) *market.Series {
	s := &market.Series{Interval: market.Hour1}
	for i, r := range rows {
		s.Append(market.Bar{Time: int64(i) * 3600, Open: r[0], High: r[1], Low: r[2], Close: r[3], Volume: 1})
	}
	return s
}

// blocks has a swing high of 13 at bar 2, a fall whose lowest and last falling
// bar is bar 4, a break at bar 6, a return at bar 8, a close below the block at
// bar 9, which breaks the swing low of bar 4 too, and a bar that trades above
// the swing high of bar 6 and closes below.
var blocks = candlesOf(
	[4]float64{10, 11, 9, 10.5}, [4]float64{10.5, 11.5, 10, 11}, [4]float64{11, 13, 10.8, 12}, [4]float64{12, 12.2, 10.5, 10.8},
	[4]float64{10.8, 11, 9.5, 9.8}, [4]float64{9.8, 11.5, 9.7, 11.4}, [4]float64{11.4, 14, 11.3, 13.5}, [4]float64{13.5, 13.8, 12, 12.5},
	[4]float64{12.5, 12.6, 10.9, 12}, [4]float64{12, 12.1, 9, 9.2}, [4]float64{9.2, 14.5, 9.1, 12})

// base has sixteen quiet bars, a large fall that leaves them, a return, and a
// close above them.
func base() *market.Series {
	rows := slices.Repeat([][4]float64{{10, 10.5, 9.5, 10}}, 16)
	return candlesOf(append(rows, [4]float64{10, 10.1, 7.9, 8}, [4]float64{8, 8.2, 7.8, 8}, [4]float64{8, 9.6, 7.9, 9}, [4]float64{9, 11, 9, 10.8})...)
}

// rest goes up and down by 1, rises steeply to 19 at bar 23, rests for five bars
// between 17.9 and 18.5 and closes above that.
func rest() *market.Series {
	x := slices.Repeat([]float64{10, 11}, 10)
	return closes(append(x, 13, 15, 17, 19, 18.5, 18, 18.2, 17.9, 18.1, 18.6)...)
}

// TestStructureByHand: small markets in which everything can be counted. Turns
// of a path are known two bars later.
func TestStructureByHand(t *testing.T) {
	const two = `{"left":2,"right":2}`
	converging := path(0, 10, 4, 9, 5, 12) // turns at bars 10, 16, 21 and 25
	for _, test := range []struct {
		what, name, params string
		s                  *market.Series
		want               string
	}{
		{"a block, its touch, the other side", "order_block", `{"left":1,"right":1}`, blocks, "10 block_touch, 6 block_up, 8 block_touch, 9 block_down"},
		{"a block that a close goes through", "breaker_block", `{"left":1,"right":1}`, blocks, "9 breaker_down"},
		{"a high beyond a swing, a close within", "liquidity_sweep", `{"left":1,"right":1}`, blocks, "10 sweep_high"},
		{"tops at 10 and 10", "equal_highs_lows", two, path(0, 10, 5, 10, 5), "22 equal_highs"},
		{"tops at 10 and 9", "equal_highs_lows", `{"left":2,"right":2,"tolerance":0.5}`, path(0, 10, 5, 9, 5), ""},
		{"bottoms at 5 and 5", "equal_highs_lows", two, path(12, 5, 10, 5, 10), "19 equal_lows"},
		{"a base, its touch; no base before bar 19", "supply_demand", `{}`, base(), "16 supply_zone, 18 zone_touch"},
		{"a level of two tops", "support_resistance", two, path(0, 10, 5, 10, 5, 12), "30 level_touch, 31 breakout_up"},
		{"a falling line", "trend_lines", two, converging, "29 breakout_up"},
		{"a channel along rising lows", "trend_channel", two, converging, "31 breakout_up"},
		{"tops at 10, neckline at 5", "double_top_bottom", two, path(0, 10, 5, 10, 3), "26 double_top"},
		{"above the tops first", "double_top_bottom", two, path(0, 10, 5, 10, 7, 12, 3), ""},
		{"bottoms at 0, neckline at 5", "double_top_bottom", two, path(10, 0, 5, 0, 7), "26 double_bottom"},
		{"head 13, shoulders 10, a rising neckline", "head_shoulders", two, path(0, 10, 6, 13, 7, 10, 2), "33 head_shoulders"},
		{"the same upside down", "head_shoulders", two, path(20, 10, 14, 7, 13, 10, 18), "33 inverse_head_shoulders"},
		{"shoulders too far apart", "head_shoulders", two, path(0, 10, 6, 15, 7, 13, 2), ""},
		{"highs 10 and 9, lows 4 and 5", "triangle", two, converging, "29 breakout_up"},
		{"lines that part", "triangle", two, path(0, 10, 4, 11, 3, 12), ""},
		{"a pole and a rest", "flag", `{"pole":4}`, rest(), "29 flag_up"},
	} {
		if got := strings.Join(events(compute(t, test.s, test.name, test.params)), ", "); got != test.want {
			t.Errorf("%s, %s: got %q, want %q", test.name, test.what, got, test.want)
		}
	}
}

// TestStructureLines: the values of the lines in the same markets.
func TestStructureLines(t *testing.T) {
	const two = `{"left":2,"right":2}`
	converging := path(0, 10, 4, 9, 5, 12)
	for _, test := range []struct {
		name, params, label string
		s                   *market.Series
		bar                 int
		want                float64
	}{
		{"market_structure", `{"left":1,"right":1}`, "Swing high", blocks, 2, nan},
		{"market_structure", `{"left":1,"right":1}`, "Swing high", blocks, 3, 13},
		{"market_structure", `{"left":1,"right":1}`, "Swing low", blocks, 5, 9.5},
		{"equal_highs_lows", two, "EQH", path(0, 10, 5, 10, 5), 21, nan},
		{"equal_highs_lows", two, "EQH", path(0, 10, 5, 10, 5), 22, 10},
		{"equal_highs_lows", two, "EQL", path(12, 5, 10, 5, 10), 19, 5},
		{"double_top_bottom", two, "Neckline of tops", path(0, 10, 5, 10, 3), 23, 5},
		{"double_top_bottom", two, "Tops", path(0, 10, 5, 10, 3), 23, 10},
		{"order_block", `{"left":1,"right":1}`, "Up low", blocks, 6, 9.5},
		{"order_block", `{"left":1,"right":1}`, "Up high", blocks, 8, 11},
		{"order_block", `{"left":1,"right":1}`, "Up high", blocks, 9, nan},
		{"order_block", `{"left":1,"right":1}`, "Down low", blocks, 9, 11.3},
		{"order_block", `{"left":1,"right":1}`, "Down high", blocks, 9, 14},
		{"breaker_block", `{"left":1,"right":1}`, "Down high", blocks, 9, 11},
		{"breaker_block", `{"left":1,"right":1}`, "Down high", blocks, 10, nan},
		{"liquidity_sweep", `{"left":1,"right":1}`, "Highs", blocks, 5, 13},
		{"liquidity_sweep", `{"left":1,"right":1}`, "Highs", blocks, 6, nan},
		{"liquidity_sweep", `{"left":1,"right":1}`, "Lows", blocks, 8, 9.5},
		{"supply_demand", `{}`, "Supply high", base(), 18, 10.5},
		{"supply_demand", `{}`, "Supply low", base(), 18, 9.5},
		{"supply_demand", `{}`, "Supply low", base(), 19, nan},
		{"support_resistance", two, "Resistance", path(0, 10, 5, 10, 5, 12), 21, nan},
		{"support_resistance", two, "Resistance", path(0, 10, 5, 10, 5, 12), 22, 10},
		{"support_resistance", two, "Support", path(0, 10, 5, 10, 5, 12), 27, 5},
		{"trend_lines", two, "Resistance", converging, 22, nan},
		{"trend_lines", two, "Resistance", converging, 23, 9 - 2./11},
		{"trend_lines", two, "Support", converging, 27, 5 + 2./9},
		{"trend_channel", two, "Lower", converging, 23, 9 - 2./11 - (10 - 6./11 - 4)},
		{"trend_channel", two, "Upper", converging, 28, 5 + 3./9 + (9 - 4 - 5./9)},
		{"head_shoulders", two, "Neckline", path(0, 10, 6, 13, 7, 10, 2), 32, 7 + 5./13},
		{"triangle", two, "Upper", converging, 27, 9 - 6./11},
		{"triangle", two, "Lower", converging, 27, 5 + 2./9},
		{"flag", `{"pole":4}`, "Bull flag top", rest(), 29, 18.5},
		{"flag", `{"pole":4}`, "Bull flag bottom", rest(), 29, 17.9},
	} {
		got := line(t, compute(t, test.s, test.name, test.params), test.label)[test.bar]
		if !same([]float64{got}, []float64{test.want}) {
			t.Errorf("%s, %s at bar %d: %v, want %v", test.name, test.label, test.bar, got, test.want)
		}
	}
}

// TestSweepsPlain rescans all swings at every bar of a random walk.
func TestSweepsPlain(t *testing.T) {
	s := world(900, 50)
	r := compute(t, s, "liquidity_sweep", `{"left":3,"right":2,"lookback":100}`)
	got, marks := line(t, r, "Highs"), events(r)
	found := 0
	for i := range s.Len() {
		nearest, sweep := nan, false
		for k := max(3, i-100); k+2 <= i; k++ {
			if slices.Max(s.High[k-3:k]) >= s.High[k] || slices.Max(s.High[k+1:k+3]) >= s.High[k] {
				continue
			}
			taken := slices.Max(s.High[k+1:i+1]) > s.High[k]
			if !taken {
				nearest = math.Min(s.High[k], orInf(nearest))
			} else if slices.Max(s.High[k+1:i]) <= s.High[k] && s.Close[i] <= s.High[k] {
				sweep = true
			}
		}
		if !same([]float64{got[i]}, []float64{nearest}) {
			t.Fatalf("bar %d: nearest swing high %v, want %v", i, got[i], nearest)
		}
		if sweep {
			found++
		}
	}
	if n := len(slices.DeleteFunc(marks, func(m string) bool { return !strings.HasSuffix(m, " sweep_high") })); n != found || n < 10 {
		t.Errorf("%d sweeps of highs, want %d and enough to mean something", n, found)
	}
}

func orInf(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v
}

// TestZigZag follows a price by hand, at 10 percent: up to 120 at bar 2, back
// to 100 (confirmed at bar 3: 108 is enough), down to 95 at bar 4, up through
// 104.5 at bar 5, and on to 130, the leg under way.
func TestZigZag(t *testing.T) {
	prices := []float64{100, 110, 120, 100, 95, 105, 130, 125}
	r := compute(t, plainSeries(prices, prices), "zigzag", `{"deviation":10}`)
	want := []Signal{Mark(1, 100, PivotLow, Up), Mark(3, 120, PivotHigh, Down), Mark(5, 95, PivotLow, Up)}
	if !slices.Equal(r.Signals, want) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
	if got, want := r.Lines[0].Values, []float64{100, 110, 120, 107.5, 95, 112.5, 130, nan}; !same(got, want) {
		t.Errorf("line %v, want %v", got, want)
	}
}

// TestPivotHighLow has a high of 5 at bar 2, known at bar 3, and one of 4 at
// bar 5; lows at bars 4 and 6.
func TestPivotHighLow(t *testing.T) {
	highs := []float64{1, 2, 5, 3, 2, 4, 1, 2}
	lows := []float64{0, 1, 4, 2, 1, 3, 0, 1}
	r := compute(t, plainSeries(highs, lows), "pivot_high_low", `{"left":2,"right":1}`)
	if got, want := r.Lines[0].Values, []float64{nan, nan, nan, 5, 5, 5, 4, 4}; !same(got, want) {
		t.Errorf("high %v, want %v", got, want)
	}
	if got, want := r.Lines[1].Values, []float64{nan, nan, nan, nan, nan, 1, 1, 0}; !same(got, want) {
		t.Errorf("low %v, want %v", got, want)
	}
	want := []Signal{Mark(3, 5, PivotHigh, Down), Mark(5, 1, PivotLow, Up), Mark(6, 4, PivotHigh, Down), Mark(7, 0, PivotLow, Up)}
	if !slices.Equal(r.Signals, want) {
		t.Errorf("signals %v, want %v", r.Signals, want)
	}
}

func TestFibonacci(t *testing.T) {
	up := plainSeries([]float64{110, 150, 200, 180}, []float64{100, 120, 150, 170}) // 100, then 200
	r := compute(t, up, "auto_fib", `{}`)
	var got []float64
	for _, h := range r.HLines {
		got = append(got, h.Y)
	}
	if want := []float64{200, 176.4, 161.8, 150, 138.2, 121.4, 100}; !same(got, want) || r.HLines[4].Label != "61.8%" {
		t.Errorf("levels %v, want %v", r.HLines, want)
	}
	down := plainSeries([]float64{200, 150, 110}, []float64{150, 120, 100}) // 200, then 100
	if r := compute(t, down, "fib", `{}`); r.HLines[0].Y != 100 || r.HLines[6].Y != 200 {
		t.Errorf("after a fall: %v, want 0 at 100 and 1 at 200", r.HLines)
	}
}

// TestSequential counts by hand: the close falls from bar 0 on, so the first
// close below the one four bars before is bar 4, and the ninth bar 12. Every
// close is at or below the low two bars before, so the countdown takes bars 12
// to 24. Then price rises: nine rises end at bar 34, four bars after the turn.
func TestSequential(t *testing.T) {
	var prices []float64
	for i := range 26 {
		prices = append(prices, float64(100-i))
	}
	for i := range 10 {
		prices = append(prices, float64(80+3*i))
	}
	s := plainSeries(prices, prices)
	got := compute(t, s, "td_sequential", `{}`).Signals
	want := []Signal{Mark(12, 88, SetupBuy, Up), Mark(24, 76, CountdownBuy, Up), Mark(34, 104, SetupSell, Down)}
	if !slices.Equal(got, want) {
		t.Errorf("signals %v, want %v", got, want)
	}
	if got := sequential(&market.Series{}, 9, 13); got != nil {
		t.Errorf("of no bars: %v", got)
	}
}
