package market

import (
	"context"
	"fmt"
	"time"
)

// answer is a series and how many bars were asked for. If it has fewer bars than
// that, the source has no more.
type answer struct {
	series *Series
	limit  int
}

// Cached returns a source that remembers each answer of source for a sixtieth of its
// interval (one second to thirty), at most until the newest bar closes. Equal queries
// that come at the same time become one query to source. A query for fewer bars is
// answered from a longer answer.
func Cached(source Source) Source {
	v := *venueOf(source)
	var m memo[answer]
	v.stats = func() (uint64, uint64) { return m.hits.Load(), m.misses.Load() }
	bars := v.bars
	v.fresh = bars
	v.bars = func(ctx context.Context, q Query) (*Series, error) {
		key := fmt.Sprintf("%s %s %q", q.Symbol, q.Interval, q.Extra)
		// An answer with fewer bars than its query asked for has all there are.
		fits := func(a answer) bool { return a.limit >= q.Limit || a.series.Len() < a.limit }
		a, err := m.get(ctx, key, fmt.Sprint(key, q.Limit), fits, func(ctx context.Context) (kept[answer], error) {
			s, err := bars(ctx, q)
			if err != nil {
				return kept[answer]{}, err
			}
			return kept[answer]{value: answer{s, q.Limit}, size: 8 * (s.Len()*(6+len(s.Extra)) + 3*len(s.Delayed)), expiry: goodUntil(s)}, nil
		})
		if err != nil {
			return nil, err
		}
		return a.series.Tail(q.Limit), nil
	}
	return &v
}

// CacheStats returns how many queries a source made by [Cached] has answered from
// memory, and how many others there were: those that it passed on and those that waited
// for the same query of another caller. Both are zero for a source without a cache.
func CacheStats(s Source) (hits, misses uint64) {
	if v := venueOf(s); v.stats != nil {
		return v.stats()
	}
	return 0, 0
}

// goodUntil returns when s should be asked for anew: after a sixtieth of its
// interval, between one second and thirty, but as soon as its last bar closes.
func goodUntil(s *Series) time.Time {
	now := time.Now()
	until := now.Add(min(max(s.Interval.Duration()/60, time.Second), 30*time.Second))
	if !s.Forming || s.Len() == 0 {
		return until
	}
	closes := time.Unix(s.DueAt(s.Len()-1), 0).Add(settle)
	switch {
	case closes.Before(now): // the source may report it as closed at any moment
		return now.Add(time.Second)
	case closes.Before(until):
		return closes
	}
	return until
}
