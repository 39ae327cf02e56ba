package market

import (
	"errors"
	"math"
	"slices"
	"time"
)

// ErrTooFine reports an interval for which a source has no bars fine enough.
var ErrTooFine = errors.New("no bars that fine")

// resample makes bars of the interval to from bars of the same or a finer one, which
// to must hold. With a session, bars shorter than a day start at the opening or a
// whole number of bars after it, a daily bar starts at the opening, and longer ones
// follow the calendar of the zone; without one all bars start by the clock in UTC. A
// bar is found by its time and never by counting, so a gap or a half day moves no
// other bar. A time without any fine bar gives no coarse one.
//
// The fine bars are complete until the given instant, in unix seconds: those of a
// file until its last row, those of a service until now. The last bar is forming if
// its last fine bar is, or if it ends after that instant. The first may have begun
// before the first fine bar; the caller knows whether it did. Of an extra column a
// bar has the last value.
func resample(fine *Series, to Interval, at *session, until int64) *Series {
	// Everything that describes the series stays; the columns are made anew.
	coarse := *fine
	coarse.Interval, coarse.Forming = to, false
	coarse.Time, coarse.Open, coarse.High, coarse.Low, coarse.Close, coarse.Volume = nil, nil, nil, nil, nil, nil
	coarse.Extra = nil
	if len(fine.Extra) > 0 {
		coarse.Extra = make(map[string][]float64, len(fine.Extra))
	}
	borders := borders{to: to, at: at, tomorrow: math.MinInt64}
	end := int64(math.MinInt64)
	for i := range fine.Time {
		b := fine.Bar(i)
		start, next := borders.around(b.Time)
		last := coarse.Len() - 1
		// A bar that begins a new period opens it; every other one extends it. An extra
		// column has the last value that is known within the period.
		if last < 0 || start > coarse.Time[last] {
			b.Time = start
			coarse.Append(b)
			for name := range fine.Extra {
				coarse.Extra[name] = append(coarse.Extra[name], math.NaN())
			}
			end, last = next, last+1
		} else {
			coarse.High[last] = max(coarse.High[last], b.High)
			coarse.Low[last] = min(coarse.Low[last], b.Low)
			coarse.Close[last] = b.Close
			coarse.Volume[last] += b.Volume
		}
		for name, column := range fine.Extra {
			if !math.IsNaN(column[i]) {
				coarse.Extra[name][last] = column[i]
			}
		}
	}
	coarse.Forming = coarse.Len() > 0 && (fine.Forming || end > until)
	return &coarse
}

// borders finds the bar that an instant is in. With a session it remembers the
// trading day of the last instant, so instants must come in order.
type borders struct {
	to Interval
	at *session // nil: the clock in UTC

	anchor, tomorrow int64 // of the current day: where its bars are counted from, and its end
	date             int64 // its date as midnight UTC
}

// enter makes the exchange day of t the current one; t is its first bar.
func (b *borders) enter(t int64) {
	y, m, d := time.Unix(t, 0).In(b.at.zone).Date()
	b.tomorrow = time.Date(y, m, d+1, 0, 0, 0, 0, b.at.zone).Unix()
	b.date = time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix()
	// By wall clock and not by adding seconds, so that days of 23 or 25 hours open
	// on time. If the first bar of a day is missing, the opening still counts.
	b.anchor = min(t, time.Date(y, m, d, 0, 0, int(b.at.open/time.Second), 0, b.at.zone).Unix())
}

// around returns the start of the bar that holds t, and the start of the next.
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
		return b.anchor, b.tomorrow
	// Weeks and months are counted in days of the exchange.
	case b.to.Seconds() > day:
		first := b.to.Start(b.date)
		return b.local(first), b.local(b.to.Next(first))
	}
	start = b.anchor + floor(t-b.anchor, b.to.Seconds())
	return start, min(start+b.to.Seconds(), b.tomorrow)
}

// local returns midnight in the zone of a date given as midnight UTC.
func (b *borders) local(date int64) int64 {
	y, m, d := time.Unix(date, 0).UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, b.at.zone).Unix()
}

// longestClosure is the time without a bar that may be a holiday of an exchange.
// Shanghai was closed for 19 days in February 1999 (from the 10th to the 28th), and for
// 16 in several other years.
const longestClosure = 20 * day

// findGaps returns the starts of the bars of s before which others are missing. With a
// session those between two exchange days count only from longestClosure on, because no
// calendar of every exchange is at hand: before that it may have been closed. Those
// within a day count unless the exchange pauses then.
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

// pausesBefore reports whether the bars that are missing before bar i are those of a
// lunch, or of a night where the day of the session is not known and counts in UTC: one
// of them is missing on the day before or after, too.
func (s *Series) pausesBefore(i int) bool {
	for t := s.Interval.Next(s.Time[i-1]); t < s.Time[i]; t = s.Interval.Next(t) {
		if !s.tradesBeside(t, -day) || !s.tradesBeside(t, day) {
			return true
		}
	}
	return false
}

// tradesBeside reports whether s has a bar at the time of day of t on the nearest day
// with bars before it (step is -day) or after it (step is day). Where s has no such day,
// nothing speaks against it.
func (s *Series) tradesBeside(t, step int64) bool {
	for range longestClosure / day {
		t += step
		if t < s.Time[0] || t > s.Time[s.Len()-1] {
			break
		}
		j, found := slices.BinarySearch(s.Time, t)
		// Within the bounds of s there is always a bar before t and one not before it.
		if found || s.Time[j] < t+day/2 || s.Time[j-1] > t-day/2 {
			return found
		}
	}
	return true
}
