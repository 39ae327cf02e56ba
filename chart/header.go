package chart

import (
	"cmp"
	"image"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/indicators"
)

// The header: what is shown, its last bar, and what a reader must know about the
// bars. It leaves things out one by one, the least important first, until the rest
// fits the width.

// headerCut says what a header leaves out: each value also leaves out what the smaller
// ones do.
type headerCut uint8

const (
	cutNothing headerCut = iota
	cutCount             // how many bars there are
	cutRange
	cutVolume
	cutOHL
	cutAmount // the amount of the change; its percentage stays
	cutClose  // it is on the axis too
	cutInterval
	cutState // what stateText says about the bars
	cutLast
	cutNever
)

type headerPart struct {
	text  string
	font  *atlas
	ink   ink
	gap   float64 // room before it
	right bool    // on the right side, where parts are joined by dots
	badge bool    // on a filled box
	// The cuts at which it is shown: from the first up to, but not including, the second.
	from, until headerCut
}

// placeHeader writes the header, and leaves out only as much as it must to make it fit. The
// last try stays whether it fits or not.
func (p *picture) placeHeader() {
	parts, pad, before := p.headerParts(), p.px(10), len(p.labels)
	for cut := cutNothing; cut <= cutLast; cut++ {
		p.labels = p.labels[:before]
		var words []string // of the right side
		x, y := pad, p.header.Dy()/2+p.px(1)
		for _, part := range parts {
			if cut < part.from || cut >= part.until {
				continue
			}
			switch x += p.px(part.gap); {
			case part.right:
				words = append(words, part.text)
			case part.badge:
				l, half := p.write(headerText, part.font, part.text, x+p.px(5), y, p.pal.onTag[part.ink]), p.tagH()/2
				l.box, l.fill = image.Rect(x, y-half, l.box.Max.X+p.px(5), y+half), true
				x = l.box.Max.X
			default:
				x = p.write(headerText, part.font, part.text, x, y, part.ink).box.Max.X
			}
		}
		if right := strings.Join(words, " · "); right != "" {
			w := p.axis.width(right)
			p.write(headerText, p.axis, right, p.w-pad-w, y, inkAxis)
			x += p.px(16) + w
		}
		if x+pad > p.w && cut < cutLast {
			continue
		}
		if cut >= cutRange && p.n > 0 {
			p.placeZone()
		}
		return
	}
}

// placeZone writes the time zone into the corner below the price axis, if there is room. It
// is for a header that has no room for it. Its name is that in letters or the offset from UTC,
// which may be shorter: EST or -05. If its clock changes among the bars, it has both: EDT/EST.
func (p *picture) placeZone() {
	room, zone := p.w-p.axisX, cmp.Or(p.Zone, time.UTC)
	var letters, offsets []string
	for _, t := range p.s.Time {
		at := time.Unix(t, 0).In(zone)
		if name := at.Format("MST"); !slices.Contains(letters, name) {
			letters, offsets = append(letters, name), append(offsets, strings.TrimSuffix(at.Format("-0700"), "00"))
		}
	}
	for _, names := range [][]string{letters, offsets} {
		name := strings.Join(names, "/")
		if w := p.axis.width(name); w+p.px(4) <= room {
			p.write(zoneText, p.axis, name, p.axisX+(room-w)/2, p.timeAxis.Min.Y+p.timeAxis.Dy()/2, inkAxis)
			return
		}
	}
}

// headerParts returns all parts in the order of reading: what the bars are, the prices of the
// last one in its colour, so that up or down is seen before a number is read, and on the right
// what is missing and which time the bars cover. The symbol, the badge of invented data and the
// change in percent are never left out.
func (p *picture) headerParts() []headerPart {
	parts := make([]headerPart, 0, 20)
	add := func(until headerCut, gap float64, i ink, text string) {
		if text != "" {
			parts = append(parts, headerPart{text: text, font: p.legend, ink: i, gap: gap, until: until})
		}
	}
	right := func(from, until headerCut, text string) {
		parts = append(parts, headerPart{text: text, right: true, from: from, until: until})
	}
	parts = append(parts, headerPart{text: printable(p.s.Symbol, 24), font: p.symbol, ink: inkText, until: cutNever})
	add(cutInterval, 8, inkAxis, printable(string(p.s.Interval), 8))
	add(cutInterval, 8, inkAxis, printable(p.s.Currency, 8))
	if p.Type == HeikinAshi { // bars or scale are not what is usual
		add(cutInterval, 8, inkAxis, "Heikin-Ashi")
	}
	if p.Scale == Log {
		add(cutInterval, 8, inkAxis, "log")
	}
	if p.s.Synthetic {
		parts = append(parts, headerPart{text: "SYNTHETIC", font: p.tag, ink: inkAmber, gap: 12, badge: true, until: cutNever})
	}
	if last := p.n - 1; last >= 0 {
		add(cutState, 12, inkAmber, p.stateText())
		price := func(until headerCut, name, text string) {
			add(until, 14, inkAxis, name)
			add(until, 5, p.barInk(last), text)
		}
		price(cutOHL, "O", p.priceText(p.s.Open[last]))
		price(cutOHL, "H", p.priceText(p.s.High[last]))
		price(cutOHL, "L", p.priceText(p.s.Low[last]))
		price(cutClose, "C", p.priceText(p.s.Close[last]))
		if last > 0 {
			before, now := p.s.Close[last-1], p.s.Close[last]
			amount := withSign(now-before, p.priceText(math.Abs(now-before)))
			percent := percentText(before, now, 2)
			add(cutAmount, 14, changeInk(before, now), amount+" ("+percent+")")
			add(cutNever, 14, changeInk(before, now), percent)
			parts[len(parts)-1].from = cutAmount
		}
		if v := p.s.Volume[last]; positive(v) {
			price(cutVolume, "Vol", volumeText(v))
		}
	}
	if n := len(p.missing.Panels); n > 0 {
		omitted := "+" + strconv.Itoa(n) + " panels omitted"
		right(cutNothing, cutAmount, omitted+" (height)")
		right(cutAmount, cutLast, omitted)
	}
	if p.untold > 0 { // only what no plot and no legend could say
		right(cutNothing, cutAmount, notDrawn(p.untold))
		right(cutAmount, cutLast, strings.Replace(notDrawn(p.untold), " more", "", 1))
	}
	if p.n > 0 {
		right(cutNothing, cutRange, p.barText(0)+" → "+p.barText(p.n-1)+" "+p.Zone.String()) // UTC without a zone
		right(cutNothing, cutCount, counted(p.n, "bar"))
	}
	return parts
}

// stateText says what a reader must know about the bars: that the last one will change,
// in how many places bars are missing, and how old they were when the source was asked, if
// that is more than two intervals.
func (p *picture) stateText() string {
	var parts []string
	if p.s.Forming {
		parts = append(parts, "forming")
	}
	if n := len(p.s.Gaps); n > 0 {
		parts = append(parts, counted(n, "gap"))
	}
	// The age counts from the end of the last bar to the moment the source was asked: the
	// package itself reads no clock. It is in the largest unit that fits.
	age := p.s.AsOf/1000 - p.s.DueAt(p.n-1)
	if p.s.AsOf > 0 && !p.s.Synthetic && !p.view.Past && age > 2*p.s.Interval.Seconds() && age < 1e11 {
		size, unit := int64(minute), " min old"
		switch {
		case age >= day:
			size, unit = day, " d old"
		case age >= hour:
			size, unit = hour, " h old"
		}
		parts = append(parts, strconv.FormatInt(age/size, 10)+unit)
	}
	return strings.Join(parts, " · ")
}

// The legend: the studies of a pane above its data, in rows that data never enter. Of each
// it has the name, then every line's value at the last bar in the line's own colour, then
// the levels, then how often each signal came.

type legendItem struct {
	text  string
	font  *atlas
	ink   ink
	sign  string // before the text of a count of signals, in the colour of the signal; a count gives way to other items
	count bool
	tone  ink // of sign
}

func (item *legendItem) width() int { return item.font.width(item.sign + item.text) }

// placeLegends writes the rows of every legend. The last row of a pane also says how much
// is not drawn.
func (p *picture) placeLegends() {
	for _, pn := range p.panes {
		note := ""
		if pn.unmarked > 0 {
			note = notDrawn(pn.unmarked)
		}
		rows := make([][]legendItem, pn.legend.Dy()/p.rowH) // none without studies
		left := p.shareRows(rows, pn, note)
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
		pn := p.panes[0]
		p.write(noticeText, p.legend, text, (p.axisX-p.legend.width(text))/2, (pn.frame.Min.Y+pn.frame.Max.Y)/2, inkText)
	}
}

// shareRows fills rows with the items of at least as many studies, as many of them in a row as must be. Signals are counted only where the names and values of all studies that
// follow still have room. It returns how many such counts are left out. Studies without
// room are in the last row, beside the note, where putRow cuts them off.
func (p *picture) shareRows(rows [][]legendItem, pn *pane, note string) (left int) {
	gap, room := p.px(12), p.axisX-p.px(20)
	all, bare := make([][]legendItem, len(pn.studies)), make([][]legendItem, len(pn.studies))
	for k := range pn.studies {
		all[k] = p.legendItems(pn, pn.studies[k])
		bare[k] = slices.DeleteFunc(slices.Clone(all[k]), func(item legendItem) bool { return item.count })
	}
	// after returns where items end that follow what ends at column x of row.
	after := func(row, x int, items []legendItem) (int, int) {
		width := 0
		for _, item := range items {
			width += item.width() + gap
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

// putRow writes items from the left, then how many did not fit, with left others, then note.
// It reports whether there was room for the note, which is not so beside one very long name.
func (p *picture) putRow(items []legendItem, left int, note string, y int) bool {
	x, gap, last := p.px(10), p.px(12), p.axisX-p.px(10)
	put := func(font *atlas, text string, i ink) {
		l := p.write(legendText, font, text, x, y, i)
		l.backing = true
		x = l.box.Max.X + gap
	}
	limit := last // of the items: the room of the note is set aside
	if note != "" {
		limit -= gap + p.legend.width(note)
	}
	for i, item := range items {
		// Room is kept for the count of items that do not fit, unless all do.
		end := limit
		if i < len(items)-1 || left > 0 {
			end -= gap + p.legend.width("+"+strconv.Itoa(len(items)-i+left))
		}
		w := item.width()
		if x+w > end && i > 0 { // at least one item is always written, and cut if it must be
			left += len(items) - i
			break
		}
		for most := len([]rune(item.text)); x+w > end && most > 8; most-- { // a formula may be longer than the row
			item.text = printable(item.text, most-1)
			w = item.width()
		}
		if item.sign != "" {
			put(item.font, item.sign, item.tone)
			x -= gap
		}
		put(item.font, item.text, item.ink)
	}
	if left > 0 {
		put(p.legend, "+"+strconv.Itoa(left), inkAxis)
	}
	if note == "" || x+p.legend.width(note) > last {
		return note == ""
	}
	put(p.legend, note, inkAxis)
	return true
}

// longestLevel is how many characters the name of a level has at most: as many as that of an
// alert, "alert", the name of a line or an indicator of at most 14, and "above" or "below".
const longestLevel = 26

// legendItems returns the items of one study: its name, the values at the last bar, each in
// the colour of its line, its levels and counts. The only value needs no name. A compared
// symbol always has its name here, since its tag on the axis may be dropped, and where it
// begins later than the chart, since when its change counts.
func (p *picture) legendItems(pn *pane, st *study) []legendItem {
	items := []legendItem{{text: studyName(st.Result), font: p.name, ink: inkText}}
	add := func(i ink, text string) {
		items = append(items, legendItem{text: text, font: p.legend, ink: i})
	}
	if p.n > 0 && !st.compare && neverWarm(st.Result, p.n) {
		why := "no values in these bars"
		if !p.hasVolume() {
			why = "no values (these bars have no volume)"
		}
		if st.needs != nil {
			if n := st.needs(); n > p.n {
				why = "needs " + strconv.Itoa(n) + " bars"
			}
		}
		add(inkAxis, why)
		return items
	}
	named := func(label, text string) string {
		if label == "" || !st.compare && len(st.Lines)+len(st.Histogram) < 2 {
			return text
		}
		return printable(label, 20) + " " + text
	}
	write := valueText
	switch { // over the price values are prices, and those of a compared line percentages
	case pn.price && st.compare:
		write = p.percentText
	case pn.price:
		write = func(v float64) string { return priceText(v, p.digits()) }
	}
	for i, l := range st.Lines {
		v, _ := lastValue(l.Values, p.n)
		add(st.lines[i].ink, named(l.Label, write(v)))
		if first := slices.IndexFunc(l.Values, usable); st.compare && first > 0 {
			add(st.lines[i].ink, "since "+p.barText(first))
		}
	}
	for _, h := range st.Histogram {
		v, ok := lastValue(h.Values, p.n)
		colour := barsInk(h.Tone)
		if colour == inkUp && ok && v < 0 {
			colour = inkDown
		}
		add(colour, named(h.Label, valueText(v)))
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
			add(toneInk(h.Tone, inkBand), printable(h.Label, longestLevel)+" "+write(h.Y))
		}
	}
	if p.Signals == SignalsOff {
		return items
	}
	for _, g := range groupSignals(st.Signals) { // also those without a mark
		shape := "● "
		switch {
		case g.signal.Silent:
			shape = ""
		case g.signal.Tone == indicators.Up:
			shape = "▲ "
		case g.signal.Tone == indicators.Down:
			shape = "▼ "
		}
		items = append(items, legendItem{text: SignalName(g.signal.Label) + " ×" + strconv.Itoa(g.count), font: p.legend, ink: inkAxis, count: true,
			sign: shape, tone: st.signalInk(g.signal.Tone, inkText)})
	}
	return items
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
	if len(r.Lines) > 1 && !slices.ContainsFunc(r.Lines, func(l indicators.Line) bool { return !slices.Contains(words, l.Label) }) {
		return strings.TrimSpace(name)
	}
	return strings.TrimSpace(name) + " " + strings.Join(words, " ")
}

// neverWarm reports whether an indicator has lines or bars and not one value.
func neverWarm(r *indicators.Result, n int) bool {
	warm := func(values indicators.Values) bool { return slices.ContainsFunc(upTo(values, n), usable) }
	return len(r.Lines)+len(r.Histogram) > 0 &&
		!slices.ContainsFunc(r.Lines, func(l indicators.Line) bool { return warm(l.Values) }) &&
		!slices.ContainsFunc(r.Histogram, func(h indicators.Histogram) bool { return warm(h.Values) })
}

type signalGroup struct {
	signal indicators.Signal
	count  int
}

// groupSignals counts signals by name and direction. Those that are silent, which have no
// marks, come last.
func groupSignals(signals []indicators.Signal) (groups []signalGroup) {
	for _, s := range signals {
		// Few labels occur in one study, so a search is quicker than a map.
		same := func(g signalGroup) bool {
			return g.signal.Label == s.Label && g.signal.Tone == s.Tone && g.signal.Silent == s.Silent
		}
		i := slices.IndexFunc(groups, same)
		if i < 0 {
			i = len(groups)
			groups = append(groups, signalGroup{signal: s})
		}
		groups[i].count++
	}
	loud := slices.DeleteFunc(slices.Clone(groups), func(g signalGroup) bool { return g.signal.Silent })
	return append(loud, slices.DeleteFunc(groups, func(g signalGroup) bool { return !g.signal.Silent })...)
}
