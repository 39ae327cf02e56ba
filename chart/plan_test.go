package chart

import (
	"fmt"
	"image"
	"math"
	"testing"

	"wick/indicators"
	"wick/market"
)

var (
	testSizes  = [][2]int{{320, 240}, {800, 500}, {1200, 700}, {1920, 1080}, {4096, 4096}, {3000, 300}, {400, 2000}}
	testBars   = []int{0, 1, 2, 30, 200, 1000, 5000}
	testPrices = []float64{1e-8, 0.00001234, 1, 215, 67432.5, 1e9, -30}
)

// priced returns n bars around price; a negative price shifts a walk below
// zero, as some futures have been.
func priced(n int, price float64) *market.Series {
	if price > 0 {
		return walk(n, price, min(10, max(1, 4-int(math.Log10(price)))), market.Hour4)
	}
	s := walk(n, 20, 2, market.Hour4)
	for i := range n {
		s.Open[i] += price
		s.High[i] += price
		s.Low[i] += price
		s.Close[i] += price
	}
	return s
}

// filled adds the extra columns that some indicators need.
func filled(s *market.Series, needs []string) *market.Series {
	for _, name := range needs {
		if s.Extra == nil {
			s.Extra = make(map[string][]float64)
		}
		s.Extra[name] = s.Volume
	}
	return s
}

// checkPlan holds a measured picture to its promises: every text and tag lies
// within the picture and its own area, and none touches another.
func checkPlan(t *testing.T, p *picture) {
	t.Helper()
	all := image.Rect(0, 0, p.w, p.h)
	type named struct {
		box  image.Rectangle
		what string
	}
	var boxes []named
	for _, l := range p.labels {
		boxes = append(boxes, named{l.box, fmt.Sprintf("text %q", l.text)})
		area := all
		switch l.kind {
		case headerText:
			area = p.header
		case timeText:
			area = image.Rect(0, p.timeAxis.Min.Y, p.axisX, p.h)
		case zoneText:
			area = image.Rect(p.axisX, p.timeAxis.Min.Y, p.w, p.h)
		case tickText:
			area = image.Rect(p.axisX, p.header.Max.Y, p.w, p.timeAxis.Min.Y)
		case legendText, extremeText, signalText, lineText, noticeText:
			area = image.Rect(0, p.header.Max.Y, p.axisX, p.timeAxis.Min.Y)
		}
		if !l.box.In(area) {
			t.Errorf("text %q at %v leaves %v", l.text, l.box, area)
		}
	}
	for i, pn := range p.panes {
		for _, g := range pn.tags {
			boxes = append(boxes, named{g.box, fmt.Sprintf("tag %q", g.text)})
			if !g.box.In(pn.frame) {
				t.Errorf("tag %q at %v leaves its pane %v", g.text, g.box, pn.frame)
			}
			if w := p.tag.width(g.text); w > g.box.Dx() {
				t.Errorf("tag %q is %d wide in a box of %d", g.text, w, g.box.Dx())
			}
		}
		if len(pn.ticks) > 20+8 {
			t.Errorf("pane %d has %d ticks", i, len(pn.ticks))
		}
	}
	for i, a := range boxes {
		for _, b := range boxes[i+1:] {
			if a.box.Overlaps(b.box) {
				t.Errorf("%s at %v touches %s at %v", a.what, a.box, b.what, b.box)
			}
		}
	}
}

// checkAxes asks every pane of some height for two numbers on its axis.
func checkAxes(t *testing.T, p *picture) {
	t.Helper()
	for i, pn := range p.panes {
		shown := len(pn.tags)
		if len(pn.tags) > 1 && !pn.price { // only the first line's may hide labels
			shown = 0
		}
		for _, tk := range pn.ticks {
			if tk.shown {
				shown++
			}
		}
		if p.n > 0 && pn.frame.Dy() >= p.px(60) && !pn.scale.zero && !pn.scale.empty && shown < 2 {
			t.Errorf("pane %d of %d rows shows %d numbers", i, pn.frame.Dy(), shown)
		}
	}
}

// TestPlanGrid crosses every size with every number of bars and every price.
func TestPlanGrid(t *testing.T) {
	for i, bars := range testBars {
		for k, price := range testPrices {
			if testing.Short() && k%len(testBars) != i {
				continue // each price meets one number of bars
			}
			v := sketches(priced(bars, price), "ema", "bb", "rsi", "macd")
			for k, size := range testSizes {
				o := Options{Width: size[0], Height: size[1], Theme: Theme(k % int(themeCount))}
				v.Series.Synthetic = k%2 == 0
				p := plan(v, o)
				checkPlan(t, p)
				checkAxes(t, p)
				if t.Failed() {
					t.Fatalf("%dx%d, %d bars, price %g", size[0], size[1], bars, price)
				}
			}
		}
	}
}

// TestPlanIndicators draws every indicator of the catalogue at every size, the
// bars and prices taking turns, so that each pair of them meets often.
func TestPlanIndicators(t *testing.T) {
	k := 0
	for ind := range indicators.All() {
		for i, size := range testSizes {
			if k++; testing.Short() && k%17 != 0 {
				continue
			}
			bars, price := testBars[(k+2*i)%len(testBars)], testPrices[((k-1)/7+3*i)%len(testPrices)]
			if bars == 5000 && k%8 != 1 {
				bars = 400
			}
			v := view(t, filled(priced(bars, price), ind.Needs), ind.Name)
			p := plan(v, Options{Width: size[0], Height: size[1]})
			checkPlan(t, p)
			checkAxes(t, p)
			if t.Failed() {
				t.Fatalf("%s at %dx%d, %d bars, price %g", ind.Name, size[0], size[1], bars, price)
			}
		}
	}
}

// TestPlanMany puts sixteen indicators on one chart: what does not fit is
// named, and nothing is squeezed.
func TestPlanMany(t *testing.T) {
	names := []string{"ema", "bb", "bb", "ema", "bb", "rsi", "macd", "rsi", "macd", "rsi", "macd", "rsi", "macd", "rsi", "macd", "macd"}
	for _, size := range testSizes {
		p := plan(sketches(priced(200, 215), names...), Options{Width: size[0], Height: size[1]})
		checkPlan(t, p)
		checkAxes(t, p)
		found := false
		for _, l := range p.labels {
			found = found || l.kind == headerText && l.text[0] == '+' && len(p.missing.Panels) > 0
		}
		if len(p.missing.Panels) > 0 && !found && size[0] >= 400 {
			t.Errorf("%v: %d panels are missing without a word", size, len(p.missing.Panels))
		}
		if len(p.panes)+len(p.missing.Panels) != 12 {
			t.Errorf("%v: %d panes and %d omitted, want 12 in all", size, len(p.panes), len(p.missing.Panels))
		}
	}
}
