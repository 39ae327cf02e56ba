package chart

import (
	"slices"
	"strconv"
	"strings"

	"wick/indicators"
)

// The legend: the studies of a pane above its data, in rows that data never enter. Of each
// it has the name, then every line's value at the last bar in the line's own colour, then
// the levels, then how often each signal came.

// legendItem is a name or a value of a legend row.
type legendItem struct {
	text string
	font *atlas
	ink  ink
	of   *study // nil for a count of signals, which gives way to the others
}

// placeLegends writes the rows of every legend. The last row of a pane also says how much
// is not drawn.
func (p *picture) placeLegends() {
	for i := range p.panes {
		pn := &p.panes[i]
		note, left := "", 0
		if pn.unmarked > 0 {
			note = notDrawn(pn.unmarked)
		}
		rows := make([][]legendItem, pn.legend.Dy()/p.rowH)
		if len(pn.studies) <= len(rows) {
			for k := range pn.studies {
				rows[k] = p.legendItems(pn, &pn.studies[k])
			}
		} else if len(rows) > 0 {
			left = p.shareRows(rows, pn, note)
		}
		for row, items := range rows {
			y := pn.legend.Min.Y + row*p.rowH + p.rowH/2
			if row < len(rows)-1 {
				p.putRow(items, 0, "", y)
			} else if !p.putRow(items, left, note, y) {
				p.untold += pn.unmarked
			}
		}
	}
	if p.n == 0 { // the price has nothing else to show
		const text = "No bars to draw"
		pn := &p.panes[0]
		p.write(noticeText, p.legend, text, (p.axisX-p.legend.width(text))/2, (pn.frame.Min.Y+pn.frame.Max.Y)/2, inkText)
	}
}

// shareRows fills rows with the items of more studies than there are rows, as many studies
// in a row as must be. Signals are counted only where the names and values of all studies that
// follow still have room. It returns how many such counts are left out. Studies without
// room are in the last row, beside the note, where putRow cuts them off.
func (p *picture) shareRows(rows [][]legendItem, pn *pane, note string) (left int) {
	gap, room := p.px(12), p.axisX-p.px(20)
	all, bare := make([][]legendItem, len(pn.studies)), make([][]legendItem, len(pn.studies))
	for k := range pn.studies {
		all[k] = p.legendItems(pn, &pn.studies[k])
		bare[k] = slices.DeleteFunc(slices.Clone(all[k]), func(item legendItem) bool { return item.of == nil })
	}
	// after returns where items end that follow what ends at column x of row.
	after := func(row, x int, items []legendItem) (int, int) {
		width := 0
		for _, item := range items {
			width += item.font.width(item.text) + gap
		}
		end := room
		if row == len(rows)-1 {
			end -= p.legend.width("+99"+note) + 2*gap
		}
		if x > 0 && x+width-gap > end {
			return row + 1, width
		}
		return row, x + width
	}
	row, x := 0, 0
	for k, items := range all {
		if len(all)-k <= len(rows)-1-row { // each of the rest has a row of its own
			row, x = row+1, 0
		}
		r, end := after(row, x, items)
		for _, rest := range bare[k+1:] {
			r, end = after(r, end, rest)
		}
		if r >= len(rows) {
			items = bare[k]
			left += len(all[k]) - len(items)
		}
		row, x = after(row, x, items)
		last := min(row, len(rows)-1)
		rows[last] = append(rows[last], items...)
	}
	return left
}

// putRow writes items from the left and note after them. Items that do not fit
// are counted before the note, together with left others. It reports whether there was room
// for the note, which is not so beside one very long name.
func (p *picture) putRow(items []legendItem, left int, note string, y int) bool {
	last := p.axisX - p.px(10)
	if note == "" {
		p.putItems(items, left, last, y)
		return true
	}
	// The room of the note is set aside before the items are written.
	w := p.legend.width(note)
	x := p.putItems(items, left, last-p.px(12)-w, y)
	if x+w > last {
		return false
	}
	p.putBacked(p.legend, note, x, y, inkAxis)
	return true
}

// putItems writes items from the left up to column last, then how many did not fit, with
// left others. It returns the column after that, and notes the studies that are not named
// or not with all values.
func (p *picture) putItems(items []legendItem, left, last, y int) (x int) {
	// Room is kept for the count of items that do not fit, unless all do.
	x, gap := p.px(10), p.px(12)
	for i, item := range items {
		w := item.font.width(item.text)
		end := last
		more := "+" + strconv.Itoa(len(items)-i+left)
		if i < len(items)-1 || left > 0 {
			end -= gap + p.legend.width(more)
		}
		// At least one item is always written, and cut if it must be.
		if x+w > end && i > 0 {
			for _, rest := range items[i:] {
				if rest.of != nil && !slices.Contains(p.missing.Legend, rest.of.key) {
					p.missing.Legend = append(p.missing.Legend, rest.of.key)
				}
			}
			return x + gap + p.putBacked(p.legend, more, x, y, inkAxis)
		}
		for most := len([]rune(item.text)); x+w > end && most > 8; most-- { // a formula may be longer than the row
			item.text = printable(item.text, most-1)
			w = item.font.width(item.text)
		}
		x += gap + p.putBacked(item.font, item.text, x, y, item.ink)
	}
	if left > 0 {
		x += gap + p.putBacked(p.legend, "+"+strconv.Itoa(left), x, y, inkAxis)
	}
	return x
}

// putBacked writes a legend text on a backing and returns its width.
func (p *picture) putBacked(font *atlas, text string, x, y int, i ink) int {
	w := p.write(legendText, font, text, x, y, i)
	p.labels[len(p.labels)-1].backing = true
	return w
}

// legendItems returns the items of one study.
func (p *picture) legendItems(pn *pane, st *study) []legendItem {
	items := []legendItem{{studyName(st.Result), p.name, inkText, st}}
	if p.n > 0 && !st.compare && neverWarm(st.Result, p.n) {
		return append(items, legendItem{p.emptyText(st), p.legend, inkAxis, st})
	}
	items = p.valueItems(items, pn, st)
	add := func(i ink, text string) {
		items = append(items, legendItem{text, p.legend, i, st})
	}
	if n := min(p.n, len(st.Shaded)); n > 0 { // the key of the shade, then the value
		add(st.shade, "■ true")
		add(inkAxis, "last bar "+strconv.FormatBool(st.Shaded[n-1]))
	}
	if n := len(st.Sessions); n > 0 {
		add(inkAxis, counted(n, "session"))
	}
	for _, h := range st.HLines {
		if h.Label != "" {
			add(toneInk(h.Tone, inkBand), printable(h.Label, longestLevel)+" "+p.legendValue(pn, st, h.Y))
		}
	}
	return p.signalItems(items, st)
}

// longestLevel is how many characters the name of a level has at most: as many as that of an
// alert, "alert", the name of a line or an indicator of at most 14, and "above" or "below".
const longestLevel = 26

// valueItems appends the values at the last bar, each in the colour of its line. The only
// value of a study needs no name. A compared symbol always has its name here, since its
// tag on the axis may be dropped, and where it begins later than the chart, since when its
// change counts.
func (p *picture) valueItems(items []legendItem, pn *pane, st *study) []legendItem {
	named := st.compare || len(st.Lines)+len(st.Histogram) > 1
	for i, l := range st.Lines {
		v, _ := lastValue(l.Values, p.n)
		items = append(items, legendItem{valueOf(l.Label, p.legendValue(pn, st, v), named), p.legend, st.lines[i].ink, st})
		if first := slices.IndexFunc(l.Values, usable); st.compare && first > 0 {
			items = append(items, legendItem{"since " + p.barText(first), p.legend, st.lines[i].ink, st})
		}
	}
	for i, h := range st.Histogram {
		v, ok := lastValue(h.Values, p.n)
		colour := st.bars[i]
		if colour == inkUp && ok && v < 0 {
			colour = inkDown
		}
		items = append(items, legendItem{valueOf(h.Label, valueText(v), named), p.legend, colour, st})
	}
	return items
}

// legendValue writes a value of a line or a level. Over the price these are prices,
// and those of a compared line percentages.
func (p *picture) legendValue(pn *pane, st *study, v float64) string {
	switch {
	case !pn.price:
		return valueText(v)
	case st.compare:
		return p.percentText(v)
	}
	return priceText(v, p.digits())
}

// emptyText says why a study has no value: too few bars, if it is known how many are
// needed, otherwise what the bars lack.
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

// valueOf joins a label and a value if the value is to be named.
func valueOf(label, value string, named bool) string {
	if !named || label == "" {
		return value
	}
	return printable(label, 20) + " " + value
}

// studyName writes "MACD(12, 26, 9)" as "MACD 12 26 9". If each parameter is the name of
// a line, it leaves them out, since the lines show them: "EMA", then "8 251.21". Commas
// within a parameter stay: in an expression they divide the arguments of a function.
func studyName(r *indicators.Result) string {
	name, params, found := strings.Cut(printable(r.Label, 48), "(")
	if !found {
		return name
	}
	depth := 0
	words := strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			return ' '
		}
		return r
	}, strings.TrimSuffix(params, ")")))
	// "EMA(8, 21, 50)" names each of its three lines by one parameter.
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
// order in which they first came. Signals without room for a mark are counted too.
func (p *picture) signalItems(items []legendItem, st *study) []legendItem {
	if p.signals == SignalsOff {
		return items
	}
	for _, g := range groupSignals(st.Signals) {
		shape := "● "
		switch g.signal.Tone {
		case indicators.Up:
			shape = "▲ "
		case indicators.Down:
			shape = "▼ "
		}
		text := shape + SignalName(g.signal.Label) + " ×" + strconv.Itoa(g.count)
		items = append(items, legendItem{text, p.legend, st.signalInk(g.signal.Tone, inkText), nil})
	}
	return items
}

// signalGroup is the first signal of a name and direction, and how many there are.
type signalGroup struct {
	signal indicators.Signal
	count  int
}

// groupSignals counts the signals that are not silent, by name and direction.
func groupSignals(signals []indicators.Signal) (groups []signalGroup) {
	for _, s := range signals {
		if s.Silent {
			continue
		}
		// Few labels occur in one study, so a search is quicker than a map.
		i := slices.IndexFunc(groups, func(g signalGroup) bool { return g.signal.Label == s.Label && g.signal.Tone == s.Tone })
		if i < 0 {
			i = len(groups)
			groups = append(groups, signalGroup{signal: s})
		}
		groups[i].count++
	}
	return groups
}
