package chart

import (
	"bytes"
	"encoding/json"
	"errors"
	"image/png"
	"math"
	"slices"
	"testing"

	"wick/indicators"
	"wick/market"
)

// bars returns a series of hourly bars from columns of open, high, low, close.
func bars(rows ...[4]float64) *market.Series {
	s := &market.Series{Symbol: "X", Interval: market.Hour1}
	for i, r := range rows {
		s.Append(market.Bar{Time: 1736121600 + int64(i)*3600, Open: r[0], High: r[1], Low: r[2], Close: r[3], Volume: 1})
	}
	return s
}

// TestHeikinAshi computes three bars by hand.
func TestHeikinAshi(t *testing.T) {
	p := plan(&View{Series: bars([4]float64{10, 14, 8, 12}, [4]float64{12, 13, 11, 11}, [4]float64{11, 20, 11, 18})},
		Options{Width: 800, Height: 500, Type: HeikinAshi})
	for _, c := range []struct {
		name      string
		got, want []float64
	}{
		{"open", p.drawn.open, []float64{11, 11, 11.375}},
		{"close", p.drawn.close, []float64{11, 11.75, 15}},
		{"high", p.drawn.high, []float64{14, 13, 20}},
		{"low", p.drawn.low, []float64{8, 11, 11}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
	if text := p.panes[0].tags[0].text; text != "18.00" {
		t.Errorf("the tag says %q, want the real last price", text)
	}
}

// TestHeikinAshiBegins: the candles shown are those of the whole history, however many of
// them are shown. The second half of the bars has the values of a recursion over all.
func TestHeikinAshiBegins(t *testing.T) {
	rows := [][4]float64{{10, 14, 8, 12}, {12, 13, 11, 11}, {11, 20, 11, 18}, {18, 19, 9, 10}, {10, 12, 10, 11}}
	var opens, closes []float64
	for i, r := range rows {
		open := (r[0] + r[3]) / 2
		if i > 0 {
			open = (opens[i-1] + closes[i-1]) / 2
		}
		opens, closes = append(opens, open), append(closes, (r[0]+r[1]+r[2]+r[3])/4)
	}
	for first := range rows {
		p := plan(&View{Series: bars(rows[first:]...), AveragedOpen: &opens[first]}, Options{Width: 800, Height: 500, Type: HeikinAshi})
		if !slices.Equal(p.drawn.open, opens[first:]) || !slices.Equal(p.drawn.close, closes[first:]) {
			t.Errorf("from bar %d: opens %v, closes %v, want %v, %v", first, p.drawn.open, p.drawn.close, opens[first:], closes[first:])
		}
	}
	wild := math.Inf(1)
	if p := plan(&View{Series: bars(rows...), AveragedOpen: &wild}, Options{Width: 800, Height: 500, Type: HeikinAshi}); p.drawn.open[0] != 11 {
		t.Errorf("an open that is no price: %v, want the middle of the body", p.drawn.open)
	}
}

// TestHollow: filled where the bar fell, coloured by the close before.
func TestHollow(t *testing.T) {
	p := plan(&View{Series: bars([4]float64{10, 14, 8, 12}, [4]float64{14, 14, 12, 13}, [4]float64{10, 12, 9, 11})},
		Options{Width: 800, Height: 500, Type: Hollow})
	for i, want := range []struct{ up, filled bool }{{true, false}, {true, true}, {false, false}} {
		if c := p.candles[i]; (c.ink == inkUp) != want.up || c.filled != want.filled {
			t.Errorf("bar %d: ink %v, filled %v, want %v", i, c.ink, c.filled, want)
		}
	}
}

// TestHollowNarrow: a hollow body shows its inside in the picture wherever it is wide enough for one.
func TestHollowNarrow(t *testing.T) {
	for _, ratio := range []float64{1, 2} {
		for _, n := range []int{20, 60, 100, 140, 180} {
			rows := make([][4]float64, n)
			for i := range rows {
				rows[i] = [4]float64{10, 20, 10, 20}
			}
			rows[0], rows[1] = [4]float64{9, 21, 9, 9}, [4]float64{9, 21, 9, 21} // the others are away from the edges
			v, o := &View{Series: bars(rows...)}, Options{Width: 800, Height: 500, Type: Hollow, PixelRatio: ratio}
			file, _, err := Draw(t.Context(), v, o)
			if err != nil {
				t.Fatal(err)
			}
			m, err := png.Decode(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			c := plan(v, o).candles
			last := c[len(c)-1]
			inside := m.At(last.x, (last.bodyTop+last.bodyBottom)/2) != m.At(last.x, last.bodyTop)
			if n <= 180 && !inside {
				t.Errorf("%d bars in a picture of 800 have room for an inside", n)
			}
		}
	}
}

// TestLogScale: equal ratios have equal heights, and the ticks are round.
func TestLogScale(t *testing.T) {
	p := plan(&View{Series: bars([4]float64{1, 1000, 1, 10}, [4]float64{10, 100, 10, 100})}, Options{Width: 800, Height: 500, Scale: Log})
	sc := p.panes[0].scale
	for _, v := range []float64{1, 10, 100} {
		if d := sc.y(v) - sc.y(10*v); math.Abs(d-(sc.y(1)-sc.y(1000))/3) > 1e-9 {
			t.Errorf("from %g to %g are %g pixels", v, 10*v, d)
		}
		if got := sc.value(sc.y(v)); math.Abs(got/v-1) > 1e-12 {
			t.Errorf("the value at the row of %g is %g", v, got)
		}
	}
	for _, tk := range p.panes[0].ticks {
		if d := tk.value / math.Pow10(int(math.Floor(math.Log10(tk.value)+1e-9))); !slices.Contains([]float64{1, 1.5, 2, 3, 4, 5, 7}, math.Round(d*10)/10) {
			t.Errorf("a tick at %g", tk.value)
		}
	}
	if sc.row(0) < p.h || sc.row(-5) < p.h {
		t.Error("zero and below are in the picture")
	}
}

// TestPercentScale: the axis shows changes from the first close, and so do the extremes.
func TestPercentScale(t *testing.T) {
	p := plan(&View{Series: bars([4]float64{200, 210, 190, 205}, [4]float64{205, 260, 200, 250})}, Options{Width: 800, Height: 500, Scale: Percent})
	if text := p.panes[0].tags[0].text; text != "+21.95%" {
		t.Errorf("the tag says %q, want +21.95%%", text)
	}
	for _, tk := range p.panes[0].ticks {
		if got := readPrinted(t, tk.text).value; math.Abs(got-100*(tk.value/205-1)) > 1e-9 {
			t.Errorf("%g is labelled %s", tk.value, tk.text)
		}
	}
	if got := p.texts(extremeText); !slices.Equal(got, []string{"+26.83%", "−7.32%"}) { // 260 and 190
		t.Errorf("the extremes are %q", got)
	}
}

// TestScaleRefused: a price of zero has no logarithm and no percentage.
func TestScaleRefused(t *testing.T) {
	for _, scale := range []Scale{Log, Percent} {
		_, _, err := Draw(t.Context(), &View{Series: priced(30, -30)}, Options{Width: 800, Height: 500, Scale: scale})
		if !errors.Is(err, ErrOption) {
			t.Errorf("scale %s of negative prices: %v, want ErrOption", Scales()[scale], err)
		}
	}
}

// TestCompare: a line stands at its symbol's own change, whatever its prices,
// and is missing before it begins and long after it ends.
func TestCompare(t *testing.T) {
	s := bars([4]float64{100, 100, 100, 100}, [4]float64{100, 110, 100, 110}, [4]float64{110, 120, 110, 120})
	other := bars([4]float64{5, 5, 5, 5}, [4]float64{5, 6, 5, 6})
	other.Symbol = "OTHER"
	other.Time[0], other.Time[1] = s.Time[1]-600, s.Time[2]-600 // begins between bars
	p := plan(&View{Series: s, Compare: []*market.Series{other}}, Options{Width: 800, Height: 500})
	values := p.panes[0].studies[0].Lines[0].Values
	if !math.IsNaN(values[0]) || values[1] != 100 || values[2] != 120 {
		t.Errorf("drawn at %v, want nothing, 100, 120", values)
	}
	if texts := p.texts(legendText); texts[1] != "OTHER +20.00%" {
		t.Errorf("the legend says %q", texts)
	}
	old := bars([4]float64{5, 5, 5, 5})
	old.Time[0] = s.Time[0] - 5*day
	if _, closes := aligned(s, old); !math.IsNaN(closes[0]) {
		t.Errorf("a symbol that ended five days ago stands at %v", closes[0])
	}
}

// TestCompareSince: where a compared symbol begins later than the chart, legend and summary
// say since when its change counts. For one that counts from the first bar nothing is said.
func TestCompareSince(t *testing.T) {
	s, whole := walk(60, 215, 2, market.Week1), walk(60, 40, 2, market.Week1) // from 2025-01-06 on
	late, old := walk(60, 40, 2, market.Week1).Tail(2), walk(60, 40, 2, market.Week1).Tail(2)
	whole.Symbol, late.Symbol, old.Symbol = "WHOLE", "LATE", "OLD"
	old.Time[0], old.Time[1] = 0, 1
	late.Open[0], late.Close[0], late.Close[1] = 100, 100, 100.55
	whole.Open[0], whole.Close[0], whole.Close[59] = 50, 50, 60
	v := &View{Series: s, Compare: []*market.Series{whole, late, old}}
	// The sixtieth Monday from 2025-01-06 on is 2026-02-23, the one before it 2026-02-16.
	want := []string{"Compare", "WHOLE +20.00%", "LATE +0.55%", "since 2026-02-16", "OLD –"}
	if got := plan(v, Options{Width: 800, Height: 500}).texts(legendText); !slices.Equal(got, want) {
		t.Errorf("the legend says %q, want %q", got, want)
	}
	var summary struct{ Compare json.RawMessage }
	if err := json.Unmarshal(summaryOf(v), &summary); err != nil {
		t.Fatal(err)
	}
	checkJSON(t, summary.Compare, `[
		{"symbol":"WHOLE","source":"test","synthetic":false,"last_close":60,"change_pct":20},
		{"symbol":"LATE","source":"test","synthetic":false,"last_close":100.55,"change_pct":0.55,"change_pct_since":"2026-02-16T00:00:00Z"},
		{"symbol":"OLD","source":"test","synthetic":false,"last_close":null,"change_pct":null}]`)
}

// TestCompareIsNamed: the legend names a compared symbol even if it is the only one, since
// its tag is dropped where it would touch that of the last price; and even if none of its
// bars are in the chart.
func TestCompareIsNamed(t *testing.T) {
	s := bars([4]float64{100, 100, 100, 100}, [4]float64{100, 110, 100, 110})
	twin := bars([4]float64{50, 50, 50, 50}, [4]float64{50, 55, 50, 55})
	old := bars([4]float64{5, 5, 5, 5})
	old.Time[0] = s.Time[0] - 50*day
	twin.Symbol, old.Symbol = "TWIN", "OLD"
	s.Symbol = "LONGSYMBOLNAME-ABCDE"
	alike := *twin
	alike.Symbol = "LONGSYMBOLNAME-ABCD2" // what distinguishes it is at its end
	for _, c := range []struct {
		w, h  int
		other []*market.Series
		want  []string
	}{
		{800, 500, []*market.Series{twin}, []string{"Compare", "TWIN +10.00%"}},
		{360, 300, []*market.Series{twin}, []string{"Compare", "TWIN +10.00%"}},
		{800, 500, []*market.Series{old}, []string{"Compare", "OLD –"}},
		{800, 500, []*market.Series{&alike}, []string{"Compare", "LONGSYMBOLNAME-ABCD2 +10.00%"}},
		{800, 500, []*market.Series{twin, old}, []string{"Compare", "TWIN +10.00%", "OLD –"}},
	} {
		p := plan(&View{Series: s, Compare: c.other}, Options{Width: c.w, Height: c.h})
		checkPlan(t, p)
		if got := p.texts(legendText); !slices.Equal(got, c.want) {
			t.Errorf("%dx%d: the legend says %q, want %q", c.w, c.h, got, c.want)
		}
	}
}

// TestCompareCountsFromTheClose: every change, of the chart's own symbol and of a compared
// one, counts from the close of the first bar in the picture, where all lines begin at 0, and
// from its open in the payload, as price.change_pct does.
func TestCompareCountsFromTheClose(t *testing.T) {
	one := bars([4]float64{100, 104, 99, 102}, [4]float64{102, 112, 102, 110})
	two := bars([4]float64{50, 50, 44, 45}, [4]float64{45, 46, 39, 40})
	one.Symbol, two.Symbol = "ONE", "TWO"
	for _, c := range []struct {
		own, other *market.Series
		change     [2]float64 // of own and other
		tags       []string
		begins     float64 // line of other, on the scale of own
	}{
		{one, two, [2]float64{10, -20}, []string{"+7.84%", "TWO −11.11%"}, 102},
		{two, one, [2]float64{-20, 10}, []string{"−11.11%", "ONE +7.84%"}, 45},
	} {
		v := &View{Series: c.own, Compare: []*market.Series{c.other}}
		p := plan(v, Options{Width: 800, Height: 500})
		var tags []string
		for _, g := range p.panes[0].tags {
			tags = append(tags, g.text)
		}
		if !slices.Equal(tags, c.tags) {
			t.Errorf("%s: the tags are %q, want %q", c.own.Symbol, tags, c.tags)
		}
		if got := p.panes[0].studies[0].Lines[0].Values[0]; got != c.begins {
			t.Errorf("%s: the line of %s begins at %g, want %g", c.own.Symbol, c.other.Symbol, got, c.begins)
		}
		var summary struct {
			Price struct {
				Change float64 `json:"change_pct"`
			}
			Compare []struct {
				Change float64 `json:"change_pct"`
			}
		}
		if err := json.Unmarshal(summaryOf(v), &summary); err != nil {
			t.Fatal(err)
		}
		if got := [2]float64{summary.Price.Change, summary.Compare[0].Change}; got != c.change {
			t.Errorf("%s: the summary has changes of %v, want %v", c.own.Symbol, got, c.change)
		}
		var series struct{ Compare []struct{ Opens []float64 } }
		if err := json.Unmarshal(AppendSeries(nil, v), &series); err != nil || !slices.Equal(series.Compare[0].Opens, c.other.Open) {
			t.Errorf("%s: the series has opens %v, %v, want %v", c.own.Symbol, series.Compare, err, c.other.Open)
		}
	}
	// A market that was closed when the first bar began was worth its last close.
	closed := bars([4]float64{50, 60, 50, 60}, [4]float64{60, 66, 60, 66})
	closed.Time[0], closed.Time[1] = one.Time[0]-2*one.Interval.Seconds(), one.Time[1]
	if opens, closes := aligned(one, closed); opens[0] != 60 || closes[0] != 60 || opens[1] != 60 || closes[1] != 66 {
		t.Errorf("opens %v, closes %v, want 60 60 and 60 66", opens, closes)
	}
}

// TestWords: the words of an option are in the order of its values.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		words []string
		count int
		at    int
		want  string
	}{
		{Themes(), int(themeCount), int(Colorblind), "colorblind"}, {Themes(), int(themeCount), int(Light), "light"},
		{Types(), int(typeCount), int(HeikinAshi), "heikin_ashi"}, {Types(), int(typeCount), int(LineType), "line"},
		{Types(), int(typeCount), int(Hollow), "hollow"}, {Types(), int(typeCount), int(Bars), "bars"},
		{Scales(), int(scaleCount), int(Log), "log"}, {Scales(), int(scaleCount), int(Percent), "percent"},
		{SignalWords(), int(signalsCount), int(SignalsLabels), "labels"}, {SignalWords(), int(signalsCount), int(SignalsOff), "off"},
		{MarkWords(), int(MarkText) + 1, int(MarkZone), "zone"}, {MarkTones(), len(markTones), slices.Index(markTones, indicators.Down), "down"},
	} {
		if len(c.words) != c.count || c.words[c.at] != c.want {
			t.Errorf("%v has %d words, want %d with %s at %d", c.words, len(c.words), c.count, c.want, c.at)
		}
	}
}

// TestCompareBound: one symbol or mark too many is refused.
func TestCompareBound(t *testing.T) {
	s := priced(10, 215)
	for _, v := range []*View{
		{Series: s, Compare: slices.Repeat([]*market.Series{s}, MaxCompare+1)},
		{Series: s, Marks: make([]Mark, MaxMarks+1)},
	} {
		if _, _, err := Draw(t.Context(), v, Options{Width: 800, Height: 500}); !errors.Is(err, ErrOption) {
			t.Errorf("%d symbols, %d marks: %v, want ErrOption", len(v.Compare), len(v.Marks), err)
		}
	}
}
