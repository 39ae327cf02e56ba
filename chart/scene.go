package chart

import (
	"cmp"
	"context"
	"image"
	"math"
	"slices"

	"wick/indicators"
)

// scene is a picture that is laid out and not painted yet: shapes and texts with their
// places, in the order in which they are painted. Layout only adds to it, and painting only
// reads it.
type scene struct {
	pal    *palette
	shapes []shape
	clip   image.Rectangle // of the shapes that are added
	reach  float64         // of the shapes that are added
}

// shape is something placed: how it is painted, and what of it texts keep away from.
type shape struct {
	paint func(c *canvas) // nil for what most shapes are: ink over the whole box
	box   image.Rectangle // of what is upright
	pts   []point         // the middle of what is slanted or round
	// reach is how far around its middle a text over it would hide a stroke or a disc, or any
	// number above 0 if a text would hide an upright shape. 0 means that texts may lie over it.
	reach float64
	ink   ink
	level uint8 // of transparency, see mixer
}

// add adds a shape.
func (s *scene) add(sh shape) {
	sh.reach = s.reach
	s.shapes = append(s.shapes, sh)
}

// within clips the shapes that follow to box; those with a reach hide what is under a text.
func (s *scene) within(box image.Rectangle, reach float64) {
	if box != s.clip {
		s.shapes = append(s.shapes, shape{box: box, paint: func(c *canvas) { c.clip = box }})
	}
	s.clip, s.reach = box, reach
}

func (s *scene) rect(r image.Rectangle, i ink) { s.tint(r, i, levels) }

// tint covers r; below the highest level what is under it shines through.
func (s *scene) tint(r image.Rectangle, i ink, level int) {
	s.add(shape{box: r, ink: i, level: uint8(level)})
}

// stripes covers the first on rows of every so many of r.
func (s *scene) stripes(r image.Rectangle, on, every int, i ink) {
	for y := r.Min.Y; y < r.Max.Y; y += every {
		s.rect(image.Rect(r.Min.X, y, r.Max.X, min(y+on, r.Max.Y)), i)
	}
}

// dashes adds the strip r as dashes, which begin at column from.
func (s *scene) dashes(r image.Rectangle, from, on, off int, i ink) {
	s.add(shape{box: r, paint: func(c *canvas) { c.dashes(r, from, on, off, i) }})
}

// stroke adds a line; with no gaps, off, between dashes it is solid.
func (s *scene) stroke(pts []point, width, on, off float64, i ink) {
	s.add(shape{pts: pts, paint: func(c *canvas) { c.strokeDashed(pts, width, on, off, i) }})
}

func (s *scene) disc(at point, radius float64, i ink) {
	s.add(shape{pts: []point{at}, paint: func(c *canvas) { c.disc(at, radius, i) }})
}

func (s *scene) paint(ctx context.Context, c *canvas) error {
	for i := range s.shapes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if sh := &s.shapes[i]; sh.paint != nil {
			sh.paint(c)
		} else {
			c.tint(sh.box, sh.ink, int(sh.level))
		}
	}
	return nil
}

// drawGround adds what is under the data: the watermark of invented bars, and a line for each
// tick.
func (p *picture) drawGround() {
	if p.s.Synthetic {
		const text = "SYNTHETIC DATA"
		pn := p.panes[0]
		// As large as fits, so that it survives when the picture is shrunk, but in a few sizes
		// only, because large glyphs stay in memory.
		size := min(64*p.u, float64(p.axisX)/12)
		if size > 40 {
			size = math.Floor(size/16) * 16
		}
		font := fontAt(bold, int(size))
		p.within(pn.plot, 0)
		p.add(shape{paint: func(c *canvas) {
			c.text(font, text, (p.axisX-font.width(text))/2, font.baseline((pn.legend.Max.Y+pn.floor)/2), inkMark)
		}})
	}
	for _, pn := range p.panes {
		p.within(image.Rect(0, pn.frame.Min.Y, p.axisX, pn.floor), 0)
		for _, t := range pn.ticks {
			if !t.level {
				p.rect(image.Rect(0, t.y, p.axisX, t.y+p.thin), inkGrid)
			}
		}
		p.within(pn.plot, 0)
		for _, x := range p.breaks {
			p.stripes(image.Rect(x, pn.frame.Min.Y, x+1, pn.frame.Max.Y), p.px(2), p.px(2)+p.px(3), inkStrong)
		}
		for _, t := range p.s.Gaps { // bars are missing before this one
			if i, ok := slices.BinarySearch(p.s.Time, t); ok && i > 0 {
				x := int(p.x0 + float64(i)*p.pitch)
				p.stripes(image.Rect(x-p.thin, pn.frame.Min.Y, x, pn.frame.Max.Y), p.px(4), p.px(7), inkMuted)
			}
		}
		// Strong lines last, so that no weak one crosses them.
		for _, colour := range [...]ink{inkGrid, inkStrong} {
			for _, t := range p.times {
				if x := p.column(t.bar); t.strong == (colour == inkStrong) {
					p.rect(image.Rect(x, pn.frame.Min.Y, x+p.thin, pn.frame.Max.Y), colour)
				}
			}
		}
	}
}

// drawPane adds the data of a pane, which cannot leave its plot. What texts keep away from
// comes after the areas.
func (p *picture) drawPane(pn *pane) {
	plot := image.Rect(0, pn.legend.Max.Y, p.axisX, pn.frame.Max.Y)
	p.within(plot, 0)
	p.drawAreas(pn)
	if pn.price {
		p.drawVolume()
	}
	p.within(plot, p.line/2+1)
	p.drawLevels(pn)
	if pn.price {
		p.drawPrice(pn)
	} else {
		p.drawHistograms(pn)
	}
	p.drawLines(pn)
	if pn.price {
		p.drawOwn(pn)
	}
	p.reach = 4 * p.u
	p.drawDivergences(pn)
	p.reach = 0
}

// drawAreas adds what lies under the data: shaded bars, profiles, fills, the caller's zones.
func (p *picture) drawAreas(pn *pane) {
	profile := inkProfile
	for _, st := range pn.studies {
		// One rectangle for each stretch of bars, so that no seam shows between two of them.
		for _, run := range runs(st.Shaded[:min(p.n, len(st.Shaded))]) {
			left, right := p.x0+float64(run[0])*p.pitch, p.x0+float64(run[1]+1)*p.pitch
			p.tint(image.Rect(int(left), pn.frame.Min.Y, max(int(right), int(left)+1), pn.frame.Max.Y), st.shade, fillLevel)
		}
		p.drawProfile(pn, st.HBars, profile)
		if len(st.HBars) > 0 {
			profile = inkOsc // for a second study
		}
		if isCandles(st.Result) {
			p.reach = 1
			p.drawAveraged(pn, st.Lines)
			p.reach = 0
			continue
		}
		// Fills between lines that hold their value for a session have their steps, too,
		// whatever their tone. A study with such lines and fills has no other kind of line.
		step := slices.ContainsFunc(st.Lines, func(l indicators.Line) bool { return l.Style == indicators.Step })
		for _, f := range st.Fills {
			p.drawFill(pn, f, areaInk(st, f.Tone), areaInk(st, cmp.Or(f.Below, f.Tone)), step)
		}
	}
	for _, m := range p.view.Marks {
		if pn.price && m.Kind == MarkZone && m.drawable() { // under the data and above the volume
			area := p.zoneRect(pn, m)
			area.Max.Y = min(area.Max.Y, pn.floor)
			p.tint(area, toneInk(m.Tone, inkAmber), weakLevel)
		}
	}
}

// isCandles reports whether the lines of an overlay are the four prices of candles, such as
// averaged ones.
func isCandles(r *indicators.Result) bool {
	prices := []string{"Open", "High", "Low", "Close"}
	return r.Overlay && slices.EqualFunc(r.Lines, prices, func(l indicators.Line, name string) bool { return l.Label == name })
}

// drawAveraged adds candles of other prices under the chart's own: as wide as a bar and its
// gap, so that both are seen, with what is under them shining through.
func (p *picture) drawAveraged(pn *pane, lines []indicators.Line) {
	for i := range p.n {
		if slices.ContainsFunc(lines, func(l indicators.Line) bool { return i >= len(l.Values) || !usable(l.Values[i]) }) {
			continue
		}
		var rows [4]int
		for k, l := range lines {
			rows[k] = pn.scale.row(l.Values[i])
		}
		left, right := int(p.x0+float64(i)*p.pitch), int(p.x0+float64(i+1)*p.pitch)
		colour := changeInk(lines[0].Values[i], lines[3].Values[i])
		top, bottom := min(rows[0], rows[3]), max(rows[0], rows[3], min(rows[0], rows[3])+p.thin)
		p.tint(image.Rect(left, top, max(right, left+1), bottom), colour, strongLevel)
		x := p.column(i) - p.wick/2
		p.tint(image.Rect(x, rows[1], x+p.wick, top), colour, strongLevel)
		p.tint(image.Rect(x, bottom, x+p.wick, rows[2]), colour, strongLevel)
	}
}

// runs returns the first and the last bar of every stretch that is set.
func runs(set []bool) (out [][2]int) {
	for from, to := range stretches(len(set), func(i int) bool { return set[i] == set[i-1] }) {
		if set[from] {
			out = append(out, [2]int{from, to - 1})
		}
	}
	return out
}

// areaInk returns the ink of a fill: that of the lines it belongs to or, if that is the
// ink of bands, the ink for fills.
func areaInk(st *study, tone indicators.Tone) ink {
	found := toneInk(tone, inkBand)
	if i := slices.IndexFunc(st.Lines, func(l indicators.Line) bool { return l.Tone == tone }); i >= 0 {
		found = st.lines[i].ink
	}
	if found == inkBand {
		return inkFill
	}
	return found
}

// mostProfile is the part of the plot that the longest profile bar may take.
const mostProfile = 0.30

// drawProfile adds horizontal bars from either edge; base is the ink of those without a
// meaning of their own.
func (p *picture) drawProfile(pn *pane, bars []indicators.HBar, base ink) {
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
		colour := toneInk(b.Tone, base)
		if b.Tone == indicators.Band || b.Tone == indicators.Muted {
			colour = base
		}
		level := weakLevel // the value area is stronger, the point of control strongest
		switch {
		case b.Tone == indicators.Accent:
			level = pocLevel
		case b.Strong:
			level = strongLevel
		}
		top, bottom := pn.scale.row(b.Y+b.Height/2), pn.scale.row(b.Y-b.Height/2)
		if bottom-top >= 3 {
			bottom-- // a gap between neighbours
		}
		from, to := int(b.Offset*unit+0.5), int((b.Offset+b.Width)*unit+0.5)
		r := image.Rect(from, top, max(to, from+1), max(bottom, top+1))
		if !b.Left {
			r.Min.X, r.Max.X = p.axisX-r.Max.X, p.axisX-r.Min.X
		}
		p.tint(r, colour, level)
	}
}

// drawFill shades the region between two series column by column, so that it is even at
// every pitch and changes its ink exactly where they cross. With step, a bar's value holds
// over its whole width, in the columns of its line.
func (p *picture) drawFill(pn *pane, f indicators.Fill, above, below ink, step bool) {
	f.Y1, f.Y2 = p.extended(f.Y1, f.Ahead1), p.extended(f.Y2, f.Ahead2)
	n := min(len(f.Y1), len(f.Y2))
	if n == 0 || n == 1 && !step { // between the middles of bars, a region needs two of them
		return
	}
	// The first and the last column whose middle lies between the middles of the first and
	// the last bar.
	first, last := int(math.Ceil(p.barX(0)-0.5)), int(math.Floor(p.barX(n-1)-0.5))
	if step {
		first, last = int(p.x0), int(p.x0+float64(n)*p.pitch)-1
	}
	columns := make([]column, 0, p.clip.Dx())
	for x := max(p.clip.Min.X, first); x <= min(p.clip.Max.X-1, last); x++ {
		// The column's middle is at the middle of bar i plus the part t of the way to the next.
		at := (float64(x)+0.5-p.x0)/p.pitch - 0.5
		i := min(max(int(at), 0), n-2)
		t := at - float64(i)
		if step { // the last bar that begins left of the column's right end
			i, t = min(max(int(math.Ceil((float64(x)+1-p.x0)/p.pitch))-1, 0), n-1), 0
		}
		y1, y2 := between(f.Y1, i, t), between(f.Y2, i, t)
		if !usable(y1) || !usable(y2) {
			continue
		}
		colour := above
		if y1 < y2 {
			colour = below
			y1, y2 = y2, y1
		}
		columns = append(columns, column{x, pn.scale.row(y1), pn.scale.row(y2), colour})
	}
	p.add(shape{paint: func(c *canvas) { c.area(columns, fillLevel) }})
}

// between returns the value at the part t of the way from values[i] to the next one. If
// one that counts is not usable, the result is not either.
func between(values []float64, i int, t float64) float64 {
	if t == 0 {
		return values[i]
	}
	return values[i] + float64((values[i+1]-values[i])*t)
}

// drawHistograms adds bars from zero, in four tones by sign and direction.
func (p *picture) drawHistograms(pn *pane) {
	zero := pn.scale.row(0)
	for _, st := range pn.studies {
		for _, h := range st.Histogram {
			values := upTo(h.Values, p.n)
			before := math.NaN() // the value drawn last, with which the next one is compared
			for i, j := range p.drawnAsOne(0, len(values)) {
				v := values[i]
				for _, other := range values[i+1 : j] { // the one furthest from zero
					if usable(other) && !(math.Abs(other) < math.Abs(v)) {
						v = other
					}
				}
				if !usable(v) {
					continue
				}
				y := pn.scale.row(v)
				if v != 0 && y == zero { // at least one pixel high
					y -= int(math.Copysign(1, v))
				}
				// Full if it is further from zero than the bar before, pale if it is nearer; all bars
				// have the colour that the indicator chose, if it did.
				colour := barsInk(h.Tone)
				switch {
				case colour != inkUp:
				case v >= 0 && v < before:
					colour = inkUpPale
				case v < 0 && v > before:
					colour = inkDownPale
				case v < 0:
					colour = inkDown
				}
				left := p.column(i) - p.wick/2 - (p.body-p.wick)/2 // as wide as the body of a candle
				p.rect(image.Rect(left, min(zero, y), left+p.body, max(zero, y)), colour)
				before = v
			}
		}
		if len(st.Histogram) > 0 && !pn.scale.empty {
			p.rect(image.Rect(0, zero, p.axisX, zero+p.thin), inkSep)
		}
	}
}

// drawLines adds the lines of a pane. A missing value breaks a line.
func (p *picture) drawLines(pn *pane) {
	for _, st := range pn.studies {
		for i, l := range st.Lines {
			if isCandles(st.Result) {
				break
			}
			values, lk := p.asDrawn(&l), st.lines[i]
			width := p.line
			if l.Tone == indicators.Band {
				width = p.edge
			}
			switch l.Style {
			case indicators.Dots:
				radius := 2 * p.u
				if p.pitch < 5*p.u {
					radius = max(p.u, 0.4*p.pitch)
				}
				for i, v := range values {
					if usable(v) {
						p.disc(point{p.barX(i), pn.scale.y(v)}, radius, lk.ink)
					}
				}
			case indicators.Step:
				p.drawSteps(pn, values, lk)
			default:
				p.drawRuns(pn, values, width, lk.ink, lk.dashed || l.Style == indicators.Dashed)
			}
		}
	}
}

// drawSteps adds a level for every stretch of equal values as whole pixels, without joins
// between different levels. Dashes go on from one level to the next and begin anew after a
// missing value.
func (p *picture) drawSteps(pn *pane, values []float64, lk look) {
	thick := max(1, int(math.Round(p.line)))
	from, end := 0, -1 // where the dashes begin, and where the last level ends
	for i, j := range stretches(len(values), func(i int) bool { return values[i] == values[i-1] }) {
		if !usable(values[i]) { // NaN equals nothing, so it is a stretch of its own
			continue
		}
		y := pn.scale.row(values[i]) - thick/2
		left, right := int(p.x0+float64(i)*p.pitch), int(p.x0+float64(j)*p.pitch)
		r := image.Rect(left, y, max(right, left+1), y+thick)
		if left > end {
			from = left
		}
		end = r.Max.X
		if lk.dashed {
			p.dashes(r, from, p.px(6), p.px(5), lk.ink)
		} else {
			p.rect(r, lk.ink)
		}
	}
}

// drawRuns adds a line in straight pieces from bar to bar. Each unbroken run of values is a
// stroke of its own. If bars are closer than the thinnest stroke, a column has only its
// first, lowest, highest and last value.
func (p *picture) drawRuns(pn *pane, values []float64, width float64, colour ink, dashed bool) {
	on, off := 0.0, 0.0
	if dashed {
		on, off = 6*p.u, 5*p.u
	}
	for from, to := range stretches(len(values), func(i int) bool { return usable(values[i]) == usable(values[i-1]) }) {
		if !usable(values[from]) {
			continue
		}
		pts := make([]point, 0, min(to-from, 4*p.axisX))
		for i, j := range p.drawnAsOne(from, to-from) {
			if !p.dense() {
				pts = append(pts, point{p.barX(from + i), pn.scale.y(values[from+i])})
				continue
			}
			reach, x := noSpan, float64(p.column(from+i))+float64(p.thin%2)/2
			reach.addAll(values[from+i : from+j])
			for _, v := range [...]float64{values[from+i], reach.lo, reach.hi, values[from+j-1]} {
				pts = append(pts, point{x, pn.scale.y(v)})
			}
		}
		p.stroke(pts, width, on, off, colour)
	}
}

func (p *picture) level(pn *pane, v, on, off float64, i ink) {
	y := pn.scale.row(v)
	p.dashes(image.Rect(0, y, p.axisX, y+p.thin), 0, p.px(on), p.px(off), i)
}

// drawLevels adds the levels of studies, which are under what they are levels of.
func (p *picture) drawLevels(pn *pane) {
	for _, st := range pn.studies {
		for k, h := range st.HLines {
			// The zero of a histogram has its line already. A price that the scale cuts off
			// has none, even if it has a row of the pane: that row belongs to the volume.
			if usable(h.Y) && (h.Y != 0 || len(st.Histogram) == 0) && (!pn.price || pn.inside(h.Y)) {
				p.level(pn, h.Y, 6, 4, levelInk(st.Result, k, pn.price))
			}
		}
	}
}

// drawOwn adds the line of the last close, and the levels and lines of the account and the
// caller. A level beyond the edges of the price is named there.
func (p *picture) drawOwn(pn *pane) {
	if last := p.n - 1; last >= 0 {
		p.level(pn, p.s.Close[last], 2, 3, p.priceInk(last))
	}
	for _, l := range p.own {
		if pn.inside(l.price) {
			p.level(pn, l.price, l.on, l.off, l.ink)
		}
	}
	for _, m := range p.view.Marks {
		if m.Kind == MarkLine && m.drawable() {
			p.stroke(p.path(pn, m), p.line, 0, 0, toneInk(m.Tone, inkAmber))
		}
	}
}

// levelInk returns the ink of level k. The highest and the lowest level of an oscillator
// with a fixed range have the colours of falling and rising, unless they have a tone of
// their own: a high value warns of a fall, a low one promises a rise.
func levelInk(r *indicators.Result, k int, price bool) ink {
	h := r.HLines[k]
	switch {
	case price:
		return toneInk(h.Tone, inkBand)
	case h.Tone != indicators.Auto || r.YRange == nil:
		return toneInk(h.Tone, inkLevel)
	}
	// Only the outermost levels are coloured: between them is the ordinary range.
	ordinary := noSpan
	for _, other := range r.HLines {
		if other.Tone == indicators.Auto { // that of an alert has a tone
			ordinary.add(other.Y)
		}
	}
	switch {
	case ordinary.lo == ordinary.hi:
	case h.Y == ordinary.hi:
		return inkDown
	case h.Y == ordinary.lo:
		return inkUp
	}
	return inkLevel
}

// drawDivergences adds divergence lines, from left to right, with discs at their ends. One
// that is not wholly in the picture is left out.
func (p *picture) drawDivergences(pn *pane) {
	radius := 4 * p.u
	if p.compact {
		radius = 2.5 * p.u
	}
	for _, st := range pn.studies {
		for _, d := range st.DivLines {
			if !usable(d.Y1) || !usable(d.Y2) || min(d.X1, d.X2) < 0 || max(d.X1, d.X2) >= p.n {
				continue
			}
			a, b := point{p.barX(d.X1), pn.scale.y(d.Y1)}, point{p.barX(d.X2), pn.scale.y(d.Y2)}
			if a.x > b.x {
				a, b = b, a
			}
			on, off, colour := 0.0, 0.0, toneInk(d.Tone, inkAmber)
			if d.Dashed {
				on, off = 7*p.u, 5*p.u
			}
			p.stroke([]point{a, b}, p.line, on, off, colour)
			p.disc(a, radius, colour)
			p.disc(b, radius, colour)
		}
	}
}

// paintMarks paints triangles, each over a larger, darker one, whose edge separates it from
// what is under it. Through a pale one shines what is under it.
func (p *picture) paintMarks(c *canvas, marks []mark) {
	edges := map[ink]ink{inkAmber: inkAmberEdge, inkUp: inkUpEdge, inkDown: inkDownEdge} // that of others is the background
	for _, m := range marks {
		// The darker triangle is larger by e on every side: one pixel of outline at u = 1.
		w, h, e := float64(m.box.Dx()), float64(m.box.Dy()), p.u
		side := 1.0
		if !m.up {
			side = -1
		}
		if m.pale {
			c.triangle(m.tip, w, side*h, m.ink, levels/2)
			continue
		}
		c.triangle(point{m.tip.x, m.tip.y - side*1.5*e}, w+3*e, side*(h+2.5*e), edges[m.ink], levels)
		c.triangle(m.tip, w, side*h, m.ink, levels)
	}
}

// drawTexts adds what lies over the data: the lines between header, panes and axes, all
// texts, and the tags on the axis.
func (p *picture) drawTexts() {
	p.within(image.Rect(0, 0, p.w, p.h), 0)
	for _, pn := range p.panes {
		y := pn.frame.Min.Y
		p.rect(image.Rect(0, y, p.w, y+p.thin), inkSep)
	}
	p.rect(image.Rect(0, p.timeAxis.Min.Y, p.w, p.timeAxis.Min.Y+p.thin), inkSep)
	p.rect(image.Rect(p.axisX, p.header.Max.Y, p.axisX+p.thin, p.timeAxis.Min.Y), inkSep)
	p.add(shape{paint: p.paintTexts})
}

// paintTexts paints the labels, then the tags, which are filled for prices and lines, outlined
// for levels.
func (p *picture) paintTexts(c *canvas) {
	for i := range p.labels {
		l := &p.labels[i]
		switch {
		case l.fill:
			c.tint(l.box, inkAmber, levels)
		case l.backing:
			c.tint(l.box, inkBack, backingLevel)
		}
		if !l.leader.Empty() {
			c.dashes(l.leader, l.leader.Min.X, p.thin, 2*p.thin, inkMuted)
		}
		c.text(l.font, l.text, l.x, l.base, l.ink)
	}
	for _, pn := range p.panes {
		for _, t := range pn.tags {
			letters := p.pal.onTag[t.ink]
			if t.outline {
				letters = t.ink
			}
			middle, x := (t.box.Min.Y+t.box.Max.Y)/2, t.box.Min.X+p.either(5, 8)
			if t.box.Min.X > p.axisX { // it was moved away from its row
				from, to := point{float64(p.axisX), float64(t.y) + 0.5}, point{float64(t.box.Min.X), float64(middle)}
				c.stroke([]point{from, to}, p.edge, t.ink)
				x = t.box.Min.X + p.px(3)
			}
			c.tint(t.box, t.ink, levels)
			if t.outline {
				c.tint(t.box.Inset(p.thin), inkBack, levels)
			}
			c.text(p.tag, t.text, x, p.tag.baseline(middle), letters)
		}
	}
}
