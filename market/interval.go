package market

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"wick/internal/limit"
)

// Interval is the length of a bar, in its one spelling: "1m", "4h", "1mo".
type Interval string

// The intervals there are, shortest first.
const (
	Minute1  Interval = "1m"
	Minute3  Interval = "3m"
	Minute5  Interval = "5m"
	Minute15 Interval = "15m"
	Minute30 Interval = "30m"
	Hour1    Interval = "1h"
	Hour2    Interval = "2h"
	Hour4    Interval = "4h"
	Hour6    Interval = "6h"
	Hour8    Interval = "8h"
	Hour12   Interval = "12h"
	Day1     Interval = "1d"
	Day3     Interval = "3d"
	Week1    Interval = "1wk"
	Month1   Interval = "1mo"
)

// Lengths of time in seconds.
const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
	week   = 7 * day
	month  = 30 * day // nominal; borders of months come from the calendar
)

var seconds = map[Interval]int64{
	Minute1: minute, Minute3: 3 * minute, Minute5: 5 * minute, Minute15: 15 * minute, Minute30: 30 * minute,
	Hour1: hour, Hour2: 2 * hour, Hour4: 4 * hour, Hour6: 6 * hour, Hour8: 8 * hour, Hour12: 12 * hour,
	Day1: day, Day3: 3 * day, Week1: week, Month1: month,
}

// Intervals lists all intervals, shortest first.
func Intervals() []Interval {
	return []Interval{
		Minute1, Minute3, Minute5, Minute15, Minute30, Hour1, Hour2, Hour4,
		Hour6, Hour8, Hour12, Day1, Day3, Week1, Month1,
	}
}

// errInterval reports a text that names no interval.
var errInterval = errors.New("unknown interval")

// units are the words for lengths of time that people and models write, in lower
// case, in seconds. A word without a number counts once: "daily", "h".
var units = map[string]int64{
	"m": minute, "min": minute, "mins": minute, "minute": minute, "minutes": minute, "t": minute,
	"h": hour, "hr": hour, "hrs": hour, "hour": hour, "hours": hour, "hourly": hour,
	"d": day, "day": day, "days": day, "daily": day,
	"w": week, "wk": week, "wks": week, "week": week, "weeks": week, "weekly": week,
	"mo": month, "mon": month, "mn": month, "mth": month, "month": month, "months": month, "monthly": month,
}

// ParseInterval returns the interval that text names. It takes the spellings
// in use, in any case: "4h", "4H", "240" (minutes, as at TradingView), "H4" (as
// at MetaTrader), "1 hour", "daily", "24h". One letter keeps its case: a capital
// M after the number means months, as at TradingView and Binance, so "1M" is a
// month and "15M" is refused and not taken for 15m.
func ParseInterval(text string) (Interval, error) {
	const digits = "0123456789"
	s := strings.ReplaceAll(strings.TrimSpace(text), " ", "")
	unit := strings.TrimLeft(s, digits)
	number := s[:len(s)-len(unit)]
	if unit == "M" && number != "" && number != "1" {
		return "", fmt.Errorf("%w %q: a capital M means months; for minutes write %sm", errInterval, limit.Clip(text), limit.Clip(number))
	}
	if number == "" { // the unit first: h4, m15, d1
		unit = strings.TrimRight(s, digits)
		number = s[len(unit):]
	}
	// An unknown unit has the length 0, which no interval has.
	length := units[strings.ToLower(strings.Trim(unit, "-_"))]
	switch {
	case unit == "" && number != "":
		length = minute
	case s == "M" || s == "1M": // but M1 and M15 are MetaTrader's minutes
		length = month
	}
	count := int64(1)
	if number != "" {
		count, _ = strconv.ParseInt(number, 10, 32) // a number out of range becomes the largest, which fits no interval
	}
	// The length decides, however it was written: 60m is 1h, 7d is 1wk.
	for _, iv := range Intervals() {
		if count*length == iv.Seconds() {
			return iv, nil
		}
	}
	return "", fmt.Errorf("%w %q: one of %s", errInterval, limit.Clip(text), spelled(Intervals()))
}

// spelled writes intervals for an error message.
func spelled(list []Interval) string {
	var names []string
	for _, iv := range list {
		names = append(names, string(iv))
	}
	return strings.Join(names, " ")
}

// Seconds returns the length of a bar; a month counts as 30 days.
func (iv Interval) Seconds() int64 { return seconds[iv] }

// Duration returns the length of a bar; a month counts as 30 days.
func (iv Interval) Duration() time.Duration { return time.Duration(seconds[iv]) * time.Second }

// Valid reports whether iv is one of Intervals.
func (iv Interval) Valid() bool { return seconds[iv] != 0 }

// Start returns the start of the bar that holds the instant t, both in unix seconds.
// Bars follow the clock in UTC: weeks start on Monday, months on the first, and
// three-day bars are counted from 1970-01-01.
func (iv Interval) Start(t int64) int64 {
	switch iv {
	case Month1:
		y, m, _ := time.Unix(t, 0).UTC().Date()
		return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC).Unix()
	case Week1:
		const monday = 4 * day // 1970-01-05
		return floor(t-monday, week) + monday
	}
	return floor(t, seconds[iv])
}

// Next returns the start of the bar after the one that starts at start.
func (iv Interval) Next(start int64) int64 {
	if iv == Month1 {
		y, m, _ := time.Unix(start, 0).UTC().Date()
		return time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC).Unix()
	}
	return start + seconds[iv]
}

// holds reports whether every bar of iv consists of whole bars of fine. Weeks
// and months are made of days: no three-day bar ends where a week does.
func (iv Interval) holds(fine Interval) bool {
	switch {
	case !iv.Valid() || !fine.Valid():
		return false
	case iv == fine:
		return true
	case iv.Seconds() > day:
		return day%fine.Seconds() == 0
	}
	return iv.Seconds()%fine.Seconds() == 0
}

// nearest returns the longest interval of have whose bars make up bars of iv.
func (iv Interval) nearest(have []Interval) (Interval, bool) {
	best, found := Interval(""), false
	for _, fine := range have {
		if iv.holds(fine) && fine.Seconds() > best.Seconds() {
			best, found = fine, true
		}
	}
	return best, found
}

// madeOf returns the intervals whose bars can be made of bars of those in have, the
// shortest first.
func madeOf(have ...Interval) []Interval {
	return slices.DeleteFunc(Intervals(), func(iv Interval) bool {
		_, ok := iv.nearest(have)
		return !ok
	})
}

// floor rounds t down to a multiple of step, also below zero.
func floor(t, step int64) int64 {
	r := t % step
	if r < 0 {
		r += step
	}
	return t - r
}

// moments are the layouts of a day with a time.
var moments = []string{time.RFC3339, "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00"}

// ParseTime reads a time as people and files write it: "2026-01-31", "20260131", "2026-01-31 14:30",
// RFC 3339, or unix seconds or milliseconds. A text without a time zone is read in zone, nil
// for UTC. A date alone is its first second, or with end its last, so that a range "to" a
// date includes it.
//
// A number that is not surely a time is refused: one shorter than eight digits, such as a year,
// would be seconds in the first years after 1970, and a date with its time run together
// would be milliseconds in 1976.
func ParseTime(text string, zone *time.Location, end bool) (int64, error) {
	if zone == nil {
		zone = time.UTC
	}
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && len(text) != len("20060102") {
		_, together := time.Parse("200601021504", text)
		switch {
		case n >= 1e8 && n < 1e11: // from 1973 to the year 5138
			return n, nil
		case n >= 1e11 && n < 1e13 && together != nil:
			return n / 1000, nil
		}
	}
	for _, layout := range []string{time.DateOnly, "20060102"} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			if end {
				// Not 24 hours: days have 23 or 25 where clocks change.
				t = t.AddDate(0, 0, 1).Add(-time.Second)
			}
			return t.Unix(), nil
		}
	}
	for _, layout := range moments {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t.Unix(), nil
		}
	}
	return 0, fmt.Errorf("time %q, want 2026-01-31, 2026-01-31 14:30, RFC 3339 or unix seconds from 1973 on", limit.Clip(text))
}
