package chart

import (
	"image"
	"math"
	"slices"

	"wick/indicators"
)

// Painting what indicators draw: areas and profiles below the candles, histograms,
// and lines in their four styles.

// paintAreas draws what lies under the data: profile bars and fills. They come first,
// so that candles and lines lie over them.
func (p *picture) paintAreas(c *canvas, pn *pane) {
	profile := inkProfile
	for k := range pn.studies {
		st := &pn.studies[k]
		p.paintShaded(c, pn, st.Shaded, st.shade)
		p.paintProfile(c, pn, st.HBars, profile)
		if len(st.HBars) > 0 {
			profile = inkOsc // for a second study
		}
		p.paintFills(c, pn, st)
	}
}

// paintFills shades the regions of a study in the inks of the lines they belong to.
func (p *picture) paintFills(c *canvas, pn *pane, st *study) {
	// Fills between lines that hold their value for a session have their steps, too,
	// whatever their tone. A study with such lines and fills has no other kind of line.
	step := slices.ContainsFunc(st.Lines, func(l indicators.Line) bool { return l.Style == indicators.Step })
	for _, f := range st.Fills {
		above := areaInk(st, f.Tone)
		below := above
		if f.Below != indicators.Auto {
			below = areaInk(st, f.Below)
		}
		p.paintFill(c, pn, f, above, below, step)
	}
}

// paintShaded tints the bars that are set, from top to bottom.
func (p *picture) paintShaded(c *canvas, pn *pane, set []bool, colour ink) {
	// One rectangle for each stretch of bars, so that no seam shows between two of them.
	for _, run := range runs(set[:min(p.n, len(set))]) {
		left, right := p.x0+float64(run[0])*p.pitch, p.x0+float64(run[1]+1)*p.pitch
		c.tint(image.Rect(int(left), pn.frame.Min.Y, max(int(right), int(left)+1), pn.frame.Max.Y), colour, fillLevel)
	}
}

// runs returns the first and the last bar of every stretch that is set.
func runs(set []bool) (out [][2]int) {
	for i, on := range set {
		switch {
		case on && i > 0 && set[i-1]:
			out[len(out)-1][1] = i
		case on:
			out = append(out, [2]int{i, i})
		}
	}
	return out
}

// areaInk returns the ink of a fill: that of the lines it belongs to or, if that is the
// ink of bands, the ink for fills.
func areaInk(st *study, tone indicators.Tone) ink {
	found := toneInk(tone, inkBand)
	for i, l := range st.Lines {
		if l.Tone == tone {
			found = st.lines[i].ink
			break
		}
	}
	if found == inkBand {
		return inkFill
	}
	return found
}

// mostProfile is the part of the plot that the longest profile bar may take.
const mostProfile = 0.30

// paintProfile draws horizontal bars from either edge, behind the candles; base
// is the ink of those without a meaning of their own.
func (p *picture) paintProfile(c *canvas, pn *pane, bars []indicators.HBar, base ink) {
	longest := 0.0
	for _, b := range bars {
		if reach := b.Width + b.Offset; usable(reach) {
			longest = max(longest, reach)
		}
	}
	// Widths are parts of the plot. If the longest bar would take more than its share, all
	// of them are scaled down.
	unit := float64(p.axisX) * min(1, mostProfile/max(longest, 1e-9))
	for _, b := range bars {
		if !usable(b.Y) || !usable(b.Height) || !(b.Width > 0) || !(b.Offset >= 0) || !usable(b.Width+b.Offset) {
			continue
		}
		// A bar's own tone comes before base.
		colour := toneInk(b.Tone, base)
		if b.Tone == indicators.Band || b.Tone == indicators.Muted {
			colour = base
		}
		c.tint(p.profileRect(pn, b, unit), colour, profileCover(b))
	}
}

// profileCover returns the transparency of a bar of a profile: the value area is
// stronger, the point of control strongest.
func profileCover(b indicators.HBar) int {
	switch {
	case b.Tone == indicators.Accent:
		return pocLevel
	case b.Strong:
		return strongLevel
	}
	return weakLevel
}

// profileRect returns where a bar of a profile lies; unit is the width of one that
// takes the whole plot.
func (p *picture) profileRect(pn *pane, b indicators.HBar, unit float64) image.Rectangle {
	// From the price in the middle of a bar to its two edges.
	top, bottom := pn.scale.row(b.Y+b.Height/2), pn.scale.row(b.Y-b.Height/2)
	if bottom-top >= 3 {
		bottom-- // a gap between neighbours
	}
	from, to := int(b.Offset*unit+0.5), int((b.Offset+b.Width)*unit+0.5)
	r := image.Rect(from, top, max(to, from+1), max(bottom, top+1))
	if !b.Left {
		r.Min.X, r.Max.X = p.axisX-r.Max.X, p.axisX-r.Min.X
	}
	return r
}

// paintFill shades the region between two series column by column, so that it is even at
// every pitch and changes its ink exactly where they cross. With step, a bar's value holds
// over its whole width, in the columns that stepRects gives it.
func (p *picture) paintFill(c *canvas, pn *pane, f indicators.Fill, above, below ink, step bool) {
	f.Y1, f.Y2 = p.extended(f.Y1, f.Ahead1), p.extended(f.Y2, f.Ahead2)
	n := min(len(f.Y1), len(f.Y2))
	if n == 0 || n == 1 && !step { // between the middles of bars, a region needs two of them
		return
	}
	// The first and the last column whose middle lies between the middles of
	// the first and the last bar.
	first, last := int(math.Ceil(p.barX(0)-0.5)), int(math.Floor(p.barX(n-1)-0.5))
	if step {
		first, last = int(p.x0), int(p.x0+float64(n)*p.pitch)-1
	}
	for x := max(c.clip.Min.X, first); x <= min(c.clip.Max.X-1, last); x++ {
		i, t := p.barAt(x, n, step)
		y1, y2 := between(f.Y1, i, t), between(f.Y2, i, t)
		if !usable(y1) || !usable(y2) {
			continue
		}
		colour := above
		if y1 < y2 {
			colour = below
			y1, y2 = y2, y1
		}
		c.tintColumn(x, pn.scale.row(y1), pn.scale.row(y2), &c.pal.mix[colour][fillLevel])
	}
}

// barAt returns where column x is among n bars. Its middle is at the middle of bar i plus
// the part t of the way to that of the next bar. With step, t is 0 and i the bar to whose
// width the column belongs.
func (p *picture) barAt(x, n int, step bool) (i int, t float64) {
	if step {
		// The last bar that begins left of the column's right end.
		i = int(math.Ceil((float64(x)+1-p.x0)/p.pitch)) - 1
		return min(max(i, 0), n-1), 0
	}
	at := (float64(x)+0.5-p.x0)/p.pitch - 0.5
	i = min(max(int(at), 0), n-2)
	return i, at - float64(i)
}

// between returns the value at the part t of the way from values[i] to the next one. If
// one that counts is not usable, the result is not either.
func between(values []float64, i int, t float64) float64 {
	switch t { // at 0 and 1 the other end does not count
	case 0:
		return values[i]
	case 1:
		return values[i+1]
	}
	return values[i] + float64((values[i+1]-values[i])*t)
}

// tintColumn mixes m into the rows top to bottom of one column, within clip.
func (c *canvas) tintColumn(x, top, bottom int, m *[256]uint8) {
	top, bottom = max(top, c.clip.Min.Y), min(bottom, c.clip.Max.Y)
	for o, end := top*c.w+x, bottom*c.w+x; o < end; o += c.w {
		c.pix[o] = m[c.pix[o]]
	}
}

// paintHistograms draws bars from zero, in four tones by sign and direction.
func (p *picture) paintHistograms(c *canvas, pn *pane) {
	for k := range pn.studies {
		st := &pn.studies[k]
		for h := range st.Histogram {
			p.paintHistogram(c, pn, upTo(st.Histogram[h].Values, p.n), st.bars[h])
		}
		if len(st.Histogram) > 0 && !pn.scale.empty {
			y := pn.scale.row(0)
			c.rect(image.Rect(0, y, p.axisX, y+p.thin), inkSep)
		}
	}
}

// paintHistogram draws one histogram, whose ink is base.
func (p *picture) paintHistogram(c *canvas, pn *pane, values []float64, base ink) {
	before := math.NaN() // the value drawn last, with which the next one is compared
	for i := 0; i < len(values); {
		j := i + 1
		v := values[i]
		// Bars that share a column share a bar of the histogram.
		for j < len(values) && p.dense() && p.column(j) == p.column(i) {
			if usable(values[j]) && !(math.Abs(values[j]) < math.Abs(v)) {
				v = values[j] // the value furthest from zero is drawn for the column
			}
			j++
		}
		if usable(v) {
			p.paintBar(c, pn, i, v, histogramInk(base, v, before))
			before = v
		}
		i = j
	}
}

// histogramInk returns the ink of a bar: full if it is further from zero than the bar
// before, pale if it is nearer. A base other than inkUp is the indicator's own choice, and
// all bars have it.
func histogramInk(base ink, v, before float64) ink {
	switch {
	case base != inkUp:
		return base
	case v >= 0 && v < before:
		return inkUpPale
	case v >= 0:
		return inkUp
	case v > before:
		return inkDownPale
	}
	return inkDown
}

// paintBar draws one bar of a histogram from zero to v. A value that is not zero is at
// least one pixel high.
func (p *picture) paintBar(c *canvas, pn *pane, i int, v float64, colour ink) {
	zero, y := pn.scale.row(0), pn.scale.row(v)
	if v != 0 && y == zero {
		y -= int(math.Copysign(1, v))
	}
	c.rect(p.barRect(i, min(zero, y), max(zero, y)), colour)
}

// paintLines draws the lines of a pane. A missing value breaks a line.
func (p *picture) paintLines(c *canvas, pn *pane) {
	for k := range pn.studies {
		st := &pn.studies[k]
		for i, l := range st.Lines {
			values := p.extended(l.Values, l.Ahead)
			lk := st.lines[i]
			width := p.line
			if l.Tone == indicators.Band {
				width = p.edge
			}
			switch l.Style {
			case indicators.Dots:
				p.paintDots(c, pn, values, lk.ink)
			case indicators.Step:
				p.paintSteps(c, pn, values, lk)
			default:
				p.paintRuns(c, pn, values, width, lk.ink, lk.dashed || l.Style == indicators.Dashed)
			}
		}
	}
}

// paintRuns draws a line in straight pieces from bar to bar. Each unbroken run is a
// stroke of its own.
func (p *picture) paintRuns(c *canvas, pn *pane, values []float64, width float64, colour ink, dashed bool) {
	for from := 0; from < len(values); {
		c.pts, from = p.run(c.pts[:0], pn, values, from)
		if dashed {
			c.strokeDashed(c.pts, width, 6*p.u, 5*p.u, colour)
		} else {
			c.stroke(c.pts, width, colour)
		}
	}
}

// run appends to pts the points of the next unbroken run of values at or after from, and
// returns the index after it. If bars are closer than the thinnest stroke, a column has
// only its first, lowest, highest and last value.
func (p *picture) run(pts []point, pn *pane, values []float64, from int) ([]point, int) {
	// Skip missing values. The run ends at the next missing one.
	i := from
	for i < len(values) && !usable(values[i]) {
		i++
	}
	for i < len(values) && usable(values[i]) {
		if !p.dense() {
			pts = append(pts, point{p.barX(i), pn.scale.y(values[i])})
			i++
			continue
		}
		col := p.column(i)
		first, reach, last := values[i], noSpan, values[i]
		for ; i < len(values) && usable(values[i]) && p.column(i) == col; i++ {
			reach.add(values[i])
			last = values[i]
		}
		x := float64(col) + float64(p.thin%2)/2
		for _, v := range [...]float64{first, reach.lo, reach.hi, last} {
			pts = append(pts, point{x, pn.scale.y(v)})
		}
	}
	return pts, i
}

// paintDots draws a disc per value, smaller where bars are close.
func (p *picture) paintDots(c *canvas, pn *pane, values []float64, colour ink) {
	radius := 2 * p.u
	if p.pitch < 5*p.u {
		radius = max(p.u, 0.4*p.pitch)
	}
	for i, v := range values {
		if usable(v) {
			c.disc(point{p.barX(i), pn.scale.y(v)}, radius, colour)
		}
	}
}

// paintSteps draws a level per bar as whole pixels, without joins between
// different levels. Dashes go on from one level to the next and begin anew after a
// missing value.
func (p *picture) paintSteps(c *canvas, pn *pane, values []float64, lk look) {
	from, end := 0, -1 // where the dashes begin, and where the last level ends
	for _, r := range p.stepRects(pn, values) {
		if !lk.dashed {
			c.rect(r, lk.ink)
			continue
		}
		if r.Min.X > end {
			from = r.Min.X
		}
		end = r.Max.X
		c.dashesFrom(from, r, p.px(6), p.px(5), lk.ink)
	}
}
