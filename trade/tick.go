package trade

import (
	"wick/exact"
	"wick/market"
)

// tick is an update in exact numbers.
type tick struct {
	market.Update
	price, high, low exact.Decimal
	legs             []leg // the path, for resting orders
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
	return t, ok1 && ok2 && ok3 && t.low <= t.price && t.price <= t.high
}

// meets returns the price that makes a true: the newest one, or else the
// extreme since the update before. Extremes count only for an alert that was
// there all the while; for one set since then they are the past.
func (t tick) meets(a *Alert, since int64) (exact.Decimal, bool) {
	high, low := t.price, t.price
	if a.CreatedAt.UnixMilli() <= since {
		high, low = t.high, t.low
	}
	threshold := a.Condition.Threshold
	switch {
	case a.Condition.Type == PriceAbove && t.price >= threshold, a.Condition.Type == PriceBelow && t.price <= threshold:
		return t.price, true
	case a.Condition.Type == PriceAbove && high >= threshold:
		return high, true
	case a.Condition.Type == PriceBelow && low <= threshold:
		return low, true
	}
	return 0, false
}
