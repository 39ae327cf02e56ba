package chart

import (
	"fmt"
	"image"
	"math"
	"strings"
	"testing"
	"time"

	"wick/market"
)

// times returns n bar starts from start on.
func times(start string, interval market.Interval, n int) []int64 {
	t, err := time.Parse("2006-01-02 15:04", start)
	if err != nil {
		panic(err)
	}
	out := make([]int64, n)
	at := t.Unix()
	for i := range out {
		out[i] = at
		at = interval.Next(at)
	}
	return out
}

// opened returns those of n bars from start on at which open says a market is.
func opened(start string, interval market.Interval, n int, open func(t time.Time) bool) []int64 {
	var out []int64
	for _, t := range times(start, interval, 4*n) {
		if open(time.Unix(t, 0).UTC()) && len(out) < n {
			out = append(out, t)
		}
	}
	return out
}

func weekday(t time.Time) bool { return t.Weekday() != time.Saturday && t.Weekday() != time.Sunday }

// stocks is 9:30 to 16:00 in New York in summer.
func stocks(t time.Time) bool {
	minutes := t.Hour()*60 + t.Minute()
	return weekday(t) && minutes >= 13*60+30 && minutes < 20*60
}

// currencies is open from Sunday 22:00 to Friday 22:00.
func currencies(t time.Time) bool {
	switch t.Weekday() {
	case time.Saturday:
		return false
	case time.Sunday:
		return t.Hour() >= 22
	case time.Friday:
		return t.Hour() < 22
	}
	return true
}

// axisOf returns the ticks of a plot where every letter is 7 pixels wide.
func axisOf(ts []int64, interval market.Interval, pitch float64, zone *time.Location) (*timeAxis, []timeTick) {
	a := &timeAxis{bars: wallTimes(ts, zone), interval: interval.Seconds(), apart: 110, gap: 10,
		first: image.Rect(4, 0, 84, 13), right: int(pitch*float64(len(ts))) + 10,
		column: func(i int) int { return int((float64(i) + 0.5) * pitch) },
		width:  func(text string, _ bool) int { return 7 * len(text) }}
	return a, a.ticks(pitch)
}

// texts writes ticks one after the other, strong ones with a star.
func texts(ticks []timeTick) string {
	var parts []string
	for _, t := range ticks {
		s := t.text
		if t.strong {
			s += "*"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

func TestTimeTicks(t *testing.T) {
	for _, c := range []struct {
		name     string
		times    []int64
		interval market.Interval
		pitch    float64
		want     string
	}{
		{"minutes", times("2025-01-06 23:00", market.Minute5, 24), market.Minute5, 20, "23:30 Jan 7* 00:30"},
		{"hours over days", times("2025-01-06 06:00", market.Hour1, 54), market.Hour1, 14, "18:00 Jan 7* 06:00 12:00 18:00 Jan 8* 06:00"},
		{"half months", times("2025-01-01 00:00", market.Day1, 100), market.Day1, 7, "15 Feb* 15 Mar* 15 Apr*"},
		{"a dropped month is named by the next tick", times("2026-04-21 00:00", market.Day1, 80), market.Day1, 6, "May 15* Jun* 15 Jul*"},
		{"a dropped year is named by the next tick", opened("2024-12-16 00:00", market.Day1, 300, weekday), market.Day1, 2.6,
			"Mar 2025* May* Jul* Sep* Nov* 2026*"},
		{"weeks: the month's name keeps its day", times("2025-01-06 00:00", market.Day1, 42), market.Day1, 12, "20 27 Feb 3* 10"},
		{"months over a year", times("2025-10-01 00:00", market.Week1, 30), market.Week1, 25, "Nov* Dec* 2026* Feb* Mar* Apr*"},
		{"years", times("2010-01-01 00:00", market.Month1, 120), market.Month1, 7, "2012* 2013* 2014* 2015* 2016* 2017* 2018* 2019*"},
		{"one bar", times("2025-01-06 00:00", market.Day1, 1), market.Day1, 40, ""},
		{"identical times", make([]int64, 50), market.Day1, 10, ""},
	} {
		if _, ticks := axisOf(c.times, c.interval, c.pitch, nil); texts(ticks) != c.want {
			t.Errorf("%s: %q, want %q", c.name, texts(ticks), c.want)
		}
	}
}

// misread returns why a reader who goes along the axis from the full date of
// bar 0 would put tick t, which follows prev, on another bar; "" if he would
// not. He takes what a label leaves out from the label before, and a label for
// the first bar of what it names.
func misread(bars []barTime, prev, t timeTick) string {
	b, before, last := bars[t.bar], bars[t.bar-1], bars[prev.bar]
	read := b // the reader's idea of when the bar begins
	first := 0
	for _, layout := range []struct {
		layout string
		rank   int // of the bar that the label stands for
		takes  func(at time.Time)
	}{
		{"2006", 3, func(at time.Time) { read = barTime{year: at.Year(), month: b.month, day: b.day} }},
		{"Jan 2006", 2, func(at time.Time) { read = barTime{year: at.Year(), month: int(at.Month()), day: b.day} }},
		{"Jan 2 2006", 1, func(at time.Time) { read = barTime{year: at.Year(), month: int(at.Month()), day: at.Day()} }},
		{"Jan", 2, func(at time.Time) { read = barTime{year: last.year, month: int(at.Month()), day: b.day} }},
		{"Jan 2", 1, func(at time.Time) { read = barTime{year: last.year, month: int(at.Month()), day: at.Day()} }},
		{"Jan 2 15:04", 0, func(at time.Time) { read = barTime{year: last.year, month: int(at.Month()), day: at.Day()} }},
		{"2", 1, func(at time.Time) { read = barTime{year: last.year, month: last.month, day: at.Day()} }},
		{"15:04", 0, func(at time.Time) { read = barTime{year: last.year, month: last.month, day: last.day} }},
	} {
		at, err := time.Parse(layout.layout, t.text)
		if err != nil {
			continue
		}
		layout.takes(at)
		if strings.HasSuffix(layout.layout, "15:04") && at.Format("15:04") != time.Unix(b.wall, 0).UTC().Format("15:04") {
			return "another time of day"
		}
		first = layout.rank
		break
	}
	switch {
	case rank(read, b) > 0:
		return fmt.Sprintf("read as %d-%d-%d, is %d-%d-%d", read.year, read.month, read.day, b.year, b.month, b.day)
	case rank(before, b) < first:
		return fmt.Sprintf("%q is not the first bar of what it names", t.text)
	}
	return ""
}

// TestTimeTicksAreRead reads the axes of many series and widths: no tick may be
// put on another bar, and no two stand much nearer or further than the rest.
func TestTimeTicksAreRead(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	always := func(time.Time) bool { return true }
	count := 0
	for _, market := range []struct {
		name  string
		every []market.Interval
		open  func(time.Time) bool
		zone  *time.Location
	}{
		{"always open", market.Intervals(), always, nil},
		{"weekdays", []market.Interval{market.Day1}, weekday, nil},
		{"stocks", []market.Interval{market.Minute5, market.Minute15, market.Minute30, market.Hour1}, stocks, nil},
		{"stocks in New York", []market.Interval{market.Minute5, market.Minute15, market.Minute30, market.Hour1}, stocks, newYork},
		{"currencies", []market.Interval{market.Minute15, market.Hour1, market.Hour4}, currencies, nil},
	} {
		for _, interval := range market.every {
			for _, start := range []string{"2024-12-16 00:00", "2025-04-21 05:00", "2025-10-23 17:30"} {
				for _, n := range []int{60, 150, 200, 350, 500, 1000, 2000} {
					ts := opened(start, interval, n, market.open)
					a, ticks := axisOf(ts, interval, 1380/float64(len(ts)), market.zone)
					prev := timeTick{}
					for _, tick := range ticks {
						count++
						if why := misread(a.bars, prev, tick); why != "" {
							t.Errorf("%s, %d bars of %s from %s: %s in %q", market.name, n, interval, start, why, texts(ticks))
						}
						prev = tick
					}
					checkEven(t, fmt.Sprintf("%s, %d bars of %s from %s", market.name, n, interval, start), ticks)
				}
			}
		}
	}
	if count < 2000 {
		t.Errorf("only %d ticks read", count)
	}
}

// checkEven compares the distances between ticks: none is more than 2.2 times
// another.
func checkEven(t *testing.T, what string, ticks []timeTick) {
	t.Helper()
	least, most := math.MaxInt, 0
	for i := 1; i < len(ticks); i++ {
		gap := ticks[i].bar - ticks[i-1].bar
		least, most = min(least, gap), max(most, gap)
	}
	if len(ticks) > 2 && float64(most) > 2.2*float64(least)+1 {
		t.Errorf("%s: ticks %d to %d bars apart: %q", what, least, most, texts(ticks))
	}
}

// TestDatesAreMany: an axis has on average a label for every 90 to 130 pixels, whatever the
// bars, and nowhere much fewer.
func TestDatesAreMany(t *testing.T) {
	sum, n := 0.0, 0.0
	for _, interval := range []market.Interval{market.Minute1, market.Minute5, market.Minute15, market.Hour1, market.Hour4, market.Day1, market.Week1} {
		for _, bars := range []int{60, 100, 200, 300, 500, 1000} {
			p := plan(&View{Series: walk(bars, 215, 2, interval)}, Options{Width: 1440, Height: 768})
			apart := float64(p.axisX) / float64(len(p.times)+1) // with the date of the first bar
			if sum, n = sum+apart, n+1; apart > 200 {
				t.Errorf("%d bars of %s: a label every %.0f pixels", bars, interval, apart)
			}
		}
	}
	if mean := sum / n; mean < 90 || mean > 130 {
		t.Errorf("a label every %.0f pixels on average", mean)
	}
}
