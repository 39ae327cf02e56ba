package market

import (
	"errors"
	"math"
	"slices"
	"time"
)

// ErrTooFine reports an interval for which a source has no bars fine enough.
var ErrTooFine = errors.New("no bars fine enough")

// resample makes bars of the interval to from bars of the same or a finer interval, of
// which a bar of to must be a whole number. With a session, bars shorter than a day
// start at the opening or a whole number of bars after it, a daily bar starts at the
// opening, and longer ones follow the calendar of the zone; see borders.around for zones
// east of Greenwich. Without a session all bars
// follow the clock in UTC. The bar of a fine bar is found by its time and never by
// counting, so a gap or a half day moves no other bar. Where there is no fine bar, there
// is no coarse one.
//
// The fine bars are complete until the instant until, in unix seconds: those of a service
// are until now. The last bar is forming if its last fine bar is, or if it ends after that
// instant. The first bar may have begun before the first fine bar, and then it is
// incomplete; the caller has to know. In an extra column a bar has the last value that its
// fine bars have.
func resample(fine *Series, to Interval, at *session, until int64) *Series {
	// Everything that describes the series stays; the columns are made anew.
	s := *fine
	s.Interval, s.Forming, s.Delayed = to, false, nil
	s.Time, s.Open, s.High, s.Low, s.Close, s.Volume = nil, nil, nil, nil, nil, nil
	s.Extra = make(map[string][]float64, len(fine.Extra))
	edges, end := borders{to: to, at: at, tomorrow: math.MinInt64}, int64(0)
	for i := range fine.Time {
		b, last := fine.Bar(i), s.Len()-1
		// The first fine bar of a coarse one opens it; every other one extends it. Borders are
		// looked for only past the end: that of a month takes the calendar.
		opens := false
		if last < 0 || b.Time >= end {
			start, next := edges.around(b.Time)
			if opens = last < 0 || start > s.Time[last]; opens {
				b.Time, end = start, next
				s.Append(b)
				if offset := edges.offset(start, next); offset != 0 {
					s.Delayed = append(s.Delayed, Delay{Start: start, Offset: offset})
				}
			}
		}
		if !opens {
			s.High[last] = max(s.High[last], b.High)
			s.Low[last] = min(s.Low[last], b.Low)
			s.Close[last] = b.Close
			s.Volume[last] += b.Volume
		}
		for name, column := range fine.Extra {
			if opens {
				s.Extra[name] = append(s.Extra[name], column[i])
			} else if !math.IsNaN(column[i]) {
				s.Extra[name][last] = column[i]
			}
		}
	}
	s.Forming = s.Len() > 0 && (fine.Forming || end > until)
	return &s
}

// borders finds the bar that an instant is in. With a session it remembers the
// trading day of the last instant, so instants must come in order.
type borders struct {
	to Interval
	at *session // nil: the clock in UTC

	anchor, tomorrow int64 // of the current day: where its bars are counted from, and its end
	date             int64 // the date of the current day, as midnight UTC
}

// enter makes the exchange day of t the current day. The first bar of that day starts
// at t.
func (b *borders) enter(t int64) {
	y, m, d := time.Unix(t, 0).In(b.at.zone).Date()
	b.tomorrow = time.Date(y, m, d+1, 0, 0, 0, 0, b.at.zone).Unix()
	b.date = time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix()
	// The opening is taken by the wall clock, not by adding seconds to midnight, so that
	// days of 23 or 25 hours open on time. Bars are counted from the opening even if the
	// first one is missing.
	b.anchor = min(t, time.Date(y, m, d, 0, 0, int(b.at.open/time.Second), 0, b.at.zone).Unix())
}

// around returns the start of the bar that holds t, and the start of the next.
//
// East of Greenwich a local day begins on the day before in UTC: Sydney opens at 23:00. A
// bar of a day or longer is known by its date, which readers take in UTC, so such a bar
// starts at midnight in UTC of its local date instead, which may be some hours after its
// first trade.
func (b *borders) around(t int64) (start, next int64) {
	if b.at == nil {
		start = b.to.Start(t)
		return start, b.to.Next(start)
	}
	if t >= b.tomorrow {
		b.enter(t)
	}
	switch {
	case b.to == Day1:
		return max(b.anchor, b.date), b.tomorrow
	// Weeks and months are counted in days of the exchange.
	case b.to.Seconds() > day:
		first := b.to.Start(b.date)
		return max(b.local(first), first), b.local(b.to.Next(first))
	}
	start = b.anchor + floor(t-b.anchor, b.to.Seconds())
	return start, min(start+b.to.Seconds(), b.tomorrow)
}

// offset returns how much later than by the clock the bar closes that around has just
// returned, in seconds: a day closes a day after its opening, and a week or a month when it is
// over at the exchange.
func (b *borders) offset(start, next int64) int64 {
	switch {
	case b.at == nil || b.to.Seconds() < day:
		return 0
	case b.to == Day1:
		return b.anchor - start
	}
	return next - b.to.Next(start)
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
	days := borders{to: Day1, at: at, tomorrow: math.MinInt64}
	for i := 1; i < s.Len(); i++ {
		missing := s.Time[i] - s.Interval.Next(s.Time[i-1])
		if missing <= 0 {
			continue
		}
		if at != nil && missing < longestClosure {
			// Called for its side effect: it enters the day of the bar before.
			days.around(s.Time[i-1])
			if s.Time[i] >= days.tomorrow || s.pausesBefore(i) {
				continue
			}
		}
		gaps = append(gaps, s.Time[i])
	}
	return gaps
}

// pausesBefore reports whether the bars that are missing before bar i belong to a pause
// that repeats: one of them is missing on the day before or after, too. That may be a
// lunch, or a night if the hours of the exchange are not known and its days are those of
// UTC.
func (s *Series) pausesBefore(i int) bool {
	for t := s.Interval.Next(s.Time[i-1]); t < s.Time[i]; t = s.Interval.Next(t) {
		if !s.tradesBeside(t, -day) || !s.tradesBeside(t, day) {
			return true
		}
	}
	return false
}

// tradesBeside reports whether s has a bar at the time of day of t on the nearest day
// with bars before it (step is -day) or after it (step is day). If s has no such day it
// returns true.
func (s *Series) tradesBeside(t, step int64) bool {
	for range longestClosure / day {
		t += step
		if t < s.Time[0] || t > s.Time[s.Len()-1] {
			break
		}
		j, found := slices.BinarySearch(s.Time, t)
		// If t itself is not found, it lies between two bars: j-1 and j both exist. Where
		// one of them is far away, t is before or after the days of trading.
		if found || s.Time[j] < t+day/2 && s.Time[j-1] > t-day/2 {
			return found
		}
	}
	return true
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
