package chart

import (
	"cmp"
	"image"
	"math"
	"slices"
	"unicode/utf8"

	"wick/indicators"
)

// The value axes. Each pane has ticks, at round values or at the levels of an
// oscillator, and tags, which are values in boxes: the last price, the last value
// of a line, a level. Tags are placed first and exactly; a tick label that would
// touch a tag is not shown, but its grid line is. Everything here is a function of
// the pane's scale, so a page that draws the same scale gets the same labels.

// measureAxis writes ticks and tags. The widest decides the width of the axis, which is
// the same for all panes, so that plots line up.
func (p *picture) measureAxis() {
	widest := 0
	for i := range p.panes {
		pn := &p.panes[i]
		if p.n > 0 && !pn.scale.empty {
			if !pn.price && len(pn.studies[0].HLines) > 0 {
				p.levelTicks(pn)
			} else {
				pn.ticks = p.roundValues(pn)
			}
			p.makeTags(pn)
		}
		for _, t := range pn.ticks {
			widest = max(widest, p.axis.width(t.text))
		}
		for _, t := range pn.tags {
			widest = max(widest, p.tag.width(t.text))
		}
	}
	// The room beside the text, half of it on either side. However long a name
	// is, the axis never takes more than half of the picture.
	pad := p.either(10, 16)
	p.axisX = p.w - min(max(widest+pad, p.px(44)), p.w/2)
	for i := range p.panes {
		pn := &p.panes[i]
		pn.plot = image.Rect(0, pn.frame.Min.Y, p.axisX, pn.frame.Max.Y)
	}
}

// roundValues returns ticks at round values for all rows that data may use. On a
// logarithmic axis they follow patterns of leading digits; on an axis in percent they are
// at round changes.
func (p *picture) roundValues(pn *pane) []tick {
	sc := pn.scale
	if sc.zero {
		return []tick{{value: 0, y: sc.row(0), text: "0"}}
	}
	lo, hi, room := p.tickRange(pn)
	switch {
	case pn.price && p.mode == Percent && p.base > 0:
		return p.percentTicks(sc, lo, hi, room)
	case sc.log && hi/lo > 2: // in a smaller range equal steps look evenly spaced
		var out []tick
		for _, v := range logTicks(lo, hi, room) {
			out = append(out, tick{value: v, y: sc.row(v), text: levelText(v)})
		}
		return out
	}
	t := roundTicks(lo, hi, room)
	format := formatFor(max(math.Abs(lo), math.Abs(hi)), t.exponent, !pn.price)
	var out []tick
	for k := t.first; k <= t.last; k++ {
		v := t.at(k)
		out = append(out, tick{value: v, y: sc.row(v), text: format.text(v)})
	}
	return out
}

// tickRange returns the values between which a pane has ticks, and the room for them.
// Ticks go beyond the data, up to the legend and down to the volume strip, since things
// are drawn there too.
func (p *picture) tickRange(pn *pane) (lo, hi float64, room tickRoom) {
	sc := pn.scale
	lo, hi = sc.value(float64(pn.floor)), sc.value(float64(pn.legend.Max.Y))
	room = tickRoom{apart: 26 * p.u, font: float64(p.axis.size), decimals: 10}
	if pn.price {
		room.apart, room.decimals = 28*p.u, p.precision
	} else if r, ok := pn.studies[0].bounds(); ok {
		lo, hi = max(lo, r.lo), min(hi, r.hi)
	}
	if p.compact {
		room.apart = 24 * p.u
	}
	// The range in pixels, whatever the scale is.
	room.height = sc.y(lo) - sc.y(hi)
	return lo, hi, room
}

// percentTicks returns ticks at round changes from the first open. The values are
// those of the scale, which is in prices; only the labels are in percent, with the
// decimals of the step. These tags and legend have too, but at least two.
func (p *picture) percentTicks(sc scale, lo, hi float64, room tickRoom) []tick {
	room.decimals = 2
	t := roundTicks(p.percentOf(lo), p.percentOf(hi), room)
	decimals := min(max(0, -t.exponent), 10)
	p.changes = max(2, decimals)
	var out []tick
	for k := t.first; k <= t.last; k++ {
		v := p.base * (1 + t.at(k)/100)
		out = append(out, tick{value: v, y: sc.row(v), text: signed(t.at(k), decimals) + "%"})
	}
	return out
}

// levelTicks labels the levels of an oscillator, outermost first, and round
// values where there is room.
func (p *picture) levelTicks(pn *pane) {
	levels := shownLevels(pn)
	// The outermost pair comes first, so that of levels too close to each other the inner
	// ones have no label.
	for lo, hi := 0, len(levels)-1; lo <= hi; lo, hi = lo+1, hi-1 {
		for _, v := range [...]float64{levels[hi], levels[lo]} {
			p.addApart(pn, tick{value: v, y: pn.scale.row(v), text: levelText(v), level: true})
		}
	}
	// Round values come last, so that none takes the place of a level.
	round := p.roundValues(pn)
	for _, t := range round {
		p.addApart(pn, t)
	}
	// With fewer than two labels no value between them can be read. That happens in a low
	// pane whose levels are too close to each other.
	if p.fitting(pn) < 2 {
		pn.ticks = round
	}
}

// shownLevels returns the levels of an oscillator that are within its scale, each once and
// sorted.
func shownLevels(pn *pane) (levels []float64) {
	for _, h := range pn.studies[0].HLines {
		if usable(h.Y) && h.Y >= pn.scale.lo && h.Y <= pn.scale.hi && !slices.Contains(levels, h.Y) {
			levels = append(levels, h.Y)
		}
	}
	slices.Sort(levels)
	return levels
}

// addApart adds a tick if it is far enough from all that are there.
func (p *picture) addApart(pn *pane, t tick) {
	gap := int(1.15 * float64(p.axis.size))
	if !t.level { // round values are there to fill wide gaps only
		gap = 2 * p.axis.size
	}
	for _, other := range pn.ticks {
		if abs(other.y-t.y) < gap {
			return
		}
	}
	pn.ticks = append(pn.ticks, t)
}

// fitting counts the ticks whose labels would lie within their pane. Those that touch
// a tag count too, because tags are not placed yet.
func (p *picture) fitting(pn *pane) int {
	n := 0
	for k := range pn.ticks {
		if box := p.tickBox(&pn.ticks[k]); box.Min.Y > pn.frame.Min.Y && box.Max.Y <= pn.floor {
			n++
		}
	}
	return n
}

// mostLevels is how many levels of a pane get a tag: those nearest to the last
// price.
const mostLevels = 8

// longestTag is how many characters the name of a level in a tag has at most. With longer
// ones the axis would take the room of the bars.
const longestTag = 12

// makeTags writes the tags of a pane: on the price the last close and the
// levels, on a panel the last value of its lines.
func (p *picture) makeTags(pn *pane) {
	if !pn.price {
		p.lineTags(pn)
		return
	}
	// The most important tags come first: placeTags keeps the earlier of two that touch.
	last := p.lastBar()
	closed := p.s.Close[last]
	pn.tags = append(pn.tags, tag{
		y: pn.scale.row(closed), text: p.axisText(closed), ink: p.priceInk(last), fixed: true,
	})
	p.compareTags(pn)
	for _, l := range p.own {
		// The caller's own levels come before those of indicators: a caller who adds a level
		// wants to see its price.
		if pn.inside(l.price) { // named in the plot, where there is more room
			pn.tags = append(pn.tags, tag{y: pn.scale.row(l.price), text: p.ownText(l.price), ink: l.ink, outline: true})
		}
	}
	p.levelTags(pn, closed)
}

// levelTags tags the levels of indicators over the price, those nearest to the last
// close.
func (p *picture) levelTags(pn *pane, closed float64) {
	var levels []ownLevel
	for k := range pn.studies {
		st := &pn.studies[k]
		for i, h := range st.HLines {
			if !pn.inside(h.Y) {
				continue
			}
			l := ownLevel{price: h.Y, ink: toneInk(h.Tone, inkBand)}
			if utf8.RuneCountInString(h.Label) <= longestTag { // else it is named in the plot, where there is more room
				l.text = p.levelName(pn, st, i)
			}
			levels = append(levels, l)
		}
	}
	slices.SortStableFunc(levels, func(a, b ownLevel) int {
		return cmp.Compare(math.Abs(a.price-closed), math.Abs(b.price-closed))
	})
	// Tags near the last price come first, so they win where two would touch.
	for _, l := range levels[:min(len(levels), mostLevels)] {
		text := p.axisText(l.price)
		if l.text != "" && !p.compact {
			text = l.text + " " + text
		}
		pn.tags = append(pn.tags, tag{y: pn.scale.row(l.price), text: text, ink: l.ink, outline: true})
	}
}

// lineTags tags the first line of a panel, and others far enough from it. A
// small panel has no room for tags beside its ticks.
func (p *picture) lineTags(pn *pane) {
	if p.compact || pn.frame.Dy() < p.px(80) {
		return
	}
	st := &pn.studies[0]
	for i, l := range st.Lines {
		v, ok := lastValue(l.Values, p.n)
		y := pn.scale.y(v)
		if !ok || l.Style == indicators.Dots || y < float64(pn.legend.Max.Y) || y > float64(pn.frame.Max.Y) {
			continue
		}
		// A tag within one and a half heights of another would hide the
		// labels between them.
		row := int(y)
		near := slices.ContainsFunc(pn.tags, func(t tag) bool { return 2*abs(t.y-row) < 3*p.tagH() })
		if len(pn.tags) < 3 && !near {
			pn.tags = append(pn.tags, tag{y: row, text: valueText(v), ink: st.lines[i].ink})
		}
	}
}

// compareTags tags the ends of compared lines with their names.
func (p *picture) compareTags(pn *pane) {
	for _, st := range pn.studies {
		for i, l := range st.Lines {
			v, ok := lastValue(l.Values, p.n)
			if !st.compare || !ok {
				continue
			}
			// The values of compared lines are on the scale of our own price, so base
			// turns them into percent as well.
			text := p.percentText(v)
			if !p.compact {
				text = l.Label + " " + text
			}
			pn.tags = append(pn.tags, tag{y: pn.scale.row(v), text: text, ink: st.lines[i].ink})
		}
	}
}

// placeTicks puts tags and tick labels on the axis. Tags come first, at exactly their
// values. A tick label that would touch a tag or leave its pane is not shown, but its grid
// line is. If fewer than two labels of a panel would be left, tags of its further lines are
// dropped, the last first.
func (p *picture) placeTicks() {
	for i := range p.panes {
		pn := &p.panes[i]
		p.placeTags(pn)
		// The last tags belong to the least important lines.
		for p.showTicks(pn) < 2 && !pn.price && len(pn.tags) > 1 {
			pn.tags = pn.tags[:len(pn.tags)-1]
		}
		if !pn.price && p.n > 0 && p.showTicks(pn) == 0 && len(pn.tags) > 0 {
			// In a low panel the tag may hide all levels. Then round values are tried.
			pn.ticks = append(pn.ticks, p.roundValues(pn)...)
			slices.SortFunc(pn.ticks, func(a, b tick) int { return cmp.Compare(a.y, b.y) })
			p.showTicks(pn)
		}
		for k := range pn.ticks {
			if t := &pn.ticks[k]; t.shown {
				box := p.tickBox(t)
				p.write(tickText, p.axis, t.text, box.Min.X, t.y, inkAxis)
				p.labels[len(p.labels)-1].box = box
			}
		}
	}
}

// showTicks decides which labels of a pane are shown, and returns how many.
func (p *picture) showTicks(pn *pane) int {
	// Labels stay within their pane, and out of the rows beside the volume.
	limit := image.Rect(p.axisX, pn.frame.Min.Y+1, p.w, pn.floor)
	var last image.Rectangle
	shown := 0
	for k := range pn.ticks {
		t := &pn.ticks[k]
		box := p.tickBox(t)
		t.shown = box.In(limit) && box.Intersect(last).Empty() &&
			!slices.ContainsFunc(pn.tags, func(g tag) bool { return g.box.Overlaps(box) })
		if t.shown {
			last = box.Inset(-1)
			shown++
		}
	}
	return shown
}

// tickBox returns the box of a tick label. Digits have no descenders, so the box fits
// tightly around them, and a tag nearby hides one label at most.
func (p *picture) tickBox(t *tick) image.Rectangle {
	// Digits are 0.72 of the text size high, and stand centred on the tick.
	half := (p.axis.size*36+50)/100 + 1
	x := p.axisX + p.either(5, 8)
	return image.Rect(x, t.y-half, x+p.axis.width(t.text), t.y+half)
}

// placeTags puts every tag at the row of its value. A tag that would touch one placed
// before it, or leave the pane, is dropped: moved away from its row, it would show a wrong
// value, and the legend has the number too. The last price comes first and is always kept.
func (p *picture) placeTags(pn *pane) {
	half := p.tagH() / 2
	highest, lowest := pn.frame.Min.Y+1+half, pn.frame.Max.Y-p.tagH()+half
	kept := pn.tags[:0]
	for _, t := range pn.tags {
		// Only the tag of the last price may be moved into the pane; others by at most one
		// pixel.
		y := min(max(t.y, highest), lowest)
		t.box = image.Rect(p.axisX, y-half, p.w, y-half+p.tagH())
		touches := func(o tag) bool { return o.box.Inset(-1).Overlaps(t.box) }
		if t.fixed || abs(y-t.y) <= 1 && !slices.ContainsFunc(kept, touches) {
			kept = append(kept, t)
		}
	}
	pn.tags = kept
}
