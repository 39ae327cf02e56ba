package chart

import (
	"image"
	"slices"

	"wick/indicators"
)

// occupied knows which parts of a pane already hold something, so that labels can be put
// where there is nothing. The pane is divided into small square cells, and a cell counts as
// taken if anything touches it. That keeps labels away from things by less than a cell too
// much, and checking a box takes the same time however many lines there are.
type occupied struct {
	limit image.Rectangle // labels must stay within it
	cell  int             // width and height of a cell in pixels
	cols  int
	rows  int
	taken []bool // rows of cols cells, from limit's upper left corner
}

// newOccupied returns the parts of a pane that its data take: candles or bars, lines,
// histograms, levels, divergences. Fills and profile bars do not count: text over them is
// readable on its backing.
func (p *picture) newOccupied(pn *pane) *occupied {
	limit := image.Rect(p.px(2), pn.legend.Max.Y, p.axisX-p.px(2), pn.floor)
	o := &occupied{limit: limit, cell: max(2, p.px(3))}
	// The plot is divided into cells of a few pixels: fine enough for text, and few
	// enough to be searched quickly.
	o.cols, o.rows = limit.Dx()/o.cell+1, limit.Dy()/o.cell+1
	o.taken = make([]bool, o.cols*o.rows)
	if pn.price {
		p.occupyPrice(o, pn)
	}
	for k := range pn.studies {
		p.occupyStudy(o, pn, &pn.studies[k])
	}
	return o
}

// occupyStudy takes the cells of a study's lines, histograms, levels and divergences.
func (p *picture) occupyStudy(o *occupied, pn *pane, st *study) {
	// Values beyond the pane do no harm: line and take ignore what is outside the limit.
	for _, l := range st.Lines {
		if l.Style != indicators.Step {
			p.occupyLine(o, pn, p.extended(l.Values, l.Ahead), l.Style == indicators.Dots)
			continue
		}
		for _, r := range p.stepRects(pn, upTo(l.Values, p.n)) {
			o.take(r)
		}
	}
	for _, h := range st.Histogram {
		p.occupyHistogram(o, pn, upTo(h.Values, p.n))
	}
	for _, h := range st.HLines {
		if usable(h.Y) {
			p.occupyLevel(o, pn, h.Y)
		}
	}
	for _, d := range st.DivLines {
		if a, b, ok := p.divergence(pn, d); ok {
			o.line(a, b, 4*p.u)
		}
	}
}

// occupyHistogram takes the cells of a histogram's bars.
func (p *picture) occupyHistogram(o *occupied, pn *pane, values []float64) {
	zero := pn.scale.row(0)
	for i, v := range values {
		if usable(v) {
			y := pn.scale.row(v)
			o.take(p.barRect(i, min(y, zero), max(y, zero)+1))
		}
	}
}

// occupyLevel takes the cells of the line across the pane at v.
func (p *picture) occupyLevel(o *occupied, pn *pane, v float64) {
	y := pn.scale.row(v)
	o.take(image.Rect(0, y, p.axisX, y+p.thin))
}

// occupyLine takes the cells of a line, straight from bar to bar, or of its dots. A value
// with no usable value after it counts as a dot.
func (p *picture) occupyLine(o *occupied, pn *pane, values []float64, dots bool) {
	reach := p.line/2 + 1
	for i, v := range values {
		if !usable(v) {
			continue
		}
		a := point{p.barX(i), pn.scale.y(v)}
		b := a
		if i+1 < len(values) && usable(values[i+1]) && !dots {
			b = point{p.barX(i + 1), pn.scale.y(values[i+1])}
		}
		o.line(a, b, reach)
	}
}

// line takes the cells within reach of the straight line from a to b, where a.x <= b.x. In
// each column of cells these are the rows between the heights at which the line enters and
// leaves the column, plus reach on either side.
func (o *occupied) line(a, b point, reach float64) {
	slope := 0.0
	if b.x > a.x {
		slope = (b.y - a.y) / (b.x - a.x)
	}
	size, left, top := float64(o.cell), float64(o.limit.Min.X), float64(o.limit.Min.Y)
	first := max(0, int((a.x-reach-left)/size))
	last := min(o.cols-1, int((b.x+reach-left)/size))
	for col := first; col <= last; col++ {
		x := left + float64(col)*size
		y0 := a.y + (min(max(x-reach, a.x), b.x)-a.x)*slope
		y1 := a.y + (min(max(x+size+reach, a.x), b.x)-a.x)*slope
		if b.x == a.x { // upright
			y0, y1 = a.y, b.y
		}
		from := max(0, int((min(y0, y1)-reach-top)/size))
		to := min(o.rows-1, int((max(y0, y1)+reach-top)/size))
		for k := from*o.cols + col; from <= to; from++ {
			o.taken[k] = true
			k += o.cols
		}
	}
}

// take marks the cells that r touches.
func (o *occupied) take(r image.Rectangle) {
	r = o.cells(r.Intersect(o.limit))
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := o.taken[y*o.cols:][:o.cols]
		for x := r.Min.X; x < r.Max.X; x++ {
			row[x] = true
		}
	}
}

// free reports whether box lies within the limit and touches no taken cell.
func (o *occupied) free(box image.Rectangle) bool {
	if !box.In(o.limit) {
		return false
	}
	r := o.cells(box)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := o.taken[y*o.cols:][:o.cols]
		for x := r.Min.X; x < r.Max.X; x++ {
			if row[x] {
				return false
			}
		}
	}
	return true
}

// cells returns the cells that r, which lies within the limit, touches.
func (o *occupied) cells(r image.Rectangle) image.Rectangle {
	if r.Empty() {
		return image.Rectangle{}
	}
	// Cells count from the limit; the last pixel decides the last cell.
	r = r.Sub(o.limit.Min)
	return image.Rect(r.Min.X/o.cell, r.Min.Y/o.cell, (r.Max.X-1)/o.cell+1, (r.Max.Y-1)/o.cell+1)
}

// occupyPrice takes the cells of the bars, of the line of the last price, and of the
// levels and lines of the account and the caller.
func (p *picture) occupyPrice(o *occupied, pn *pane) {
	if p.kind == LineType || p.kind == Area {
		p.occupyLine(o, pn, p.s.Close[:p.n], false)
	}
	for i := range p.candles {
		c := &p.candles[i]
		o.take(image.Rect(c.x, c.high, c.x+p.wick, c.low))
		o.take(p.bodyRect(c))
	}
	p.occupyLevel(o, pn, p.s.Close[p.lastBar()]) // there is one: placeMarks needs bars
	for _, l := range p.own {
		p.occupyLevel(o, pn, l.price)
	}
	for _, m := range p.view.Marks {
		if m.Kind == MarkLine && usable(m.Price) && usable(m.Price2) {
			path := p.path(pn, m)
			for k, b := range path[1:] {
				o.line(path[k], b, p.line/2+1)
			}
		}
	}
}

// annotation returns a label with its box, at the origin; annotate moves it to its place.
func (p *picture) annotation(kind labelKind, text string, i ink) label {
	return label{
		kind: kind, font: p.mark, text: text, ink: i, backing: true,
		x: p.px(3), base: p.px(1) + p.mark.ascent(),
		box: image.Rect(0, 0, p.mark.width(text)+2*p.px(3), p.mark.ascent()+p.mark.descent()+p.px(2)),
	}
}

// annotate adds l with its corner at left, top, and returns true, if that place is free.
func (p *picture) annotate(o *occupied, l label, left, top int) bool {
	l.box = l.box.Add(image.Pt(left, top))
	if !o.free(l.box) || p.readsAsOne(l) {
		return false
	}
	l.x += left
	l.base += top
	o.take(l.box)
	p.labels = append(p.labels, l)
	return true
}

// readsAsOne reports whether l is the name of a level in one line with the price at the end
// of a wick, or the other way round, and so near that the price would be taken for that of
// the level.
func (p *picture) readsAsOne(l label) bool {
	near := l.box
	near.Min.X -= 4 * l.box.Dy()
	near.Max.X += 4 * l.box.Dy()
	return slices.ContainsFunc(p.labels, func(other label) bool {
		return (l.kind == lineText && other.kind == extremeText || l.kind == extremeText && other.kind == lineText) && near.Overlaps(other.box)
	})
}

// annotateBeside adds l to the left or right of what it names, at the nearest free place,
// at most reach pixels away. From some distance on a dotted line in row y connects the two.
// It returns false if there is no room.
func (p *picture) annotateBeside(o *occupied, l label, named image.Rectangle, top, y, reach int) bool {
	w := l.box.Dx()
	for off := p.px(3); off < reach; off += p.px(8) {
		right, left := named.Max.X+off, named.Min.X-off-w
		for _, at := range [...]int{right, left} {
			// Nearby no line is needed. The line ends a cell before the mark, since the
			// mark's own cells are taken.
			l.leader = image.Rectangle{}
			if off >= p.px(10) {
				l.leader = image.Rect(named.Max.X+p.px(1)+o.cell, y, at, y+p.thin)
				if at == left {
					l.leader = image.Rect(at+w, y, named.Min.X-p.px(1)-o.cell, y+p.thin)
				}
				if !o.free(l.leader) {
					continue
				}
			}
			if p.annotate(o, l, at, top) {
				o.take(l.leader)
				return true
			}
		}
	}
	return false
}
