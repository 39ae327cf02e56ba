package market

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"time"
)

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
