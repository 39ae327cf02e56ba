package market

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // 450 KB: a container from scratch has no zones of its own

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
func Intervals() []Interval { return slices.Clone(intervals) }

var intervals = slices.SortedFunc(maps.Keys(seconds), func(a, b Interval) int { return cmp.Compare(seconds[a], seconds[b]) })

// ofLength has the intervals by their length in seconds.
var ofLength = func() map[int64]Interval {
	m := make(map[int64]Interval)
	for iv, length := range seconds {
		m[length] = iv
	}
	return m
}()

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
	if iv, ok := ofLength[count*length]; ok {
		return iv, nil
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

// floor rounds t down to a multiple of step, also below zero.
func floor(t, step int64) int64 {
	r := t % step
	if r < 0 {
		r += step
	}
	return t - r
}

// moments are the layouts of a date, and of a date with a time.
var moments = []string{time.DateOnly, "20060102", time.RFC3339, "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00"}

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
	for i, layout := range moments {
		t, err := time.ParseInLocation(layout, text, zone)
		if err != nil {
			continue
		}
		if end && i < 2 {
			// Not 24 hours: days have 23 or 25 where clocks change.
			t = t.AddDate(0, 0, 1).Add(-time.Second)
		}
		return t.Unix(), nil
	}
	return 0, fmt.Errorf("time %q, want 2026-01-31, 2026-01-31 14:30, RFC 3339 or unix seconds from 1973 on", limit.Clip(text))
}

// ParseZone returns the zone that name stands for: a name of the IANA table such as
// "Europe/Berlin", or an offset such as "+05:30". An empty name and "UTC" give nil, which
// [ParseTime] takes for UTC. The table is in the binary, so a name means the same on every
// machine.
func ParseZone(name string) (*time.Location, error) {
	name = strings.TrimSpace(name)
	if name == "" || strings.EqualFold(name, "UTC") {
		return nil, nil
	}
	if at, err := time.Parse("-07:00", name); err == nil {
		_, offset := at.Zone()
		return time.FixedZone("UTC"+name, offset), nil
	}
	if zone, known := zones.Load(name); known {
		return zone.(*time.Location), nil
	}
	zone, err := time.LoadLocation(name[:min(len(name), 64)])
	// The zone of this machine would mean something else on another.
	if err != nil || strings.EqualFold(name, "local") {
		return nil, fmt.Errorf("timezone %q, want a name such as America/New_York or an offset such as +05:30", limit.Clip(name))
	}
	zones.Store(name, zone)
	return zone, nil
}

// zones has the zones that were read before, by their names, of which there are some six hundred:
// to read one takes half a millisecond.
var zones sync.Map

// ErrTooFine reports an interval for which a source has no bars fine enough.
var ErrTooFine = errors.New("no bars fine enough")

// resample makes bars of the interval to of rows of the same or a finer interval, which are in
// order of time and of which a bar of to must be a whole number. The series about says all else:
// it has no bars. With a session, bars shorter than a day
// start at the opening or a whole number of bars after it, a daily bar starts at the
// opening, and longer ones follow the calendar of the zone; see borders.around for zones
// east of Greenwich. Without a session all bars
// follow the clock in UTC. The bar of a row is found by its time and never by
// counting, so a gap or a half day moves no other bar. Where there is no row, there
// is no bar.
//
// The rows are complete until the instant until, in unix seconds: those of a service
// are until now. The last bar is forming if it ends after that
// instant. The first bar may have begun before the first row, and then it is
// incomplete; the caller has to know.
func resample(about Series, rows []Bar, to Interval, at *session, until int64) *Series {
	s, last, end := &about, -1, int64(0)
	s.Interval = to
	edges := borders{to: to, at: at, tomorrow: math.MinInt64}
	for _, row := range rows {
		// Borders are looked for only past the end: that of a month takes the calendar.
		if last < 0 || row.Time >= end {
			if start, next, offset := edges.around(row.Time); last < 0 || start > s.Time[last] {
				row.Time, end = start, next
				s.Append(row)
				last++
				if offset != 0 {
					s.Delayed = append(s.Delayed, Delay{Start: start, Offset: offset})
				}
				continue
			}
		}
		s.High[last] = max(s.High[last], row.High)
		s.Low[last] = min(s.Low[last], row.Low)
		s.Close[last] = row.Close
		s.Volume[last] += row.Volume
	}
	s.Forming = last >= 0 && end > until
	return s
}

// inOrder returns rows in order of time, in the memory of rows. Of those with equal times it keeps the last one: a
// service may send a bar twice, the second time with later trades.
func inOrder(rows []Bar) []Bar {
	slices.SortStableFunc(rows, byTime)
	kept := rows[:0]
	for i, row := range rows {
		if i+1 == len(rows) || rows[i+1].Time > row.Time {
			kept = append(kept, row)
		}
	}
	return kept
}

// borders finds the bar that an instant is in. With a session it remembers the
// trading day of the last instant, so instants must come in order.
type borders struct {
	to Interval
	at *session // nil: the clock in UTC

	anchor, tomorrow int64 // of the current day: where its bars are counted from, and its end
	date             int64 // the date of the current day, as midnight UTC
}

// around returns the start of the bar that holds t, the start of the next, and by how many seconds
// later than by the clock the bar closes: a day closes a day after its opening, and a week or a
// month when it is over at the exchange.
//
// East of Greenwich a local day begins on the day before in UTC: Sydney opens at 23:00. A
// bar of a day or longer is known by its date, which readers take in UTC, so such a bar
// starts at midnight in UTC of its local date instead, which may be some hours after its
// first trade.
func (b *borders) around(t int64) (start, next, offset int64) {
	if b.at == nil {
		start = b.to.Start(t)
		return start, b.to.Next(start), 0
	}
	if t >= b.tomorrow { // the first bar of an exchange day starts at t
		y, m, d := time.Unix(t, 0).In(b.at.zone).Date()
		b.tomorrow = time.Date(y, m, d+1, 0, 0, 0, 0, b.at.zone).Unix()
		b.date = time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix()
		// The opening is taken by the wall clock, not by adding seconds to midnight, so that
		// days of 23 or 25 hours open on time. Bars are counted from the opening even if the
		// first one is missing.
		b.anchor = min(t, time.Date(y, m, d, 0, 0, int(b.at.open/time.Second), 0, b.at.zone).Unix())
	}
	switch {
	case b.to == Day1:
		start, next = max(b.anchor, b.date), b.tomorrow
		return start, next, b.anchor - start
	// Weeks and months are counted in days of the exchange.
	case b.to.Seconds() > day:
		first := b.to.Start(b.date)
		start, next = max(b.local(first), first), b.local(b.to.Next(first))
		return start, next, next - b.to.Next(start)
	}
	start = b.anchor + floor(t-b.anchor, b.to.Seconds())
	return start, min(start+b.to.Seconds(), b.tomorrow), 0
}

// local returns when a date, given as midnight UTC, begins in the zone of the exchange.
func (b *borders) local(date int64) int64 {
	y, m, d := time.Unix(date, 0).UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, b.at.zone).Unix()
}

// longestClosure is the time without a bar that may be a holiday of an exchange.
// Shanghai was closed for 19 days in February 1999 (from the 10th to the 28th), and for
// 16 in several other years.
const longestClosure = 20 * day

// findGaps returns the starts of the bars of s before which others are missing. If the
// exchange has a session, a gap between two of its days counts only from longestClosure
// on: a shorter one may be a holiday, and there is no calendar of every exchange. A gap
// within a day counts unless the exchange pauses then.
func findGaps(s *Series, at *session) (gaps []int64) {
	for i := 1; i < s.Len(); i++ {
		missing := s.Time[i] - s.Interval.Next(s.Time[i-1])
		if missing <= 0 || at != nil && missing < longestClosure && (!sameDay(s.Time[i-1], s.Time[i], at.zone) || s.pausesBefore(i)) {
			continue
		}
		gaps = append(gaps, s.Time[i])
	}
	return gaps
}

// sameDay reports whether two instants are on one date in a zone.
func sameDay(a, b int64, zone *time.Location) bool {
	return time.Unix(a, 0).In(zone).Format(time.DateOnly) == time.Unix(b, 0).In(zone).Format(time.DateOnly)
}

// pausesBefore reports whether the bars that are missing before bar i belong to a pause
// that repeats: one of them is missing also on the nearest day with bars before it or after it. That may be a
// lunch, or a night if the hours of the exchange are not known and its days are those of
// UTC.
func (s *Series) pausesBefore(i int) bool {
	for missing := s.Interval.Next(s.Time[i-1]); missing < s.Time[i]; missing = s.Interval.Next(missing) {
		for _, step := range [...]int64{-day, day} {
			for t := missing + step; t >= s.Time[0] && t <= s.Time[s.Len()-1] && max(t-missing, missing-t) <= longestClosure; t += step {
				j, found := slices.BinarySearch(s.Time, t)
				if found {
					break
				}
				// It lies between two bars: j-1 and j both exist. Where one of them is far away, it is
				// before or after the days of trading.
				if s.Time[j] < t+day/2 && s.Time[j-1] > t-day/2 {
					return true
				}
			}
		}
	}
	return false
}

// Hours is the present session of an exchange, or the last or next one if it is closed,
// in unix seconds. The zero value is a market that never closes, or of which nothing is
// known.
type Hours struct{ Open, Close int64 }

// IsOpen reports whether the exchange is open at an instant in unix seconds.
func (h Hours) IsOpen(at int64) bool { return h == Hours{} || at >= h.Open && at < h.Close }

const (
	// lateTrades is how late a trade at an exchange may be told, in seconds. For many exchanges
	// Yahoo does it 15 or 20 minutes late; its answers do not say how many, and no document
	// says which is the longest.
	lateTrades = 30 * minute
	// lastTold is how long after the end of a session, in seconds, its last trade may be told.
	// Exchanges hold a closing auction after it: in Sydney, for one, that is over 12 minutes
	// later.
	lastTold = 15*minute + lateTrades
)

// session is the trading day of an exchange. A nil *session stands for a market that
// never closes, whose bars follow the clock in UTC.
type session struct {
	zone *time.Location
	open time.Duration // the opening, after midnight by the wall clock there
}
