package chart

import (
	"context"
	"image"
	"math"

	"wick/indicators"
)

// paint draws the picture, from what lies at the bottom to the text on top.
func (p *picture) paint(ctx context.Context, c *canvas) error {
	// The order is that of the layers: watermark and grid at the bottom, then
	// areas, data, levels, marks, and text last.
	c.reset(p.w, p.h, p.pal)
	p.paintWatermark(c)
	p.paintGrid(c)
	for i := range p.panes {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.paintPane(c, i)
	}
	c.clip = image.Rect(0, 0, p.w, p.h)
	p.paintSeparators(c)
	p.paintLabels(c)
	p.paintTags(c)
	return nil
}

// paintPane draws the data of a pane. Nothing can leave its plot, because the canvas is
// clipped to it.
func (p *picture) paintPane(c *canvas, i int) {
	pn := &p.panes[i]
	c.clip = image.Rect(0, pn.legend.Max.Y, p.axisX, pn.frame.Max.Y)
	p.paintAreas(c, pn)
	if pn.price {
		p.paintZones(c, pn)
		p.paintVolume(c)
		p.paintPrice(c, pn)
	} else {
		p.paintHistograms(c, pn)
	}
	p.paintLines(c, pn)
	p.paintLevels(c, pn)
	if pn.price {
		p.paintOwnLevels(c, pn)
		p.paintDrawn(c, pn)
	}
	p.paintDivergences(c, pn)
	p.paintMarks(c, i)
}

// paintWatermark writes across the price that the bars are invented.
func (p *picture) paintWatermark(c *canvas) {
	if !p.s.Synthetic {
		return
	}
	const text = "SYNTHETIC DATA"
	pn := &p.panes[0]
	// As large as fits, so that it survives when the picture is shrunk.
	size := min(64*p.u, float64(p.axisX)/12)
	if size > 40 { // only a few sizes, because large glyphs stay in memory
		size = math.Floor(size/16) * 16
	}
	font := fontAt(bold, int(size))
	x := (p.axisX - font.width(text)) / 2
	y := (pn.legend.Max.Y + pn.floor) / 2
	c.clip = pn.plot
	c.text(font, text, x, font.baseline(y), inkMark)
}

// paintGrid draws one line per tick.
func (p *picture) paintGrid(c *canvas) {
	for i := range p.panes {
		pn := &p.panes[i]
		c.clip = image.Rect(0, pn.frame.Min.Y, p.axisX, pn.floor)
		for _, t := range pn.ticks {
			if !t.level {
				c.rect(image.Rect(0, t.y, p.axisX, t.y+p.thin), inkGrid)
			}
		}
		c.clip = pn.plot
		for _, x := range p.breaks {
			c.column(x, pn.frame.Min.Y, pn.frame.Max.Y, p.px(2), p.px(3), inkStrong)
		}
		// Strong lines last, so that no weak one crosses them.
		p.paintTimes(c, pn, false, inkGrid)
		p.paintTimes(c, pn, true, inkStrong)
	}
}

// paintTimes draws the lines of the strong or of the weak ticks of the time axis.
func (p *picture) paintTimes(c *canvas, pn *pane, strong bool, colour ink) {
	for _, t := range p.times {
		if t.strong == strong {
			x := p.column(t.bar)
			c.rect(image.Rect(x, pn.frame.Min.Y, x+p.thin, pn.frame.Max.Y), colour)
		}
	}
}

// paintSeparators draws the lines between header, panes and axes.
func (p *picture) paintSeparators(c *canvas) {
	for i := range p.panes {
		y := p.panes[i].frame.Min.Y
		c.rect(image.Rect(0, y, p.w, y+p.thin), inkSep)
	}
	c.rect(image.Rect(0, p.timeAxis.Min.Y, p.w, p.timeAxis.Min.Y+p.thin), inkSep)
	c.rect(image.Rect(p.axisX, p.header.Max.Y, p.axisX+p.thin, p.timeAxis.Min.Y), inkSep)
}

// paintLabels writes all texts, each on its backing where data may pass under it,
// with the dotted line to what it names.
func (p *picture) paintLabels(c *canvas) {
	for i := range p.labels {
		l := &p.labels[i]
		switch {
		case l.fill:
			c.rect(l.box, inkAmber)
		case l.backing:
			c.tint(l.box, inkBack, backingLevel)
		}
		if !l.leader.Empty() {
			c.dashes(l.leader, p.thin, 2*p.thin, inkMuted)
		}
		c.text(l.font, l.text, l.x, l.base, l.ink)
	}
}

// paintTags draws the tags on the axis: filled for prices and lines, outlined for
// levels.
func (p *picture) paintTags(c *canvas) {
	for i := range p.panes {
		for _, t := range p.panes[i].tags {
			x := t.box.Min.X + p.either(5, 8)
			base := p.tag.baseline((t.box.Min.Y + t.box.Max.Y) / 2)
			if t.outline {
				c.rect(t.box, inkBack)
				c.frame(t.box, p.thin, t.ink)
				c.text(p.tag, t.text, x, base, t.ink)
				continue
			}
			c.rect(t.box, t.ink)
			c.text(p.tag, t.text, x, base, p.pal.onTag[t.ink])
		}
	}
}

// paintLevels draws the levels of a pane as dashes, and on the price the line
// of the last close.
func (p *picture) paintLevels(c *canvas, pn *pane) {
	for _, st := range pn.studies {
		for k, h := range st.HLines {
			// The zero of a histogram has its line already. A price that the scale cuts off
			// has none, even if it has a row of the pane: that row belongs to the volume.
			if usable(h.Y) && (h.Y != 0 || len(st.Histogram) == 0) && (!pn.price || pn.inside(h.Y)) {
				y := pn.scale.row(h.Y)
				c.dashes(image.Rect(0, y, p.axisX, y+p.thin), p.px(6), p.px(4), levelInk(st.Result, k, pn.price))
			}
		}
	}
	if last := p.lastBar(); pn.price && last >= 0 {
		y := pn.scale.row(p.s.Close[last])
		c.dashes(image.Rect(0, y, p.axisX, y+p.thin), p.px(2), p.px(3), p.priceInk(last))
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
	highest, lowest := true, true
	for _, other := range r.HLines {
		if other.Tone == indicators.Auto { // that of an alert has a tone
			highest = highest && h.Y >= other.Y
			lowest = lowest && h.Y <= other.Y
		}
	}
	switch {
	case highest && !lowest:
		return inkDown
	case lowest && !highest:
		return inkUp
	}
	return inkLevel
}

// paintDivergences draws divergence lines with discs at their ends.
func (p *picture) paintDivergences(c *canvas, pn *pane) {
	radius := 4 * p.u
	if p.compact {
		radius = 2.5 * p.u
	}
	for _, st := range pn.studies {
		for _, d := range st.DivLines {
			a, b, ok := p.divergence(pn, d)
			if !ok {
				continue
			}
			colour := toneInk(d.Tone, inkAmber)
			if d.Dashed {
				c.strokeDashed([]point{a, b}, p.line, 7*p.u, 5*p.u, colour)
			} else {
				c.stroke([]point{a, b}, p.line, colour)
			}
			c.disc(a, radius, colour)
			c.disc(b, radius, colour)
		}
	}
}

// paintMarks draws the triangles of a pane, each over a larger, darker one, whose edge
// separates it from what is under it.
func (p *picture) paintMarks(c *canvas, pane int) {
	for i := range p.marks {
		m := &p.marks[i]
		if m.pane != pane {
			continue
		}
		// The darker triangle is larger by e on every side: one pixel of
		// outline at u = 1.
		w, h, e := float64(m.box.Dx()), float64(m.box.Dy()), p.u
		if m.up {
			c.triangle(point{m.tip.x, m.tip.y - 1.5*e}, w+3*e, h+2.5*e, markEdge(m.ink))
			c.triangle(m.tip, w, h, m.ink)
		} else {
			c.triangle(point{m.tip.x, m.tip.y + 1.5*e}, w+3*e, -h-2.5*e, markEdge(m.ink))
			c.triangle(m.tip, w, -h, m.ink)
		}
	}
}

// markEdge returns the ink of the darker triangle under one of ink i.
func markEdge(i ink) ink {
	switch i {
	case inkAmber:
		return inkAmberEdge
	case inkUp:
		return inkUpEdge
	case inkDown:
		return inkDownEdge
	}
	return inkBack
}

// paintZones shades the caller's zones, under the data and above the volume.
func (p *picture) paintZones(c *canvas, pn *pane) {
	for _, m := range p.view.Marks {
		if m.Kind == MarkZone && usable(m.Price) && usable(m.Price2) {
			area := p.zoneRect(pn, m)
			area.Max.Y = min(area.Max.Y, pn.floor)
			c.tint(area, toneInk(m.Tone, inkAmber), weakLevel)
		}
	}
}

// paintDrawn draws the lines among the caller's marks.
func (p *picture) paintDrawn(c *canvas, pn *pane) {
	for _, m := range p.view.Marks {
		if m.Kind == MarkLine && usable(m.Price) && usable(m.Price2) {
			c.stroke(p.path(pn, m), p.line, toneInk(m.Tone, inkAmber))
		}
	}
}
