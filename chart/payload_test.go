package chart

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"wick/indicators"
	"wick/market"
)

// payloadView is a view with every channel, small enough to be written out by
// hand below.
func payloadView(synthetic bool) *View {
	nan := math.NaN()
	s := &market.Series{
		Symbol: "ACME", Interval: market.Hour1, Source: "csv", Synthetic: synthetic, Forming: true, AsOf: 1700003661234,
		Time:   []int64{1699999200, 1700002800, 1700006400},
		Open:   []float64{10, 11, 12.5},
		High:   []float64{12, 13, 14},
		Low:    []float64{9, 10.5, 12},
		Close:  []float64{11, 12.5, 13.75},
		Volume: []float64{100, 250.5, 0},
	}
	return &View{Series: s, Panels: []Panel{
		{Key: "rsi", Result: &indicators.Result{
			Label: "RSI(2)", Unsettled: true, YRange: &[2]float64{0, 100},
			Lines:   []indicators.Line{{Label: "RSI", Values: indicators.Values{nan, 1.0 / 3, 71.23456789012}}},
			Signals: []indicators.Signal{{Bar: 2, Y: 71.5, Label: "rsi_overbought", Strength: 80}},
			HLines:  []indicators.HLine{{Y: 70, Label: "POC"}, {Y: 30}},
			DivLines: []indicators.DivLine{
				{X1: 0, Y1: 1.5, X2: 2, Y2: 2.5}, {X1: 1, Y1: 3, X2: 2, Y2: 4, Dashed: true},
			},
		}},
		{Key: "macd", Result: &indicators.Result{
			Label:     "MACD",
			Histogram: []indicators.Histogram{{Label: "Force", Values: indicators.Values{nan, -0.25, math.Inf(1)}}},
		}},
		{Key: "bb#2", Result: &indicators.Result{
			Label: "BB", Overlay: true,
			Lines: []indicators.Line{{Label: "Upper", Values: indicators.Values{nan, 2, nan}}},
			Fills: []indicators.Fill{{Y1: indicators.Values{nan, 2, 3}, Y2: indicators.Values{nan, 1, 0.5}}},
			HBars: []indicators.HBar{
				{Y: 10, Height: 0.5, Width: 0.1, Left: true}, {Y: 11, Height: 0.5, Width: 0.2, Left: true},
				{Y: 10, Height: 0.5, Width: 0.15, Offset: 0.1, Left: true},
			},
		}},
	}}
}

// TestSummary holds the summary payload against the specification's table,
// written out by hand: percent change (13.75-10)/10 = 37.5, sum of volumes 350.5.
func TestSummary(t *testing.T) {
	want := `{
	"symbol":"ACME","interval":"1h","source":"csv","synthetic":false,"as_of":"2023-11-14T23:14:21.234Z","forming":true,
	"price":{"bars":3,
		"first":{"date":"2023-11-14T22:00:00Z","open":10,"close":11},
		"last":{"date":"2023-11-15T00:00:00Z","open":12.5,"high":14,"low":12,"close":13.75,"volume":0},
		"range":{"high":14,"low":9},"total_volume":350.5,"change_pct":37.5},
	"indicators":{
		"rsi":{"label":"RSI(2)","is_overlay":false,"settled":false,"y_range":[0,100],
			"lines":[{"index":0,"label":"RSI","last_value":71.23456789}],
			"signals":[{"x":2,"t":1700006400,"y":71.5,"label":"rsi_overbought","strength":80,"date":"2023-11-15T00:00:00Z","bars_ago":0}],
			"hlines":[{"y":70,"label":"POC"},{"y":30}],
			"divergences":[{"x1":0,"y1":1.5,"x2":2,"y2":2.5,"dashed":false},{"x1":1,"y1":3,"x2":2,"y2":4,"dashed":true}]},
		"macd":{"label":"MACD","is_overlay":false,"y_range":[-0.25,0],"histogram":[{"index":0,"label":"Force","last_value":null}]},
		"bb#2":{"label":"BB","is_overlay":true,"lines":[{"index":0,"label":"Upper","last_value":null}],
			"fills_count":1,"hbars_top":[{"y":10,"weight":0.25},{"y":11,"weight":0.2}],"hbars_count":3}}}`
	checkJSON(t, summaryOf(payloadView(false)), want)
}

// TestSeries holds the series payload against the specification's table and
// its three rules: aligned, null before warm-up and for what JSON cannot hold,
// channels that are not emitted left out.
func TestSeries(t *testing.T) {
	want := `{
	"symbol":"ACME","interval":"1h","source":"csv","synthetic":false,"as_of":"2023-11-14T23:14:21.234Z","forming":true,"seconds":3600,"precision":2,
	"bars":[
		{"t":1699999200,"o":10,"h":12,"l":9,"c":11,"v":100},
		{"t":1700002800,"o":11,"h":13,"l":10.5,"c":12.5,"v":250.5},
		{"t":1700006400,"o":12.5,"h":14,"l":12,"c":13.75,"v":0}],
	"indicators":{
		"rsi":{"label":"RSI(2)","is_overlay":false,"settled":false,"y_range":[0,100],"name":"RSI 2","bounded":true,
			"lines":[{"index":0,"label":"RSI","ink":"line1","values":[null,0.3333333333,71.23456789]}],
			"signals":[{"x":2,"t":1700006400,"y":71.5,"label":"rsi_overbought","strength":80}],
			"hlines":[{"y":70,"label":"POC","ink":"down"},{"y":30,"ink":"up"}],
			"divlines":[{"x1":0,"t1":1699999200,"y1":1.5,"x2":2,"t2":1700006400,"y2":2.5,"dashed":false},
				{"x1":1,"t1":1700002800,"y1":3,"x2":2,"t2":1700006400,"y2":4,"dashed":true}]},
		"macd":{"label":"MACD","is_overlay":false,"y_range":[-0.25,0],"histogram":[{"index":0,"label":"Force","values":[null,-0.25,null]}]},
		"bb#2":{"label":"BB","is_overlay":true,"lines":[{"index":0,"label":"Upper","ink":"line1","values":[null,2,null]}],
			"fills":[{"y1":[null,2,3],"y2":[null,1,0.5]}],
			"hbars":[{"y":10,"height":0.5,"width":0.1,"offset":0,"left":true},{"y":11,"height":0.5,"width":0.2,"offset":0,"left":true},
				{"y":10,"height":0.5,"width":0.15,"offset":0.1,"left":true}]}}}`
	checkJSON(t, AppendSeries(nil, payloadView(false)), want)
}

// TestSeriesLook: what a page needs to draw the same picture stands beside the
// numbers, and only where it is not the usual one.
func TestSeriesLook(t *testing.T) {
	one := indicators.Values{1, 2, 3}
	v := payloadView(false)
	v.Panels = []Panel{{Key: "x", Result: &indicators.Result{
		Label: "X", Overlay: true, Sessions: []int{-1, 2},
		Lines:     []indicators.Line{{Label: "a", Tone: indicators.Band, Style: indicators.Step, Values: one, Ahead: indicators.Values{4}, Back: 1}},
		Histogram: []indicators.Histogram{{Label: "h", Tone: indicators.Accent, Values: one}},
		Signals:   []indicators.Signal{{Bar: 1, Y: 2, Label: "flip", Tone: indicators.Up, Silent: true}},
		HLines:    []indicators.HLine{{Y: 5, Label: "POC", Tone: indicators.Accent}},
		Fills:     []indicators.Fill{{Y1: one, Y2: one, Tone: indicators.Up, Below: indicators.Down, Ahead1: one, Ahead2: one}},
		HBars:     []indicators.HBar{{Y: 1, Height: 2, Width: 0.5, Tone: indicators.Muted, Strong: true}},
		DivLines:  []indicators.DivLine{{X1: 0, Y1: 1, X2: 1, Y2: 2, Tone: indicators.Down}},
	}}}
	v.Account = &Account{Alerts: []Alert{{Key: "x", Signal: "flip"}, {Price: 3}}}
	v.Request, v.Series.Gaps = json.RawMessage(`{"type":"hollow"}`), []int64{5, 6}
	var got struct {
		Gaps       int                        `json:"gaps"`
		GapsAt     []int64                    `json:"gaps_at"`
		Request    json.RawMessage            `json:"request"`
		Indicators map[string]json.RawMessage `json:"indicators"`
	}
	if err := json.Unmarshal(AppendSeries(nil, v), &got); err != nil {
		t.Fatal(err)
	}
	if got.Gaps != 2 || !slices.Equal(got.GapsAt, []int64{5, 6}) || string(got.Request) != `{"type":"hollow"}` {
		t.Errorf("gaps %d, %v and request %s, want 2 and those given", got.Gaps, got.GapsAt, got.Request)
	}
	checkJSON(t, got.Indicators["x"], `{"label":"X","is_overlay":true,
		"lines":[{"index":0,"label":"a","tone":"band","style":"step","ink":"band","values":[1,2,3],"ahead":[4],"back":1}],
		"histogram":[{"index":0,"label":"h","tone":"accent","values":[1,2,3]}],
		"signals":[{"x":1,"t":1700002800,"y":2,"label":"flip","tone":"up","silent":true,"awaited":true}],
		"hlines":[{"y":5,"label":"POC","tone":"accent","ink":"amber"}],"sessions":[-1,2],
		"fills":[{"y1":[1,2,3],"y2":[1,2,3],"tone":"up","below":"down","ahead1":[1,2,3],"ahead2":[1,2,3]}],
		"hbars":[{"y":1,"height":2,"width":0.5,"offset":0,"left":false,"tone":"muted","strong":true}],
		"divlines":[{"x1":0,"t1":1699999200,"y1":1,"x2":1,"t2":1700002800,"y2":2,"dashed":false,"tone":"down"}]}`)
}

// TestSeriesInks: in every theme the lines of a payload have the inks that the picture
// gives them. The colour-blind theme adds dashes from the fourth line on.
func TestSeriesInks(t *testing.T) {
	v := view(t, priced(60, 215), "ema_stack", "gmma", "bbands", "supertrend", "psar", "rsi", "macd", "stoch")
	v.Compare = []*market.Series{priced(60, 30), priced(60, 40)}
	var got struct {
		Compare    []map[string]any
		Indicators map[string]struct{ Lines []map[string]any }
	}
	if err := json.Unmarshal(AppendSeries(nil, v), &got); err != nil {
		t.Fatal(err)
	}
	differ := 0
	for theme, name := range Themes() {
		p := plan(v, Options{Width: 1440, Height: 2000, Theme: Theme(theme)})
		for _, pn := range p.panes {
			for _, st := range pn.studies {
				lines := got.Indicators[st.key].Lines
				if st.compare {
					lines = got.Compare
				}
				for i, l := range st.lines {
					want := inkNames[l.ink]
					if l.dashed {
						want += " dashed"
					}
					ink, own := lines[i]["ink_"+name]
					if !own {
						ink = lines[i]["ink"]
					} else {
						differ++
					}
					if ink != want {
						t.Errorf("%s, line %d of %s: ink %v, want %s", name, i, st.Label, ink, want)
					}
				}
			}
		}
	}
	if differ == 0 {
		t.Error("no line looks otherwise in the colour-blind theme")
	}
}

// TestSyntheticTimes: of invented bars the times of signals and divergences are
// null, the times of bars stay, and the payload says what it is.
func TestSyntheticTimes(t *testing.T) {
	got := string(AppendSeries(nil, payloadView(true)))
	for _, want := range []string{
		`"synthetic":true`, `{"t":1699999200,"o":10`,
		`"signals":[{"x":2,"t":null,"y":71.5`, `{"x1":0,"t1":null,"y1":1.5,"x2":2,"t2":null,"y2":2.5`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// TestComputed holds the computation tool's shape.
func TestComputed(t *testing.T) {
	v := payloadView(true)
	v.Panels = v.Panels[1:2]
	want := `{"symbol":"ACME","interval":"1h","source":"engine_cache","synthetic":true,"as_of":"2023-11-14T23:14:21.234Z","forming":true,
		"bars":3,"indicators":{"macd":{"label":"MACD","is_overlay":false,"y_range":[-0.25,0],"histogram":[{"index":0,"label":"Force","last_value":null}]}}}`
	text, _, _ := Computed(v, "engine_cache", 3).Newest(nil, 1)
	checkJSON(t, text, want)
}

// TestEmptyPayloads: no bars and no indicators still give valid objects.
func TestEmptyPayloads(t *testing.T) {
	v := &View{Series: &market.Series{Symbol: "X", Interval: market.Day1, Source: "sample"}}
	checkJSON(t, summaryOf(v), `{"symbol":"X","interval":"1d","source":"sample","synthetic":false,
		"as_of":"1970-01-01T00:00:00.000Z","forming":false,"price":{"bars":0},"indicators":{}}`)
	checkJSON(t, AppendSeries(nil, v), `{"symbol":"X","interval":"1d","source":"sample","synthetic":false,
		"as_of":"1970-01-01T00:00:00.000Z","forming":false,"seconds":86400,"precision":2,"bars":[],"indicators":{}}`)
}

// TestPayloadNumbers: prices come back digit for digit, whatever their size.
func TestPayloadNumbers(t *testing.T) {
	for _, c := range []struct {
		price float64
		want  string
	}{
		{0.00001234, "0.00001234"}, {67432.5, "67432.5"}, {1e9, "1000000000"}, {-20.25, "-20.25"}, {1e-12, "1e-12"}, {0, "0"},
		{0.30000000000000004, "0.30000000000000004"},
	} {
		w := &writer{}
		w.put("p", price(c.price))
		if got := string(w.b); got != `"p":`+c.want {
			t.Errorf("%v is written as %s, want %s", c.price, got, c.want)
		}
	}
}

// checkJSON compares byte for byte, white space in want aside.
func checkJSON(t *testing.T, got []byte, want string) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(want)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, b.Bytes()) {
		t.Errorf("got\n%s\nwant\n%s", got, b.Bytes())
	}
}

// TestChange24h: the change is since the border of bars nearest to 24 hours before the
// newest price, from the open if the first bar begins there, and none where the bars do
// not reach, or are weeks.
func TestChange24h(t *testing.T) {
	const hour = 3600
	for _, c := range []struct {
		name     string
		interval market.Interval
		times    []int64 // in hours
		closes   []float64
		now      float64 // of the newest price, in hours, if its bar has not ended
		want     float64
		since    int64 // in hours
	}{
		{"hours", market.Hour1, hours(0, 1, 25), ramp(25, 100), 0, 24, 1},
		{"reaches just there", market.Hour1, hours(1, 1, 24), ramp(24, 100), 0, 100.0 * 24 / 99, 1},
		{"reaches just there, forming", market.Hour4, hours(4, 4, 7), ramp(7, 100), 29, 100.0 * 7 / 99, 4},
		{"does not reach", market.Hour1, hours(1, 1, 23), ramp(23, 100), 0, math.NaN(), 0},
		{"reaches just there, in the second half", market.Hour4, hours(8, 4, 6), ramp(6, 100), 31, 100.0 * 6 / 99, 8},
		{"does not reach, in the first half", market.Hour4, hours(8, 4, 6), ramp(6, 100), 29, math.NaN(), 0},
		{"days", market.Day1, []int64{0, 24 * hour}, []float64{100, 90}, 0, -10, 24},
		{"a weekend between", market.Day1, []int64{0, 72 * hour}, []float64{100, 110}, 0, 10, 72},
		{"in the first half of a bar", market.Hour4, hours(0, 4, 8), ramp(8, 100), 29, 100.0 * 7 / 100, 4}, // 5 hours: of the bar from 4 to 8
		{"in the second half", market.Hour4, hours(0, 4, 8), ramp(8, 100), 31, 100.0 * 6 / 101, 8},
		{"a day that is forming", market.Day1, hours(0, 24, 3), ramp(3, 100), 48 + 17, 100.0 * 1 / 101, 48},
		{"after a pause", market.Hour1, []int64{0, 1 * hour, 50 * hour}, []float64{100, 200, 300}, 50.5, 50, 2},
		{"weeks", market.Week1, []int64{0, 168 * hour}, []float64{100, 110}, 0, math.NaN(), 0},
		{"no bars", market.Hour1, nil, nil, 0, math.NaN(), 0},
	} {
		opens := ramp(len(c.times), 99) // the closes before, in most
		s := &market.Series{Interval: c.interval, Time: c.times, Open: opens, High: c.closes, Low: c.closes, Close: c.closes, Volume: c.closes,
			Forming: c.now != 0, PriceAt: int64(c.now * hour * 1000)}
		got, since, until := Change24h(s)
		if math.Abs(got-c.want) > 1e-9 || math.IsNaN(got) != math.IsNaN(c.want) || since != c.since*hour {
			t.Errorf("%s: %v since %v, want %v since %d", c.name, got, float64(since)/hour, c.want, c.since)
		}
		if newest := int64(c.now * hour); !math.IsNaN(got) && newest != 0 && until != newest {
			t.Errorf("%s: until %d, want %d", c.name, until, newest)
		}
		s.Forming = false // a day is complete when its session is over, hours before it ends
		if again, at, _ := Change24h(s); again != got && !math.IsNaN(got) || at != since {
			t.Errorf("%s, complete: %v since %v, want %v since %v", c.name, again, float64(at)/hour, got, float64(since)/hour)
		}
	}
}

func hours(first, step, n int64) (out []int64) {
	for i := range n {
		out = append(out, (first+i*step)*3600)
	}
	return out
}

// ramp returns n values that rise by one.
func ramp(n int, from float64) (out []float64) {
	for i := range n {
		out = append(out, from+float64(i))
	}
	return out
}

// summaryOf returns the whole summary.
func summaryOf(v *View) []byte {
	text, _, _ := Summarize(v).Newest(nil, math.MaxInt)
	return text
}
