package tools

import (
	"fmt"
	"slices"
	"time"

	"wick/indicators"
	"wick/market"
)

// maxBars is how many bars a question may cover.
const maxBars = 5000

// question says what to compute.
type question struct {
	symbol     string // empty for the sample
	interval   market.Interval
	indicators []indicators.Request
	bars       int // how many bars the result covers at most, the newest ones

	// from and to are the period in unix seconds, both inclusive. Bars that begin in it
	// are shown, at most as many as bars says. Zero means no limit.
	from, to int64

	// least is how many bars are fetched at least, for a number that needs more bars than
	// the result covers, such as the change of a day. Zero means no more than the rest of
	// the question needs.
	least int

	// before is how many bars before those shown the chart itself needs, such as averaged
	// candles do. Each indicator has a warm-up of its own.
	before int
}

// Sources return only the newest bars. So a period in the past is fetched together with
// everything after it, and then cut out.

// reach returns how many of the newest bars must be fetched to have all that r shows,
// without the warm-up.
func (r question) reach(now time.Time) int {
	switch {
	case r.from != 0:
		return barsSince(r.from, r.interval, now)
	case r.to != 0:
		return min(r.bars+barsSince(r.to, r.interval, now), market.MaxLimit)
	}
	return r.bars
}

// end returns the latest moment at which the last bar that r shows can begin.
func (r question) end(now time.Time) int64 {
	if r.to != 0 {
		return min(r.to, now.Unix())
	}
	return now.Unix()
}

// barsSince returns how many bars it takes to reach from now back to t, at most
// market.MaxLimit. It counts by the clock: for a market that closes at night that is more
// than needed, but never too few.
func barsSince(t int64, iv market.Interval, now time.Time) int {
	seconds := iv.Seconds()
	if iv == market.Month1 {
		seconds = 28 * 24 * 60 * 60 // the shortest month
	}
	return int(min(max(0, now.Unix()-t)/seconds+2, market.MaxLimit))
}

// cut returns s up to the end of r's period, and how many of its newest bars are shown:
// those in the period, at most r.bars. The notes say what is missing. Bars after the
// period are cut off, so that indicators show what they showed at its end.
func (r question) cut(s *market.Series) (upTo *market.Series, bars int, notes []string, err error) {
	// The period is the bars from first on, before n.
	n := s.Len()
	if r.to != 0 {
		n, _ = slices.BinarySearch(s.Time, r.to+1)
	}
	first := 0
	if r.from != 0 {
		first, _ = slices.BinarySearch(s.Time, r.from)
	}
	if first >= n && (r.from != 0 || r.to != 0) {
		return nil, 0, nil, r.noBars(s)
	}
	// Without from, the newest r.bars before the end are shown, or fewer if there are fewer.
	bars = r.bars
	if r.from == 0 {
		return s.Slice(0, n), bars, nil, nil
	}
	// The first bar may begin up to one interval after from: from may be within a bar.
	has := "The period has %d bars"
	if begin := s.Time[0]; begin > r.from+s.Interval.Seconds() {
		notes = append(notes, fmt.Sprintf("The bars of %s that can be fetched begin at %s, later than from: at most %d bars back, where the source has them.",
			s.Symbol, stamp(begin), market.MaxLimit))
		has = "Of the period %d bars can be fetched"
	}
	// If the period has more bars than are shown, its older part is left out.
	found := n - first
	if found <= bars {
		return s.Slice(0, n), found, notes, nil
	}
	more := fmt.Sprintf(": bars, up to %d, shows more, and", maxBars)
	if bars == maxBars {
		more = ", which is the most:"
	}
	notes = append(notes, fmt.Sprintf(has+", and the newest %d are shown%s a longer interval needs fewer.", found, bars, more))
	return s.Slice(0, n), bars, notes, nil
}

// noBars returns the error for a period without bars. It says which bars there are, so
// that a model can choose another period. The advice depends on whether the period is
// before all bars, inside a single bar, or where nothing was traded.
func (r question) noBars(s *market.Series) error {
	if s.Len() == 0 {
		return fmt.Errorf("there are no bars of %s", s.Symbol)
	}
	next, _ := slices.BinarySearch(s.Time, r.from)
	if next == 0 {
		return fmt.Errorf("%s has no bars of %s in that period: those that can be fetched (at most %d) begin at %s and end at %s; take another period or a longer interval",
			s.Symbol, s.Interval, market.MaxLimit, stamp(s.Time[0]), stamp(s.Time[s.Len()-1]))
	}
	last := s.Time[next-1]
	around, help := stamp(last), "another period"
	if next < s.Len() {
		around += ", the next at " + stamp(s.Time[next])
	}
	switch within := r.from < s.DueAt(next-1); {
	case within && s.Interval == market.Minute1: // there is no shorter interval
		help = "a longer period"
	case within:
		help = "a shorter interval or a longer period"
	}
	return fmt.Errorf("%s has no bars of %s that begin in that period: the last before it begins at %s; take %s", s.Symbol, s.Interval, around, help)
}

// stamp returns a moment, given in unix seconds, as RFC 3339 for messages and tables.
func stamp(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }
