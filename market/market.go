// Package market holds bars and where they come from.
//
// A [Bar] is one open, high, low, close and volume. A [Series] is a run of
// bars in columns, oldest first, so that a numeric kernel takes s.Close as it
// is. An [Interval] is the length of a bar and knows its borders on the clock:
// coarse bars are made of fine ones by those borders, never by counting. A [Source]
// answers a [Query] with a Series; [Open] makes one from its name. A [Feed] polls a
// source and tells what is new.
//
// The built-in [Sample] invents a price for every symbol at every instant and marks its
// bars as synthetic; the other sources ask a service or read files. A real source that
// fails returns an error: nothing here replaces a missing bar by an invented one.
//
// # Security considerations
//
// Symbols come from strangers and go into addresses and file names, so
// [ParseSymbol] admits harmless characters only and every source calls it
// first. Requests go to the addresses of the configuration and nowhere else: no
// redirect is followed, and a public name that resolves to a private address is
// refused. Answers are bounded in bytes and time, and their text is cleaned
// before it is shown. Bars come from strangers too: every source calls
// [Series.Check], so that its callers can rely on bars that are finite, ordered
// and consistent.
package market

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// Bar is one bar. Time is its start in unix seconds.
type Bar struct {
	Time                           int64
	Open, High, Low, Close, Volume float64
}

// maxValue bounds prices and volumes. No market has any near it: sums and products of them
// could overflow, and charts would leave such a bar out.
const maxValue = 1e300

// Check reports what is wrong with b alone, or nil.
func (b Bar) Check() error {
	for _, v := range [...]float64{b.Open, b.High, b.Low, b.Close, b.Volume} {
		if !(math.Abs(v) < maxValue) { // nor is NaN
			return fmt.Errorf("value %v is not finite or too large", v)
		}
	}
	switch {
	case b.Low > b.Open, b.Low > b.Close, b.Low > b.High:
		return fmt.Errorf("low %v is above open %v, close %v or high %v", b.Low, b.Open, b.Close, b.High)
	case b.High < b.Open, b.High < b.Close:
		return fmt.Errorf("high %v is below open %v or close %v", b.High, b.Open, b.Close)
	case b.Volume < 0:
		return fmt.Errorf("volume %v is negative", b.Volume)
	}
	return nil
}

// positive reports a price that is zero or below, which few markets may have.
func (b Bar) positive() error {
	if b.Low <= 0 {
		return fmt.Errorf("price %v is not positive", b.Low)
	}
	return nil
}

// byTime orders bars by their start.
func byTime(a, b Bar) int { return cmp.Compare(a.Time, b.Time) }

// Series is a run of bars of one symbol and interval, oldest first, in columns
// of equal length. A caller that gets a series must not write to its columns, which
// others may share.
type Series struct {
	Symbol    string
	Interval  Interval
	Source    string // which source answered: "sample", "binance" …
	Synthetic bool   // invented bars: payloads and pictures must say so
	Rewritten bool   // a file, whose owner may change what is long past: what it says now counts
	Currency  string // of the prices as the source names it ("GBp" is pence); "" if it does not say
	Forming   bool   // the last bar is not closed and will change
	AsOf      int64  // unix milliseconds at which the source was asked
	PriceAt   int64  // unix milliseconds at which the last close was the price; 0 if the source does not say
	Hours     Hours  // of the exchange when the source was asked

	Zone *time.Location // of the exchange; nil for a market that has none, or if the source does not say
	// Gaps are the starts of the bars before which others are missing, in order. Pauses,
	// nights, weekends and holidays of an exchange, which are shorter than longestClosure,
	// do not count, and neither does what lies before the first bar.
	Gaps []int64
	// Delayed has, in order, the bars of a file that closed after their end, and the days, weeks
	// and months of an exchange that end at another time there; of the forming bar, what is known so far.
	// See [Series.ClosedAt].
	Delayed []Delay

	// ahead is set if the source has bars that begin more than maxAhead in the future,
	// which are not among these: it is when the newest of them begins, in unix milliseconds.
	// Whoever wrote them has another clock, so nobody knows when the last close was the price.
	ahead int64

	Time                           []int64
	Open, High, Low, Close, Volume []float64

	// Extra holds further columns, aligned with the bars and NaN where the
	// source had nothing: funding, open interest and the like. A column that
	// nobody asked for by Query.Extra is absent.
	Extra map[string][]float64

	// Others holds bars of other markets or intervals that an indicator reads beside
	// these. Slice does not cut them: for each bar of this series a reader takes the newest
	// of the other bars that was closed when that bar closed. See [LoadOthers].
	Others map[Other]*Series
}

// Delay says of a bar how long after its end it closed.
type Delay struct {
	Start   int64 // of the bar, in unix seconds
	Offset  int64 // seconds by which its last row ends later, because rows do not begin on the border; of a day or longer, by which it ends later at the exchange, or earlier if negative
	Missing int64 // seconds in which its last row, which is missing, could still have come
}

// Other names bars that are read beside those of a series. An empty field means that of
// the series; the symbol is spelled as in the request.
type Other struct {
	Symbol   string
	Interval Interval
}

// Len returns the number of bars.
func (s *Series) Len() int { return len(s.Time) }

// Bar returns bar i.
func (s *Series) Bar(i int) Bar {
	return Bar{s.Time[i], s.Open[i], s.High[i], s.Low[i], s.Close[i], s.Volume[i]}
}

// columns returns the prices and volumes.
func (s *Series) columns() [5]*[]float64 {
	return [5]*[]float64{&s.Open, &s.High, &s.Low, &s.Close, &s.Volume}
}

// Append adds b at the end. It does not touch Extra.
func (s *Series) Append(b Bar) {
	s.Time = append(s.Time, b.Time)
	s.Open = append(s.Open, b.Open)
	s.High = append(s.High, b.High)
	s.Low = append(s.Low, b.Low)
	s.Close = append(s.Close, b.Close)
	s.Volume = append(s.Volume, b.Volume)
}

// Grow moves the bars to memory of their own, with room for n further ones.
func (s *Series) Grow(n int) {
	size := s.Len() + n
	block := make([]float64, 5*size)
	s.Time = append(make([]int64, 0, size), s.Time...)
	for i, column := range s.columns() {
		*column = append(block[i*size:i*size:(i+1)*size], *column...)
	}
}

// Slice returns bars i to j, j excluded, sharing memory with s. Forming stays
// true only if the last bar is among them.
func (s *Series) Slice(i, j int) *Series {
	t := *s
	if j < s.Len() {
		t.Forming, t.PriceAt = false, 0
		if j > i {
			t.PriceAt = s.DueAt(j-1) * 1000
		}
	}
	// The capacity is cut as well, so that appending to the slice never writes into s.
	t.Time = s.Time[i:j:j]
	for _, column := range t.columns() {
		*column = (*column)[i:j:j]
	}
	t.Gaps, t.Delayed = nil, nil
	if j > i {
		// The first bar has no bar before it, so it is not after a gap.
		t.Gaps = between(s.Gaps, s.Time[i]+1, s.Time[j-1], cmp.Compare)
		t.Delayed = between(s.Delayed, s.Time[i], s.Time[j-1], Delay.compare)
	}
	t.Extra = nil
	for name, column := range s.Extra {
		t.setExtra(name, column[i:j:j])
	}
	return &t
}

// setExtra adds a further column.
func (s *Series) setExtra(name string, column []float64) {
	if s.Extra == nil {
		s.Extra = make(map[string][]float64)
	}
	s.Extra[name] = column
}

// between returns what list has of the times from first to last, both included, sharing
// memory with list. Appending to it never writes into list.
func between[T any](list []T, first, last int64, compare func(T, int64) int) []T {
	from, _ := slices.BinarySearchFunc(list, first, compare)
	to, _ := slices.BinarySearchFunc(list, last+1, compare)
	to = max(from, to)
	return list[from:to:to]
}

// compare compares the start of the bar with t.
func (d Delay) compare(t int64) int { return cmp.Compare(d.Start, t) }

// Delay returns the delay of bar i; zero if it has none.
func (s *Series) Delay(i int) Delay {
	if at, found := slices.BinarySearchFunc(s.Delayed, s.Time[i], Delay.compare); found {
		return s.Delayed[at]
	}
	return Delay{}
}

// ClosedAt returns when bar i closed or will close, in unix seconds: at its end, or at another
// time if it is among Delayed. Before that no alert is judged on it, so nothing that looks at an
// earlier moment may know it.
func (s *Series) ClosedAt(i int) int64 { return s.DueAt(i) + s.Delay(i).Missing }

// DueAt returns when bar i closes if its last row is not missing, in unix seconds.
func (s *Series) DueAt(i int) int64 { return s.Interval.Next(s.Time[i]) + s.Delay(i).Offset }

// BeganAt returns when bar i began, in unix seconds. Where that is on the day before in UTC, its
// time is later, and it closes as much earlier.
func (s *Series) BeganAt(i int) int64 { return s.Time[i] + min(0, s.Delay(i).Offset) }

// Tail returns the last n bars, or all when there are fewer, sharing memory
// with s.
func (s *Series) Tail(n int) *Series { return s.Slice(max(0, s.Len()-n), s.Len()) }

// Closed returns s without the forming bar, sharing memory with s.
func (s *Series) Closed() *Series {
	if !s.Forming {
		return s
	}
	return s.Slice(0, s.Len()-1)
}

// priceAt returns when the last close of s was the price, in unix milliseconds: at the
// time of the answer, which is at, or at the end of the last bar if that is earlier. So
// an old answer of a server that lags behind does not pass for a new price.
func (s *Series) priceAt(at int64) int64 {
	return min(at, s.DueAt(s.Len()-1)*1000)
}

// errBadBars reports bars that no market can have made.
var errBadBars = errors.New("bad bars")

// Check reports the first thing wrong with s: columns of different lengths,
// times that do not rise, a value that is not finite or beyond 1e300, a low above the open,
// high or close, a high below them, a negative volume.
func (s *Series) Check() error {
	n := s.Len()
	for _, column := range s.columns() {
		if len(*column) != n {
			return fmt.Errorf("%w: columns of %d and %d bars", errBadBars, n, len(*column))
		}
	}
	for name, column := range s.Extra {
		if len(column) != n {
			return fmt.Errorf("%w: column %q of %d for %d bars", errBadBars, name, len(column), n)
		}
	}
	for i := range n {
		if err := s.Bar(i).Check(); err != nil {
			return fmt.Errorf("%w: bar %d at %d: %w", errBadBars, i, s.Time[i], err)
		}
		if i > 0 && s.Time[i] <= s.Time[i-1] {
			return fmt.Errorf("%w: bar %d at %d does not follow %d", errBadBars, i, s.Time[i], s.Time[i-1])
		}
	}
	return nil
}

// OpenFirst has a bar judged by its open alone, and then, unless that is the end of it, by the
// whole bar. The open is known to come before all else. After it nobody knows whether the high
// or the low came first, so of two orders that exclude each other judge takes the one that is
// worse for the trader. The paper broker and backtests go by this alike.
func OpenFirst[T any](open, whole T, judge func(T) (done bool)) {
	if !judge(open) {
		judge(whole)
	}
}

// Opening returns b as it was at its open.
func (b Bar) Opening() Bar {
	b.High, b.Low, b.Close = b.Open, b.Open, b.Open
	return b
}

// OtherBars asks for bars that are read beside those of a series.
type OtherBars struct {
	Other
	Warmup int      // how many bars before the time at which the series begins
	Extra  []string // extra columns of these bars
}

// Other returns the closed bars that Others has under o, the closed bars of s itself if
// o means those, or an empty series. If the last bar of s is forming, the bars of another
// market at the same interval come with their own forming bar: a ratio of two markets now
// is one of their prices now. They come without it if it ends no later than the last closed
// bar of s, because it lies at that bar then: the other source may close its bars a moment
// later.
func (s *Series) Other(o Other) *Series {
	if o.Interval == s.Interval {
		o.Interval = ""
	}
	if t := s.Others[o]; t != nil {
		n, m := s.Len(), t.Len()
		if s.Forming && o.Interval == "" && m > 0 && (n < 2 || t.ClosedAt(m-1) > s.ClosedAt(n-2)) {
			return t
		}
		return t.Closed()
	}
	if o == (Other{}) {
		return s.Closed()
	}
	return &Series{Symbol: o.Symbol, Interval: cmp.Or(o.Interval, s.Interval)}
}

// LoadOthers returns a copy of s that has the bars of the list in Others. They reach
// back to where s begins and further by the warm-up of each, if the source has so many.
func LoadOthers(ctx context.Context, source Source, s *Series, list []OtherBars) (*Series, error) {
	if len(list) == 0 || s.Len() == 0 {
		return s, nil
	}
	t := *s
	t.Others = maps.Clone(s.Others)
	if t.Others == nil {
		t.Others = make(map[Other]*Series)
	}
	for _, o := range list {
		// Bars from where s begins until now, the warm-up before that, and three more for
		// the bars at both ends.
		iv := cmp.Or(o.Interval, s.Interval)
		span := max(0, time.Now().Unix()-s.Time[0]) / iv.Seconds()
		q := Query{Symbol: cmp.Or(o.Symbol, s.Symbol), Interval: iv, Limit: min(int(span)+o.Warmup+3, MaxLimit), Extra: o.Extra}
		bars, err := source.Bars(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("bars of %s %s, which are read beside those of %s: %w", q.Symbol, iv, s.Symbol, err)
		}
		// Two indicators may want the same bars with different warm-ups: the longer one
		// serves both.
		if have := t.Others[o.Other]; have == nil || have.Len() < bars.Len() {
			t.Others[o.Other] = bars
		}
	}
	return &t, nil
}
