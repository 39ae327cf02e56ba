package chart

import (
	"slices"
	"strconv"
	"strings"

	"wick/indicators"
)

// The legend: one row per study above the data of its pane, in rows that data never
// enter. A row names the study, then gives every line's value at the last bar in
// the line's own colour, then the levels, then how often each signal came.

// legendItem is a name or a value of a legend row.
type legendItem struct {
	text string
	font *atlas
	ink  ink
}

// placeLegends writes a row per study: its name, the last value of each line
// in the line's colour, its levels, and how often each signal came. A pane
// with more studies than rows puts the rest into the last row.
func (p *picture) placeLegends() {
	for i := range p.panes {
		pn := &p.panes[i]
		rows := pn.legend.Dy() / p.rowH
		for row := range rows {
			studies := pn.studies[row : row+1]
			if row == rows-1 {
				studies = pn.studies[row:]
			}
			var items []legendItem
			for k := range studies {
				items = p.legendItems(items, pn, &studies[k])
			}
			note := ""
			// Signals that found no room are counted, so that nobody takes them for
			// none.
			if row == rows-1 && pn.unmarked > 0 {
				note = strconv.Itoa(pn.unmarked) + " more not drawn"
			}
			p.putRow(items, note, pn.legend.Min.Y+row*p.rowH+p.rowH/2)
		}
	}
	if p.n == 0 {
		text := "No bars to draw"
		pn := &p.panes[0]
		w := p.legend.width(text)
		p.put(noticeText, p.legend, text, (p.axisX-w)/2, (pn.frame.Min.Y+pn.frame.Max.Y)/2, inkText)
	}
}

// putRow writes items from the left and note after them. Items that do not fit
// are counted before the note.
func (p *picture) putRow(items []legendItem, note string, y int) {
	// Room is kept for the count of what will not fit, unless everything does.
	x, gap := p.px(10), p.px(12)
	// A note is written when the items are, behind the last one, and its room is set
	// aside first.
	last := p.axisX - p.px(10)
	if note != "" {
		last -= gap + p.legend.width(note)
		defer func() {
			if x+p.legend.width(note) <= p.axisX-p.px(10) { // not so beside one very long name
				p.putBacked(p.legend, note, x, y, inkAxis)
			}
		}()
	}
	for i, item := range items {
		w := item.font.width(item.text)
		end := last
		more := "+" + strconv.Itoa(len(items)-i)
		if i < len(items)-1 {
			end -= gap + p.legend.width(more)
		}
		// At least one item is always written, and cut if it must be.
		if x+w > end && i > 0 {
			x += gap + p.putBacked(p.legend, more, x, y, inkAxis)
			return
		}
		for most := len([]rune(item.text)); x+w > end && most > 8; most-- { // a formula may be longer than the row
			item.text = printable(item.text, most-1)
			w = item.font.width(item.text)
		}
		x += gap + p.putBacked(item.font, item.text, x, y, item.ink)
	}
}

// putBacked writes a legend text on a backing and returns its width.
func (p *picture) putBacked(font *atlas, text string, x, y int, i ink) int {
	w := p.put(legendText, font, text, x, y, i)
	p.labels[len(p.labels)-1].backing = true
	return w
}

// legendItems appends the items of one study.
func (p *picture) legendItems(items []legendItem, pn *pane, st *study) []legendItem {
	add := func(i ink, text string) {
		items = append(items, legendItem{text, p.legend, i})
	}
	items = append(items, legendItem{studyName(st.Result), p.name, inkText})
	if p.n > 0 && neverWarm(st.Result, p.n) {
		add(inkAxis, p.emptyText(st))
		return items
	}
	// Over the price values are prices, and those of a compared line percentages.
	write := valueText
	if pn.price {
		write = func(v float64) string { return priceText(v, p.digits()) }
		if st.compare {
			write = func(v float64) string { return percentText(p.base, v) }
		}
	}
	// The values at the last bar, each in the colour of its line.
	for i, l := range st.Lines {
		v, _ := lastValue(l.Values, p.n)
		add(st.lines[i].ink, valueOf(l.Label, write(v), len(st.Lines)+len(st.Histogram)))
	}
	for i, h := range st.Histogram {
		v, ok := lastValue(h.Values, p.n)
		colour := st.bars[i]
		if colour == inkUp && ok && v < 0 {
			colour = inkDown
		}
		add(colour, valueOf(h.Label, valueText(v), len(st.Lines)+len(st.Histogram)))
	}
	if n := min(p.n, len(st.Shaded)); n > 0 {
		add(inkText, strconv.FormatBool(st.Shaded[n-1]))
	}
	switch n := len(st.Sessions); {
	case n == 1:
		add(inkAxis, "1 session")
	case n > 1:
		add(inkAxis, strconv.Itoa(n)+" sessions")
	}
	for _, h := range st.HLines {
		if h.Label != "" {
			add(toneInk(h.Tone, inkBand), printable(h.Label, 16)+" "+write(h.Y))
		}
	}
	return p.signalItems(items, st)
}

// emptyText says why a study has no value: too few bars where that is known,
// else what the bars lack.
func (p *picture) emptyText(st *study) string {
	if st.needs != nil {
		if n := st.needs(); n > p.n {
			return "needs " + strconv.Itoa(n) + " bars"
		}
	}
	if !p.hasVolume() {
		return "no values (these bars have no volume)"
	}
	return "no values in these bars"
}

// valueOf joins a label and a value; the only value of a study needs no label.
func valueOf(label, value string, values int) string {
	if values == 1 || label == "" {
		return value
	}
	return printable(label, 20) + " " + value
}

// studyName writes "MACD(12, 26, 9)" as "MACD 12 26 9". Parameters that name
// the lines one by one are left to these: "EMA", then "8 251.21".
func studyName(r *indicators.Result) string {
	name, params, found := strings.Cut(printable(r.Label, 48), "(")
	if !found {
		return name
	}
	params = strings.TrimSuffix(params, ")")
	words := strings.FieldsFunc(params, func(r rune) bool { return r == ',' || r == ' ' })
	// "EMA(8, 21, 50)" names each of its three lines by one parameter; to
	// repeat these in the title would say everything twice.
	named := len(r.Lines) > 1
	for _, l := range r.Lines {
		named = named && slices.Contains(words, l.Label)
	}
	if named {
		return strings.TrimSpace(name)
	}
	return strings.TrimSpace(name) + " " + strings.Join(words, " ")
}

// neverWarm reports whether an indicator has lines or bars and not one value.
func neverWarm(r *indicators.Result, n int) bool {
	for _, l := range r.Lines {
		if slices.ContainsFunc(upTo(l.Values, n), usable) {
			return false
		}
	}
	for _, h := range r.Histogram {
		if slices.ContainsFunc(upTo(h.Values, n), usable) {
			return false
		}
	}
	return len(r.Lines)+len(r.Histogram) > 0
}

// signalItems appends how often each signal came, by name and direction, in the
// order in which they first came. Signals without a mark are counted too.
func (p *picture) signalItems(items []legendItem, st *study) []legendItem {
	type group struct {
		signal indicators.Signal
		count  int
	}
	var groups []group
	for _, s := range st.Signals {
		if s.Silent {
			continue
		}
		// Few labels occur in one study, so a search is quicker than a map.
		i := slices.IndexFunc(groups, func(g group) bool { return g.signal.Label == s.Label && g.signal.Tone == s.Tone })
		if i < 0 {
			i = len(groups)
			groups = append(groups, group{signal: s})
		}
		groups[i].count++
	}
	if p.signals == SignalsOff {
		return items
	}
	for _, g := range groups {
		shape := "● "
		switch g.signal.Tone {
		case indicators.Up:
			shape = "▲ "
		case indicators.Down:
			shape = "▼ "
		}
		text := shape + SignalName(g.signal.Label) + " ×" + strconv.Itoa(g.count)
		items = append(items, legendItem{text, p.legend, toneInk(g.signal.Tone, inkText)})
	}
	return items
}
