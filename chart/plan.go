package chart

import (
	"image"
	"math"
	"slices"

	"wick/indicators"
	"wick/market"
)

// plan measures the picture of v.
//
// The parts of a picture are measured in an order in which each depends only on
// those before it:
//
//   - checkBars and split: which bars can be drawn, and which rows belong to the
//     header, the price, each panel and the time axis;
//   - chooseInks: which line has which colour;
//   - scales: which values each pane shows;
//   - measureAxis: the labels of all axes; the widest decides where plots end;
//   - placeBars: the columns of bars, and the rows of candles;
//   - placeTicks, placeTimes: labels outside the plots;
//   - drawGround, placeData: the grid, the data, then signals and every text within a plot;
//   - placeLegends: the rows above the data, which also say what had no room;
//   - placeHeader: the row above all, which says it if no other could;
//   - drawTexts: all texts, over everything else.
//
// Nothing is painted until all of it is known.
func plan(v *View, o Options) *picture {
	p := &picture{metrics: newMetrics(o.Width, o.Height, o.ratio()), view: v, s: v.Series, theme: o.Theme, scene: scene{pal: themes[o.Theme](), shapes: make([]shape, 0, 1024)},
		signals: o.Signals, kind: o.Type, mode: o.Scale, zone: o.Zone, noVolume: o.HideVolume}
	p.labels = make([]label, 0, 64)
	p.checkBars()
	if p.n > 0 { // without bars an empty picture is drawn
		p.usePrices()
	}
	p.split()
	p.chooseInks()
	p.lookAhead()
	p.scales()
	p.measureAxis()
	p.placeBars()
	p.placeTicks()
	p.placeTimes()
	p.drawGround()
	p.placeData()
	p.placeLegends()
	p.placeHeader()
	p.drawTexts()
	return p
}

// usePrices computes what depends only on the prices.
func (p *picture) usePrices() {
	p.precision, p.visible = precision(p.s.Open, p.s.High, p.s.Low, p.s.Close)
	p.base = p.s.Close[slices.Index(p.valid, true)]
	p.drawn = p.drawnPrices()
	p.own = p.levels()
	if len(p.view.Compare) > 0 {
		p.mode = Percent
	}
	// The caller gets the error. Until then a scale that always works is used.
	if p.err = p.checkScale(); p.err != nil {
		p.mode = Linear
	}
}

// checkBars notes which bars can be drawn. A series whose columns have different lengths,
// or that has no usable bar, counts as empty. Sources check their prices, but other callers
// may not.
func (p *picture) checkBars() {
	if p.s == nil {
		p.s = &market.Series{}
	}
	n := min(len(p.s.Time), len(p.s.Open), len(p.s.High), len(p.s.Low), len(p.s.Close), len(p.s.Volume))
	// With columns of different lengths it is not known which values belong together.
	if n < len(p.s.Time) {
		return
	}
	p.valid = make([]bool, n)
	for i := range n {
		p.valid[i] = usable(p.s.Open[i]) && usable(p.s.High[i]) && usable(p.s.Low[i]) && usable(p.s.Close[i])
		if p.valid[i] {
			p.n = n
		}
	}
}

// split divides the rows among the header, the price, the panels that fit and the time
// axis.
func (p *picture) split() {
	// Overlays are drawn over the price; every other result has a panel of its own.
	own := 0
	for _, panel := range p.view.Panels {
		if panel.Result != nil && !panel.Result.Overlay {
			own++
		}
	}
	p.header = image.Rect(0, 0, p.w, p.headerH)
	p.timeAxis = image.Rect(0, p.h-p.timeH, p.w, p.h)
	// If panels would not be high enough, the last ones are left out, and the header says
	// how many.
	free := p.timeAxis.Min.Y - p.header.Max.Y
	price, height, fit := p.heights(free, own)
	p.makePanes(fit)
	p.arrange(&p.panes[0], p.header.Max.Y, price, len(p.panes[0].studies), p.hasVolume() && !p.noVolume)
	for i := range p.panes[1:] {
		p.arrange(&p.panes[i+1], p.header.Max.Y+price+i*height, height, 1, false)
	}
}

// makePanes makes the pane of the price, with overlays and compared symbols, and panes for
// the first panels, as many as fit says.
func (p *picture) makePanes(fit int) {
	p.panes = make([]pane, 1, 1+fit)
	p.panes[0].price, p.panes[0].unmarked = true, p.tooMany
	shades := p.view.shades()
	for i, panel := range p.view.Panels {
		result, left := p.view.Account.withAlerts(&panel, maxShown)
		st := study{Result: result, key: panel.Key, needs: panel.Needs, shade: shades[i]}
		switch {
		case panel.Result == nil:
		case panel.Result.Overlay:
			p.panes[0].studies = append(p.panes[0].studies, st)
			p.panes[0].unmarked += left
		case len(p.panes) <= fit:
			p.panes = append(p.panes, pane{studies: []study{st}, unmarked: left})
		default:
			p.missing.Panels = append(p.missing.Panels, panel.Key)
		}
	}
	if p.n > 0 && len(p.view.Compare) > 0 {
		p.panes[0].studies = append(p.panes[0].studies, study{Result: p.compareStudy(), key: "compare", compare: true})
	}
}

// overlayRoom is how far an overlay may widen the range of the candles, as a
// part of that range on either side.
const overlayRoom = 0.5

// scales computes the scale of every pane.
func (p *picture) scales() {
	for i := range p.panes {
		pn := &p.panes[i]
		top, bottom := float64(pn.top), float64(pn.bottom)
		if pn.price {
			pn.scale = p.priceSpan(pn).fit(top, bottom, math.Pow10(-p.precision))
			if p.mode == Log && pn.scale.lo > 0 {
				pn.scale = pn.scale.logarithmic()
			}
		} else {
			s := panelSpan(&pn.studies[0], p.n)
			if s.empty() && p.n > 0 { // without values the axis shows the levels, or 0
				s = levelSpan(pn.studies[0].HLines)
			}
			pn.scale = s.fit(top, bottom, 0)
		}
	}
}

// priceSpan returns the range of the candles, widened for overlays and levels. Compared
// symbols count like candles, because a chart that compares must show all of them.
// Overlays widen the range only so far, and what is further away is cut off; a level that
// would be cut off does not widen the range at all.
func (p *picture) priceSpan(pn *pane) span {
	bars, over := p.barSpan(), noSpan
	for _, st := range pn.studies {
		for _, l := range st.Lines {
			if st.compare {
				bars.addAll(upTo(l.Values, p.n))
				continue
			}
			over.addAll(p.extended(l.Values, l.Ahead))
		}
		for _, h := range st.HLines {
			over.add(h.Y)
		}
	}
	// How far the range may be widened is a part of the range as it is drawn: on a
	// logarithmic scale, of the logarithms.
	if p.mode == Log && bars.lo > 0 {
		return p.widened(bars.log(), over.log(), math.Log).exp()
	}
	return p.widened(bars, over, func(v float64) float64 { return v })
}

// widened returns the range of bars, widened for overlays and for the levels that are near
// enough. Both ranges are as drawn returns them: prices, or their logarithms.
func (p *picture) widened(bars, over span, drawn func(float64) float64) span {
	reach := bars.join(span{math.Inf(-1), math.Inf(1)}, overlayRoom)
	for _, l := range p.own {
		if v := drawn(l.price); v >= reach.lo && v <= reach.hi {
			over.add(v)
		}
	}
	return bars.join(over, overlayRoom)
}

// barSpan returns the range of the candles.
func (p *picture) barSpan() span {
	all, _ := p.join(0, p.n)
	// The real close has a line and a tag, and averaged candles may not reach it.
	if last := p.lastBar(); last >= 0 {
		all.reach.add(p.s.Close[last])
	}
	return all.reach
}

// levelSpan returns the range of levels, or from 0 to 0 if there are none.
func levelSpan(levels []indicators.HLine) span {
	s := noSpan
	for _, h := range levels {
		s.add(h.Y)
	}
	if s.empty() {
		s.add(0)
	}
	return s
}

// panelSpan returns the range of a panel: that of its values, with zero if there is a
// histogram. If the values have fixed bounds, such as 0 to 100, it includes the levels and
// is cut to the bounds.
func panelSpan(st *study, n int) span {
	s := valueSpan(st, n)
	limit, ok := st.bounds()
	if !ok {
		return s
	}
	if s.lo < s.hi {
		for _, h := range st.HLines {
			s.add(h.Y)
		}
	}
	s = span{max(s.lo, limit.lo), min(s.hi, limit.hi)}
	// A flat line, or none at all, has no range of its own, nor have values that are all
	// outside the bounds. Then the bounds are shown.
	if !(s.lo < s.hi) {
		return limit
	}
	return s
}

// valueSpan returns the range of a study's lines and histograms, with zero if there is a
// histogram.
func valueSpan(st *study, n int) span {
	s := noSpan
	for _, l := range st.Lines {
		s.addAll(upTo(l.Values, n))
	}
	for _, h := range st.Histogram {
		s.addAll(upTo(h.Values, n))
		if !s.empty() {
			s.add(0)
		}
	}
	return s
}

// lookAhead counts the future bars for which overlays have values, at most half as many
// as there are bars: a chart is there to show the past.
func (p *picture) lookAhead() {
	for _, st := range p.panes[0].studies {
		for _, l := range st.Lines {
			p.ahead = max(p.ahead, min(len(l.Ahead), p.n/2))
		}
	}
}

// arrange divides the rows y to y+h of a pane: rows for the legend, the volume strip, and
// the rows for its data.
func (m *metrics) arrange(p *pane, y, h, studies int, volume bool) {
	p.frame = image.Rect(0, y, m.w, y+h)
	rows := m.legendRows(studies, h)
	p.legend = image.Rect(0, y+1, m.w, y+1+rows*m.rowH)
	padTop, padBottom := m.pads(p.price)
	p.top, p.bottom = p.legend.Max.Y+padTop, p.frame.Max.Y-padBottom
	p.floor = p.frame.Max.Y
	if volume {
		p.floor -= m.volumeHeight(h)
		p.bottom = p.floor - min(padBottom, m.px(22))
	}
	if p.bottom < p.top+8 { // a very low pane has no room for pads
		p.top = min(p.legend.Max.Y+1, p.floor-9)
		p.bottom = max(p.floor-2, p.top+1)
	}
}
