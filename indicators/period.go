package indicators

import (
	"time"

	"wick/market"
)

// periodStarts reports for each bar whether it is the first of its calendar
// period in UTC: "hour", "day", "week" from Monday, "month" or "year". Any
// other name stands for one endless period, which the first bar starts.
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

// periodEnd returns when the period around t ends, in unix seconds.
func periodEnd(t int64, period string) int64 {
	const forever = 1<<63 - 1
	for name, iv := range map[string]market.Interval{"hour": market.Hour1, "day": market.Day1, "week": market.Week1, "month": market.Month1} {
		if name == period {
			return iv.Next(iv.Start(t))
		}
	}
	if period == "year" {
		return time.Date(time.Unix(t, 0).UTC().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	}
	return forever
}

// periodOf returns the period, where "auto" is the one that suits the
// interval; of an interval that is not known it is the day.
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

// periodSeconds is how long a period is at most. An endless one begins with the
// first bar shown.
var periodSeconds = map[string]int64{
	"hour": 3600, "day": 86400, "week": 7 * 86400, "month": 31 * 86400, "year": 366 * 86400,
}

// sinceAnchor is the history of what starts anew with the period "anchor".
func sinceAnchor(a Args, _ market.Interval) int64 { return periodSeconds[a.Choice("anchor")] }
