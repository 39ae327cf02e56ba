package trade

import (
	"encoding/json"
	"slices"

	"wick/exact"
	"wick/market"
)

// tick is an update in exact numbers.
type tick struct {
	market.Update
	price, high, low exact.Decimal
	legs             []leg         // the path
	top, bottom      exact.Decimal // its extremes, and those of the update
	first            bool          // the feed has not spoken before in this process
}

// newTick makes the numbers of an update exact. It reports false if one of them
// is no price, or if they contradict each other.
func newTick(u market.Update) (tick, bool) {
	t := tick{Update: u}
	var ok1, ok2, ok3 bool
	t.price, ok1 = exact.FromFloat(u.Price)
	t.high, ok2 = exact.FromFloat(u.High)
	t.low, ok3 = exact.FromFloat(u.Low)
	t.legs = legs(u)
	t.top, t.bottom = t.high, t.low
	for _, l := range t.legs {
		t.top, t.bottom = max(t.top, l.high), min(t.bottom, l.low)
	}
	return t, ok1 && ok2 && ok3 && t.low <= t.price && t.price <= t.high
}

// begin says when the feed spoke before, in unix milliseconds; zero if this is its
// first update after a start. Of a downtime the last price before it counts, so
// its minutes give no open.
func (t *tick) begin(since int64) {
	if len(t.Path) == 0 {
		t.Since = since
	}
	t.first = since == 0
	for i := range t.legs {
		if i == 0 {
			t.legs[i].from = t.Since
		}
		if t.first {
			t.legs[i].open = 0
		}
	}
}

// meets returns what makes the price alert a true: the newest price, or else the
// extreme of the first leg that reached the threshold. Of the minutes that closed
// before the start the first one counts, and it is late. Extremes count only of legs
// that began after the alert was set.
func (t tick) meets(a *Alert) (trigger, bool) {
	if a.FiredAt != nil {
		return t.meetsAgain(a)
	}
	// The first leg that reached the threshold, of those that count for the alert.
	created := a.CreatedAt.UnixMilli()
	at := slices.IndexFunc(t.legs, func(l leg) bool {
		part, ok := l.after(created)
		return ok && a.Condition.reachedBy(part)
	})
	// At a start the path has the minutes that were missed; only its last leg is of
	// now.
	late := t.first && at >= 0 && at < len(t.legs)-1
	switch {
	case !late && a.Condition.reachedBy(span{high: t.price, low: t.price}):
		return trigger{value: json.Number(t.price.String()), at: t.At}, true
	case at < 0:
		return trigger{}, false
	}
	part, _ := t.legs[at].after(created)
	why := trigger{value: json.Number(a.Condition.extreme(part).String()), late: late, at: t.legs[at].to}
	if late {
		why.bar = t.legs[at].bar
	}
	return why, true
}

// extreme returns the price of s that comes nearest to the threshold of a price
// condition, or goes furthest beyond.
func (c Condition) extreme(s span) exact.Decimal {
	if c.Type == PriceAbove {
		return s.high
	}
	return s.low
}

// reachedBy reports whether s reaches the threshold of a price condition.
func (c Condition) reachedBy(s span) bool {
	if c.Type == PriceAbove {
		return s.high >= c.Threshold
	}
	return s.low <= c.Threshold
}
