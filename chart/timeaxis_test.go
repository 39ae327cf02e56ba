package chart

import (
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

// texts writes ticks as "bar:label", strong ones with a star.
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
		{"minutes", times("2025-01-06 23:40", market.Minute5, 12), market.Minute5, 20, "Jan 7* 00:30"},
		{"hours over days", times("2025-01-06 12:00", market.Hour1, 48), market.Hour1, 8, "Jan 7* 12:00 Jan 8*"},
		{"days of an hourly chart", times("2025-01-30 12:00", market.Hour1, 96), market.Hour1, 4, "31 Feb* 2 3"},
		{"half months", times("2025-01-06 00:00", market.Day1, 90), market.Day1, 6, "15 Feb* 15 Mar* 15 Apr*"},
		{"weeks: the month's name keeps its day", times("2025-01-06 00:00", market.Day1, 42), market.Day1, 12, "13 20 27 Feb 3* 10"},
		{"months over a year", times("2025-10-01 00:00", market.Week1, 30), market.Week1, 25, "Nov* Dec* 2026* Feb* Mar* Apr*"},
		{"years", times("2010-01-01 00:00", market.Month1, 120), market.Month1, 7, "2011* 2012* 2013* 2014* 2015* 2016* 2017* 2018* 2019*"},
		{"one bar", times("2025-01-06 00:00", market.Day1, 1), market.Day1, 40, ""},
		{"identical times", make([]int64, 50), market.Day1, 10, ""},
	} {
		if got := texts(timeTicks(c.times, c.interval, c.pitch, 74)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Times that go back and forth must end in ticks or none, not in a hang.
func TestTimeTicksUnsorted(t *testing.T) {
	ts := times("2025-01-06 00:00", market.Hour1, 500)
	for i := range ts {
		if i%3 == 0 {
			ts[i] = ts[len(ts)-1-i]
		}
	}
	timeTicks(ts, market.Hour1, 3, 74)
	timeTicks([]int64{1 << 62, -1 << 62, 0, 1 << 40}, "nonsense", 300, 74)
}
