package chart

import (
	"slices"
	"strconv"
	"strings"

	"wick/indicators"
)

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
			p.putRow(items, pn.legend.Min.Y+row*p.rowH+p.rowH/2)
		}
	}
	if p.n == 0 {
		text := "No bars to draw"
		pn := &p.panes[0]
		w := p.legend.width(text)
		p.put(noticeText, p.legend, text, (p.axisX-w)/2, (pn.frame.Min.Y+pn.frame.Max.Y)/2, inkText)
	}
}

// putRow writes items from the left; what does not fit is counted at the end.
func (p *picture) putRow(items []legendItem, y int) {
	x, gap := p.px(10), p.px(12)
	for i, item := range items {
		w := item.font.width(item.text)
		end := p.axisX - p.px(10)
		more := "+" + strconv.Itoa(len(items)-i)
		if i < len(items)-1 {
			end -= gap + p.legend.width(more)
		}
		if x+w > end && i > 0 {
			p.put(legendText, p.legend, more, x, y, inkAxis)
			p.labels[len(p.labels)-1].backing = true
			return
		}
		p.put(legendText, item.font, item.text, x, y, item.ink)
		p.labels[len(p.labels)-1].backing = true
		x += w + gap
	}
}

// legendItems appends the items of one study.
func (p *picture) legendItems(items []legendItem, pn *pane, st *study) []legendItem {
	add := func(i ink, text string) {
		items = append(items, legendItem{text, p.legend, i})
	}
	items = append(items, legendItem{studyName(st.Result), p.name, inkText})
	if p.n > 0 && neverWarm(st, p.n) {
		add(inkAxis, p.needsText(st))
		return items
	}
	write := valueText
	if pn.price {
		write = func(v float64) string { return priceText(v, p.precision) }
	}
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

// needsText says how many bars a study without a value takes.
func (p *picture) needsText(st *study) string {
	if st.needs != nil {
		if n := st.needs(); n > p.n {
			return "needs " + strconv.Itoa(n) + " bars"
		}
	}
	return "needs more bars"
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
	named := len(r.Lines) > 1
	for _, l := range r.Lines {
		named = named && slices.Contains(words, l.Label)
	}
	if named {
		return strings.TrimSpace(name)
	}
	return strings.TrimSpace(name) + " " + strings.Join(words, " ")
}

// neverWarm reports whether a study has lines or bars and not one value.
func neverWarm(st *study, n int) bool {
	for _, l := range st.Lines {
		if slices.ContainsFunc(upTo(l.Values, n), usable) {
			return false
		}
	}
	for _, h := range st.Histogram {
		if slices.ContainsFunc(upTo(h.Values, n), usable) {
			return false
		}
	}
	return len(st.Lines)+len(st.Histogram) > 0
}

// signalItems counts the signals of each name, in the order of their first, so
// that none is lost where a mark finds no room.
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
		i := slices.IndexFunc(groups, func(g group) bool { return g.signal.Label == s.Label })
		if i < 0 {
			i = len(groups)
			groups = append(groups, group{signal: s})
		}
		groups[i].count++
	}
	for _, g := range groups {
		shape := "● "
		switch g.signal.Tone {
		case indicators.Up:
			shape = "▲ "
		case indicators.Down:
			shape = "▼ "
		}
		text := shape + printable(g.signal.Label, 24) + " ×" + strconv.Itoa(g.count)
		items = append(items, legendItem{text, p.legend, toneInk(g.signal.Tone, inkText)})
	}
	return items
}
