package chart

import (
	"fmt"
	"image"
	"math"
	"testing"

	"wick/indicators"
	"wick/market"
)

// These tests count what would make a picture say something false, over every
// indicator and several series: text that a line runs through, lines that look
// like wicks, tags beside their value. All counts must be 0.

// honestSeries are the bars the counts are taken over: intervals, prices and
// seeds that differ.
func honestSeries() []*market.Series {
	return []*market.Series{
		walk(200, 215, 2, market.Day1), walk(150, 67432.5, 1, market.Hour4), walk(120, 0.00001234, 8, market.Hour1),
		walk(60, 1.0862, 4, market.Minute15), walk(400, 30, 2, market.Week1), walk(33, 950, 2, market.Month1),
	}
}

// honestSizes are the sizes; each series meets one of them per indicator.
var honestSizes = []Options{
	{Width: 1440, Height: 768}, {Width: 800, Height: 500, Signals: SignalsLabels}, {Width: 1920, Height: 1080, Signals: SignalsLabels},
	{Width: 560, Height: 380}, {Width: 1200, Height: 700, Signals: SignalsLabels},
}

// faults counts what is false in pictures, by kind.
type faults map[string]int

// TestNothingFalse: in no picture of any indicator over any of the series is a label struck
// through or on a line, a leader across a candle or upright like a wick, a time where a reader
// would misplace it, or a tag off its value.
func TestNothingFalse(t *testing.T) {
	found, example := faults{}, map[string]string{}
	extremes, wanted, names, k := 0, 0, 0, 0
	for i, s := range honestSeries() {
		for ind := range indicators.All() {
			if testing.Short() && len(ind.Name)%6 != i {
				continue // one series for each
			}
			o := honestSizes[k%len(honestSizes)]
			o.Type = Type(k / 3 % int(typeCount))
			k++
			p := plan(view(t, filled(s, ind.Needs), ind.Name), o)
			before := len(found)
			p.countFaults(found)
			for kind := range found {
				if _, ok := example[kind]; !ok || len(found) > before && example[kind] == "" {
					example[kind] = fmt.Sprintf("%s on %d bars of %s at %dx%d", ind.Name, s.Len(), s.Interval, o.Width, o.Height)
				}
			}
			extremes += len(p.texts(extremeText))
			if o.Type != HeikinAshi { // whose extremes are no prices
				wanted += 2
			}
			names += len(p.texts(signalText))
		}
	}
	t.Logf("%d pictures: %d highs and lows, %d names of signals", k, extremes, names)
	for kind, n := range found {
		t.Errorf("%d times %s, first in %s", n, kind, example[kind])
	}
	// A picture that leaves everything out would have no faults either, so some must be drawn.
	if extremes < wanted*9/10 || names < k {
		t.Errorf("%d pictures have %d highs and lows and %d names of signals", k, extremes, names)
	}
}

// countFaults adds the faults of one picture.
func (p *picture) countFaults(f faults) {
	for _, l := range p.labels {
		if l.kind != extremeText && l.kind != signalText && l.kind != lineText {
			continue
		}
		if !l.leader.Empty() {
			if l.leader.Dy() > l.leader.Dx() {
				f["a leader stands upright like a wick"]++
			}
			for _, other := range p.labels {
				if l.leader.Overlaps(other.box) {
					f["a label is struck through"]++
				}
			}
			for _, c := range p.candles {
				if l.leader.Overlaps(p.bodyRect(c)) || l.leader.Overlaps(image.Rect(c.x, c.high, c.x+p.wick, c.low)) {
					f["a leader crosses a candle"]++
				}
			}
		}
		for i := range p.panes {
			if pn := p.panes[i]; l.box.Overlaps(pn.plot) && p.onLine(pn, l.box) {
				f["a label lies on a line"]++
			}
		}
	}
	prev := timeTick{}
	for _, tick := range p.times {
		if misread(p.bars, prev, tick) != "" {
			f["a reader would misplace a time"]++
		}
		prev = tick
	}
	for i := range p.panes {
		for _, g := range p.panes[i].tags {
			if middle := (g.box.Min.Y + g.box.Max.Y) / 2; abs(middle-g.y) > 1 && g.box.Min.X == p.axisX { // else a line leads to its value
				f["a tag stands off its value"]++
			}
		}
	}
}

// onLine reports whether a line, level or step of the pane runs through box, by
// walking along it in steps of half a pixel.
func (p *picture) onLine(pn *pane, box image.Rectangle) bool {
	inside := func(x, y float64) bool {
		return x > float64(box.Min.X) && x < float64(box.Max.X) && y > float64(box.Min.Y) && y < float64(box.Max.Y)
	}
	for _, st := range pn.studies {
		for _, h := range st.HLines {
			if y := pn.scale.row(h.Y); y >= box.Min.Y && y < box.Max.Y {
				return true
			}
		}
		for _, l := range st.Lines {
			if isCandles(st.Result) { // which are no lines
				continue
			}
			values := p.asDrawn(&l)
			for i, v := range values {
				if !usable(v) {
					continue
				}
				if inside(p.barX(i), pn.scale.y(v)) {
					return true
				}
				if i == 0 || !usable(values[i-1]) || l.Style == indicators.Dots || l.Style == indicators.Step {
					continue
				}
				x0, y0, x1, y1 := p.barX(i-1), pn.scale.y(values[i-1]), p.barX(i), pn.scale.y(v)
				if max(x0, x1) < float64(box.Min.X) || min(x0, x1) > float64(box.Max.X) {
					continue
				}
				steps := math.Ceil(2 * math.Hypot(x1-x0, y1-y0))
				for k := 0.0; k < min(steps, 1e4); k++ {
					if inside(x0+(x1-x0)*k/steps, y0+(y1-y0)*k/steps) {
						return true
					}
				}
			}
		}
	}
	return false
}
