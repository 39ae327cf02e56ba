package chart

import (
	"image"
	"math"
	"slices"
	"time"
)

// The time axis. Bars are side by side whatever time is between them, so ticks are chosen
// among bars: the first bar of every hour, day, month and so on, at the finest step that
// leaves room for labels. A reader goes along the labels from the left, where the full date
// of the first bar is, and each label says only what has changed since the one before it.
// So the labels can be written only when it is known which of them stay.

// timeUnit is what a step of the time axis counts.
type timeUnit string

const (
	unitTime  timeUnit = "time"  // seconds within a day
	unitDay   timeUnit = "day"   // days that have bars; weeks and half months too
	unitMonth timeUnit = "month" // months; years too
)

// timeStep is a distance between time ticks: N units. Pages get it as JSON.
type timeStep struct {
	Unit    timeUnit `json:"unit"`
	N       int      `json:"n"`
	Seconds int64    `json:"seconds"` // nominal length
}

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
	month  = 30 * day

	week      = 7  // as a number of days: from Mondays
	halfMonth = 15 // as a number of days: from the 1st and the 15th
)

// timeSteps are all steps, the shortest first.
var timeSteps = []timeStep{
	clockStep(1), clockStep(2), clockStep(5), clockStep(10), clockStep(15), clockStep(30), clockStep(60), clockStep(120), clockStep(180), clockStep(240), clockStep(360), clockStep(720),
	{unitDay, 1, day}, {unitDay, 2, 2 * day}, {unitDay, 3, 3 * day}, {unitDay, week, 7 * day}, {unitDay, halfMonth, 15 * day},
	monthStep(1), monthStep(2), monthStep(3), monthStep(6), monthStep(12), monthStep(24), monthStep(60), monthStep(120),
}

// clockStep returns the step of so many minutes, monthStep that of n months.
func clockStep(n int) timeStep { return timeStep{unitTime, n * minute, int64(n) * minute} }
func monthStep(n int) timeStep { return timeStep{unitMonth, n, int64(n) * month} }

// wallTimes returns the times of bars in a zone, nil for UTC.
//
// It numbers the days that have bars. A day with less than half the bars of the fullest counts
// with the day after it: markets that open on Sunday evening call those hours Monday, and steps
// of days stay even.
func wallTimes(times []int64, zone *time.Location) []barTime {
	out := make([]barTime, len(times))
	for i, t := range times {
		// The offset is asked for at every bar: it changes with daylight saving time.
		if zone != nil {
			_, offset := time.Unix(t, 0).In(zone).Zone()
			t += int64(offset)
		}
		y, m, d := time.Unix(t, 0).UTC().Date()
		out[i] = barTime{wall: t, year: y, month: int(m), day: d}
	}
	days := stretches(len(out), func(i int) bool { return rank(out[i-1], out[i]) == 0 })
	full, most := 0, 0
	for from, to := range days {
		most = max(most, to-from)
	}
	for from, to := range days {
		for i := from; i < to; i++ {
			out[i].full = full
		}
		if 2*(to-from) >= most {
			full++
		}
	}
	return out
}

// bucket returns the number of the stretch of step s that contains b. If two neighbouring
// bars have different buckets, there is a tick at the second.
func (s timeStep) bucket(b barTime) int64 {
	switch {
	case s.Unit == unitTime:
		return floorDiv(b.wall, int64(s.N))
	case s.Unit == unitMonth:
		return floorDiv(int64(b.year*12+b.month-1), int64(s.N))
	case s.N == week:
		return floorDiv(b.wall-4*day, 7*day) // 1970 began on a Thursday
	case s.N == halfMonth:
		half := 0
		if b.day >= 15 {
			half = 1
		}
		return int64(b.year*24 + b.month*2 + half)
	}
	return int64(b.full / s.N)
}

// floorDiv divides rounding down, also below zero.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

type timeAxis struct {
	bars     []barTime       // at least one
	interval int64           // seconds of a bar
	apart    float64         // pixels between ticks on average, as nearly as steps allow
	gap      int             // pixels between two labels, at least
	first    image.Rectangle // the label of bar 0
	right    int             // labels end before it
	column   func(bar int) int
	width    func(text string, strong bool) int
}

// ticks chooses bars and writes their labels. The step is the one whose ticks are on average
// nearest to apart pixels from each other, and even: a day of few bars, or a dropped label, may
// leave some much closer than others. Every label says what has changed since the one before
// it, the first since the full date of bar 0. If two labels touch, the one of lower rank is
// dropped, and all labels are written again, because what a label may leave out depends on the
// one before it.
func (a *timeAxis) ticks(pitch float64) []timeTick {
	var found, ticks []timeTick // those of the best step so far, and those of the one that is tried
	best := math.Inf(1)
	for _, step := range timeSteps {
		// A step shorter than a bar would put a tick on every bar. The longest is
		// always tried.
		if step.Seconds < a.interval && step.Seconds < 120*month {
			continue
		}
		// The first bar is not among the ticks, since it may be anywhere within its step.
		ticks = ticks[:0]
		bucket := step.bucket(a.bars[0])
		for i, b := range a.bars {
			if now := step.bucket(b); now != bucket {
				bucket = now
				ticks = append(ticks, timeTick{bar: i, rank: rank(a.bars[i-1], b)})
			}
		}
		apart := pitch * float64(len(a.bars)) / float64(len(ticks)) / a.apart
		if apart < 0.7 || len(ticks) == 0 {
			continue
		}
		for drop := 0; drop >= 0; {
			before := a.bars[0]
			for i := range ticks {
				t := &ticks[i]
				t.text, t.strong = a.bars[t.bar].label(before, t.rank, step)
				before = a.bars[t.bar]
				w := a.width(t.text, t.strong)
				x := a.column(t.bar) - w/2
				t.box = image.Rect(x, a.first.Min.Y, x+w, a.first.Max.Y)
			}
			if drop = a.conflict(ticks); drop >= 0 {
				ticks = slices.Delete(ticks, drop, drop+1)
			}
		}
		near, wide := math.MaxInt, 1
		for i := 1; i < len(ticks); i++ {
			near, wide = min(near, ticks[i].bar-ticks[i-1].bar), max(wide, ticks[i].bar-ticks[i-1].bar)
		}
		off := math.Abs(math.Log(apart)) + math.Log(float64(wide)/float64(min(near, wide)))
		if off < best {
			best, found, ticks = off, ticks, found
		}
	}
	return found
}

// rank returns how much begins with bar b, which follows before: see [timeTick]. Of two
// labels that touch, the one with the higher rank stays.
func rank(before, b barTime) int {
	switch {
	case b.year != before.year:
		return 3
	case b.month != before.month:
		return 2
	case b.day != before.day:
		return 1
	}
	return 0
}

// label names bar b for a reader who has just read the label of before. It says
// what differs, and leaves out only what the reader can know: "2026" stands for
// the year's first bar, "May" for the month's, "May 15" for the day's.
func (b barTime) label(before barTime, rank int, step timeStep) (text string, strong bool) {
	layout := "2"
	clock, months := step.Unit == unitTime, step.Unit == unitMonth
	// Steps shorter than a day name the clock and, where the day changes, the day.
	// Longer ones name the largest unit that has changed.
	switch newYear, newMonth := b.year != before.year, b.year != before.year || b.month != before.month; {
	case clock && !newMonth && b.day == before.day:
		layout = "15:04"
	case newYear && !clock && rank == 3:
		layout = "2006"
	case newYear && !clock && (months || rank == 2):
		layout = "Jan 2006"
	case newYear:
		layout = "Jan 2 2006"
	case clock && rank == 0: // the day's first bar has no label
		layout = "Jan 2 15:04"
	case newMonth && !clock && (months || rank >= 2):
		layout = "Jan"
	case newMonth || clock:
		layout = "Jan 2"
	}
	return time.Unix(b.wall, 0).UTC().Format(layout), layout != "2" && layout != "15:04"
}

// conflict returns the index of a tick to drop: its label leaves the plot, touches the
// first label or a neighbour's, or is much nearer to a neighbour than ticks usually are. It
// returns -1 if there is none. Of two ticks the one with the lower rank is dropped, and of
// equals the later one.
func (a *timeAxis) conflict(ticks []timeTick) int {
	for i := range ticks {
		t := &ticks[i]
		if t.box.Max.X > a.right || t.box.Min.X < a.first.Max.X+a.gap {
			return i
		}
		if i == 0 {
			continue
		}
		// A day with few bars, such as a half holiday, brings two ticks close
		// together.
		near := float64(a.column(t.bar)-a.column(ticks[i-1].bar)) < 0.5*a.apart
		if near || t.box.Min.X < ticks[i-1].box.Max.X+a.gap {
			if t.rank > ticks[i-1].rank {
				return i - 1
			}
			return i
		}
	}
	return -1
}

// placeTimes writes the time axis: the full date of the first bar, then ticks, which keep
// clear of it. It notes where days begin, if a zone was asked for and days are wide enough to be
// told apart.
func (p *picture) placeTimes() {
	if p.n == 0 {
		return
	}
	p.bars = wallTimes(p.s.Time, p.Zone)
	y := p.timeAxis.Min.Y + p.timeAxis.Dy()/2
	text := time.Unix(p.bars[0].wall, 0).UTC().Format("2006-01-02")
	w := p.axisBold.width(text)
	first := p.write(timeText, p.axisBold, text, max(p.px(4), min(p.column(0)-w/2, p.axisX-w-p.px(4))), y, inkText)
	// By whether a label is strong.
	font := map[bool]*atlas{false: p.axis, true: p.axisBold}
	colour := map[bool]ink{false: inkAxis, true: inkText}
	a := timeAxis{
		bars: p.bars, interval: p.s.Interval.Seconds(), apart: 110 * p.u, gap: p.px(10),
		first: first.box, right: p.axisX - p.px(2), column: p.column,
		width: func(text string, strong bool) int { return font[strong].width(text) },
	}
	if p.compact {
		a.apart = 75 * p.u
	}
	p.times = a.ticks(p.pitch)
	for _, t := range p.times {
		p.write(timeText, font[t.strong], t.text, t.box.Min.X, y, colour[t.strong])
	}
	days := 0
	for i := 1; i < p.n; i++ {
		if p.bars[i].full == p.bars[i-1].full {
			continue
		}
		days++
		if !slices.ContainsFunc(p.times, func(t timeTick) bool { return t.bar == i }) { // otherwise a grid line shows it
			p.breaks = append(p.breaks, int(p.x0+float64(i)*p.pitch))
		}
	}
	if p.Zone == nil || float64(days)*40*p.u > float64(p.axisX) {
		p.breaks = nil
	}
}

// barText writes when bar i begins, with the clock where bars are shorter than a day.
func (p *picture) barText(i int) string {
	layout := "2006-01-02"
	if p.s.Interval.Seconds() < day {
		layout = "2006-01-02 15:04"
	}
	// wall is already the clock of the zone, so it is written as if it were UTC.
	return time.Unix(p.bars[i].wall, 0).UTC().Format(layout)
}
