package chart

import (
	"image"
	"math"
	"slices"
	"strings"

	"wick/indicators"
)

// markShare is the part of a pane's area that marks in full ink and names may cover together.
const markShare = 0.1

// placeData adds the data of every pane, then the triangles of signals, the visible high and
// low, and the names of signals, each where it hides no data and no other text.
func (p *picture) placeData() {
	for _, pn := range p.panes {
		from, marked := len(p.shapes), len(p.marks)
		p.drawPane(pn)
		var signals []mark // that can be drawn, by bar; they have no place yet
		for _, st := range pn.studies {
			for _, s := range st.Signals {
				// Over the price a mark is at its candle and needs no value of its own.
				if p.Signals != SignalsOff && !s.Silent && s.Bar >= 0 && s.Bar < p.n && (pn.price || usable(s.Y)) {
					signals = append(signals, mark{Signal: s, named: p.view.Account.awaits(st.key, s.Label), ink: st.signalInk(s.Tone, inkAmber)})
				}
			}
		}
		slices.SortStableFunc(signals, func(a, b mark) int { return a.Bar - b.Bar })
		if p.n > 0 && (pn.price || len(signals) > 0 || pn.unmarked > 0) {
			p.markPane(pn, p.newRoom(pn, p.shapes[from:]), signals)
		}
		marks := p.marks[marked:]
		p.add(shape{paint: func(c *canvas) { p.paintMarks(c, marks) }})
	}
}

// markPane places the marks and texts of a pane. Each step records what it has placed, so
// that the next steps avoid it. What matters most comes first: trades, signals, levels out
// of sight, extremes, the caller's texts, names of levels, names of signals.
func (p *picture) markPane(pn *pane, o *room, signals []mark) {
	if pn.price {
		p.placeFills(o)
	}
	from := len(p.marks)
	p.placeTriangles(o, pn, signals)
	if pn.price {
		p.placeBeyond(o, pn)
		if !p.compact && p.n > 1 && p.Type != HeikinAshi { // the extremes of averaged candles are not real prices
			p.placeExtremes(o)
		}
		p.placeMarkTexts(o, pn)
		p.placeLevelNames(o, pn)
	}
	tall := pn.floor-pn.legend.Max.Y >= p.px(60) // a name would fill a low panel
	if !p.compact && p.Signals != SignalsMarks && tall {
		p.nameMarks(o, p.marks[from:])
	}
	if pn.unmarked > 0 && pn.legend.Empty() && !p.atEdge(o, notDrawn(pn.unmarked), inkAxis, true) { // there is no legend to say it
		p.untold += pn.unmarked
	}
}

const mostStacked = 3

// placeTriangles places a triangle for each signal: in a panel at its value, over the price
// outside the candles in its columns, whatever its value is, and further out if other triangles
// are there. Unless all are named, older ones are pale, so that a panel with many is as calm as
// one with few: in full ink are the newest of each kind, divergences, and those that an alert
// waits for. The pane counts those that are left out.
func (p *picture) placeTriangles(o *room, pn *pane, signals []mark) {
	h := min(max(int(0.03*float64(pn.floor-pn.legend.Max.Y)), p.px(5)), p.px(9)) // grows with the pane
	w := h * 4 / 3
	all := len(signals)
	if p.Signals == SignalsLabels { // the names need room, too
		area := float64(pn.floor-pn.legend.Max.Y) * float64(p.axisX) * markShare / 2
		signals = p.thinned(signals, min(int(area)/(w*h), p.axisX/(3*w)))
	}
	kind := func(m mark) indicators.Signal { return indicators.Signal{Label: m.Label, Tone: m.Tone} }
	newest := make(map[indicators.Signal]int) // of each kind, its last signal
	for i, m := range signals {
		newest[kind(m)] = i
	}
	from := len(p.marks)
	for i, m := range signals {
		x := p.column(m.Bar)
		top, bottom := pn.scale.row(m.Y), pn.scale.row(m.Y)
		m.up = m.Tone == indicators.Up
		if pn.price {
			if m.Tone != indicators.Up && m.Tone != indicators.Down { // it is on the side of its value
				m.up = m.Y <= p.s.Close[m.Bar]
			}
			top, bottom = p.candleReach(x-w/2-1, x+w/2+2)
		}
		y, step := top-max(2, h/2)-h, -(h + 2) // further up, or from below further down
		if m.up {
			y, step = bottom+max(2, h/2), h+2
		}
		y = min(max(y, o.limit.Min.Y), o.limit.Max.Y-h)
		m.box = image.Rect(x-w/2, y, x-w/2+w, y+h)
		// Marks come in order of bar, so the ones nearby are at the end.
		nearby := p.marks[max(from, len(p.marks)-16):]
		touches := func(other mark) bool { return other.box.Overlaps(m.box) }
		for range mostStacked - 1 {
			if slices.ContainsFunc(nearby, touches) {
				m.box = m.box.Add(image.Pt(0, step))
			}
		}
		if slices.ContainsFunc(nearby, touches) || m.box.Min.Y < o.limit.Min.Y || m.box.Max.Y > o.limit.Max.Y {
			continue
		}
		m.pale = p.Signals != SignalsLabels && !m.named && newest[kind(m)] != i && !strings.Contains(m.Label, "div")
		m.tip = point{float64(m.box.Min.X) + float64(w)/2, float64(m.box.Min.Y)}
		if !m.up {
			m.tip.y = float64(m.box.Max.Y)
		}
		p.marks = append(p.marks, m)
		o.take(m.box)
	}
	// Some were stacked too high or outside the pane: the legend counts them.
	pn.unmarked += all - (len(p.marks) - from)
}

// thinned returns at most most of the signals, spread evenly over the bars: of each of so many
// stretches of bars the newest, or rather one that an alert waits for.
func (p *picture) thinned(signals []mark, most int) (kept []mark) {
	if len(signals) <= most {
		return signals
	}
	last := -1 // the stretch of the one that was kept last: signals are in the order of bars
	for _, m := range signals {
		switch stretch := m.Bar * most / p.n; {
		case stretch != last:
			kept, last = append(kept, m), stretch
		case m.named || !kept[len(kept)-1].named:
			kept[len(kept)-1] = m
		}
	}
	return kept
}

// candleReach returns the rows that candles take between columns x0 and x1.
func (p *picture) candleReach(x0, x1 int) (top, bottom int) {
	top, bottom = math.MaxInt32, math.MinInt32
	// Candles are sorted by column: begin with the first that can reach x0.
	first, _ := slices.BinarySearchFunc(p.candles, x0-p.body, func(c candle, x int) int { return c.x - x })
	for _, c := range p.candles[first:] {
		body := p.bodyRect(c)
		if body.Min.X >= x1 {
			break
		}
		if body.Max.X > x0 {
			top, bottom = min(top, c.high), max(bottom, c.low)
		}
	}
	return top, bottom
}

// placeExtremes prints the highest and the lowest price, of equal ones the first, above and
// below the ends of their wicks or, if there is no room, to the side with a dotted line.
func (p *picture) placeExtremes(o *room) {
	top, bottom := slices.Max(p.drawn.high), slices.Min(p.drawn.low)
	if !(top > bottom) {
		return
	}
	for _, end := range [...]struct {
		bar   int
		price float64
		below bool
	}{{slices.Index(p.drawn.high, top), top, false}, {slices.Index(p.drawn.low, bottom), bottom, true}} {
		l := p.annotation(extremeText, p.axisText(end.price, true), inkText) // in the unit of the axis
		x, y := p.column(end.bar), p.panes[0].scale.row(end.price)
		w, h := l.box.Dx(), l.box.Dy()
		var spots []spot
		left := min(max(x-w/2, o.limit.Min.X), o.limit.Max.X-w)
		for off := p.px(3); off < p.px(24); off += p.px(4) { // further out in small steps
			top := y - off - h
			if end.below {
				top = y + off
			}
			spots = append(spots, spot{left: left, top: top})
		}
		// In the row of the wick's end the label has its middle, lower or upper edge.
		wick := image.Rect(x, y, x+1, y+1).Inset(-p.px(2))
		for _, rise := range [...]int{h / 2, h - p.px(2), p.px(2)} {
			spots = append(spots, p.beside(o, l, wick, y-rise, y, p.px(160))...)
		}
		p.put(o, l, slices.Values(spots))
	}
}

// nameMarks writes the names of marks: first of those that an alert waits for, then of the
// newest, even if the newest would use up the room. With SignalsAuto only three are named, and
// no pale ones, with SignalsLabels as many as leave the picture readable. Both stop when the
// pane's share is used up.
func (p *picture) nameMarks(o *room, marks []mark) {
	room := 3
	if p.Signals == SignalsLabels {
		room = p.axisX / p.px(100)
	}
	// The area that names may cover: the share of marks and names less what marks cover.
	budget := int(markShare * float64(o.limit.Dx()) * float64(o.limit.Dy()))
	for i := range marks {
		if !marks[i].pale {
			budget -= marks[i].box.Dx() * marks[i].box.Dy()
		}
	}
	for _, alerted := range [...]bool{true, false} {
		for i := len(marks) - 1; i >= 0 && room > 0; i-- {
			m := &marks[i]
			if m.Label == "" || m.named != alerted || m.pale && p.Signals == SignalsAuto {
				continue
			}
			l := p.annotation(signalText, SignalName(m.Label), m.ink)
			area := l.box.Dx() * l.box.Dy()
			if area <= budget && p.put(o, l, slices.Values(p.besideMark(o, l, m))) {
				room--
				budget -= area
			}
		}
	}
}

// besideMark returns the places for the name of a mark: on its outer side, right next to it or a
// little further out, centred or shifted to either side; then to its left or right, from some
// distance on with a dotted line between. Such a line is never vertical, because next to
// candles it would look like a wick.
func (p *picture) besideMark(o *room, l label, m *mark) (spots []spot) {
	w, h := l.box.Dx(), l.box.Dy()
	x, side := (m.box.Min.X+m.box.Max.X)/2, p.px(8)
	for distance := range 3 {
		top := m.box.Min.Y - p.px(2) - h - distance*p.px(8)
		if m.up {
			top = m.box.Max.Y + p.px(2) + distance*p.px(8)
		}
		spots = append(spots, spot{left: x - w/2, top: top}, spot{left: x + side - w, top: top}, spot{left: x - side, top: top})
	}
	middle := (m.box.Min.Y + m.box.Max.Y) / 2
	return append(spots, p.beside(o, l, m.box, middle-h/2, middle, p.px(140))...)
}

// placeFills places an arrow for each fill, with its tip at the bar and the price: from
// below for a purchase, from above for a sale. It has the colour of text, which no signal
// has.
func (p *picture) placeFills(o *room) {
	if p.view.Account == nil {
		return
	}
	fills := slices.DeleteFunc(slices.Clone(p.view.Account.Fills), func(f Fill) bool { return !usable(f.Price) || f.Time < p.s.Time[0] })
	left := max(0, len(fills)-maxShown)
	p.panes[0].unmarked += left
	h := p.px(10)
	for _, f := range fills[left:] {
		// The tip is where the trade was made. The rest of the arrow is beside it, so that the
		// price stays visible.
		x, y := int(p.timeX(f.Time)), p.panes[0].scale.row(f.Price)
		m := mark{box: image.Rect(x-h/2, y, x-h/2+h, y+h), up: true, ink: inkText}
		if !f.Buy {
			m.box, m.up = image.Rect(x-h/2, y-h, x-h/2+h, y), false
		}
		if !m.box.In(o.limit) {
			p.panes[0].unmarked++
			continue
		}
		m.tip = point{float64(x) + 0.5, float64(y)}
		p.marks = append(p.marks, m)
		o.take(m.box)
	}
}

// placeMarkTexts writes the texts of the caller's zones, lines and texts near what they
// name. A text without room is counted as not drawn, and so is a mark of which nothing is
// in the plot, whose text would name what cannot be seen. A level beyond the edges is named there.
func (p *picture) placeMarkTexts(o *room, pn *pane) {
	for i, m := range p.view.Marks {
		if m.Kind == MarkLevel || !m.drawable() {
			continue
		}
		// A zone is named at its corner, a line at the middle of what is seen of it, a text at its
		// place. Zones and texts are not drawn over the volume.
		var at image.Point
		var seen bool
		switch m.Kind {
		case MarkZone:
			area := p.zoneRect(pn, m)
			seen, at = area.Overlaps(image.Rect(0, pn.legend.Max.Y, p.axisX, pn.floor)), area.Intersect(o.limit).Min
		case MarkLine:
			var from, to point
			from, to, seen = p.inPlot(pn, m)
			at = image.Pt(int((from.x+to.x)/2), int((from.y+to.y)/2))
		default:
			at = image.Pt(int(math.Floor(p.timeX(m.Time))), pn.scale.row(m.Price))
			seen = at.In(image.Rect(0, pn.legend.Max.Y, p.axisX, pn.floor+1))
		}
		l := p.annotation(signalText, printable(m.Text, MaxMarkText), toneInk(m.Tone, inkAmber))
		w, h := l.box.Dx(), l.box.Dy()
		var around []spot // in rings at growing distances, right above or below first
		for d := 0; d < 14*p.px(10); d += p.px(10) {
			for _, off := range [...]image.Point{{0, 0}, {0, -h - d}, {0, d}, {d, 0}, {-w - d, 0}, {-w / 2, -h - d}, {-w / 2, d}, {d, -h - d}, {-w - d, d}} {
				around = append(around, spot{left: at.X + off.X, top: at.Y + off.Y})
			}
		}
		switch {
		case !seen:
			pn.unmarked++
			p.missing.Outside = append(p.missing.Outside, i)
		case m.Text != "" && !p.put(o, l, slices.Values(around)):
			pn.unmarked++
			p.missing.Unnamed = append(p.missing.Unnamed, i)
		}
	}
}

// signalWords are the parts of signal labels that a picture writes otherwise:
// abbreviations in full, and what is said too shortly to be understood. Pages get the
// same table, see Look.
var signalWords = map[string]string{
	"os": "oversold", "ob": "overbought", "oversold": "leaves oversold", "overbought": "leaves overbought",
	"bull": "bullish", "bear": "bearish", "div": "divergence", "rsi": "RSI", "stoch": "Stoch", "wt": "WT",
	"cross": "crosses", "touch": "touches", "breakout": "breaks out", "flip": "turns", "turn": "turns", "twist": "cloud turns",

	// Whole labels, which come before their parts.
	"stack_up": "rising order", "stack_down": "falling order", "zero_up": "rises above 0", "zero_down": "falls below 0",
	"level_touch": "touches level", "buy_oversold": "buy, oversold", "sell_overbought": "sell, overbought",
	"enters_oversold": "enters oversold", "enters_overbought": "enters overbought",
}

// SignalName returns the label of a signal in words: "rsi_overbought" is "RSI
// leaves overbought". Payloads and alerts keep the label.
func SignalName(label string) string {
	if name, ok := signalWords[label]; ok {
		return name
	}
	words := strings.Split(label, "_")
	for i, w := range words {
		if full, ok := signalWords[w]; ok {
			words[i] = full
		}
	}
	return printable(strings.Join(words, " "), 32)
}
