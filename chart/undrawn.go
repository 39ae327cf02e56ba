package chart

import (
	"image"
	"slices"

	"wick/indicators"
)

// undrawn returns what is missing in p, a picture by o.
func (p *picture) undrawn(o Options) Undrawn {
	u := p.missing
	slices.Sort(u.Outside) // levels were looked at first
	slices.Sort(u.Unnamed)
	if len(u.Panels) > 0 {
		u.Height = leastHeight(o, len(p.panes)-1+len(u.Panels))
	}
	if p.n > 0 {
		u.Lines = p.outOfSight()
		u.Filled = p.kind == Hollow && p.body < 3*p.wick
	}
	return u
}

// outOfSight names the lines and levels of studies of which nothing is in the plot: no value,
// and no way from one to the next, which dots and steps do not have.
func (p *picture) outOfSight() (out []string) {
	for i := range p.panes {
		pn := &p.panes[i]
		top, bottom := float64(pn.legend.Max.Y), float64(pn.frame.Max.Y)
		for _, st := range pn.studies {
			for _, l := range st.Lines {
				values, some, seen := p.asDrawn(&l), false, false
				for i, v := range values {
					before := v
					if i > 0 && usable(values[i-1]) && l.Style != indicators.Dots && l.Style != indicators.Step {
						before = values[i-1]
					}
					y, from := pn.scale.y(v), pn.scale.y(before)
					some = some || usable(v)
					seen = seen || usable(v) && min(y, from) < bottom && max(y, from) >= top
				}
				name := st.key
				if len(st.Lines) > 1 {
					name += " " + l.Label
				}
				if some && !seen {
					out = append(out, name)
				}
			}
			for _, h := range st.HLines {
				if h.Label != "" && usable(h.Y) && !pn.inside(h.Y) {
					out = append(out, st.key+" "+h.Label)
				}
			}
		}
	}
	return out
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
