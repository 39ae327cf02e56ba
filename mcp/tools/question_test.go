package tools

import (
	"strings"
	"testing"
	"time"

	"wick/market"
)

// TestPeriod: the texts about a period are true: why it has no bars and what would help,
// how many of its bars are shown, and whether more can be shown.
func TestPeriod(t *testing.T) {
	at := func(text string, end bool) int64 {
		if text == "" {
			return 0
		}
		unix, err := market.ParseTime(text, time.UTC, end)
		if err != nil {
			t.Fatal(err)
		}
		return unix
	}
	// bars returns the starts of n bars from a time on.
	bars := func(iv market.Interval, from string, n int) []int64 {
		starts := []int64{at(from, false)}
		for len(starts) < n {
			starts = append(starts, iv.Next(starts[len(starts)-1]))
		}
		return starts
	}
	weeks, hours := bars(market.Week1, "2026-10-05", 7), bars(market.Hour1, "2026-01-01", 6000)
	// Friday and Monday: the market was closed between them.
	days := append(bars(market.Day1, "2026-11-13", 1), bars(market.Day1, "2026-11-16", 1)...)
	for _, c := range []struct {
		interval market.Interval
		times    []int64
		from, to string
		bars     int
		want     string // the error or the notes, empty for none
	}{
		{market.Week1, weeks, "2026-11-03", "2026-11-04", maxBars, "X has no bars of 1wk that begin in that period: those that can be fetched (at most 20000) begin at 2026-10-05T00:00:00Z and end at 2026-11-16T00:00:00Z, those next to the period at 2026-11-02T00:00:00Z and 2026-11-09T00:00:00Z; take another or a longer period, or another interval"},
		{market.Day1, days, "2026-11-14", "2026-11-15", maxBars, "X has no bars of 1d that begin in that period: those that can be fetched (at most 20000) begin at 2026-11-13T00:00:00Z and end at 2026-11-16T00:00:00Z, those next to the period at 2026-11-13T00:00:00Z and 2026-11-16T00:00:00Z; take another or a longer period, or another interval"},
		{market.Day1, days, "2026-11-18", "2026-11-19", maxBars, "X has no bars of 1d that begin in that period: those that can be fetched (at most 20000) begin at 2026-11-13T00:00:00Z and end at 2026-11-16T00:00:00Z; take another or a longer period, or another interval"},
		{market.Day1, days, "", "2026-11-02", 10, "X has no bars of 1d that begin in that period: those that can be fetched (at most 20000) begin at 2026-11-13T00:00:00Z and end at 2026-11-16T00:00:00Z; take another or a longer period, or another interval"},
		{market.Day1, days, "2026-11-13", "", maxBars, ""},
		{market.Hour1, hours, "2026-01-01", "", 100, "Of 6000 bars of the period the newest 100 are shown: bars, up to 5000, shows more, and a longer interval needs fewer."},
		{market.Hour1, hours, "2020-01-01", "", maxBars, "The bars of X that can be fetched begin at 2026-01-01T00:00:00Z, later than from: at most 20000 bars back, where the source has them.\n" +
			"Of 6000 bars of the period the newest 5000 are shown: bars, up to 5000, shows more, and a longer interval needs fewer."},
	} {
		r := question{interval: c.interval, bars: c.bars, from: at(c.from, false), to: at(c.to, true)}
		_, _, notes, err := r.cut(&market.Series{Symbol: "X", Interval: c.interval, Time: c.times, Open: column(c.times), High: column(c.times), Low: column(c.times), Close: column(c.times), Volume: column(c.times)})
		said := strings.Join(notes, "\n")
		if err != nil {
			said = err.Error()
		}
		if said != c.want {
			t.Errorf("%s from %q to %q with %d bars:\n%s\nwant\n%s", c.interval, c.from, c.to, c.bars, said, c.want)
		}
	}
}

// column returns a column of a series for so many bars.
func column(times []int64) []float64 { return make([]float64, len(times)) }
