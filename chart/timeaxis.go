package chart

import (
	"time"

	"wick/market"
)

// timeStep is a distance between time ticks. Bars whose times have the same
// bucket belong to one tick, its first bar.
type timeStep struct {
	seconds int64 // nominal length
	bucket  func(t int64, c civil) int64
}

// civil is the calendar day of a bar, in UTC.
type civil struct {
	year, month, day int
}

func civilOf(t int64) civil {
	y, m, d := time.Unix(t, 0).UTC().Date()
	return civil{y, int(m), d}
}

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
	month  = 30 * day
	year   = 365 * day
)

// timeSteps are the distances there are, shortest first.
var timeSteps = []timeStep{
	every(minute), every(5 * minute), every(15 * minute), every(30 * minute), every(hour), every(2 * hour),
	every(3 * hour), every(6 * hour), every(12 * hour), every(day), every(2 * day),
	{7 * day, func(t int64, _ civil) int64 { return floorDiv(t-4*day, 7*day) }}, // from Mondays
	{15 * day, func(_ int64, c civil) int64 {
		if c.day >= 15 {
			return int64(c.year*24 + c.month*2 + 1)
		}
		return int64(c.year*24 + c.month*2)
	}},
	months(1), months(2), months(3), months(6), months(12), months(24), months(60), months(120),
}

func every(seconds int64) timeStep {
	return timeStep{seconds, func(t int64, _ civil) int64 { return floorDiv(t, seconds) }}
}

func months(n int) timeStep {
	return timeStep{int64(n) * month, func(_ int64, c civil) int64 {
		return floorDiv(int64(c.year*12+c.month-1), int64(n))
	}}
}

// floorDiv divides rounding down, also below zero.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// timeTick is a bar that gets a grid line and a label.
type timeTick struct {
	bar    int
	text   string
	strong bool // a new year, month, or day of an intraday chart
}

// timeTicks chooses the ticks of bars at times, which lie pitch pixels apart:
// the finest step, not below the bars' own, whose ticks are at least apart
// pixels from each other on average.
func timeTicks(times []int64, interval market.Interval, pitch, apart float64) []timeTick {
	if len(times) == 0 {
		return nil
	}
	days := make([]civil, len(times))
	for i, t := range times {
		days[i] = civilOf(t)
	}
	for _, step := range timeSteps {
		if step.seconds < interval.Seconds() && step.seconds < 120*month {
			continue
		}
		starts := tickBars(times, days, step)
		if pitch*float64(len(times)) < apart*float64(len(starts)) {
			continue
		}
		return nameTicks(times, days, starts, step.seconds)
	}
	return nil
}

// tickBars returns the bars that begin a bucket of step. The first bar begins
// none: it may stand anywhere within its own.
func tickBars(times []int64, days []civil, step timeStep) []int {
	var bars []int
	last := step.bucket(times[0], days[0])
	for i := 1; i < len(times); i++ {
		if b := step.bucket(times[i], days[i]); b != last {
			bars = append(bars, i)
			last = b
		}
	}
	return bars
}

// nameTicks writes the labels. What is new is judged against the tick before,
// not the bar before, so that no label leaves a jump unexplained.
func nameTicks(times []int64, days []civil, bars []int, step int64) []timeTick {
	ticks := make([]timeTick, 0, len(bars))
	last := days[0]
	for _, i := range bars {
		c := days[i]
		t := timeTick{bar: i, strong: true}
		name := time.Month(c.month).String()[:3]
		switch {
		case c.year != last.year:
			t.text = time.Unix(times[i], 0).UTC().Format("2006")
		case c.month != last.month && (c.day == 1 || step >= 15*day):
			t.text = name
		case c.month != last.month || c.day != last.day && step < day:
			t.text = name + time.Unix(times[i], 0).UTC().Format(" 2")
		case step < day:
			t.text, t.strong = time.Unix(times[i], 0).UTC().Format("15:04"), false
		default:
			t.text, t.strong = time.Unix(times[i], 0).UTC().Format("2"), false
		}
		ticks = append(ticks, t)
		last = c
	}
	return ticks
}

// rangeText writes the times of the first and the last bar, with the clock
// where bars are shorter than a day.
func rangeText(s *market.Series) string {
	layout := "2006-01-02"
	if s.Interval.Seconds() < day {
		layout = "2006-01-02 15:04"
	}
	first := time.Unix(s.Time[0], 0).UTC().Format(layout)
	last := time.Unix(s.Time[len(s.Time)-1], 0).UTC().Format(layout)
	return first + " → " + last + " UTC"
}
