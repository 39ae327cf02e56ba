package market

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// errUnordered reports a row that is older than the one before it.
var errUnordered = errors.New("rows are not in order of time")

// csvRow is one line: a bar and the extra columns that were asked for.
type csvRow struct {
	Bar
	extra []float64
}

// csvBars makes the bars that a query asks for from the rows of a file, which must come in
// order of time. It holds only the newest bars, those of the answer and those before them
// that findGaps looks at, and counts what has to be known of all rows. So the memory that a
// file takes does not grow with its length.
type csvBars struct {
	*resampler
	now   time.Time // rows that begin later are left out
	extra []string
	limit int     // bars of the answer
	room  int     // so many bars are held before old ones are dropped
	last  []int64 // start of the last row of each bar that is held

	row    csvRow // the last one. It waits until the next, because one of the same time replaces it
	rows   int
	newest int64 // time of the newest row, in unix seconds, also if that row was left out

	apart  map[Interval]int // how often two rows have this distance
	common Interval         // the most frequent one; "" before the first

	first, day int64    // the first and the last date with rows, in days since 1970
	dates      [7]int64 // how many dates have rows, by weekday: 0 is Thursday, as 1970-01-01 was
	dawn       int64    // when the first row of the last date begins
	sunday     int64    // seconds from the first to the last row of a Sunday, of all the most
}

// Places of weekdays in dates.
const saturday, sunday = 2, 3

// newCSVBars returns a csvBars for a query that was checked. Now is the time of the answer.
func newCSVBars(q Query, now time.Time) *csvBars {
	like := Series{Symbol: q.Symbol, Source: "csv"}
	return &csvBars{
		resampler: newResampler(like, q.Interval, nil, q.Extra), now: now, extra: q.Extra, limit: q.Limit, room: 2*q.Limit + 1000,
		apart: make(map[Interval]int),
	}
}

// add takes the next row. It returns errUnordered if the row is older than the last. It
// leaves out a row that has not begun, so that the bar of now is the last and forming.
func (c *csvBars) add(row csvRow) error {
	c.newest = max(c.newest, row.Time)
	switch {
	case row.Time > c.now.Unix():
		return nil
	case c.rows == 0:
	case row.Time < c.row.Time:
		return errUnordered
	case row.Time > c.row.Time:
		c.flush()
		c.count(row.Time - c.row.Time)
	}
	c.row = row
	c.rows++
	return nil
}

// flush makes the row that waits a part of the bars.
func (c *csvBars) flush() {
	today := floor(c.row.Time, day) / day
	if c.coarse.Len() == 0 {
		c.first = today
	}
	if c.coarse.Len() == 0 || today > c.day {
		c.day, c.dawn = today, c.row.Time
		c.dates[today-floor(today, 7)]++
	}
	if today-floor(today, 7) == sunday {
		c.sunday = max(c.sunday, c.row.Time-c.dawn)
	}
	c.resampler.add(c.row.Bar)
	c.last = append(c.last[:c.coarse.Len()-1], c.row.Time) // over that of the row before in the same bar
	for i, name := range c.extra {
		c.extend(name, c.row.extra[i])
	}
	if c.coarse.Len() >= c.room {
		c.drop()
	}
}

// drop forgets the bars that are older than the answer by more than findGaps looks back.
func (c *csvBars) drop() {
	n := c.coarse.Len()
	from, found := slices.BinarySearch(c.coarse.Time, c.coarse.Time[n-c.limit]-longestClosure-day)
	if !found {
		from = max(0, from-1)
	}
	c.coarse, c.last = c.coarse.copied(from), slices.Clone(c.last[from:])
	c.room = 2*c.coarse.Len() + 1000
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

// answer returns the bars that q asks for once all rows were added. The rows are of the
// interval iv, or of the one that is most often their distance if that is "". It returns an
// error if they are too long. Changed is when the file was.
func (c *csvBars) answer(q Query, iv Interval, changed time.Time) (*Series, error) {
	// A few rows may be far apart by chance, and those of a thin market by any distance.
	if iv != "" && c.rows >= 10 && c.apart[iv] == 0 && c.common.Seconds() > iv.Seconds() && 2*c.apart[c.common] > c.rows {
		return nil, fmt.Errorf("no two of its rows are %s apart, as its name says, and most are %s apart: name it SYMBOL-%[2]s.csv", iv, c.common)
	}
	if iv = cmp.Or(iv, c.common); iv == "" {
		return nil, errors.New("its rows are spaced like no interval; name the file SYMBOL-INTERVAL.csv")
	}
	if !q.Interval.holds(iv) {
		return nil, fmt.Errorf("%w: bars of %s cannot be made of bars of %s; ask for %s", ErrTooFine, q.Interval, iv, spelled(madeOf(iv)))
	}
	c.flush()
	s, end := c.coarse, iv.Next(c.row.Time)
	// A price of a closed bar is as old as its end; while the last row is forming it is as
	// new as the file.
	s.AsOf, s.PriceAt = c.now.UnixMilli(), end*1000
	if s.PriceAt > s.AsOf {
		s.PriceAt = min(changed.UnixMilli(), s.AsOf)
	}
	if c.newest > c.now.Unix()+maxAhead {
		s.ahead = c.newest * 1000
	}
	s.Gaps = findGaps(s, c.closes(iv))
	for i, row := range c.last {
		if d := delayOf(iv, row, q.Interval.Next(s.Time[i])); d != (Delay{}) {
			d.Start = s.Time[i]
			s.Delayed = append(s.Delayed, d)
		}
	}
	s.Forming = s.ClosedAt(s.Len()-1) > c.now.Unix()
	// A copy: a cache must not hold more for a few bars.
	tail := s.copied(max(0, s.Len()-q.Limit))
	return tail, tail.Check()
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

// count counts a distance between two rows. From 28 to 31 days count as a month.
func (c *csvBars) count(apart int64) {
	if apart >= 28*day && apart <= 31*day {
		apart = month
	}
	if iv, ok := ofLength[apart]; ok {
		c.apart[iv]++
		if c.apart[iv] > c.apart[c.common] {
			c.common = iv
		}
	}
}

// ofLength has the interval of each length in seconds.
var ofLength = func() map[int64]Interval {
	m := make(map[int64]Interval)
	for iv, length := range seconds {
		m[length] = iv
	}
	return m
}()

// closes returns a session if the rows, which are of the interval iv, are those of an
// exchange, whose nights and weekends do not count as gaps, and nil if the market never
// closes. A market never closes if there are rows on at least half of the Saturdays and
// half of the Sundays between the first row and the last: an exchange may be open on one
// Saturday, or on all of them, but then not on Sundays. If there is no Saturday, rows on the
// Sunday must be more than 12 hours apart: some exchanges are open for part of it. Bars
// longer than a day do not show that; of those, only a pair with a coin never closes.
func (c *csvBars) closes(iv Interval) *session {
	half := func(weekday int64) bool {
		all := (floor(c.day-weekday, 7) - floor(c.first-1-weekday, 7)) / 7
		return 2*c.dates[weekday] >= all
	}
	never := (c.dates[saturday] > 0 || c.sunday > 12*hour) && half(saturday) && half(sunday)
	if iv.Seconds() > day {
		base, _, pair := splitPair(c.coarse.Symbol)
		never = pair && !fiat[base]
	}
	if never {
		return nil
	}
	return &session{zone: time.UTC}
}

// csvRows holds the rows of a file that is not in order. They stand in blocks, so that no
// copy of all is made when one more comes.
type csvRows struct {
	rows   int
	blocks [][]Bar
	extra  []float64 // the extra values of all rows, one row after the other
}

// blockRows is the number of rows in a block.
const blockRows = 1 << 14

// add appends a row.
func (c *csvRows) add(row csvRow) error {
	if c.rows%blockRows == 0 {
		c.blocks = append(c.blocks, make([]Bar, 0, blockRows))
	}
	last := &c.blocks[len(c.blocks)-1]
	*last = append(*last, row.Bar)
	c.extra = append(c.extra, row.extra...)
	c.rows++
	return nil
}

// sorted calls take with the rows in order of time. Of equal times the row that stands
// later in the file comes later.
func (c *csvRows) sorted(take func(csvRow) error) error {
	at := func(n int) *Bar { return &c.blocks[n/blockRows][n%blockRows] }
	order := make([]int, c.rows)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(at(a).Time, at(b).Time), cmp.Compare(a, b)) })
	for _, n := range order {
		wide := len(c.extra) / c.rows // values of a row
		if err := take(csvRow{*at(n), c.extra[n*wide : (n+1)*wide]}); err != nil {
			return err
		}
	}
	return nil
}
