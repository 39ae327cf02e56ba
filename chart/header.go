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
// last try is written whether it fits or not.
func (p *picture) placeHeader() {
	all, pad := p.headerParts(), p.px(10)
	for cut := cutNothing; cut <= cutLast; cut++ {
		var words []string // of the right side
		need := 2 * pad
		parts := slices.DeleteFunc(slices.Clone(all), func(part headerPart) bool { return cut < part.from || cut >= part.until })
		for _, part := range parts {
			switch {
			case part.right:
				words = append(words, part.text)
				continue
			case part.badge:
				need += 2 * p.px(5)
			}
			need += p.px(part.gap) + part.font.width(part.text)
		}
		right := strings.Join(words, " · ")
		if right != "" {
			need += p.px(16) + p.axis.width(right)
		}
		if need > p.w && cut < cutLast {
			continue
		}
		x, y := pad, p.header.Dy()/2+p.px(1)
		for _, part := range parts {
			switch x += p.px(part.gap); {
			case part.right:
			case part.badge:
				w := p.write(headerText, part.font, part.text, x+p.px(5), y, p.pal.onTag[part.ink]) + 2*p.px(5)
				l, half := &p.labels[len(p.labels)-1], p.tagH()/2
				l.box, l.fill = image.Rect(x, y-half, x+w, y+half), true
				x += w
			default:
				x += p.write(headerText, part.font, part.text, x, y, part.ink)
			}
		}
		if right != "" {
			p.write(headerText, p.axis, right, p.w-pad-p.axis.width(right), y, inkAxis)
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
	names := []string{"UTC"}
	if p.zoneName() != "UTC" {
		var letters, offsets []string
		for _, t := range p.s.Time {
			at := time.Unix(t, 0).In(p.zone)
			if name, _ := at.Zone(); !slices.Contains(letters, name) {
				letters = append(letters, name)
				offsets = append(offsets, strings.TrimSuffix(at.Format("-0700"), "00"))
			}
		}
		names = []string{strings.Join(letters, "/"), strings.Join(offsets, "/")}
	}
	room := p.w - p.axisX
	for _, name := range names {
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
	if p.kind == HeikinAshi { // bars or scale are not what is usual
		add(cutInterval, 8, inkAxis, "Heikin-Ashi")
	}
	if p.mode == Log {
		add(cutInterval, 8, inkAxis, "log")
	}
	if p.s.Synthetic {
		parts = append(parts, headerPart{text: "SYNTHETIC", font: p.tag, ink: inkAmber, gap: 12, badge: true, until: cutNever})
	}
	add(cutState, 12, inkAmber, p.stateText())
	if last := p.n - 1; last >= 0 {
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
			amount := p.priceText(math.Abs(now - before))
			if strings.Trim(amount, "0.") != "" { // what is written as zero has no sign
				amount = sign(now-before) + amount
			}
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
		right(cutNothing, cutRange, p.barText(0)+" → "+p.barText(p.n-1)+" "+p.zoneName())
		right(cutNothing, cutCount, counted(p.n, "bar"))
	}
	return parts
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
