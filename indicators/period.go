package indicators

import (
	"math"
	"slices"
	"time"

	"wick/market"
)

// periodStarts reports for each bar whether it is the first of its calendar period in
// UTC: "hour", "day", "week" from Monday, "month" or "year". Any other name stands
// for one endless period, which the first bar starts. A bar belongs to the period in
// which it begins; a gap over several periods starts one.
func periodStarts(s *market.Series, period string) []bool {
	out := make([]bool, s.Len())
	var next int64 // start of the period to come
	for i, t := range s.Time {
		if i == 0 || t >= next {
			out[i] = true
			next = periodEnd(t, period)
		}
	}
	return out
}

// calendar holds the periods that are bars of an interval too.
var calendar = map[string]market.Interval{"hour": market.Hour1, "day": market.Day1, "week": market.Week1, "month": market.Month1}

// periodEnd returns when the period around t ends, in unix seconds; never for an
// endless one.
func periodEnd(t int64, period string) int64 {
	if iv, ok := calendar[period]; ok {
		return iv.Next(iv.Start(t))
	}
	if period == "year" {
		return yearStart(t, 1)
	}
	return math.MaxInt64
}

// periodOf returns the period that choice names. "auto" is the one that suits the interval,
// or the day if the interval is not known.
func periodOf(choice string, iv market.Interval) string {
	switch length := iv.Seconds(); {
	case choice != "auto":
		return choice
	case length <= market.Minute15.Seconds():
		return "day"
	case length < market.Day1.Seconds():
		return "week"
	case length < market.Week1.Seconds():
		return "month"
	}
	return "year"
}

// periodSeconds is how long a period is at most. An endless one begins with the first
// bar shown. Months and years are taken at their longest, so that the history loaded
// is never too short.
var periodSeconds = map[string]int64{
	"hour": 3600, "day": 86400, "week": 7 * 86400, "month": 31 * 86400, "year": 366 * 86400,
}

// anchor returns the parameter that says with which period a running average starts again.
func anchor() Param {
	p := choice("anchor", "where it starts anew: auto is the day, of daily bars the month, of longer ones the year; none is the first bar loaded",
		"auto", "day", "week", "month", "year", "none")
	p.Aliases = []string{"session", "reset"}
	return p
}

// anchorOf returns the period that "anchor" means for bars of this interval. With daily
// bars, an average that starts again every day would have one bar only.
func anchorOf(a Args, iv market.Interval) string {
	if choice := a.Choice("anchor"); choice != "auto" {
		return choice
	}
	return longPeriod(iv)
}

// longPeriod returns the shortest of day, month and year that has several bars of the
// interval, or the day if the interval is not known. Every interval below a day has at least
// two bars in a day, so the week is not needed.
func longPeriod(iv market.Interval) string {
	switch length := iv.Seconds(); {
	case length < market.Day1.Seconds():
		return "day"
	case length < market.Week1.Seconds():
		return "month"
	}
	return "year"
}

// endlessAnchor is the Endless of an indicator with the parameter "anchor".
func endlessAnchor(a Args) (set string) {
	if a.Choice("anchor") == "none" {
		return "anchor to day"
	}
	return ""
}

// sinceAnchor returns the history, in seconds, of an indicator that starts again with every
// period of "anchor".
func sinceAnchor(a Args, iv market.Interval) int64 { return periodSeconds[anchorOf(a, iv)] }

// withoutResets removes, in place, the signals on bars where a line starts again: there the
// line jumps, and the price has crossed nothing.
func withoutResets(signals []Signal, starts []bool) []Signal {
	return slices.DeleteFunc(signals, func(sig Signal) bool { return starts[sig.Bar] })
}

// periodStart returns when the period around t began, in unix seconds; 0 for an
// endless one.
func periodStart(t int64, period string) int64 {
	if iv, ok := calendar[period]; ok {
		return iv.Start(t)
	}
	if period == "year" {
		return yearStart(t, 0)
	}
	return 0
}

// yearStart returns when the year of t began, or the year later years after it, in unix
// seconds.
func yearStart(t int64, later int) int64 {
	return time.Date(time.Unix(t, 0).UTC().Year()+later, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
}
