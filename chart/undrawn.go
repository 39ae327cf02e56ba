package chart

import (
	"image"
	"slices"
)

// undrawn returns what is missing in p, a picture by o.
func (p *picture) undrawn(o Options) Undrawn {
	u := p.missing
	slices.Sort(u.Outside) // levels were looked at first
	slices.Sort(u.Unnamed)
	if len(u.Panels) > 0 {
		u.Height = leastHeight(o, len(p.panes)-1+len(u.Panels))
	}
	return u
}

// leastHeight returns the least height above that of o at which n panels are drawn, or 0.
// It tries each: text grows with the picture, and so does the least height of a panel.
func leastHeight(o Options, n int) int {
	for o.Height++; o.Check() == nil; o.Height++ {
		m := newSizes(o.Width, o.Height, o.ratio())
		if _, _, fit := m.heights(m.h-m.timeH-m.headerH, n); fit == n {
			return o.Height
		}
	}
	return 0
}

// outside reports whether nothing of a zone or a line, or the place of a text, lies in the
// plot. A level beyond the edges is named there.
func (p *picture) outside(pn *pane, m Mark) bool {
	plot := image.Rect(0, pn.legend.Max.Y, p.axisX, pn.frame.Max.Y)
	switch m.Kind {
	case MarkZone:
		plot.Max.Y = pn.floor // zones are not drawn over the volume
		return !p.zoneRect(pn, m).Overlaps(plot)
	case MarkLine:
		_, _, ok := p.inPlot(pn, m)
		return !ok
	case MarkText:
		plot.Max.Y = pn.floor + 1 // nor are texts
		return !p.textPoint(pn, m).In(plot)
	}
	return false
}

// leaveOut notes that the mark at place i of View.Marks is not drawn, or not named, and
// counts it in the legend of its pane.
func leaveOut(pn *pane, list *[]int, i int) {
	pn.unmarked++
	*list = append(*list, i)
}
