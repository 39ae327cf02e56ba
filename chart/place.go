package chart

import (
	"image"
	"math"
	"slices"
	"strconv"

	"wick/indicators"
)

// Where things are in a picture, and values that depend on the whole of it. Both measuring
// and painting use these methods, so that they agree to the pixel.

func (p *picture) barX(i int) float64 { return p.x0 + (float64(i)+0.5)*p.pitch }

// dense reports whether bars are closer together than the thinnest stroke. Then the bars
// of a column are drawn as one.
func (p *picture) dense() bool { return p.pitch < float64(p.thin) }

// column returns the pixel column of the middle of bar i. Columns of a dense
// chart are as far apart as the thinnest stroke is wide.
func (p *picture) column(i int) int {
	x := math.Floor(p.barX(i))
	if !p.dense() || p.thin == 1 {
		return int(x)
	}
	// Columns of a dense chart are p.thin pixels wide; a bar belongs to the column in which
	// its middle is.
	left := int(math.Floor(p.x0))
	return left + (int(x)-left)/p.thin*p.thin + p.thin/2
}

// timeX returns the column of a time: that of the bar which begins then or is the last
// to begin before. A time before or after all bars is as many bars away as it is intervals away.
// Without bars every time is out of sight.
func (p *picture) timeX(t int64) float64 {
	if p.n == 0 {
		return far
	}
	i, found := slices.BinarySearch(p.s.Time[:p.n], t)
	if !found && (i == p.n || t < p.s.BeganAt(i)) {
		i--
	}
	at := float64(i)
	step := float64(max(p.s.Interval.Seconds(), 1))
	switch {
	case i < 0:
		at = -float64(p.s.Time[0]-t) / step
	case i == p.n-1 && t >= p.s.DueAt(i): // not within the last bar
		at += float64(t-p.s.Time[i]) / step
	}
	return min(max(p.x0+(at+0.5)*p.pitch, -far), far)
}

func (p *picture) bodyRect(c *candle) image.Rectangle {
	left := c.x - (p.body-p.wick)/2
	return image.Rect(left, c.bodyTop, left+p.body, c.bodyBottom)
}

// path returns the points of a line from left to right. These are its ends; and if one is
// before the first or after the last bar, the point at that bar. Nobody knows how many bars
// there are up to such an end, so the height at the bar follows from the share of the time.
func (p *picture) path(pn *pane, m Mark) []point {
	a := point{p.timeX(m.Time) + 0.5, pn.scale.y(m.Price)}
	b := point{p.timeX(m.Time2) + 0.5, pn.scale.y(m.Price2)}
	if a.x > b.x {
		a, b, m.Time, m.Time2 = b, a, m.Time2, m.Time
	}
	path := append(make([]point, 0, 4), a)
	for _, i := range [...]int{0, p.n - 1} {
		if x := p.barX(i) + 0.5; path[len(path)-1].x < x && x < b.x {
			share := float64(p.s.Time[i]-m.Time) / float64(m.Time2-m.Time)
			path = append(path, point{x, a.y + float64((b.y-a.y)*share)})
		}
	}
	return append(path, b)
}

// inPlot returns the ends of the part of a line that is in the plot, of a line that bends
// there the longest from left to right; ok is false if there is none.
func (p *picture) inPlot(pn *pane, m Mark) (a, b point, ok bool) {
	turned := func(q point) point { return point{q.y, q.x} }
	path := p.path(pn, m)
	for k := range path[1:] {
		from, to, in := withinRows(path[k], path[k+1], float64(pn.legend.Max.Y), float64(pn.frame.Max.Y))
		if !in {
			continue
		}
		// Columns are cut like rows.
		from, to, in = withinRows(turned(from), turned(to), 0, float64(p.axisX))
		from, to = turned(from), turned(to)
		if in && (!ok || to.x-from.x > b.x-a.x) {
			a, b, ok = from, to, true
		}
	}
	return a, b, ok
}

func (p *picture) textPoint(pn *pane, m Mark) image.Point {
	return image.Pt(int(math.Floor(p.timeX(m.Time))), pn.scale.row(m.Price))
}

func (p *picture) zoneRect(pn *pane, m Mark) image.Rectangle {
	// A time that is not given means the edge of the plot.
	left, right := 0.0, float64(p.axisX)
	if m.Time != 0 {
		left = p.timeX(m.Time) - p.pitch/2
	}
	if m.Time2 != 0 {
		right = p.timeX(m.Time2) + p.pitch/2
	}
	top, bottom := pn.scale.row(max(m.Price, m.Price2)), pn.scale.row(min(m.Price, m.Price2))
	return image.Rect(int(left), top, int(math.Ceil(max(right, left))), max(bottom, top+1))
}

// inside reports whether v is within the scale of a pane. A level that is not has no tag,
// which would be at the edge.
func (pn *pane) inside(v float64) bool {
	y := pn.scale.y(v)
	return usable(v) && y >= float64(pn.legend.Max.Y) && y <= float64(pn.floor)
}

// notDrawn returns the text that says how many marks and texts had no room, so that a
// reader knows that there are more.
func notDrawn(n int) string { return strconv.Itoa(n) + " more not drawn" }

func (p *picture) hasVolume() bool { return slices.ContainsFunc(p.s.Volume[:p.n], positive) }

func upTo(values []float64, n int) []float64 { return values[:min(n, len(values))] }

// extended returns values followed by ahead, the values for future bars. If values does
// not cover all bars, it returns only values, since ahead would be at the wrong place.
func (p *picture) extended(values, ahead []float64) []float64 {
	values = upTo(values, p.n)
	if len(ahead) == 0 || len(values) < p.n {
		return values
	}
	return slices.Concat(values, upTo(ahead, p.ahead))
}

// asDrawn returns the values of l by the bars at which they are drawn.
func (p *picture) asDrawn(l *indicators.Line) []float64 {
	values := p.extended(l.Values, l.Ahead)
	return values[min(l.Back, len(values)):]
}

// lastValue returns the value at the last of n bars.
func lastValue(values []float64, n int) (v float64, ok bool) {
	if n == 0 || len(values) < n || !usable(values[n-1]) {
		return math.NaN(), false
	}
	return values[n-1], true
}

// bounds returns the usual range of the study, such as 0 to 100, wider if values leave it;
// ok is false when there is none.
func (st *study) bounds() (s span, ok bool) {
	lo, hi, ok := st.Range()
	if st.YRange == nil || !ok || !usable(lo) || !usable(hi) {
		return s, false
	}
	return span{lo, hi}, true
}

// changeInk returns the colour of a change.
func changeInk(before, now float64) ink {
	if now < before {
		return inkDown
	}
	return inkUp
}

func (p *picture) barInk(i int) ink { return changeInk(p.s.Open[i], p.s.Close[i]) }

// priceInk returns the colour of the last price: that of its bar, or of the
// line that shows it.
func (p *picture) priceInk(i int) ink {
	if p.kind == LineType || p.kind == Area {
		return inkProfile
	}
	return p.barInk(i)
}

func (p *picture) priceText(v float64) string { return priceText(v, p.precision) }

// namedText writes a price that is named by itself, of an order, an alert, a position, a mark
// or the end of a wick. It may have more decimals than the prices of most bars.
func (p *picture) namedText(v float64) string {
	if !usable(v) || extreme(v) {
		return p.priceText(v)
	}
	return priceText(v, max(p.precision, decimals(v, p.visible)))
}

// axisText writes a value as the price axis does: as a price or in percent.
func (p *picture) axisText(v float64) string {
	if p.mode == Percent && p.base > 0 {
		return p.percentText(v)
	}
	return p.priceText(v)
}

// percentText writes the change from the first close to v with the decimals of the axis.
func (p *picture) percentText(v float64) string { return percentText(p.base, v, max(2, p.changes)) }

// ownText is like axisText, for the price of a level of the account or the caller.
func (p *picture) ownText(v float64) string {
	if p.mode == Percent && p.base > 0 {
		return p.axisText(v)
	}
	return p.namedText(v)
}

func (p *picture) percentOf(v float64) float64 { return 100 * (v/p.base - 1) }

// digits returns how many decimals values on the price axis need: those of the
// prices, and enough to tell values apart that differ by a hundredth of the
// range. Otherwise three averages of a price of 0.06 would all be 0.06.
func (p *picture) digits() int {
	sc := p.panes[0].scale
	if !(sc.hi > sc.lo) || sc.empty {
		return p.precision
	}
	return min(max(p.precision, int(math.Ceil(-math.Log10((sc.hi-sc.lo)/100)))), max(tiny-1, p.precision))
}
