package chart

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wick/indicators"
	"wick/market"
)

var update = flag.Bool("update", false, "rewrite the golden pictures; look at them before committing")

// golden is a picture kept in testdata.
type golden struct {
	name  string
	w, h  int
	theme Theme
	view  func() *View
	edit  func(o *Options) // nil for none
}

// options returns how the picture is drawn.
func (g golden) options() Options {
	o := Options{Width: g.w, Height: g.h, Theme: g.theme}
	if g.edit != nil {
		g.edit(&o)
	}
	return o
}

// with returns a view of s with sketched indicators.
func with(s *market.Series, names ...string) func() *View {
	return func() *View { return sketches(s, names...) }
}

// drawn returns a view of s with one result made by hand.
func drawn(s *market.Series, r *indicators.Result) func() *View {
	return func() *View { return &View{Series: s, Panels: []Panel{{Key: "x", Result: r}}} }
}

// changed returns n bars around 215, changed by edit.
func changed(n int, edit func(s *market.Series)) *market.Series {
	s := priced(n, 215)
	edit(s)
	return s
}

var goldens = []golden{
	{"narrow", 320, 240, Dark, with(changed(60, func(s *market.Series) { s.Symbol, s.Synthetic, s.Forming = "BTCUSDT", true, true }), "rsi"), nil},
	{"missing_bars", 800, 500, Dark, with(changed(60, func(s *market.Series) { s.Gaps = []int64{s.Time[20], s.Time[41]} }), "rsi"), nil},
	{"tags_moved", 800, 500, Dark, drawn(priced(80, 215), &indicators.Result{Label: "VP", Overlay: true, HLines: []indicators.HLine{
		{Y: 247, Label: "VAH"}, {Y: 244, Label: "POC", Tone: indicators.Accent}, {Y: 242, Label: "VAL"}}}), nil},
	{"averaged", 800, 500, Dark, func() *View {
		s := priced(80, 215)
		r, _ := indicators.New("heikin_ashi", nil)
		return &View{Series: s, Panels: []Panel{{Key: "heikin_ashi", Result: r.Compute(s)}}}
	}, nil},
	{"signals_many", 1200, 700, Dark, drawn(priced(200, 215), crowded(200, 1, true)), nil},
	{"default", 1440, 768, Dark, with(walk(200, 215, 2, market.Day1), "ema", "rsi", "macd"), nil},
	{"full_hd", 1920, 1080, Dark, with(walk(200, 215, 2, market.Day1), "ema", "bb", "rsi", "macd"), nil},
	{"light", 1200, 700, Light, with(walk(150, 215, 2, market.Hour1), "bb", "rsi", "macd"), nil},
	{"colorblind", 1200, 700, Colorblind, with(walk(100, 67432.5, 1, market.Hour4), "ema", "rsi", "macd"), nil},
	{"synthetic", 800, 500, Dark, with(changed(120, func(s *market.Series) { s.Synthetic = true }), "ema"), nil},
	{"synthetic_light", 800, 500, Light, with(changed(120, func(s *market.Series) { s.Synthetic = true }), "ema"), nil},

	{"size_320x240", 320, 240, Dark, with(priced(60, 215), "ema", "rsi", "macd"), nil},
	{"size_400x2000", 400, 2000, Dark, with(priced(100, 215), "bb", "rsi", "macd"), nil},
	{"size_3000x300", 3000, 300, Dark, with(priced(200, 215), "bb", "rsi", "macd"), nil},
	{"size_4096x4096", 4096, 4096, Dark, with(priced(120, 215), "bb", "rsi", "macd"), nil},

	{"bars_1", 800, 500, Dark, with(priced(1, 215), "ema", "rsi"), nil},
	{"bars_2", 800, 500, Dark, with(priced(2, 215), "ema", "rsi"), nil},
	{"bars_30", 800, 500, Dark, with(priced(30, 215), "bb", "rsi"), nil},
	{"bars_1000", 1200, 700, Dark, with(priced(1000, 215), "ema", "rsi"), nil},
	{"bars_1000_4k", 3840, 2160, Dark, with(priced(1000, 215), "ema", "rsi"), nil},
	{"bars_5000", 1200, 700, Dark, with(walk(5000, 215, 2, market.Hour1), "bb", "macd"), nil},
	{"bars_5000_in_320", 320, 240, Dark, with(priced(5000, 215), "ema"), nil},

	{"price_tiny", 1200, 700, Dark, with(priced(150, 0.00001234), "ema", "rsi", "macd"), nil},
	{"price_1e-11", 800, 500, Dark, with(changed(60, func(s *market.Series) { rescale(s, 1e-13) }), "macd"), nil},
	{"price_huge", 800, 500, Dark, with(priced(100, 1e9), "ema", "macd"), nil},
	{"price_negative", 800, 500, Dark, with(priced(100, -30), "ema", "macd"), nil},
	{"price_flat", 800, 500, Dark, with(changed(60, func(s *market.Series) { flatten(s, 215) }), "ema", "rsi", "macd"), nil},
	{"price_zero", 800, 500, Dark, with(changed(60, func(s *market.Series) { flatten(s, 0) }), "macd"), nil},
	{"wick_100x", 800, 500, Dark, with(changed(60, func(s *market.Series) { s.High[30] = 2000 }), "ema"), nil},

	{"no_bars", 800, 500, Dark, with(priced(0, 215), "ema", "rsi"), nil},
	{"needs_bars", 800, 500, Dark, needy, nil},
	{"no_volume", 800, 500, Dark, with(changed(60, func(s *market.Series) { clear(s.Volume) })), nil},

	{"six_panels", 1200, 900, Dark, with(priced(150, 215), "bb", "rsi", "macd", "rsi", "macd", "rsi", "macd"), nil},
	{"omitted", 800, 500, Dark, with(priced(100, 215), "rsi", "macd", "rsi", "macd", "rsi", "macd", "rsi", "macd"), nil},

	{"lines_styles", 800, 500, Dark, drawn(priced(60, 215), lineStyles()), nil},
	{"lines_many", 800, 500, Colorblind, drawn(priced(60, 215), manyLines()), nil},
	{"histogram", 800, 500, Dark, drawn(priced(80, 215), histograms()), nil},
	{"fills_cross", 800, 500, Dark, drawn(priced(80, 215), crossingFills()), nil},
	{"levels", 800, 500, Dark, drawn(priced(80, 215), levelLines()), nil},
	{"profile", 800, 500, Dark, drawn(priced(80, 215), profile(false)), nil},
	{"profile_split", 800, 500, Light, drawn(priced(80, 215), profile(true)), nil},
	{"divergences", 800, 500, Dark, drawn(priced(80, 215), divergences()), nil},
	{"signals", 800, 500, Dark, drawn(priced(80, 215), signals(true)), nil},
	{"signals_panel", 800, 500, Light, drawn(priced(80, 215), signals(false)), nil},

	{"type_hollow", 800, 500, Dark, with(walk(80, 215, 2, market.Day1), "ema"), func(o *Options) { o.Type = Hollow }},
	{"type_heikin_ashi", 800, 500, Dark, with(walk(80, 215, 2, market.Day1), "ema"), func(o *Options) { o.Type = HeikinAshi }},
	{"type_bars", 800, 500, Dark, with(walk(80, 215, 2, market.Day1), "ema"), func(o *Options) { o.Type = Bars }},
	{"type_line", 800, 500, Light, with(walk(150, 215, 2, market.Day1), "bb"), func(o *Options) { o.Type = LineType }},
	{"type_area", 800, 500, Dark, with(walk(150, 215, 2, market.Day1), "rsi"), func(o *Options) { o.Type = Area }},
	{"scale_log", 800, 500, Dark, with(changed(200, grow), "ema"), func(o *Options) { o.Scale = Log }},
	{"scale_percent", 800, 500, Dark, with(walk(120, 215, 2, market.Day1), "ema"), func(o *Options) { o.Scale = Percent }},
	{"compare", 1200, 700, Dark, compared, nil},
	{"zone", 1200, 700, Dark, with(sessions(), "ema"), func(o *Options) { o.Zone = newYork }},
	{"volume_off", 800, 500, Dark, with(priced(80, 215), "ema"), func(o *Options) { o.HideVolume = true }},
	{"ratio_2", 600, 400, Dark, with(priced(80, 215), "bb", "rsi"), func(o *Options) { o.PixelRatio = 2 }},
	{"ratio_3_compact", 400, 300, Light, with(priced(60, 215), "ema", "rsi"), func(o *Options) { o.PixelRatio = 3 }},
	{"signals_labels", 1200, 700, Dark, with(walk(150, 215, 2, market.Day1), "bb", "rsi", "macd"), func(o *Options) { o.Signals = SignalsLabels }},
	{"ahead", 1200, 700, Dark, cloud, nil},
	{"levels_named", 1200, 700, Dark, drawn(priced(120, 215), pivots()), nil},
	{"profiles_two", 1200, 700, Dark, twoProfiles, nil},
	{"drawn_marks", 1200, 700, Dark, ownMarks, nil},
	{"drawn_marks_light", 800, 500, Light, ownMarks, func(o *Options) { o.Type = Area }},
	{"account", 1200, 700, Dark, account, nil},
	{"account_small", 700, 350, Light, distant, nil},
	{"state", 800, 500, Dark, with(changed(40, stale), "rsi"), nil},
	{"state_line", 800, 500, Dark, with(changed(40, stale)), func(o *Options) { o.Type = LineType }},
	{"signals_off", 1200, 700, Dark, with(walk(150, 215, 2, market.Day1), "bb", "rsi", "macd"), func(o *Options) { o.Signals = SignalsOff }},
}

// grow lets prices rise to fifty times what they were.
func grow(s *market.Series) {
	for i := range s.Len() {
		f := math.Pow(50, float64(i)/float64(s.Len()))
		s.Open[i], s.High[i], s.Low[i], s.Close[i] = s.Open[i]*f, s.High[i]*f, s.Low[i]*f, s.Close[i]*f
	}
}

// compared is a chart with three further symbols, one of which begins late.
func compared() *View {
	v := with(walk(150, 215, 2, market.Day1))()
	for i, symbol := range []string{"OTHER", "THIRD", "LATE"} {
		s := walk(160+7*i, 40, 2, market.Day1)
		s.Symbol = symbol
		if symbol == "LATE" {
			s = s.Tail(100)
		}
		v.Compare = append(v.Compare, s)
	}
	return v
}

var newYork = func() *time.Location {
	zone, err := market.ParseZone("America/New_York")
	if err != nil {
		panic(err)
	}
	return zone
}()

// sessions are five days of a stock exchange.
func sessions() *market.Series {
	ts := opened("2025-05-05 13:30", market.Minute15, 130, stocks)
	s := walk(len(ts), 215, 2, market.Minute15)
	copy(s.Time, ts)
	return s
}

// cloud is Ichimoku of the catalogue: its spans go on beyond the last bar.
func cloud() *View {
	r, err := indicators.New("ichimoku", nil)
	if err != nil {
		panic(err)
	}
	s := walk(200, 215, 2, market.Day1)
	return &View{Series: s.Tail(120), Panels: []Panel{{Key: "ichimoku", Result: r.Compute(s).Tail(200, 120)}}}
}

// pivots are seven levels that hold for forty bars each.
func pivots() *indicators.Result {
	r := &indicators.Result{Label: "Pivot", Overlay: true}
	for i, label := range []string{"P", "R1", "S1", "R2", "S2", "R3", "S3"} {
		v := make(indicators.Values, 120)
		for k := range v {
			away := float64((i+1)/2) * 6
			if i%2 == 0 {
				away = -away
			}
			v[k] = 215 + float64(k/40)*7 + away
		}
		tone := []indicators.Tone{indicators.Accent, indicators.Down, indicators.Up}[min(i, 1)+(i+1)%2*min(i, 1)]
		r.Lines = append(r.Lines, indicators.Line{Label: label, Tone: tone, Style: indicators.Step, Values: v})
	}
	return r
}

// twoProfiles are two profiles whose levels have the same names.
func twoProfiles() *View {
	a, b := profile(false), profile(false)
	b.Label = "Fixed VP(8)"
	for i := range b.HBars {
		b.HBars[i].Left = true
	}
	for i := range b.HLines {
		b.HLines[i].Y += 9
	}
	return &View{Series: priced(80, 215), Panels: []Panel{{Key: "a", Result: a}, {Key: "b", Result: b}}}
}

// ownMarks are marks of every kind.
func ownMarks() *View {
	s := priced(120, 215)
	at := func(i int) int64 { return s.Time[i] }
	v := sketches(s, "ema")
	v.Marks = []Mark{
		{Kind: MarkLevel, Price: 232, Text: "stop of last week", Tone: indicators.Down},
		{Kind: MarkLevel, Price: 205},
		{Kind: MarkZone, Price: 190, Price2: 200, Time: at(50), Time2: at(100), Text: "demand", Tone: indicators.Up},
		{Kind: MarkLine, Time: at(20), Price: 235, Time2: at(110), Price2: 185, Text: "trend since January", Tone: indicators.Accent},
		{Kind: MarkText, Time: at(70), Price: 215, Text: "earnings", Tone: indicators.Muted},
	}
	return v
}

// account is a position with an order on either side, an alert and fills.
func account() *View {
	s := priced(120, 215)
	v := sketches(s, "ema", "rsi")
	last := s.Close[119]
	v.Account = &Account{
		Position: &Position{Quantity: 12, Entry: last * 0.97, Profit: 77.4},
		Orders:   []Order{{Kind: "limit", Price: last * 1.06, Quantity: 12}, {Kind: "stop", Price: last * 0.93, Quantity: 12}},
		Alerts:   []Alert{{Price: last * 1.02, Text: "above"}, {Key: "rsi", Signal: "rsi_oversold"}},
		Fills:    []Fill{{Buy: true, Time: s.Time[80], Price: s.Close[80], Quantity: 6}, {Time: s.Time[95], Price: s.Close[95], Quantity: 3}, {Buy: true, Time: s.Time[110], Price: s.Close[110], Quantity: 9}},
	}
	return v
}

// distant is a position whose profit is not known, with orders and alerts near and far.
func distant() *View {
	v := account()
	v.Panels = nil
	v.Account.Position.Profit = math.NaN()
	last := v.Series.Close[119]
	v.Account.Orders = append(v.Account.Orders, Order{Kind: "limit", Price: last * 3, Quantity: 2}, Order{Buy: true, Kind: "limit", Price: last / 3, Quantity: 2})
	for k := range 4 {
		v.Account.Alerts = append(v.Account.Alerts, Alert{Price: last * float64(4+k), Text: "above"})
	}
	return v
}

// stale makes the bars three days old, with two gaps and the last one open.
func stale(s *market.Series) {
	s.Forming, s.Gaps = true, []int64{s.Time[9], s.Time[20]}
	s.AsOf = (s.Time[s.Len()-1] + 3*86400 + 4*3600) * 1000
}

func rescale(s *market.Series, by float64) {
	for _, col := range [][]float64{s.Open, s.High, s.Low, s.Close} {
		for i := range col {
			col[i] *= by
		}
	}
}

func flatten(s *market.Series, price float64) {
	for _, col := range [][]float64{s.Open, s.High, s.Low, s.Close} {
		for i := range col {
			col[i] = price
		}
	}
}

func needy() *View {
	v := sketches(priced(20, 215), "ema", "macd")
	v.Panels[1].Needs = func() int { return 34 }
	return v
}

// wave returns n values around mid, with the first missing.
func wave(n int, mid, height, turns, phase float64) indicators.Values {
	out := make(indicators.Values, n)
	for i := range out {
		out[i] = mid + height*math.Sin(phase+turns*2*math.Pi*float64(i)/float64(n))
	}
	out[0], out[1] = math.NaN(), math.NaN()
	return out
}

func lineStyles() *indicators.Result {
	step := wave(60, 230, 20, 2, 0)
	for i := range step {
		step[i] = math.Round(step[i-i%10+5]/5) * 5
	}
	single := wave(60, 200, 0, 1, 0)
	for i := range single {
		if i != 45 {
			single[i] = math.NaN()
		}
	}
	return &indicators.Result{Label: "Styles(1)", Overlay: true, Lines: []indicators.Line{
		{Label: "solid", Values: wave(60, 220, 25, 6, 1)},
		{Label: "dashed", Style: indicators.Dashed, Values: wave(60, 210, 25, 1, 2)},
		{Label: "dots", Style: indicators.Dots, Values: wave(60, 205, 10, 3, 2)},
		{Label: "step", Style: indicators.Step, Values: step},
		{Label: "one value", Values: single},
	}}
}

func manyLines() *indicators.Result {
	r := &indicators.Result{Label: "Many"}
	for i := range 9 {
		r.Lines = append(r.Lines, indicators.Line{Label: string(rune('a' + i)), Values: wave(60, float64(i), 2, 1, float64(i))})
	}
	return r
}

func histograms() *indicators.Result {
	return &indicators.Result{Label: "Four tones", Histogram: []indicators.Histogram{{Label: "Hist", Values: wave(80, 0, 3e6, 2.5, 0)}}}
}

func crossingFills() *indicators.Result {
	a, b := wave(80, 220, 30, 2, 0), wave(80, 215, 20, 3, 1)
	return &indicators.Result{Label: "Cloud", Overlay: true,
		Lines: []indicators.Line{{Label: "A", Tone: indicators.Up, Values: a}, {Label: "B", Tone: indicators.Down, Values: b}},
		Fills: []indicators.Fill{{Y1: a, Y2: b, Tone: indicators.Up, Below: indicators.Down}}}
}

func levelLines() *indicators.Result {
	r := &indicators.Result{Label: "Levels", Overlay: true}
	for i := range 10 {
		r.HLines = append(r.HLines, indicators.HLine{Y: 200 + 4*float64(i), Label: "L" + string(rune('0'+i)), Tone: indicators.Tone(i % 8)})
	}
	return r
}

func profile(split bool) *indicators.Result {
	r := &indicators.Result{Label: "VP(16)", Overlay: true,
		HLines: []indicators.HLine{{Y: 215, Label: "POC", Tone: indicators.Accent}, {Y: 235, Label: "VAH", Tone: indicators.Band}, {Y: 200, Label: "VAL", Tone: indicators.Band}}}
	for i := range 16 {
		y := 180 + 5*float64(i)
		w := 0.3 * math.Exp(-math.Pow((y-215)/25, 2))
		b := indicators.HBar{Y: y, Height: 4.5, Width: w, Left: split, Tone: indicators.Band, Strong: math.Abs(y-217) < 19}
		switch {
		case split:
			down := b
			b.Tone, b.Width = indicators.Up, w*0.6
			down.Tone, down.Width, down.Offset = indicators.Down, w*0.4, w*0.6
			r.HBars = append(r.HBars, down)
		case y == 215:
			b.Tone = indicators.Accent
		}
		r.HBars = append(r.HBars, b)
	}
	return r
}

// divergences joins two falling tops and two rising bottoms of a wave that
// calms down.
func divergences() *indicators.Result {
	v := wave(80, 50, 30, 4, 0)
	for i := range v {
		v[i] = 50 + (v[i]-50)*(1-float64(i)/160)
	}
	return &indicators.Result{Label: "RSI(14)", YRange: &[2]float64{0, 100},
		Lines:  []indicators.Line{{Label: "RSI", Tone: indicators.Primary, Values: v}},
		HLines: []indicators.HLine{{Y: 70}, {Y: 50}, {Y: 30}},
		DivLines: []indicators.DivLine{
			{X1: 5, Y1: v[5], X2: 25, Y2: v[25], Tone: indicators.Down},
			{X1: 15, Y1: v[15], X2: 55, Y2: v[55], Dashed: true, Tone: indicators.Up},
		}}
}

func signals(overlay bool) *indicators.Result {
	r := &indicators.Result{Label: "Signals", Overlay: overlay}
	if !overlay {
		r.Lines = []indicators.Line{{Label: "x", Tone: indicators.Primary, Values: wave(80, 0, 1, 2, 0)}}
	}
	for _, s := range []indicators.Signal{
		{Bar: 10, Label: "cross_up", Tone: indicators.Up}, {Bar: 10, Label: "break_up", Tone: indicators.Up},
		{Bar: 30, Label: "rsi_overbought", Tone: indicators.Down}, {Bar: 33, Label: "rsi_overbought", Tone: indicators.Down},
		{Bar: 34, Label: "cross_down", Tone: indicators.Down}, {Bar: 60, Label: "gold_buy", Tone: indicators.Accent},
		{Bar: 79, Label: "cross_up", Tone: indicators.Up},
	} {
		s.Y = math.Sin(2 * 2 * math.Pi * float64(s.Bar) / 80)
		r.Signals = append(r.Signals, s)
	}
	return r
}

// TestGolden compares every picture with the one in testdata, pixel by pixel.
func TestGolden(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			v, o := g.view(), g.options()
			checkPlan(t, plan(v, o))
			checkAxes(t, plan(v, o))
			got, _, err := Draw(t.Context(), v, o)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", "golden", g.name+".png")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(got, want) {
				return
			}
			comparePixels(t, decode(t, got), decode(t, want))
		})
	}
}

func decode(t *testing.T, data []byte) *image.Paletted {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return m.(*image.Paletted)
}

func comparePixels(t *testing.T, got, want *image.Paletted) {
	t.Helper()
	if got.Rect != want.Rect {
		t.Fatalf("size %v, want %v", got.Rect, want.Rect)
	}
	different := 0
	for i := range got.Pix {
		if got.Palette[got.Pix[i]] != want.Palette[want.Pix[i]] {
			if different == 0 {
				t.Errorf("first difference at %d,%d", i%got.Stride, i/got.Stride)
			}
			different++
		}
	}
	if different > 0 {
		t.Errorf("%d pixels differ; run with -update and look", different)
	}
}

// TestSizeBudget holds files to what clients take: the default chart under
// 100 KB, any other far below the cap.
func TestSizeBudget(t *testing.T) {
	for _, g := range goldens {
		info, err := os.Stat(filepath.Join("testdata", "golden", g.name+".png"))
		if err != nil {
			t.Fatal(err)
		}
		most := int64(400_000)
		if g.name == "default" {
			most = 100_000
		}
		if info.Size() > most {
			t.Errorf("%s takes %d bytes, want at most %d", g.name, info.Size(), most)
		}
	}
}
