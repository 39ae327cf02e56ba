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
	bars       int // the newest ones, which the result covers

	// from and to are the period in unix seconds, both inclusive: bars that begin
	// in it are shown, at most bars of them. Zero is no limit.
	from, to int64

	// least is how many bars are fetched at least, for what is told of more bars than
	// the result covers. Zero is as many as the rest of the question needs.
	least int
}

// Sources return the newest bars only. A period in the past is therefore fetched
// with all that came after it, and then cut out.

// reach returns how many of the newest bars hold those that r shows, without
// their warm-up.
func (r question) reach(now time.Time) int {
	switch {
	case r.from != 0:
		return barsSince(r.from, r.interval, now)
	case r.to != 0:
		return min(r.bars+barsSince(r.to, r.interval, now), market.MaxLimit)
	}
	return r.bars
}

// end returns when the last bar that r shows began, at the latest.
func (r question) end(now time.Time) int64 {
	if r.to != 0 {
		return min(r.to, now.Unix())
	}
	return now.Unix()
}

// barsSince returns how many bars reach back from now to t, as far as may be
// fetched. Counted by the clock they are too many for a market that closes at
// night, never too few.
func barsSince(t int64, iv market.Interval, now time.Time) int {
	seconds := iv.Seconds()
	if iv == market.Month1 {
		seconds = 28 * 24 * 60 * 60 // the shortest
	}
	return int(min(max(0, now.Unix()-t)/seconds+2, market.MaxLimit))
}

// cut returns s up to the end of r's period and how many of its newest bars are
// shown: those in the period, at most r.bars. The notes say what is missing. What
// came after the period is gone, so that indicators show what they showed then.
func (r question) cut(s *market.Series) (upTo *market.Series, bars int, notes []string, err error) {
	// n is the end of the period, exclusive, and first its begin.
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
	// Without from, the newest bars up to the end: there may be fewer, and that is fine.
	bars = r.bars
	if r.from == 0 {
		return s.Slice(0, n), bars, nil, nil
	}
	// One bar of tolerance: from may lie within the first bar.
	has := "The period has %d bars"
	if begin := s.Time[0]; begin > r.from+s.Interval.Seconds() {
		notes = append(notes, fmt.Sprintf("The bars of %s that can be fetched begin at %s, later than from: at most %d bars back, where the source has them.",
			s.Symbol, stamp(begin), market.MaxLimit))
		has = "Of the period %d bars can be fetched"
	}
	// A period that is longer than what is shown loses its older part.
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

// noBars reports a period without bars and what there is instead, so that a model can
// choose another without asking. The period may lie before all bars, within one, or
// where nothing was traded; each is helped in another way.
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
	switch within := r.from < s.Interval.Next(last); {
	case within && s.Interval == market.Minute1: // there is no shorter one
		help = "a longer period"
	case within:
		help = "a shorter interval or a longer period"
	}
	return fmt.Errorf("%s has no bars of %s that begin in that period: the last before it begins at %s; take %s", s.Symbol, s.Interval, around, help)
}

// stamp writes a moment, in unix seconds, for messages and tables.
func stamp(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }
