package market

import (
	"errors"
	"fmt"
	"strings"
	"time"
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

// ErrInterval reports a text that names no interval.
var ErrInterval = errors.New("unknown interval")

// units maps the words people and models write after the number, in lower
// case, to the letter of the canonical spelling.
var units = map[string]string{
	"m": "m", "min": "m", "mins": "m", "minute": "m", "minutes": "m", "t": "m",
	"h": "h", "hr": "h", "hrs": "h", "hour": "h", "hours": "h",
	"d": "d", "day": "d", "days": "d",
	"w": "wk", "wk": "wk", "wks": "wk", "week": "wk", "weeks": "wk",
	"mo": "mo", "mon": "mo", "mth": "mo", "month": "mo", "months": "mo",
}

// words are spellings without a number, and counts that have another name.
var words = map[string]Interval{
	"minute": Minute1, "hour": Hour1, "hourly": Hour1, "day": Day1, "daily": Day1,
	"week": Week1, "weekly": Week1, "month": Month1, "monthly": Month1,
	"d": Day1, "w": Week1, "h": Hour1, "m": Minute1,
	"60m": Hour1, "120m": Hour2, "180m": "", "240m": Hour4, "360m": Hour6, "480m": Hour8,
	"720m": Hour12, "1440m": Day1, "24h": Day1, "72h": Day3, "168h": Week1, "7d": Week1, "1y": "",
	"30d": Month1,
}

// ParseInterval returns the interval that text names. It takes the spellings
// in use, in any case ("4H", "240", "1 hour", "daily", "1w"), with one
// exception: a capital M alone after the number means months, as at TradingView
// and Binance, so "1M" is a month and "15M" is refused and not taken for 15m.
func ParseInterval(text string) (Interval, error) {
	s := strings.ReplaceAll(strings.TrimSpace(text), " ", "")
	digits := strings.TrimLeft(s, "0123456789")
	number := s[:len(s)-len(digits)]
	if digits == "M" {
		if number == "" || number == "1" {
			return Month1, nil
		}
		return "", fmt.Errorf("%w %q: a capital M means months; for minutes write %sm", ErrInterval, clip(text), number)
	}
	unit := strings.ToLower(strings.TrimLeft(digits, "-_"))
	if number == "" {
		if iv := words[unit]; iv != "" {
			return iv, nil
		}
		// PT4H style and "h4", "m15" as MetaTrader writes them.
		return parseUnitFirst(text, unit)
	}
	if unit == "" { // a bare number is minutes, as at TradingView
		unit = "m"
	}
	name := number + units[unit]
	if iv := words[name]; iv != "" {
		return iv, nil
	}
	if _, ok := seconds[Interval(name)]; ok && units[unit] != "" {
		return Interval(name), nil
	}
	return "", unknownInterval(text)
}

// parseUnitFirst reads "h4", "m15", "d1", "w1", "mn1".
func parseUnitFirst(text, s string) (Interval, error) {
	letters := strings.TrimRight(s, "0123456789")
	number := s[len(letters):]
	if letters == "mn" {
		letters = "mo"
	}
	if unit := units[letters]; unit != "" && number != "" {
		if _, ok := seconds[Interval(number+unit)]; ok {
			return Interval(number + unit), nil
		}
	}
	return "", unknownInterval(text)
}

func unknownInterval(text string) error {
	var names []string
	for _, iv := range Intervals() {
		names = append(names, string(iv))
	}
	return fmt.Errorf("%w %q: one of %s", ErrInterval, clip(text), strings.Join(names, " "))
}

// Seconds returns the length of a bar; a month counts as 30 days.
func (iv Interval) Seconds() int64 { return seconds[iv] }

// Duration returns the length of a bar; a month counts as 30 days.
func (iv Interval) Duration() time.Duration { return time.Duration(seconds[iv]) * time.Second }

// Valid reports whether iv is one of Intervals.
func (iv Interval) Valid() bool { return seconds[iv] != 0 }

// Start returns the start of the bar that holds the instant t, both in unix
// seconds: clock time in UTC, weeks from Monday, months from the first,
// three-day bars counted from 1970-01-01.
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

// floor rounds t down to a multiple of step, also below zero.
func floor(t, step int64) int64 {
	r := t % step
	if r < 0 {
		r += step
	}
	return t - r
}
