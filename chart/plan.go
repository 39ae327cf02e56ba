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
//   - checkBars and split: what the bars alone decide, and which rows belong to the
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
	p.split()
	p.chooseInks()
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

// checkBars notes what depends on the prices of the bars alone.
func (p *picture) checkBars() {
	if p.s == nil {
		p.s = &market.Series{}
	}
	s := p.s
	if p.n = s.Len(); p.n == 0 { // an empty picture is drawn
		return
	}
	p.precision, p.visible = precision(s.Open, s.High, s.Low, s.Close)
	p.base = s.Close[0]
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

// split divides the rows among the header, the price with its overlays and compared symbols,
// the panels that fit and the time axis. If panels would not be high enough, the last ones are
// left out, and the header says how many.
func (p *picture) split() {
	own := 0
	for _, panel := range p.view.Panels {
		if panel.Result != nil && !panel.Result.Overlay {
			own++
		}
	}
	p.header = image.Rect(0, 0, p.w, p.headerH)
	p.timeAxis = image.Rect(0, p.h-p.timeH, p.w, p.h)
	price, height, fit := p.heights(p.timeAxis.Min.Y-p.header.Max.Y, own)
	p.panes = make([]pane, 1, 1+fit)
	p.panes[0].price, p.panes[0].unmarked = true, p.tooMany
	shades := p.view.shades()
	for i, panel := range p.view.Panels {
		result, left := p.view.Account.withAlerts(&panel, maxShown)
		if p.n > 0 && result != nil && p.countsNothing(result) {
			result = withoutValues(result)
		}
		st := study{Result: result, key: panel.Key, needs: panel.Needs, shade: shades[i]}
		switch {
		case panel.Result == nil:
		case panel.Result.Overlay:
			p.panes[0].studies = append(p.panes[0].studies, st)
			p.panes[0].unmarked += left
			for _, l := range result.Lines { // a chart is there to show the past
				p.ahead = max(p.ahead, min(len(l.Ahead), p.n/2))
			}
		case len(p.panes) <= fit:
			p.panes = append(p.panes, pane{studies: []study{st}, unmarked: left})
		default:
			p.missing.Panels = append(p.missing.Panels, panel.Key)
		}
	}
	if p.n > 0 && len(p.view.Compare) > 0 {
		p.panes[0].studies = append(p.panes[0].studies, study{Result: p.compareStudy(), key: "compare", compare: true})
	}
	p.arrange(&p.panes[0], p.header.Max.Y, price, len(p.panes[0].studies), p.hasVolume() && !p.noVolume)
	for i := range p.panes[1:] {
		p.arrange(&p.panes[i+1], p.header.Max.Y+price+i*height, height, 1, false)
	}
}

// countsNothing reports whether the lines of a result stand still, at 0 or where they began,
// because the bars have no volume, while their prices move: such a line would say that buyers
// and sellers are even.
func (p *picture) countsNothing(r *indicators.Result) bool {
	still := func(values []float64) bool {
		s := noSpan
		s.addAll(values)
		return s.lo == s.hi
	}
	if p.hasVolume() || still(p.s.Close[:p.n]) || len(r.Lines) == 0 {
		return false
	}
	for _, l := range r.Lines {
		if !still(upTo(l.Values, p.n)) {
			return false
		}
	}
	return true
}

// withoutValues returns a copy of r in which lines and histograms have no values, so that the
// legend says why.
func withoutValues(r *indicators.Result) *indicators.Result {
	out := *r
	out.Lines, out.Histogram = slices.Clone(r.Lines), slices.Clone(r.Histogram)
	for i := range out.Lines {
		out.Lines[i].Values, out.Lines[i].Ahead = nil, nil
	}
	for i := range out.Histogram {
		out.Histogram[i].Values = nil
	}
	return &out
}

// overlayRoom is how far an overlay may widen the range of the candles, as a
// part of that range on either side.
const overlayRoom = 0.5

// scales computes the scale of every pane.
func (p *picture) scales() {
	for i := range p.panes {
		pn := &p.panes[i]
		top, bottom := float64(pn.top), float64(pn.bottom)
		if !pn.price {
			pn.scale = p.panelSpan(&pn.studies[0]).fit(top, bottom, 0)
			continue
		}
		pn.scale = p.priceSpan(pn).fit(top, bottom, math.Pow10(-p.precision))
		if p.mode == Log && pn.scale.lo > 0 {
			pn.scale = pn.scale.logarithmic()
		}
	}
}

// priceSpan returns the range of the candles, widened for overlays and levels. Compared
// symbols count like candles, because a chart that compares must show all of them.
// Overlays widen the range only so far, and what is further away is cut off; a level that
// would be cut off does not widen the range at all.
func (p *picture) priceSpan(pn *pane) span {
	bars, over := p.join(0, p.n).reach, noSpan
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
	log := p.mode == Log && bars.lo > 0
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
		return bars.exp()
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
