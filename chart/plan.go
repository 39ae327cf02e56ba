package chart

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"

	"wick/indicators"
)

// plan measures the picture of v: its parts in an order in which each depends only on those
// before it. Nothing is painted until all of it is known.
func plan(v *View, o Options) *picture {
	p := &picture{metrics: newMetrics(o.Width, o.Height, cmp.Or(o.PixelRatio, 1)), Options: o, view: v, s: v.Series,
		scene: scene{pal: themes[o.Theme]()}}
	p.checkBars() // what the bars alone decide
	p.labels, p.shapes = make([]label, 0, 64), make([]shape, 0, 256+6*min(p.n, p.w))
	p.split()        // the rows of header, price, panels and time axis, and the colours of lines
	p.scales()       // which values each pane shows
	p.measureAxis()  // the labels of all axes; the widest decides where plots end
	p.placeBars()    // the columns of bars, and the rows of candles
	p.placeTicks()   // labels outside the plots
	p.placeTimes()   // likewise
	p.drawGround()   // the grid
	p.placeData()    // the data, then signals and every text within a plot
	p.placeLegends() // the rows above the data, which also say what had no room
	p.placeHeader()  // the row above all, which says it if no other could
	p.drawTexts()    // all texts, over everything else
	return p
}

// checkBars notes what depends on the prices of the bars alone.
func (p *picture) checkBars() {
	s := p.s
	if s.Interval.Seconds() >= day { // dates are the same in every zone
		p.Zone = nil
	}
	if p.n = s.Len(); p.n == 0 { // an empty picture is drawn
		return
	}
	p.precision, p.visible = precision(s.Open, s.High, s.Low, s.Close)
	p.base = s.Close[0]
	p.drawn = p.drawnPrices()
	if len(p.view.Compare) > 0 {
		p.Scale = Percent
	}
	// The caller gets the error. Until then a scale that always works is used.
	if lo := slices.Min(s.Low); p.Scale != Linear && (lo <= 0 || slices.Max(s.High)/lo > 1e9) {
		p.err = fmt.Errorf("%w: scale %s needs prices above zero that differ by less than a factor of 1e9; use linear", ErrOption, Scales()[p.Scale])
		p.Scale = Linear
	}
}

// split divides the rows among the header, the price with its overlays and compared symbols,
// the panels that fit and the time axis. If panels would not be high enough, the last ones are
// left out, and the header says how many.
func (p *picture) split() {
	own := 0
	for _, panel := range p.view.Panels {
		if !panel.Result.Overlay {
			own++
		}
	}
	p.header = image.Rect(0, 0, p.w, p.headerH)
	p.timeAxis = image.Rect(0, p.h-p.timeH, p.w, p.h)
	price, height, fit := p.heights(p.timeAxis.Min.Y-p.header.Max.Y, own)
	top := &pane{price: true}
	p.panes = []*pane{top}
	if p.n > 0 {
		p.own = p.levels()
	}
	looks, shades := p.view.looks(p.Theme), p.view.shades()
	for i, panel := range p.view.Panels {
		result, left := p.view.Account.withAlerts(&panel, maxShown)
		result = p.moving(result)
		st := &study{Result: result, key: panel.Key, needs: panel.Needs, lines: looks[i], shade: shades[i]}
		switch {
		case result.Overlay:
			top.studies = append(top.studies, st)
			top.unmarked += left
			for _, l := range result.Lines { // a chart is there to show the past
				p.ahead = max(p.ahead, min(len(l.Ahead), p.n/2))
			}
		case len(p.panes) <= fit:
			p.panes = append(p.panes, &pane{studies: []*study{st}, unmarked: left})
		default:
			p.missing.Panels = append(p.missing.Panels, panel.Key)
		}
	}
	if p.n > 0 && len(p.view.Compare) > 0 {
		top.studies = append(top.studies, &study{Result: p.compareStudy(), key: "compare", lines: looks[len(p.view.Panels)], compare: true})
	}
	p.arrange(top, p.header.Max.Y, price, len(top.studies), p.hasVolume() && !p.HideVolume)
	for i, pn := range p.panes[1:] {
		p.arrange(pn, p.header.Max.Y+price+i*height, height, 1, false)
	}
}

// moving returns r, or if its lines stand still, at 0 or where they began, because the bars have
// no volume while their prices move, a copy without values, so that the legend says why: such a
// line would say that buyers and sellers are even.
func (p *picture) moving(r *indicators.Result) *indicators.Result {
	moves := func(values []float64) bool {
		s := noSpan
		s.addAll(values)
		return s.lo != s.hi
	}
	if p.n == 0 || len(r.Lines) == 0 || p.hasVolume() || !moves(p.s.Close[:p.n]) ||
		slices.ContainsFunc(r.Lines, func(l indicators.Line) bool { return moves(upTo(l.Values, p.n)) }) {
		return r
	}
	out := *r
	out.Lines, out.Histogram = slices.Clone(r.Lines), make([]indicators.Histogram, len(r.Histogram))
	for i := range out.Lines {
		out.Lines[i].Values, out.Lines[i].Ahead = nil, nil
	}
	return &out
}

// overlayRoom is how far an overlay may widen the range of the candles, as a
// part of that range on either side.
const overlayRoom = 0.5

func (p *picture) scales() {
	for _, pn := range p.panes {
		top, bottom := float64(pn.top), float64(pn.bottom)
		if !pn.price {
			pn.scale = p.panelSpan(pn.studies[0]).fit(top, bottom, 0)
			continue
		}
		pn.scale = p.priceSpan(pn).fit(top, bottom, math.Pow10(-p.precision))
		if sc := &pn.scale; p.Scale == Log && sc.lo > 0 {
			sc.log, sc.logLo, sc.logHi = true, math.Log(sc.lo), math.Log(sc.hi)
		}
	}
}

// priceSpan returns the range of the candles, widened for overlays and levels. Compared
// symbols count like candles, because a chart that compares must show all of them.
// Overlays widen the range only so far, and what is further away is cut off; a level that
// would be cut off does not widen the range at all.
func (p *picture) priceSpan(pn *pane) span {
	bars, over := noSpan, noSpan
	bars.addAll(p.drawn.high)
	bars.addAll(p.drawn.low)
	// The real close has a line and a tag, and averaged candles may not reach it.
	if p.n > 0 {
		bars.add(p.s.Close[p.n-1])
	}
	for _, st := range pn.studies {
		for _, l := range st.Lines {
			if st.compare {
				bars.addAll(upTo(l.Values, p.n))
				continue
			}
			over.addAll(p.asDrawn(&l))
		}
		for _, h := range st.HLines {
			over.add(h.Y)
		}
	}
	// How far the range may be widened is a part of the range as it is drawn: on a
	// logarithmic scale, of the logarithms.
	log := p.Scale == Log && bars.lo > 0
	if log {
		bars, over = bars.log(), over.log()
	}
	reach := bars.join(span{math.Inf(-1), math.Inf(1)}, overlayRoom)
	for _, l := range p.own {
		v := l.price
		if log {
			v = math.Log(v)
		}
		if v >= reach.lo && v <= reach.hi {
			over.add(v)
		}
	}
	bars = bars.join(over, overlayRoom)
	if log {
		return span{math.Exp(bars.lo), math.Exp(bars.hi)}
	}
	return bars
}

// panelSpan returns the range of a panel: that of its values, with zero if there is a
// histogram. If the values have bounds, such as 0 to 100, it includes the levels and is cut to
// the bounds. Without values the axis shows the levels, or 0.
func (p *picture) panelSpan(st *study) span {
	s, levels := noSpan, noSpan
	for _, l := range st.Lines {
		s.addAll(upTo(l.Values, p.n))
	}
	for _, h := range st.Histogram {
		s.addAll(upTo(h.Values, p.n))
		if !s.empty() {
			s.add(0)
		}
	}
	for _, h := range st.HLines {
		levels.add(h.Y)
	}
	if limit, ok := st.bounds(); ok {
		if s.lo < s.hi && !levels.empty() {
			s.add(levels.lo)
			s.add(levels.hi)
		}
		s = span{max(s.lo, limit.lo), min(s.hi, limit.hi)}
		// A flat line, or none at all, has no range of its own, nor have values that are all
		// outside the bounds. Then the bounds are shown.
		if !(s.lo < s.hi) {
			return limit
		}
	}
	switch {
	case !s.empty() || p.n == 0:
		return s
	case levels.empty():
		return span{}
	}
	return levels
}

// arrange divides the rows y to y+h of a pane: rows for the legend, at most four and never
// more than two fifths of it, the volume strip, and the rows for its data. Above and below
// these, room is kept for the labels of the extremes and for half a tick label.
func (m *metrics) arrange(p *pane, y, h, studies int, volume bool) {
	p.frame = image.Rect(0, y, m.w, y+h)
	p.legend = image.Rect(0, y+1, m.w, y+1+min(studies, 4, max(1, h*2/5/m.rowH))*m.rowH)
	padTop, padBottom := m.either(3, 6), m.either(4, 10)
	if p.price {
		padTop, padBottom = m.either(6, 24), m.either(9, 24) // below, at least half a tag
	}
	p.top, p.bottom = p.legend.Max.Y+padTop, p.frame.Max.Y-padBottom
	p.floor = p.frame.Max.Y
	if volume {
		p.floor -= min(int(0.17*float64(h)), m.px(120))
		p.bottom = p.floor - min(padBottom, m.px(22))
	}
	if p.bottom < p.top+8 { // a very low pane has no room for pads
		p.top = min(p.legend.Max.Y+1, p.floor-9)
		p.bottom = max(p.floor-2, p.top+1)
	}
}

// metrics are the sizes that follow from the size of the picture alone.
//
// A vision model shrinks a large picture before it looks, so text and strokes
// grow with the picture: u is the factor that undoes that shrinking, times the
// pixels per logical pixel that the caller asked for. Lengths in this package
// are written for u = 1 and go through px, so that a large picture shrunk looks
// like a small one.
type metrics struct {
	w, h    int // in device pixels
	u       float64
	compact bool // too small for names of signals, wide gaps and the like

	axis, axisBold, legend, name, symbol, tag, mark *atlas

	headerH, timeH, rowH int
	line, edge           float64 // widths of lines and of band edges
	thin                 int     // width of the thinnest strokes: 1 at u = 1
}

// newMetrics returns the sizes of a picture of w by h logical pixels, with its fonts. The
// numbers are those of a common vision model: it keeps 1568 pixels on the long
// edge and 1.2 million in all.
func newMetrics(w, h int, ratio float64) metrics {
	fw, fh := float64(w), float64(h)
	// kept is by how much the model scales the picture down; u enlarges text and
	// strokes by the inverse, so that they stay readable, within bounds.
	kept := min(1, 1568/max(fw, fh), math.Sqrt(1204000/(fw*fh)))
	m := metrics{w: int(math.Round(fw * ratio)), h: int(math.Round(fh * ratio)), compact: w < 560 || h < 360}
	m.u = ratio * min(max(1/kept, 1), min(4, max(1, min(fw, fh)/540)))
	m.thin = max(1, m.px(1))
	m.headerH, m.timeH, m.rowH = m.either(21, 29), m.either(18, 26), m.either(16, 20)
	m.line, m.edge = 2*m.u, 1.5*m.u
	if m.compact {
		m.line, m.edge = 1.5*m.u, 1.25*m.u
	}
	font := func(f face, compact, full float64) *atlas { return fontAt(f, m.either(compact, full)) }
	m.axis, m.axisBold, m.legend = font(regular, 11, 13), font(bold, 11, 13), font(regular, 11, 14)
	m.name, m.symbol = font(medium, 11, 14), font(bold, 13, 17)
	m.tag, m.mark = font(medium, 11, 13), font(medium, 11, 12)
	return m
}

func (m *metrics) either(compact, full float64) int {
	if m.compact {
		return m.px(compact)
	}
	return m.px(full)
}

func (m *metrics) px(v float64) int { return int(math.Round(v * m.u)) }

// tagH is the height of a tag: its text and some air.
func (m *metrics) tagH() int { return m.tag.size + m.px(6) }

// priceShares[n] is the part of the height that the price has with n panels; the last one
// is for all larger n.
var priceShares = []float64{1, 0.70, 0.58, 0.50, 0.44, 0.40, 0.36, 0.33}

// heights divides free rows among the price and up to n panels. It returns the height of
// the price, the height of each panel, and how many panels fit. Panels have a minimum
// height, and the price has at least a third of the rows and enough for its legend, labels
// and volume. Panels that do not fit are left out rather than squeezed.
func (m *metrics) heights(free, n int) (price, panel, fit int) {
	least, keep := m.either(36, 56), m.either(100, 120)
	// The price has at least a third, since a chart is read for its price.
	keep = max(keep, int(0.33*float64(free)))
	for fit = n; fit > 0; fit-- {
		share := priceShares[min(fit, len(priceShares)-1)]
		panel = max(least, int((1-share)*float64(free))/fit)
		if free-fit*panel >= keep {
			return free - fit*panel, panel, fit
		}
	}
	return free, 0, 0
}

// columns returns the left end of the first bar and the distance from bar to bar, pitch,
// in pixels. Bars are right-aligned at the axis, so that with few bars the empty room is on
// the left.
func (m *metrics) columns(right, n int) (x0, pitch float64) {
	left, pad := float64(m.either(3, 4)), float64(m.either(5, 10))
	if n == 0 {
		return left, 1
	}
	pitch = min((float64(right)-left-pad)/float64(n), 40*m.u)
	if pad < pitch/2 { // keep half a bar free before the axis
		pitch = min((float64(right)-left)/(float64(n)+0.5), 40*m.u)
		pad = pitch / 2
	}
	return float64(right) - pad - float64(n)*pitch, pitch
}

// bodies returns the widths of candle bodies and wicks for a pitch. Both are odd or both
// even, so that a wick is exactly in the middle. Neither is thinner than the thinnest
// stroke, since a large picture would look pale when it is shrunk. If bars are closer than
// two and a half strokes, candles are vertical lines.
func (m *metrics) bodies(pitch float64) (body, wick int) {
	body, wick = min(int(0.8*pitch), m.px(25)), m.thin
	switch per := pitch / float64(m.thin); {
	case per < 2.5:
		return m.thin, m.thin
	case per <= 4:
		body = min(3*m.thin, int(pitch+0.5)) // bodies may touch
	case m.u >= 1.25 && body >= 6:
		wick = min(int(math.Ceil(m.u)), body/3)
	}
	if (body-wick)%2 != 0 {
		body--
	}
	return body, wick
}
