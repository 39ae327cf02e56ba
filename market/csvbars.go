package market

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// answer returns the bars that q asks for. The rows of the file are of the interval iv, or of
// the one that is most often their distance if that is "". It returns an error if they are too
// long.
func (f *csvFile) answer(q Query, iv Interval) (*Series, error) {
	apart, common := distances(f.rows.Time)
	n := f.rows.Len()
	// A few rows may be far apart by chance, and those of a thin market by any distance.
	if iv != "" && n >= 10 && apart[iv] == 0 && common.Seconds() > iv.Seconds() && 2*apart[common] > n {
		return nil, fmt.Errorf("no two of its rows are %s apart, as its name says, and most are %s apart: name it SYMBOL-%[2]s.csv", iv, common)
	}
	if iv = cmp.Or(iv, common); iv == "" {
		return nil, errors.New("its rows are spaced like no interval; name the file SYMBOL-INTERVAL.csv")
	}
	if !q.Interval.holds(iv) {
		return nil, fmt.Errorf("%w: bars of %s cannot be made of bars of %s; ask for %s", ErrTooFine, q.Interval, iv, spelled(madeOf(iv)))
	}
	s := resample(f.rows, q.Interval, nil, 0)
	// A price of a closed bar is as old as its end; while the last row is forming it is as
	// new as the file.
	s.AsOf, s.PriceAt = f.now.UnixMilli(), iv.Next(f.rows.Time[n-1])*1000
	if s.PriceAt > s.AsOf {
		s.PriceAt = min(f.changed.UnixMilli(), s.AsOf)
	}
	if f.newest > f.now.Unix()+maxAhead {
		s.ahead = f.newest * 1000
	}
	s.Gaps = findGaps(s, f.session(iv))
	row := 0
	for _, start := range s.Time {
		end := q.Interval.Next(start)
		for row+1 < n && f.rows.Time[row+1] < end {
			row++
		}
		if d := delayOf(iv, f.rows.Time[row], end); d != (Delay{}) {
			d.Start = start
			s.Delayed = append(s.Delayed, d)
		}
		row = min(row+1, n-1)
	}
	s.Forming = s.ClosedAt(s.Len()-1) > f.now.Unix()
	// A copy: a cache must not hold more for a few bars.
	tail := s.copied(max(0, s.Len()-q.Limit))
	return tail, tail.Check()
}

// copied returns the bars from index i on in columns of their own.
func (s *Series) copied(i int) *Series {
	t := s.Slice(i, s.Len())
	t.Grow(0)
	t.Gaps, t.Delayed = slices.Clone(t.Gaps), slices.Clone(t.Delayed)
	for name, column := range t.Extra {
		t.Extra[name] = slices.Clone(column)
	}
	return t
}

// delayOf returns how long after its end a bar closes. Rows are of the interval iv, and the
// last one of the bar begins at last.
//
// A row is written when it has ended, perhaps a little later, so the one that ended last may
// be on its way. One that is still missing after its own length had no trade or stands in a
// night, and no longer bar waits for it.
//
// A row counts for the bar in which it begins. If rows do not begin on the borders of iv, as
// the hours of New York at 9:30, the last one of each bar ends that much after the bar, so
// bars are complete that much later.
func delayOf(iv Interval, last, end int64) (d Delay) {
	border := iv.Next(iv.Start(last)) // where the row would end if it began on the border
	d.Offset = iv.Next(last) - border
	if border < end {
		d.Missing = iv.Seconds()
	}
	return d
}

// distances counts how often two rows are an interval apart, and returns the most frequent one
// as well, of equal ones the first that was so frequent; "" if there is none. From 28 to 31 days
// count as a month.
func distances(times []int64) (counts map[Interval]int, common Interval) {
	counts = make(map[Interval]int)
	for i := 1; i < len(times); i++ {
		apart := times[i] - times[i-1]
		if apart >= 28*day && apart <= 31*day {
			apart = month
		}
		if iv, ok := ofLength[apart]; ok {
			if counts[iv]++; counts[iv] > counts[common] {
				common = iv
			}
		}
	}
	return counts, common
}

// ofLength has the interval of each length in seconds.
var ofLength = func() map[int64]Interval {
	m := make(map[int64]Interval)
	for iv, length := range seconds {
		m[length] = iv
	}
	return m
}()

// Places of weekdays in days since 1970, which began on a Thursday.
const saturday, sunday = 2, 3

// session returns a session if the rows, which are of the interval iv, are those of an
// exchange, whose nights and weekends do not count as gaps, and nil if the market never
// closes. A market never closes if there are rows on at least half of the Saturdays and
// half of the Sundays between the first row and the last: an exchange may be open on one
// Saturday, or on all of them, but then not on Sundays. If there is no Saturday, rows on the
// Sunday must be more than 12 hours apart: some exchanges are open for part of it. Bars
// longer than a day do not show that; of those, only a pair with a coin never closes.
func (f *csvFile) session(iv Interval) *session {
	exchange := &session{zone: time.UTC}
	if iv.Seconds() > day {
		if base, _, pair := splitPair(f.rows.Symbol); pair && !fiat[base] {
			return nil
		}
		return exchange
	}
	var dates [7]int64             // how many dates have rows, by weekday
	var today, dawn, longest int64 // the last date, its first row, and the longest time from first to last row of a Sunday
	for i, t := range f.rows.Time {
		date := floor(t, day) / day
		weekday := date - floor(date, 7)
		if i == 0 || date > today {
			today, dawn = date, t
			dates[weekday]++
		}
		if weekday == sunday {
			longest = max(longest, t-dawn)
		}
	}
	first := floor(f.rows.Time[0], day) / day
	half := func(weekday int64) bool {
		all := (floor(today-weekday, 7) - floor(first-1-weekday, 7)) / 7
		return 2*dates[weekday] >= all
	}
	if (dates[saturday] > 0 || longest > 12*hour) && half(saturday) && half(sunday) {
		return nil
	}
	return exchange
}
