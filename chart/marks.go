package chart

import (
	"image"
	"math"
	"slices"

	"wick/indicators"
)

// mark is the triangle of a signal.
type mark struct {
	pane int
	box  image.Rectangle
	tip  point
	up   bool // points up, below its bar
	ink  ink
	text string
}

// crowd is what already stands in a pane: the rows that data take in every
// column, and boxes.
type crowd struct {
	limit       image.Rectangle
	top, bottom []int // per column; empty where top >= bottom
	boxes       []image.Rectangle
}

// newCrowd returns the crowd of a pane: candles on the price, lines and
// histograms on a panel.
func (p *picture) newCrowd(pn *pane) *crowd {
	c := &crowd{
		limit: image.Rect(p.px(2), pn.legend.Max.Y, p.axisX-p.px(2), pn.floor),
		top:   make([]int, p.axisX), bottom: make([]int, p.axisX),
	}
	for x := range c.top {
		c.top[x] = math.MaxInt32
		c.bottom[x] = math.MinInt32
	}
	if pn.price {
		for i := range p.candles {
			body := p.bodyRect(&p.candles[i])
			for x := body.Min.X; x < body.Max.X; x++ {
				c.occupy(x, p.candles[i].high, p.candles[i].low)
			}
		}
		return c
	}
	for _, st := range pn.studies {
		for _, l := range st.Lines {
			p.occupyLine(c, pn, upTo(l.Values, p.n))
		}
		for _, h := range st.Histogram {
			p.occupyLine(c, pn, upTo(h.Values, p.n))
		}
	}
	return c
}

func (c *crowd) occupy(x, top, bottom int) {
	if x >= 0 && x < len(c.top) {
		c.top[x], c.bottom[x] = min(c.top[x], top), max(c.bottom[x], bottom)
	}
}

// occupyLine enters the columns of a line, straight from bar to bar.
func (p *picture) occupyLine(c *crowd, pn *pane, values []float64) {
	thick := p.px(1) + 1
	for i, v := range values {
		if !usable(v) {
			continue
		}
		x, y := p.column(i), pn.scale.row(v)
		c.occupy(x, y-thick, y+thick)
		if i+1 == len(values) || !usable(values[i+1]) {
			continue
		}
		x1, y1 := p.column(i+1), pn.scale.row(values[i+1])
		for k := x + 1; k < x1; k++ {
			row := y + (y1-y)*(k-x)/(x1-x)
			c.occupy(k, row-thick, row+thick)
		}
	}
}

// reach returns the rows that data take between columns x0 and x1.
func (c *crowd) reach(x0, x1 int) (top, bottom int) {
	top, bottom = math.MaxInt32, math.MinInt32
	for x := max(0, x0); x < min(x1, len(c.top)); x++ {
		top, bottom = min(top, c.top[x]), max(bottom, c.bottom[x])
	}
	return top, bottom
}

// free reports whether box touches nothing.
func (c *crowd) free(box image.Rectangle) bool {
	if !box.In(c.limit) {
		return false
	}
	for x := box.Min.X; x < box.Max.X; x++ {
		if c.top[x] < box.Max.Y && c.bottom[x] > box.Min.Y {
			return false
		}
	}
	return !slices.ContainsFunc(c.boxes, box.Overlaps)
}

// placeMarks puts triangles at signals, then the visible high and low, then
// the names of the signals, newest first, where they have room.
func (p *picture) placeMarks() {
	for i := range p.panes {
		pn := &p.panes[i]
		extremes := pn.price && !p.compact && p.n > 1
		if p.n == 0 || !extremes && !slices.ContainsFunc(pn.studies, func(st study) bool { return len(st.Signals) > 0 }) {
			continue
		}
		c := p.newCrowd(pn)
		from := len(p.marks)
		p.placeTriangles(c, i)
		if extremes {
			p.placeExtremes(c)
		}
		if !p.compact {
			p.nameMarks(c, p.marks[from:])
		}
	}
}

// paneSignals returns the signals of a pane in order of bar: the newest, one
// for every seven pixels of the plot, when more would be a thicket. The legend
// counts all.
func (p *picture) paneSignals(pn *pane) []indicators.Signal {
	var all []indicators.Signal
	for _, st := range pn.studies {
		for _, s := range st.Signals {
			if !s.Silent && s.Bar >= 0 && s.Bar < p.n && p.valid[s.Bar] && (pn.price || usable(s.Y)) {
				all = append(all, s)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b indicators.Signal) int { return a.Bar - b.Bar })
	return all[max(0, len(all)-p.axisX/p.px(7)):]
}

// placeTriangles puts a triangle per signal: clear of the candles beside it
// too, and outwards of those already there.
func (p *picture) placeTriangles(c *crowd, index int) {
	pn := &p.panes[index]
	signals := p.paneSignals(pn)
	w, h, gap := p.px(12), p.px(9), p.px(5)
	if p.compact || len(signals) > p.axisX/p.px(14) {
		w, h, gap = p.px(8), p.px(6), p.px(3)
	}
	for _, s := range signals {
		x := p.column(s.Bar)
		up := s.Tone == indicators.Up
		top, bottom := pn.scale.row(s.Y), pn.scale.row(s.Y)
		if pn.price {
			if s.Tone != indicators.Up && s.Tone != indicators.Down {
				up = s.Y <= p.s.Close[s.Bar]
			}
			top, bottom = c.reach(x-w/2-1, x+w/2+2)
		}
		y, step := top-gap-h, -(h + 2)
		if up {
			y, step = bottom+gap, h+2
		}
		y = min(max(y, c.limit.Min.Y), c.limit.Max.Y-h)
		box := image.Rect(x-w/2, y, x-w/2+w, y+h)
		for range 8 {
			next := box.Add(image.Pt(0, step))
			if !slices.ContainsFunc(c.boxes, box.Overlaps) || next.Min.Y < c.limit.Min.Y || next.Max.Y > c.limit.Max.Y {
				break
			}
			box = next
		}
		m := mark{pane: index, box: box, up: up, ink: toneInk(s.Tone, inkAmber), text: printable(s.Label, 24)}
		m.tip = point{float64(x) + 0.5, float64(box.Min.Y)}
		if !up {
			m.tip.y = float64(box.Max.Y)
		}
		p.marks = append(p.marks, m)
		c.boxes = append(c.boxes, box)
	}
}

// placeExtremes prints the highest and the lowest price at their candles.
func (p *picture) placeExtremes(c *crowd) {
	high, low := -1, -1
	for i := range p.n {
		if p.valid[i] && (high < 0 || p.s.High[i] > p.s.High[high]) {
			high = i
		}
		if p.valid[i] && (low < 0 || p.s.Low[i] < p.s.Low[low]) {
			low = i
		}
	}
	if !(p.s.High[high] > p.s.Low[low]) {
		return
	}
	sc := p.panes[0].scale
	p.extreme(c, p.s.High[high], p.column(high), sc.row(p.s.High[high]), false)
	p.extreme(c, p.s.Low[low], p.column(low), sc.row(p.s.Low[low]), true)
}

// extreme prints a price above or below the end of a wick, or where that is
// taken, beside it with a thin line to it.
func (p *picture) extreme(c *crowd, price float64, x, y int, below bool) {
	text := priceText(price, p.precision)
	l := p.annotation(extremeText, text, inkText)
	w, h, gap := l.box.Dx(), l.box.Dy(), p.px(3)
	left := min(max(x-w/2, c.limit.Min.X), c.limit.Max.X-w)
	for off := gap; off < p.px(40); off += p.px(6) {
		top := y - off - h
		if below {
			top = y + off
		}
		if c.put(p, l, left, top) {
			return
		}
	}
	for off := p.px(8); off < p.px(120); off += p.px(8) {
		for _, rise := range [...]int{h / 2, h, 0} {
			for _, left := range [...]int{x + off, x - off - w} {
				l.leader = image.Rect(x, y, left, y+1).Canon()
				if c.put(p, l, left, y-rise) {
					return
				}
			}
		}
	}
}

// nameMarks writes the names of marks, the newest first, about one for every
// hundred pixels of the plot: more would hide what they name, and the legend
// counts them all.
func (p *picture) nameMarks(c *crowd, marks []mark) {
	room := p.axisX / p.px(100)
	for i := len(marks) - 1; i >= 0 && room > 0; i-- {
		if m := &marks[i]; m.text != "" && p.nameMark(c, m) {
			room--
		}
	}
}

// nameMark writes a mark's name outwards of it at the nearest of eight
// distances, centred or to either side, where nothing else stands. From the
// third distance on a thin line leads to it. Without room it writes nothing.
func (p *picture) nameMark(c *crowd, m *mark) bool {
	l := p.annotation(signalText, m.text, m.ink)
	w, h := l.box.Dx(), l.box.Dy()
	x, side, step := (m.box.Min.X+m.box.Max.X)/2, p.px(8), p.px(10)
	for distance := range 8 {
		from := m.box.Min.Y - p.px(2)
		top := from - h - distance*step
		if m.up {
			from = m.box.Max.Y + p.px(2)
			top = from + distance*step
		}
		if distance >= 2 && m.up {
			l.leader = image.Rect(x, from, x+1, top)
		} else if distance >= 2 {
			l.leader = image.Rect(x, top+h, x+1, from)
		}
		for _, left := range [...]int{x - w/2, x + side - w, x - side} {
			if c.put(p, l, left, top) {
				return true
			}
		}
	}
	return false
}

// annotation returns a label of the plot at the origin, with its box.
func (p *picture) annotation(kind labelKind, text string, i ink) label {
	return label{
		kind: kind, font: p.mark, text: text, ink: i, backing: true,
		x: p.px(3), base: p.px(1) + p.mark.ascent(),
		box: image.Rect(0, 0, p.mark.width(text)+2*p.px(3), p.mark.ascent()+p.mark.descent()+p.px(2)),
	}
}

// put adds l to the picture with its corner at left, top if neither it nor its
// leader touches what is there.
func (c *crowd) put(p *picture, l label, left, top int) bool {
	l.box = l.box.Add(image.Pt(left, top))
	if !c.free(l.box) || slices.ContainsFunc(c.boxes, l.leader.Overlaps) {
		return false
	}
	l.x += left
	l.base += top
	c.boxes = append(c.boxes, l.box, l.leader)
	p.labels = append(p.labels, l)
	return true
}
