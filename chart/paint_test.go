package chart

import (
	"bytes"
	"errors"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"wick/indicators"
	"wick/market"
)

// painted returns the canvas of a view; bare is without marks and without what lies over the
// data, such as texts.
func painted(t testing.TB, v *View, o Options, bare bool) (*picture, *canvas) {
	t.Helper()
	if bare {
		o.Signals = SignalsOff
	}
	p, c := plan(v, o), new(canvas)
	c.reset(p.w, p.h, p.pal)
	if bare {
		over := len(p.shapes) - 1
		for p.shapes[over].box != image.Rect(0, 0, p.w, p.h) { // from here on nothing is clipped
			over--
		}
		p.shapes = p.shapes[:over]
	}
	if err := p.paint(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return p, c
}

// TestCandlePixels looks at the pixels of every candle at several pitches: the
// wick has its width and one colour, the body is centred on it, gaps between
// bodies differ by one pixel at most.
func TestCandlePixels(t *testing.T) {
	for _, c := range []struct{ bars, w, h int }{{30, 1200, 700}, {200, 1440, 768}, {200, 1920, 1080}, {100, 4096, 4096}, {350, 1200, 700}} {
		p, cv := painted(t, &View{Series: priced(c.bars, 215)}, Options{Width: c.w, Height: c.h}, true)
		if (p.body-p.wick)%2 != 0 {
			t.Errorf("%d bars on %d: body %d, wick %d", c.bars, c.w, p.body, p.wick)
		}
		line := p.panes[0].scale.row(p.s.Close[p.n-1])
		least, most := math.MaxInt, 0
		for i, k := range p.candles {
			colour := p.pal.solid[inkDown]
			if k.ink == inkUp {
				colour = p.pal.solid[inkUp]
			}
			body := p.bodyRect(k)
			if left, right := k.x-body.Min.X, body.Max.X-(k.x+p.wick); left != right {
				t.Fatalf("candle %d: %d pixels left of the wick, %d right", i, left, right)
			}
			for y := k.high; y < k.bodyTop; y++ {
				if y >= line && y < line+p.thin { // the last price runs across
					continue
				}
				for x := body.Min.X; x < body.Max.X; x++ {
					wick := x >= k.x && x < k.x+p.wick
					if got := cv.pix[y*cv.w+x] == colour; got != wick {
						t.Fatalf("candle %d, %d,%d: colour is the candle's: %v, want %v", i, x, y, got, wick)
					}
				}
			}
			if i > 0 {
				gap := k.x - p.candles[i-1].x
				least, most = min(least, gap), max(most, gap)
			}
		}
		if most-least > 1 {
			t.Errorf("%d bars on %d: distances from %d to %d", c.bars, c.w, least, most)
		}
	}
}

// TestNoLevelInTheVolume: the rows of the volume have no axis, and what lies there by the
// scale of the price is out of sight: levels, which the edge names, and zones.
func TestNoLevelInTheVolume(t *testing.T) {
	s := priced(60, 215)
	hi, lo := slices.Max(s.High), slices.Min(s.Low)
	near := Mark{Kind: MarkLevel, Price: lo - 0.45*(hi-lo), Text: "near"} // widens the range almost as far as it may
	view := func(m ...Mark) *View { return &View{Series: s, Marks: append(m, near)} }
	o := Options{Width: 900, Height: 500}
	p, plain := painted(t, view(), o, false)
	pn := p.panes[0]
	below := pn.scale.value(float64(pn.floor+pn.frame.Max.Y) / 2)
	far := view()
	far.Panels = []Panel{{Result: &indicators.Result{Overlay: true, HLines: []indicators.HLine{{Y: below}}}}}
	alone := view()
	alone.Panels = []Panel{{Result: &indicators.Result{Overlay: true}}}
	_, legend := painted(t, alone, o, false)
	for name, c := range map[string]struct {
		v    *View
		want *canvas
	}{
		"a level":                   {view(Mark{Kind: MarkLevel, Price: below, Text: "beyond"}), plain},
		"a zone":                    {view(Mark{Kind: MarkZone, Price: below, Price2: below - 1, Text: "beyond"}), plain},
		"the level of an indicator": {far, legend},
	} {
		q, got := painted(t, c.v, o, false)
		if q.panes[0].floor != pn.floor || q.axisX != p.axisX {
			t.Fatalf("%s changes the layout", name)
		}
		for y := pn.floor + 1; y < pn.frame.Max.Y; y++ {
			if !slices.Equal(got.pix[y*got.w:][:p.axisX], c.want.pix[y*got.w:][:p.axisX]) {
				t.Errorf("%s is drawn in row %d, among the volume", name, y)
				break
			}
		}
	}
}

// TestLegendRowsAreFree paints without text: the legend rows then hold nothing
// but background, grid and separators, whatever the data do.
func TestLegendRowsAreFree(t *testing.T) {
	for _, size := range testSizes {
		v := sketches(priced(200, 215), "ema", "bb", "rsi", "macd")
		p, cv := painted(t, v, Options{Width: size[0], Height: size[1]}, true)
		allowed := map[uint8]bool{}
		for _, i := range []ink{inkBack, inkGrid, inkStrong, inkSep} {
			allowed[p.pal.solid[i]] = true
		}
		for i := range p.panes {
			r := p.panes[i].legend.Intersect(p.panes[i].plot)
			for y := r.Min.Y; y < r.Max.Y; y++ {
				for x := r.Min.X; x < r.Max.X; x++ {
					if !allowed[cv.pix[y*cv.w+x]] {
						t.Fatalf("%v: pane %d has colour %d at %d,%d in its legend", size, i, cv.pix[y*cv.w+x], x, y)
					}
				}
			}
		}
	}
}

// TestStrokeWidth samples a line at every slope: across it the cover adds up to
// its width, and along it there are no holes.
func TestStrokeWidth(t *testing.T) {
	pal := themes[Dark]()
	for _, dy := range []float64{0, 1, 10, 40, 79, 200, 1500} {
		var c canvas
		c.reset(200, 200, pal)
		c.stroke([]point{{60, 100 - dy/2}, {140, 100 + dy/2}}, 3, inkLine3)
		length := 0.0
		for _, v := range c.pix {
			length += float64(levelOf(pal, v)) / levels / 3
		}
		want := math.Hypot(80, dy)
		if dy > 196 { // clipped by the picture's upper and lower edge
			want *= 200 / dy
		} else {
			want += math.Pi * 1.5 * 1.5 / 3 // the round ends
		}
		if math.Abs(length-want) > 0.06*want {
			t.Errorf("slope %g: length %.1f by its ink, want %.1f", dy/80, length, want)
		}
	}
}

// levelOf returns the cover that made colour v from line 3 on the background.
func levelOf(pal *palette, v uint8) int {
	for level := range levels + 1 {
		if pal.mix[inkLine3][level][pal.solid[inkBack]] == v && level%2 == 0 {
			return level
		}
	}
	return 0
}

// TestSameBytes draws one view twice, the second time after and beside others.
func TestSameBytes(t *testing.T) {
	v := sketches(priced(200, 215), "ema", "bb", "rsi", "macd")
	o := Options{Width: 1200, Height: 700, Theme: Light}
	want, _, err := Draw(t.Context(), v, o)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			other := Options{Width: 400 + 100*i, Height: 300 + 50*i, Theme: Theme(i % int(themeCount))}
			if _, _, err := Draw(t.Context(), v, other); err != nil {
				t.Error(err)
			}
			got, _, err := Draw(t.Context(), v, o)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("the second picture differs: %v", err)
			}
		})
	}
	wg.Wait()
}

// TestStaysInsideThePanel fills a view with values far outside every range and
// checks that the axis column and the header keep their colours.
func TestStaysInsideThePanel(t *testing.T) {
	s := priced(50, 215)
	wild := make(indicators.Values, 50)
	for i := range wild {
		wild[i] = math.Pow(-1e7, float64(i%9))
	}
	fill := []indicators.Fill{{Y1: wild, Y2: s.Close, Tone: indicators.Up, Below: indicators.Down}}
	v := &View{Series: s, Panels: []Panel{
		{Key: "a", Result: &indicators.Result{Label: "A", Overlay: true, Lines: []indicators.Line{{Label: "x", Values: wild}}, Fills: fill}},
		{Key: "b", Result: &indicators.Result{Label: "B", YRange: &[2]float64{0, 1}, Lines: []indicators.Line{{Label: "x", Values: wild}},
			Histogram: []indicators.Histogram{{Values: wild}}, Fills: fill,
			DivLines: []indicators.DivLine{{X1: 1, Y1: 1e200, X2: 40, Y2: -1e200, Dashed: true}}}},
	}}
	p, cv := painted(t, v, Options{Width: 800, Height: 500}, true)
	back, sep := p.pal.solid[inkBack], p.pal.solid[inkSep]
	outside := []image.Rectangle{p.header, image.Rect(p.axisX+1, p.header.Max.Y, p.w, p.h), p.timeAxis}
	for _, r := range outside {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				if got := cv.pix[y*cv.w+x]; got != back && got != sep {
					t.Fatalf("colour %d at %d,%d", got, x, y)
				}
			}
		}
	}
}

// FuzzRender draws bars and results made of whatever bits come along.
func FuzzRender(f *testing.F) {
	f.Add(uint64(1), uint16(30), uint16(0), uint16(0), false)
	f.Add(uint64(2), uint16(2000), uint16(900), uint16(300), true)
	wild := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324, 0, math.Copysign(0, -1), 1e300, 1e-300, 1e15, -1e15}
	f.Fuzz(func(t *testing.T, seed uint64, bars, width, height uint16, calm bool) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := int(bars) % 3000
		value := func() float64 {
			switch k := r.IntN(40); {
			case k < len(wild) && !calm:
				return wild[k]
			case k < 20:
				return 100 + r.NormFloat64()
			}
			return math.Float64frombits(r.Uint64())
		}
		column := func() []float64 {
			out := make([]float64, n)
			for i := range out {
				out[i] = value()
			}
			return out
		}
		s := &market.Series{Symbol: "F\x00\nüß日本語", Interval: market.Intervals()[r.IntN(15)], Synthetic: r.IntN(2) == 0,
			Time: make([]int64, n), Open: column(), High: column(), Low: column(), Close: column(), Volume: column()}
		for i := range s.Time {
			s.Time[i] = int64(r.Uint64() >> r.IntN(64))
		}
		possible(s)
		v := &View{Series: s}
		if r.IntN(2) == 0 {
			when := func() int64 { return int64(r.Uint64() >> r.IntN(64)) }
			v.Marks = []Mark{{Price: value(), Text: "a\x01"}, {Kind: MarkZone, Price: value(), Price2: value(), Time: when(), Time2: when(), Text: "b"},
				{Kind: MarkLine, Price: value(), Price2: value(), Time: when(), Time2: when(), Text: "c"}, {Kind: MarkText, Price: value(), Time: when(), Text: "d"}}
			v.Account = &Account{Position: &Position{value(), value(), value()}, Orders: []Order{{true, "limit", value(), value(), r.IntN(2) == 0}},
				Alerts: []Alert{{Price: value(), Text: "e"}, {Key: "x", Signal: "s"}, {Key: "x", Price: value(), Text: "e"}}, Fills: []Fill{{true, when(), value(), value()}}}
		}
		if r.IntN(3) == 0 {
			c := &market.Series{Symbol: "C\x00", Time: s.Time, Open: column(), High: column(), Low: column(), Close: column(), Volume: column()}
			possible(c)
			v.Compare = []*market.Series{c}
		}
		for k := range r.IntN(6) {
			tone := func() indicators.Tone { return indicators.Tone(r.IntN(12)) }
			res := &indicators.Result{Label: "X(1, 2)", Overlay: k%2 == 0,
				Lines:     []indicators.Line{{Label: "1", Tone: tone(), Style: indicators.Style(r.IntN(5)), Values: column()}, {Label: "2", Tone: tone(), Values: column()[:n/2]}},
				Histogram: []indicators.Histogram{{Tone: tone(), Values: column()}},
				HLines:    []indicators.HLine{{Y: value(), Label: "POC"}, {Y: value(), Tone: tone()}},
				Fills:     []indicators.Fill{{Y1: column(), Y2: column(), Tone: tone(), Below: tone()}},
				Signals:   []indicators.Signal{{Bar: r.IntN(3000) - 10, Y: value(), Label: "s", Tone: tone()}},
				HBars:     []indicators.HBar{{Y: value(), Height: value(), Width: value(), Offset: value(), Tone: tone()}},
				DivLines:  []indicators.DivLine{{X1: r.IntN(3000) - 10, Y1: value(), X2: r.IntN(3000), Y2: value(), Dashed: k%3 == 0}},
			}
			if r.IntN(2) == 0 {
				res.YRange = &[2]float64{value(), value()}
			}
			v.Panels = append(v.Panels, Panel{Key: "x", Result: res})
		}
		o := Options{Width: MinWidth + int(width)%900, Height: MinHeight + int(height)%700, Theme: Theme(r.IntN(int(themeCount))),
			Type: Type(r.IntN(int(typeCount))), Scale: Scale(r.IntN(int(scaleCount))), Signals: Signals(r.IntN(int(signalsCount))),
			HideVolume: r.IntN(4) == 0, PixelRatio: []float64{0, 1, 1.5, 3}[r.IntN(4)], Zone: []*time.Location{nil, newYork}[r.IntN(2)]}
		s.Forming, s.Gaps, s.AsOf = r.IntN(2) == 0, make([]int64, r.IntN(3)), int64(r.Uint64()>>r.IntN(64))
		checkPlan(t, plan(v, o))
		if _, _, err := Draw(t.Context(), v, o); err != nil && !errors.Is(err, ErrOption) {
			t.Error(err)
		}
		if n > 0 { // what no market can have made is refused
			s.High[r.IntN(n)] = wild[r.IntN(3)]
			if _, _, err := Draw(t.Context(), v, o); err == nil {
				t.Error("a price that is no number is drawn")
			}
		}
	})
}

// possible makes the bars of s such as a market can make, with values as wild as before.
func possible(s *market.Series) {
	slices.Sort(s.Time)
	for i := range s.Time {
		if i > 0 && s.Time[i] <= s.Time[i-1] {
			s.Time[i] = s.Time[i-1] + 1
		}
		for _, column := range [][]float64{s.Open, s.High, s.Low, s.Close, s.Volume} {
			if !usable(column[i]) {
				column[i] = 1e299
			}
		}
		s.High[i] = max(s.Open[i], s.High[i], s.Low[i], s.Close[i])
		s.Low[i] = min(s.Open[i], s.High[i], s.Low[i], s.Close[i])
		s.Volume[i] = math.Abs(s.Volume[i])
	}
}

// stepped returns a result over the price with two levels that change on bar 10 of 20,
// and the region between them. Its tone is none of the lines'.
func stepped() *indicators.Result {
	upper, lower := make(indicators.Values, 20), make(indicators.Values, 20)
	for i := range upper {
		upper[i], lower[i] = 225, 220
		if i >= 10 {
			upper[i], lower[i] = 205, 200
		}
	}
	return &indicators.Result{Label: "Steps", Overlay: true,
		Lines: []indicators.Line{
			{Label: "High", Tone: indicators.Down, Style: indicators.Step, Values: upper},
			{Label: "Low", Tone: indicators.Up, Style: indicators.Step, Values: lower},
		},
		Fills: []indicators.Fill{{Y1: upper, Y2: lower, Tone: indicators.Band}}}
}

// TestStepFill: the region between levels that hold for a session has their ends: a bar
// is shaded over its whole width between its own levels, and no price between those of
// two sessions is shaded.
func TestStepFill(t *testing.T) {
	for _, o := range []Options{{Width: 800, Height: 500}, {Width: 1920, Height: 1080}, {Width: 321, Height: 240}} {
		v := drawn(changed(20, func(s *market.Series) { flatten(s, 215); s.Low[3] = 100 }), stepped())()
		p, with := painted(t, v, o, false)
		v.Panels[0].Result.Fills = nil
		_, without := painted(t, v, o, false)
		change := int(p.x0 + 10*p.pitch) // the column where the levels change
		for _, c := range []struct {
			price    float64
			from, to int // columns that are shaded
		}{{222.5, int(p.x0), change}, {212.5, 0, 0}, {202.5, change, int(p.x0 + 20*p.pitch)}} {
			row := p.panes[0].scale.row(c.price) * p.w
			for x := range p.axisX {
				if shaded := with.pix[row+x] != without.pix[row+x]; shaded != (x >= c.from && x < c.to) {
					t.Fatalf("%dx%d: column %d at %v is shaded: %t, want columns %d to %d", o.Width, o.Height, x, c.price, shaded, c.from, c.to)
				}
			}
		}
	}
	// The rule that a fill steps if its study has a line that does needs that studies do not
	// mix the styles.
	for ind := range indicators.All() {
		r := view(t, filled(priced(60, 215), ind.Needs), ind.Name).Panels[0].Result
		steps := func(l indicators.Line) bool { return l.Style == indicators.Step }
		if n := len(slices.DeleteFunc(slices.Clone(r.Lines), steps)); len(r.Fills) > 0 && n > 0 && n < len(r.Lines) {
			t.Errorf("%s has fills, and of its lines %d of %d are no steps", ind.Name, n, len(r.Lines))
		}
	}
}

// TestDashedSteps: levels of a second study whose colours an earlier one has are dashed, six
// pixels with gaps of five, and the dashes go on where the level changes.
func TestDashedSteps(t *testing.T) {
	first, second := stepped(), stepped()
	for i, l := range first.Lines {
		first.Lines[i].Values = wave(20, 150, 0, 1, 0)
		second.Lines[i].Values = slices.Clone(l.Values)
		second.Lines[i].Values[3] = math.NaN() // the dashes begin anew after it
	}
	first.Fills, second.Fills = nil, nil
	v := &View{Series: changed(20, func(s *market.Series) { flatten(s, 215); s.Low[3] = 100 }), Panels: []Panel{{Result: first}, {Result: second}}}
	p, cv := painted(t, v, Options{Width: 800, Height: 500}, true)
	for i, l := range second.Lines {
		from := int(p.x0)
		for x := from; x < int(p.x0+20*p.pitch); x++ {
			bar := int(math.Ceil((float64(x)+1-p.x0)/p.pitch)) - 1
			if bar == 3 {
				from = int(p.x0 + 4*p.pitch)
				continue
			}
			want := (x-from)%11 < 6
			if got := cv.pix[p.panes[0].scale.row(l.Values[bar])*cv.w+x] == p.pal.solid[p.panes[0].studies[1].lines[i].ink]; got != want {
				t.Fatalf("%s, column %d: painted is %t, want %t", l.Label, x, got, want)
			}
		}
	}
}
