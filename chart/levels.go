package chart

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"wick/indicators"
)

// placeLevelNames writes the names of levels at the right end of their lines. A level
// whose name is in a tag on the axis is not named again. A level of the account or the
// caller whose name has no room is counted as not drawn.
func (p *picture) placeLevelNames(o *room, pn *pane) {
	for _, l := range p.own {
		y := pn.scale.row(l.price)
		text := l.text
		if !slices.ContainsFunc(pn.tags, func(t tag) bool { return t.y == y && t.outline }) {
			text = p.withPrice(l) // no tag shows its price
		}
		if text != "" && pn.inside(l.price) && !p.nameEnd(o, p.annotation(lineText, text, l.ink), y, 0) && !p.nameAway(o, l, y) {
			pn.unmarked++
			if l.number > 0 {
				p.missing.Unnamed = append(p.missing.Unnamed, l.number-1)
			}
		}
	}
	if p.compact { // no room for names that the legend has too
		return
	}
	for _, st := range pn.studies {
		for i, h := range st.HLines {
			name := p.levelName(pn, st, i)
			tagged := func(t tag) bool { return strings.HasPrefix(t.text, name+" ") }
			if name != "" && usable(h.Y) && !slices.ContainsFunc(pn.tags, tagged) {
				p.nameEnd(o, p.annotation(lineText, name, toneInk(h.Tone, inkBand)), pn.scale.row(h.Y), 0)
			}
		}
		for i, l := range st.Lines {
			// Of lines that hold a value for a session, if there are several; over the bars that
			// have the value.
			if v, ok := lastValue(l.Values, p.n); l.Style == indicators.Step && len(st.Lines) >= 3 && ok {
				from := p.n - 1
				for from > 0 && l.Values[from-1] == v {
					from--
				}
				p.nameEnd(o, p.annotation(lineText, printable(l.Label, 16), st.lines[i].ink), pn.scale.row(v), int(p.x0+float64(from)*p.pitch))
			}
		}
	}
}

// withPrice returns the text of a level followed by its value on the axis, unless the text
// contains the price already: a percentage after that would look like the profit.
func (p *picture) withPrice(l ownLevel) string {
	if strings.Contains(l.text, p.namedText(l.price)) {
		return l.text
	}
	return strings.TrimSpace(l.text + " " + p.axisText(l.price, true))
}

// placeBeyond names, at the upper and the lower edge of the price, the levels that are
// beyond it. The nearest three are named, by their price alone where there is no more room, and
// the others counted, so that nobody believes that there is no order because it is out of
// sight.
func (p *picture) placeBeyond(o *room, pn *pane) {
	for k, arrow := range [...]string{"↑ ", "↓ "} {
		upper := k == 0
		var beyond []ownLevel
		for _, l := range p.own {
			if !pn.inside(l.price) && (pn.scale.y(l.price) < float64(pn.top)) == upper {
				beyond = append(beyond, l)
			}
		}
		slices.SortStableFunc(beyond, func(a, b ownLevel) int {
			if upper {
				a, b = b, a
			}
			return cmp.Compare(b.price, a.price)
		})
		left := 0
		for i, l := range beyond {
			if i < 3 && (p.atEdge(o, arrow+p.withPrice(l), l.ink, upper) || p.atEdge(o, arrow+p.axisText(l.price, true), l.ink, upper)) {
				continue
			}
			left++
			if l.number > 0 {
				p.missing.Outside = append(p.missing.Outside, l.number-1)
			}
		}
		if left > 0 && !p.atEdge(o, arrow+"+"+strconv.Itoa(left), inkAxis, upper) {
			pn.unmarked += left
		}
	}
}

// atEdge writes text at the upper or lower edge of a pane, as far right as possible, or if
// there is no room, a few rows further in. It reports whether there was room.
func (p *picture) atEdge(o *room, text string, i ink, upper bool) bool {
	l := p.annotation(lineText, text, i)
	h := l.box.Dy()
	for row := range 6 {
		top := o.limit.Min.Y + row*h/2
		if !upper {
			top = o.limit.Max.Y - h - row*h/2
		}
		if p.put(o, l, o.leftwards(l, 0, p.px(6), o.strips(h, top))) {
			return true
		}
	}
	return false
}

// levelName returns the name of a level. If another study of the pane has a level of that
// name, the name of its own study comes first.
func (p *picture) levelName(pn *pane, st *study, i int) string {
	name := printable(st.HLines[i].Label, longestLevel)
	if name == "" {
		return ""
	}
	same := func(h indicators.HLine) bool { return h.Label == st.HLines[i].Label }
	for _, other := range pn.studies {
		if other != st && slices.ContainsFunc(other.HLines, same) {
			return printable(studyName(st.Result), 14) + " " + name
		}
	}
	return name
}

// nameEnd writes l above or below the line at row y, off rows away, as far right as there is
// room, where the line is read together with the axis, but not left of from. It reports whether
// there was room.
func (p *picture) nameEnd(o *room, l label, y, from int) bool {
	h := l.box.Dy()
	return p.put(o, l, o.leftwards(l, from, p.px(12), o.strips(h, y-h-o.cell, y+p.thin+o.cell)))
}

// nameAway writes the name of a level that has no room at its line up to three lines of
// text away. It adds the price, so that the name is not taken for that of another level,
// and shortens the words if it must, but no number: a stop for 20 is not one for 2. It
// reports whether there was room.
func (p *picture) nameAway(o *room, l ownLevel, y int) bool {
	text, words, numbers := p.withPrice(l), strings.TrimSuffix(l.text, l.numbers), l.numbers+" "+p.axisText(l.price, true)
	var away [][]strip // above and below the line, further and further
	h := p.annotation(lineText, text, l.ink).box.Dy()
	for off := 0; off <= 3*h; off += h / 2 {
		away = append(away, o.strips(h, y-h-o.cell-off, y+p.thin+o.cell+off))
	}
	for most := utf8.RuneCountInString(words); ; {
		name := p.annotation(lineText, text, l.ink)
		for _, strips := range away {
			if p.put(o, name, o.leftwards(name, 0, p.px(12), strips)) {
				return true
			}
		}
		if most = most * 2 / 3; most < 6 {
			return false
		}
		// A stop_limit is not cut to a stop, which is another kind of order.
		text = strings.Replace(printable(words, most), "stop…", "…", 1) + numbers
	}
}

// maxShown is how many orders, alerts or fills of an account are shown. The others are
// counted as not drawn: thousands would hide the prices.
const maxShown = 50

// levels returns the position, orders, alerts and marks of the caller that are levels. The
// entry is a solid line, orders are dashed, alerts dotted: a position looks heavier than what
// only waits.
func (p *picture) levels() (out []ownLevel) {
	if a := p.view.Account; a != nil {
		if pos := a.Position; pos != nil && usable(pos.Entry) && usable(pos.Quantity) && pos.Quantity != 0 {
			side := "long "
			if pos.Quantity < 0 {
				side = "short "
			}
			// In the colour of its profit or loss, or if that is not known, a neutral one.
			l := ownLevel{price: pos.Entry, text: side + quantityText(math.Abs(pos.Quantity)) + " at " + p.namedText(pos.Entry), ink: inkAxis, on: 1}
			if usable(pos.Profit) {
				l.text += " · " + profitText(pos.Profit)
				l.ink = changeInk(0, pos.Profit)
			}
			l.numbers = l.text
			out = append(out, l)
		}
		var orders, alerts []ownLevel
		for _, o := range a.Orders {
			side, colour, quantity := "sell ", inkDown, " "+quantityText(o.Quantity)
			if o.Buy {
				side, colour = "buy ", inkUp
			}
			if o.Unknown { // whether it waits
				quantity += " ?"
			}
			if usable(o.Price) {
				orders = append(orders, ownLevel{o.Price, side + printable(o.Kind, 16) + quantity, colour, 4, 4, 0, quantity})
			}
		}
		for _, alert := range a.Alerts {
			if usable(alert.Price) && alert.Price != 0 && alert.Key == "" {
				alerts = append(alerts, ownLevel{alert.Price, "alert " + printable(alert.Text, 40), inkAmber, 1, 4, 0, ""})
			}
		}
		out = slices.Concat(out, p.nearest(orders), p.nearest(alerts))
	}
	for i, m := range p.view.Marks {
		if m.Kind == MarkLevel && m.drawable() {
			out = append(out, ownLevel{m.Price, printable(m.Text, MaxMarkText), toneInk(m.Tone, inkAmber), 8, 4, i + 1, ""})
		}
	}
	return out
}

// nearest returns the maxShown levels that are nearest to the last price, which are those
// that may be reached first, and counts the others.
func (p *picture) nearest(levels []ownLevel) []ownLevel {
	if len(levels) <= maxShown {
		return levels
	}
	last := p.s.Close[p.n-1]
	slices.SortStableFunc(levels, func(a, b ownLevel) int { return cmp.Compare(math.Abs(a.price-last), math.Abs(b.price-last)) })
	p.panes[0].unmarked += len(levels) - maxShown
	return levels[:maxShown]
}

// quantityText writes a quantity with all its decimals, of which those of an account have at
// most eight. A number that is too large for an account has an exponent.
func quantityText(v float64) string {
	if extreme(v) || !usable(v) {
		return levelText(v)
	}
	return strings.TrimRight(strings.TrimRight(fixedText(v, 8), "0"), ".")
}
