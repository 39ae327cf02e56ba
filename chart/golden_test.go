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
}

// with returns a view of s with sketched indicators.
func with(s *market.Series, names ...string) func() *View {
	return func() *View { return sketches(s, names...) }
}

// drawn returns a view of s with one result made by hand.
func drawn(s *market.Series, r *indicators.Result) func() *View {
	return func() *View { return &View{Series: s, Panels: []Panel{{Key: "x", Result: r}}} }
}

// changed returns n bars around 215 after edit has been at them.
func changed(n int, edit func(s *market.Series)) *market.Series {
	s := priced(n, 215)
	edit(s)
	return s
}

var goldens = []golden{
	{"default", 1440, 768, Dark, with(walk(200, 215, 2, market.Day1), "ema", "rsi", "macd")},
	{"full_hd", 1920, 1080, Dark, with(walk(200, 215, 2, market.Day1), "ema", "bb", "rsi", "macd")},
	{"light", 1200, 700, Light, with(walk(150, 215, 2, market.Hour1), "bb", "rsi", "macd")},
	{"colorblind", 1200, 700, Colorblind, with(walk(100, 67432.5, 1, market.Hour4), "ema", "rsi", "macd")},
	{"synthetic", 800, 500, Dark, with(changed(120, func(s *market.Series) { s.Synthetic = true }), "ema")},
	{"synthetic_light", 800, 500, Light, with(changed(120, func(s *market.Series) { s.Synthetic = true }), "ema")},

	{"size_320x240", 320, 240, Dark, with(priced(60, 215), "ema", "rsi", "macd")},
	{"size_400x2000", 400, 2000, Dark, with(priced(100, 215), "bb", "rsi", "macd")},
	{"size_3000x300", 3000, 300, Dark, with(priced(200, 215), "bb", "rsi", "macd")},
	{"size_4096x4096", 4096, 4096, Dark, with(priced(120, 215), "bb", "rsi", "macd")},

	{"bars_1", 800, 500, Dark, with(priced(1, 215), "ema", "rsi")},
	{"bars_2", 800, 500, Dark, with(priced(2, 215), "ema", "rsi")},
	{"bars_30", 800, 500, Dark, with(priced(30, 215), "bb", "rsi")},
	{"bars_1000", 1200, 700, Dark, with(priced(1000, 215), "ema", "rsi")},
	{"bars_1000_4k", 3840, 2160, Dark, with(priced(1000, 215), "ema", "rsi")},
	{"bars_5000", 1200, 700, Dark, with(walk(5000, 215, 2, market.Hour1), "bb", "macd")},
	{"bars_5000_in_320", 320, 240, Dark, with(priced(5000, 215), "ema")},

	{"price_tiny", 1200, 700, Dark, with(priced(150, 0.00001234), "ema", "rsi", "macd")},
	{"price_1e-11", 800, 500, Dark, with(changed(60, func(s *market.Series) { rescale(s, 1e-13) }), "macd")},
	{"price_huge", 800, 500, Dark, with(priced(100, 1e9), "ema", "macd")},
	{"price_negative", 800, 500, Dark, with(priced(100, -30), "ema", "macd")},
	{"price_flat", 800, 500, Dark, with(changed(60, func(s *market.Series) { flatten(s, 215) }), "ema", "rsi", "macd")},
	{"price_zero", 800, 500, Dark, with(changed(60, func(s *market.Series) { flatten(s, 0) }), "macd")},
	{"wick_100x", 800, 500, Dark, with(changed(60, func(s *market.Series) { s.High[30] = 2000 }), "ema")},

	{"no_bars", 800, 500, Dark, with(priced(0, 215), "ema", "rsi")},
	{"all_nan", 800, 500, Light, with(changed(20, func(s *market.Series) { rescale(s, math.NaN()) }), "rsi")},
	{"gap", 800, 500, Dark, with(changed(80, gap), "ema", "rsi")},
	{"needs_bars", 800, 500, Dark, needy},
	{"same_times", 800, 500, Dark, with(changed(60, func(s *market.Series) { clear(s.Time) }), "rsi")},
	{"unsorted", 800, 500, Dark, with(changed(60, func(s *market.Series) { s.Time[5], s.Time[50] = s.Time[50], s.Time[5] }), "rsi")},
	{"no_volume", 800, 500, Dark, with(changed(60, func(s *market.Series) { clear(s.Volume) }))},

	{"six_panels", 1200, 900, Dark, with(priced(150, 215), "bb", "rsi", "macd", "rsi", "macd", "rsi", "macd")},
	{"omitted", 800, 500, Dark, with(priced(100, 215), "rsi", "macd", "rsi", "macd", "rsi", "macd", "rsi", "macd")},

	{"lines_styles", 800, 500, Dark, drawn(priced(60, 215), lineStyles())},
	{"lines_many", 800, 500, Colorblind, drawn(priced(60, 215), manyLines())},
	{"histogram", 800, 500, Dark, drawn(priced(80, 215), histograms())},
	{"fills_cross", 800, 500, Dark, drawn(priced(80, 215), crossingFills())},
	{"levels", 800, 500, Dark, drawn(priced(80, 215), levelLines())},
	{"profile", 800, 500, Dark, drawn(priced(80, 215), profile(false))},
	{"profile_split", 800, 500, Light, drawn(priced(80, 215), profile(true))},
	{"divergences", 800, 500, Dark, drawn(priced(80, 215), divergences())},
	{"signals", 800, 500, Dark, drawn(priced(80, 215), signals(true))},
	{"signals_panel", 800, 500, Light, drawn(priced(80, 215), signals(false))},
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

func gap(s *market.Series) {
	for i := 30; i < 40; i++ {
		s.Open[i], s.High[i], s.Low[i], s.Close[i] = math.NaN(), math.NaN(), math.NaN(), math.NaN()
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
			v, o := g.view(), Options{Width: g.w, Height: g.h, Theme: g.theme}
			checkPlan(t, plan(v, o))
			got, err := AppendPNG(t.Context(), nil, v, o)
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
