package market

import (
	"context"
	"fmt"
	"time"
)

// cached is a source that remembers the answers of another.
type cached struct {
	source Source
	memo   memo[answer]
}

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
func Cached(source Source) Source { return &cached{source: source} }

// CacheStats returns how many queries a source made by [Cached] has answered from
// memory, and how many others there were: those that it passed on and those that waited
// for the same query of another caller. Both are zero for a source without a cache.
func CacheStats(s Source) (hits, misses uint64) {
	if c, ok := s.(*cached); ok {
		return c.memo.hits.Load(), c.memo.misses.Load()
	}
	return 0, 0
}

// Bars answers from memory or from the source.
func (c *cached) Bars(ctx context.Context, q Query) (*Series, error) {
	q, err := q.checked(c)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%s %s %q", q.Symbol, q.Interval, q.Extra)
	// An answer with fewer bars than its query asked for has all there are.
	fits := func(a answer) bool { return a.limit >= q.Limit || a.series.Len() < a.limit }
	a, err := c.memo.get(ctx, key, fmt.Sprint(key, q.Limit), fits, func(ctx context.Context) (kept[answer], error) {
		s, err := c.source.Bars(ctx, q)
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
