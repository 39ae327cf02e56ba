package chart

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"wick/indicators"
)

// The value axes. Each pane has ticks, at round values or at the levels of an
// oscillator, and tags, which are values in boxes: the last price, the last value
// of a line, a level. All are functions of the pane's scale, so a page that draws the
// same scale gets the same labels.

// measureAxis writes ticks and tags. The widest decides the width of the axis, which is
// the same for all panes, so that plots line up.
func (p *picture) measureAxis() {
	widest := 0
	for _, pn := range p.panes {
		if p.n > 0 && !pn.scale.empty {
			if !pn.price && len(pn.studies[0].HLines) > 0 {
				p.levelTicks(pn)
			} else {
				pn.ticks = p.roundValues(pn)
			}
			if pn.price {
				p.priceTags(pn)
			} else {
				p.lineTags(pn)
			}
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
	p.axisX = p.w - min(max(widest+p.either(10, 16), p.px(44)), p.w/2)
	for _, pn := range p.panes {
		pn.plot = image.Rect(0, pn.frame.Min.Y, p.axisX, pn.frame.Max.Y)
	}
}

// roundValues returns ticks at round values for all rows that data may use: beyond the data,
// up to the legend and down to the volume strip, since things are drawn there too. On a
// logarithmic axis they follow patterns of leading digits. On an axis in percent they are at
// round changes from the first close: the values are those of the scale, which is in prices,
// and only the labels are in percent, with the decimals of the step. These tags and legend
// have too, but at least two.
func (p *picture) roundValues(pn *pane) (out []tick) {
	sc := pn.scale
	add := func(v float64, text string) { out = append(out, tick{value: v, y: sc.row(v), text: text}) }
	lo, hi := sc.value(float64(pn.floor)), sc.value(float64(pn.legend.Max.Y))
	room := tickRoom{apart: 26 * p.u, font: float64(p.axis.size), decimals: 10}
	if pn.price {
		room.apart, room.decimals = 28*p.u, p.precision
	} else if r, ok := pn.studies[0].bounds(); ok {
		lo, hi = max(lo, r.lo), min(hi, r.hi)
	}
	if p.compact {
		room.apart = 24 * p.u
	}
	room.height = sc.y(lo) - sc.y(hi) // in pixels, whatever the scale is
	switch {
	case sc.zero:
		add(0, "0")
	case pn.price && p.Scale == Percent:
		room.decimals = 2
		t := roundTicks(100*(lo/p.base-1), 100*(hi/p.base-1), room)
		decimals := min(max(0, -t.exponent), 10)
		p.changes = max(2, decimals)
		for k := t.first; k <= t.last; k++ {
			add(p.base*(1+t.at(k)/100), signed(t.at(k), decimals)+"%")
		}
	case sc.log && hi/lo > 2: // in a smaller range equal steps look evenly spaced
		for _, v := range logTicks(lo, hi, room) {
			text := levelText(v)
			if pn.price && p.precision >= tiny {
				text = exponentText(v, 1)
			}
			add(v, text)
		}
	default:
		t := roundTicks(lo, hi, room)
		write := axisLabels(max(math.Abs(lo), math.Abs(hi)), t.exponent, !pn.price, pn.price && p.precision >= tiny)
		for k := t.first; k <= t.last; k++ {
			add(t.at(k), write(t.at(k)))
		}
	}
	return out
}

// levelTicks labels the levels of an oscillator, outermost first, and round
// values where there is room.
func (p *picture) levelTicks(pn *pane) {
	var levels []float64 // within the scale, each once
	for _, h := range pn.studies[0].HLines {
		if usable(h.Y) && h.Y >= pn.scale.lo && h.Y <= pn.scale.hi && !slices.Contains(levels, h.Y) {
			levels = append(levels, h.Y)
		}
	}
	slices.Sort(levels)
	add := func(t tick) { // if it is far enough from all that are there
		gap := int(1.15 * float64(p.axis.size))
		if !t.level { // round values are there to fill wide gaps only
			gap = 2 * p.axis.size
		}
		if !slices.ContainsFunc(pn.ticks, func(other tick) bool { return abs(other.y-t.y) < gap }) {
			pn.ticks = append(pn.ticks, t)
		}
	}
	// The outermost pair comes first, so that of levels too close to each other the inner
	// ones have no label. Round values come last, so that none takes the place of a level.
	for lo, hi := 0, len(levels)-1; lo <= hi; lo, hi = lo+1, hi-1 {
		for _, v := range [...]float64{levels[hi], levels[lo]} {
			add(tick{value: v, y: pn.scale.row(v), text: levelText(v), level: true})
		}
	}
	round := p.roundValues(pn)
	for _, t := range round {
		add(t)
	}
	// With fewer than two labels no value between them can be read. That happens in a low
	// pane whose levels are too close to each other. Tags are not placed yet.
	fitting := 0
	for k := range pn.ticks {
		if box := p.tickBox(&pn.ticks[k]); box.Min.Y > pn.frame.Min.Y && box.Max.Y <= pn.floor {
			fitting++
		}
	}
	if fitting < 2 {
		pn.ticks = round
	}
}

// mostLevels is how many levels of a pane get a tag: those nearest to the last
// price.
const mostLevels = 8

// longestTag is how many characters the name of a level in a tag has at most. With longer
// ones the axis would take the room of the bars.
const longestTag = 12

// priceTags writes the tags of the price. The most important come first: of two that touch,
// placeTags moves the later. These are the last close, the ends of compared lines with their
// names, the caller's own levels, of which a caller wants to see the price, and the levels of
// indicators that are nearest to the last close.
func (p *picture) priceTags(pn *pane) {
	last := p.n - 1
	closed := p.s.Close[last]
	add := func(v float64, name, text string, i ink, outline bool) {
		if name != "" && !p.compact {
			text = name + " " + text
		}
		pn.tags = append(pn.tags, tag{y: pn.scale.row(v), text: text, ink: i, outline: outline})
	}
	add(closed, "", p.axisText(closed, false), p.priceInk(last), false)
	var levels []ownLevel
	for _, st := range pn.studies {
		for i, l := range st.Lines {
			// The values of compared lines are on the scale of our own price, so base turns
			// them into percent as well.
			if v, ok := lastValue(l.Values, p.n); ok && st.compare {
				add(v, l.Label, p.percentText(v), st.lines[i].ink, false)
			}
		}
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
	for _, l := range p.own {
		if pn.inside(l.price) { // named in the plot
			add(l.price, "", p.axisText(l.price, true), l.ink, true)
		}
	}
	slices.SortStableFunc(levels, func(a, b ownLevel) int { return cmp.Compare(math.Abs(a.price-closed), math.Abs(b.price-closed)) })
	for _, l := range levels[:min(len(levels), mostLevels)] {
		add(l.price, l.text, p.axisText(l.price, false), l.ink, true)
	}
}

// lineTags tags the first line of a panel, and others far enough from it. A
// small panel has no room for tags beside its ticks.
func (p *picture) lineTags(pn *pane) {
	if p.compact || pn.frame.Dy() < p.px(80) {
		return
	}
	st := pn.studies[0]
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

// placeTicks puts tags and tick labels on the axis. Tags come first. A tick label that would
// touch a tag or leave its pane is not shown, but its grid line is. If fewer than two labels of a panel would be left, tags of its further lines are
// dropped, the last first.
func (p *picture) placeTicks() {
	for _, pn := range p.panes {
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
				p.write(tickText, p.axis, t.text, box.Min.X, t.y, inkAxis).box = box
			}
		}
	}
}

// showTicks decides which labels of a pane are shown, and returns how many. They stay within
// their pane, and out of the rows beside the volume.
func (p *picture) showTicks(pn *pane) (shown int) {
	limit := image.Rect(p.axisX, pn.frame.Min.Y+1, p.w, pn.floor)
	var last image.Rectangle
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

// placeTags puts every tag at the row of its value. One that would touch another that was
// placed before it, or leave the pane, stands at the nearest free place, with a line from its
// row to it; it is dropped if that is more than three tags away, where nobody would look for
// it. The first, in the price the last close, is always shown at its row.
func (p *picture) placeTags(pn *pane) {
	half, apart := p.tagH()/2, p.tagH()+1
	highest, lowest := pn.frame.Min.Y+1+half, pn.frame.Max.Y-p.tagH()+half
	kept := pn.tags[:0]
	for _, t := range pn.tags {
		free := func(y int) bool {
			return y >= highest && y <= lowest && !slices.ContainsFunc(kept, func(o tag) bool { return abs(o.box.Min.Y+half-y) < apart })
		}
		y := min(max(t.y, highest), lowest)
		if len(kept) > 0 && !free(y) {
			places := make([]int, 0, 2*len(kept))
			for _, o := range kept {
				places = append(places, o.box.Min.Y+half-apart, o.box.Min.Y+half+apart)
			}
			places = slices.DeleteFunc(places, func(at int) bool { return abs(at-t.y) > 3*apart || !free(at) })
			if len(places) == 0 {
				continue
			}
			y = slices.MinFunc(places, func(a, b int) int { return abs(a-t.y) - abs(b-t.y) })
		}
		t.box = image.Rect(p.axisX, y-half, p.w, y-half+p.tagH())
		if abs(y-t.y) > 1 {
			t.box.Min.X += p.px(6) // the room of the line
		}
		kept = append(kept, t)
	}
	pn.tags = kept
}

// scale maps values to rows: hi to top, lo to bottom. It is never empty.
type scale struct {
	lo, hi      float64
	top, bottom float64 // rows, top above bottom
	zero        bool    // everything is 0: only that is worth a label
	empty       bool    // there are no values

	log          bool    // equal ratios have equal heights; lo is above 0
	logLo, logHi float64 // logarithms of lo and hi
}

// y returns the row of v, which may be outside the panel: a line that leaves the range
// leaves the picture, and does not run along the frame. On a logarithmic scale zero and
// values below it are infinitely far down.
func (s scale) y(v float64) float64 {
	part := (s.hi - v) / (s.hi - s.lo)
	if s.log {
		part = far
		if v > 0 {
			part = (s.logHi - math.Log(v)) / (s.logHi - s.logLo)
		}
	}
	y := s.top + float64(part*(s.bottom-s.top))
	return min(max(y, -far), far)
}

// row returns the pixel boundary nearest to v.
func (s scale) row(v float64) int { return int(math.Floor(s.y(v) + 0.5)) }

// value returns the value at row y.
func (s scale) value(y float64) float64 {
	part := (y - s.top) / (s.bottom - s.top)
	if s.log {
		return math.Exp(s.logHi - float64(part*(s.logHi-s.logLo)))
	}
	return s.hi - float64(part*(s.hi-s.lo))
}

// span collects the range of values; NaN and the infinities do not count. One that
// holds no value has lo above hi.
type span struct{ lo, hi float64 }

var noSpan = span{math.Inf(1), math.Inf(-1)}

// add widens s so that it holds v. What cannot be drawn, such as NaN, changes nothing.
func (s *span) add(v float64) {
	if usable(v) {
		s.lo, s.hi = min(s.lo, v), max(s.hi, v)
	}
}

func (s *span) addAll(values []float64) {
	for _, v := range values {
		s.add(v)
	}
}

func (s span) empty() bool { return s.lo > s.hi }

// log returns the logarithms of s, whose hi must be above 0 unless it is empty.
func (s span) log() span {
	if s.empty() || !(s.hi > 0) {
		return noSpan
	}
	return span{math.Log(max(s.lo, s.hi*1e-12)), math.Log(s.hi)}
}

// join returns s widened to include t, but on each side by at most part times its own
// size, so that an overlay far away does not flatten the candles.
func (s span) join(t span, part float64) span {
	if t.empty() {
		return s
	}
	room := (s.hi - s.lo) * part
	return span{min(s.lo, max(t.lo, s.lo-room)), max(s.hi, min(t.hi, s.hi+room))}
}

// fit returns the scale that shows s between two rows. If s is a single value, it is
// widened by half a percent, or by five units of the price's last digit.
func (s span) fit(top, bottom, unit float64) scale {
	sc := scale{lo: s.lo, hi: s.hi, top: top, bottom: max(bottom, top+1)}
	if s.empty() {
		sc.lo, sc.hi, sc.empty = 0, 1, true
	}
	size := max(math.Abs(sc.lo), math.Abs(sc.hi))
	// Below a part in 1e12 the difference is rounding, not price.
	if sc.hi-sc.lo <= size*1e-12 {
		by := max(size*0.005, 5*unit)
		if size == 0 {
			by, sc.zero = 1, true
		}
		sc.lo, sc.hi = sc.lo-by, sc.hi+by
	}
	return sc
}

// ticks are the round values of an axis: first, first+1, … last times step.
type ticks struct {
	mantissa    int // 1, 2, 5, or 25 for a step of 2.5
	exponent    int
	first, last int64
}

// at returns the value of tick k: exactly 0.3 where multiplying by 0.1 would not give it.
func (t ticks) at(k int64) float64 {
	v, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", k*int64(t.mantissa), t.exponent), 64) // always a number
	return v
}

// fewTicks and manyTicks are how many ticks an axis should have, where there is
// room for them.
const fewTicks, manyTicks = 6, 20

// tickRoom says how ticks may be spaced.
type tickRoom struct {
	height   float64 // pixels for the values
	apart    float64 // pixels between ticks, at least, as long as there are enough
	font     float64 // height of a label's text
	decimals int     // a step of 2.5 is used only if it needs no more decimals than this
}

// roundTicks chooses ticks for the values lo to hi: the smallest step of 1, 2, 2.5 or 5
// times a power of ten whose ticks are room.apart pixels apart. If there are too few ticks,
// they may be closer, as long as their labels do not touch; with fewer than 3, even closer,
// and then not every tick has a label. If there are too many, they are further apart.
func roundTicks(lo, hi float64, room tickRoom) ticks {
	// A distance is tried, its ticks are counted, and the distance is corrected. Steps of 1,
	// 2, 2.5 and 5 are at most a factor of two apart, so a few rounds are enough. The loop is
	// bounded because of ranges that no float can divide.
	d := room.apart
	for range 64 {
		t := stepTicks(lo, hi, (hi-lo)*d/max(room.height, 1), room.decimals)
		switch n := t.last - t.first + 1; {
		case n < fewTicks && d > 1.6*room.font, n < 3 && d > 0.6*room.font:
			d *= 0.8
		case n > manyTicks:
			d *= 1.3
		default:
			return t
		}
	}
	return stepTicks(lo, hi, hi-lo, 0)
}

// logDigits are patterns of leading digits for a logarithmic axis, the densest
// first.
var logDigits = [][]float64{
	{1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2, 2.4, 2.6, 2.8, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5},
	{1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9}, {1, 1.5, 2, 3, 4, 5, 7}, {1, 2, 5}, {1, 3}, {1},
}

// logTicks returns round values between lo and hi, both above 0, for a
// logarithmic scale of height pixels: the densest of a few patterns of leading
// digits whose neighbours are nowhere closer than apart.
func logTicks(lo, hi float64, room tickRoom) []float64 {
	// On a logarithmic axis the distance between two neighbours depends only on their ratio,
	// so the smallest distance within one decade is the smallest of all.
	decades := math.Log10(hi / lo)
	for _, digits := range logDigits {
		least := math.Log10(10 / digits[len(digits)-1])
		for i := 1; i < len(digits); i++ {
			least = min(least, math.Log10(digits[i]/digits[i-1]))
		}
		if least/decades*room.height < room.apart && len(digits) > 1 {
			continue
		}
		var values []float64
		for e := math.Floor(math.Log10(lo)); e <= math.Log10(hi) && len(values) < 64; e++ {
			for _, d := range digits {
				if v := d * math.Pow10(int(e)); v >= lo && v <= hi {
					values = append(values, v)
				}
			}
		}
		return values
	}
	return nil
}

// stepTicks returns the ticks whose step is at least raw. Among steps of 2.5 only
// those with few enough decimals count.
func stepTicks(lo, hi, raw float64, decimals int) ticks {
	// The four candidates of one decade, the smallest first; above the largest
	// comes the 1 of the next decade.
	e := int(math.Floor(math.Log10(raw)))
	unit := math.Pow10(e)
	t := ticks{mantissa: 1, exponent: e + 1}
	for _, s := range []ticks{{mantissa: 1, exponent: e}, {mantissa: 2, exponent: e}, {mantissa: 25, exponent: e - 1}, {mantissa: 5, exponent: e}} {
		size := float64(s.mantissa) * math.Pow10(s.exponent-e)
		if size*unit >= raw*(1-1e-9) && (s.mantissa != 25 || -s.exponent <= decimals) {
			t = s
			break
		}
	}
	step := t.at(1)
	t.first = int64(math.Ceil(lo/step - 1e-9))
	t.last = int64(math.Floor(hi/step + 1e-9))
	return t
}

// axisLabels returns a function that writes the labels of one axis, all with the same decimals,
// for values up to size with a step of 10^exponent. Panels shorten millions; prices do not.
// Labels of tiny prices, and those too long to write out, have exponents: 1.2e-11.
func axisLabels(size float64, exponent int, short, tiny bool) func(v float64) string {
	write := func(v float64) string { return fixedText(v, max(0, -exponent)) }
	if size >= 1e15 || -exponent > 10 || tiny {
		digits := max(0, int(math.Floor(math.Log10(size)))-exponent)
		write = func(v float64) string { return exponentText(v, digits) }
	} else if i := slices.IndexFunc(units, func(u unit) bool { return size >= u.Size }); short && size >= 1e6 && i >= 0 {
		u := units[i]
		digits := max(0, int(math.Round(math.Log10(u.Size)))-exponent)
		write = func(v float64) string { return fixedText(v/u.Size, digits) + u.Letter }
	}
	return func(v float64) string {
		if v == 0 {
			return "0"
		}
		return write(v)
	}
}
