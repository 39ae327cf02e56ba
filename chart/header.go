package chart

import (
	"image"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The header: what is shown, its last bar, and what a reader must know about the
// bars. It leaves things out one by one, the least important first, until the rest
// fits the width.

// headerPart is a piece of the header's left side.
type headerPart struct {
	text  string
	font  *atlas
	ink   ink
	gap   float64 // room before it
	badge bool
}

// leftSide is the header's left side, in the order of reading.
type leftSide []headerPart

// add appends a text without a badge.
func (h *leftSide) add(gap float64, font *atlas, i ink, text string) {
	*h = append(*h, headerPart{text: text, font: font, ink: i, gap: gap})
}

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
	cutChange
	cutClose // it is on the axis too
	cutState // what stateText says about the bars
	cutInterval
	cutLast
)

// placeHeader writes the header, and leaves out only as much as it must to make it fit.
func (p *picture) placeHeader() {
	// Try the whole header, then leave out one thing after the other until the
	// rest fits. The last try is printed whether it fits or not.
	pad := p.px(10)
	for cut := cutNothing; ; cut++ {
		parts := p.headerParts(cut)
		right := p.headerRight(cut)
		need := 2*pad + p.partsWidth(parts)
		if right != "" {
			need += p.px(16) + p.axis.width(right)
		}
		if need > p.w && cut < cutLast {
			continue
		}
		y := p.header.Dy()/2 + p.px(1)
		p.putParts(parts, pad, y)
		if right != "" {
			p.write(headerText, p.axis, right, p.w-pad-p.axis.width(right), y, inkAxis)
		}
		if cut >= cutRange {
			p.placeZone()
		}
		return
	}
}

// placeZone writes the time zone into the corner below the price axis, if there is room.
// It is for a header that has no room for it.
func (p *picture) placeZone() {
	room := p.w - p.axisX
	for _, name := range p.zoneNames() {
		if w := p.axis.width(name); p.n > 0 && w+p.px(4) <= room {
			p.write(zoneText, p.axis, name, p.axisX+(room-w)/2, p.timeAxis.Min.Y+p.timeAxis.Dy()/2, inkAxis)
			return
		}
	}
}

// zoneNames returns two short names of the zone, as letters and as the offset from UTC, which
// may be shorter: EST and -05. If its clock changes among the bars, each has both: EDT/EST
// and -04/-05.
func (p *picture) zoneNames() []string {
	if p.zoneName() == "UTC" {
		return []string{"UTC"}
	}
	var letters, offsets []string
	for _, t := range p.s.Time {
		at := time.Unix(t, 0).In(p.zone)
		if name, _ := at.Zone(); !slices.Contains(letters, name) {
			letters = append(letters, name)
			offsets = append(offsets, strings.TrimSuffix(at.Format("-0700"), "00"))
		}
	}
	return []string{strings.Join(letters, "/"), strings.Join(offsets, "/")}
}

// headerParts returns the left side: what the bars are, then the prices of the last one.
// What cut says is left out.
func (p *picture) headerParts(cut headerCut) leftSide {
	parts := make(leftSide, 0, 16)
	p.addTitle(&parts, cut)
	if last := p.lastBar(); last >= 0 && cut < cutClose {
		p.addPrices(&parts, last, cut)
	}
	return parts
}

// addTitle adds symbol, interval, currency if it is known, badge and state. The symbol and the badge of
// invented data are never left out.
func (p *picture) addTitle(parts *leftSide, cut headerCut) {
	parts.add(0, p.symbol, inkText, printable(p.s.Symbol, 24))
	if cut < cutInterval {
		parts.add(8, p.legend, inkAxis, printable(string(p.s.Interval), 8))
		if p.s.Currency != "" {
			parts.add(8, p.legend, inkAxis, printable(p.s.Currency, 8))
		}
		// The reader is told if bars or scale are not what is usual.
		if p.kind == HeikinAshi {
			parts.add(8, p.legend, inkAxis, "Heikin-Ashi")
		}
		if p.mode == Log {
			parts.add(8, p.legend, inkAxis, "log")
		}
	}
	if p.s.Synthetic {
		*parts = append(*parts, headerPart{text: "SYNTHETIC", font: p.tag, ink: inkAmber, gap: 12, badge: true})
	}
	if state := p.stateText(); state != "" && cut < cutState {
		parts.add(12, p.legend, inkAmber, state)
	}
}

// addPrices adds the prices of the last bar, the change from the one before, and the
// volume. The prices take the colour of the bar, so that up or down is seen before a
// number is read.
func (p *picture) addPrices(parts *leftSide, last int, cut headerCut) {
	colour := p.barInk(last)
	price := func(name string, v float64) {
		parts.add(14, p.legend, inkAxis, name)
		parts.add(5, p.legend, colour, priceText(v, p.precision))
	}
	if cut < cutOHL {
		price("O", p.s.Open[last])
		price("H", p.s.High[last])
		price("L", p.s.Low[last])
	}
	price("C", p.s.Close[last])
	if last > 0 && p.valid[last-1] && cut < cutChange {
		before, now := p.s.Close[last-1], p.s.Close[last]
		text := percentText(before, now, 2)
		if cut < cutAmount {
			text = p.amountText(now-before) + " (" + text + ")"
		}
		parts.add(14, p.legend, changeInk(before, now), text)
	}
	if v := p.s.Volume[last]; positive(v) && cut < cutVolume {
		parts.add(14, p.legend, inkAxis, "Vol")
		parts.add(5, p.legend, colour, volumeText(v))
	}
}

// amountText writes a change of the price with its sign; what is written as zero has none.
func (p *picture) amountText(change float64) string {
	text := p.priceText(math.Abs(change))
	if strings.Trim(text, "0.") == "" {
		return text
	}
	return sign(change) + text
}

// stateText says what a reader must know about the bars: that the last one will change,
// in how many places bars are missing, and how old they were when the source was asked, if
// that is more than two intervals.
func (p *picture) stateText() string {
	if p.n == 0 {
		return ""
	}
	var parts []string
	if p.s.Forming {
		parts = append(parts, "forming")
	}
	if n := len(p.s.Gaps); n > 0 {
		parts = append(parts, counted(n, "gap"))
	}
	// The age counts from the end of the last bar to the moment the source was
	// asked: the package itself reads no clock.
	ended := p.s.DueAt(p.n - 1)
	age := p.s.AsOf/1000 - ended
	if p.s.AsOf > 0 && !p.s.Synthetic && !p.view.Past && age > 2*p.s.Interval.Seconds() && age < 1e11 {
		parts = append(parts, ageText(age)+" old")
	}
	return strings.Join(parts, " · ")
}

// ageText writes seconds in the largest unit that fits, rounded down.
func ageText(seconds int64) string {
	switch {
	case seconds >= day:
		return strconv.FormatInt(seconds/day, 10) + " d"
	case seconds >= hour:
		return strconv.FormatInt(seconds/hour, 10) + " h"
	}
	return strconv.FormatInt(seconds/minute, 10) + " min"
}

// headerRight returns the right side: what is missing, and which time the bars cover. Of
// what has no room in the plots the header says only what no plot and no legend could say.
func (p *picture) headerRight(cut headerCut) string {
	var parts []string
	if n := len(p.missing.Panels); n > 0 && cut < cutLast {
		text := "+" + strconv.Itoa(n) + " panels omitted"
		if cut < cutAmount {
			text += " (height)"
		}
		parts = append(parts, text)
	}
	if p.untold > 0 && cut < cutLast {
		text := notDrawn(p.untold)
		if cut >= cutAmount {
			text = strings.Replace(text, " more", "", 1)
		}
		parts = append(parts, text)
	}
	if p.n > 0 && cut < cutRange {
		parts = append(parts, p.barText(0)+" → "+p.barText(p.n-1)+" "+p.zoneName())
		if cut < cutCount {
			parts = append(parts, counted(p.n, "bar"))
		}
	}
	return strings.Join(parts, " · ")
}

// partsWidth returns the width of parts with the gaps before them.
func (p *picture) partsWidth(parts []headerPart) int {
	w := 0
	for _, part := range parts {
		w += p.px(part.gap) + part.font.width(part.text)
		if part.badge {
			w += 2 * p.px(5)
		}
	}
	return w
}

// putParts writes parts from column x on, centred on row y. A badge is a text on
// a filled box.
func (p *picture) putParts(parts []headerPart, x, y int) {
	for _, part := range parts {
		x += p.px(part.gap)
		if !part.badge {
			x += p.write(headerText, part.font, part.text, x, y, part.ink)
			continue
		}
		w := part.font.width(part.text) + 2*p.px(5)
		p.write(headerText, part.font, part.text, x+p.px(5), y, p.pal.onTag[part.ink])
		// The box is put behind the label that was just written.
		l := &p.labels[len(p.labels)-1]
		half := p.tagH() / 2
		l.box, l.fill = image.Rect(x, y-half, x+w, y+half), true
		x += w
	}
}
