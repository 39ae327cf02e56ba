package trade

import (
	"wick/exact"
	"wick/market"
)

// tick is an update in exact numbers.
type tick struct {
	market.Update
	price, high, low exact.Decimal
}

// newTick makes the numbers of an update exact. It reports false if one of them
// is no price, or if they contradict each other.
func newTick(u market.Update) (tick, bool) {
	t := tick{Update: u}
	var ok1, ok2, ok3 bool
	t.price, ok1 = exact.FromFloat(u.Price)
	t.high, ok2 = exact.FromFloat(u.High)
	t.low, ok3 = exact.FromFloat(u.Low)
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

// fillPrice judges a resting order by what was traded after it was accepted:
// the bars that lie wholly between the update before and this one, then the
// update itself, by its highs and lows if the order was there all the while,
// else by its price alone.
func (t tick) fillPrice(o *Order, since int64) (exact.Decimal, bool) {
	accepted := o.CreatedAt.UnixMilli()
	if t.At <= accepted {
		return 0, false // a price from before the order
	}
	for _, c := range t.Closed {
		if start := c.Bar.Time * 1000; since == 0 || start < since || start < accepted {
			continue
		}
		open, ok1 := exact.FromFloat(c.Bar.Open)
		high, ok2 := exact.FromFloat(c.Bar.High)
		low, ok3 := exact.FromFloat(c.Bar.Low)
		if price, ok := restingPrice(o, span{open, high, low}); ok && ok1 && ok2 && ok3 {
			return price, true
		}
	}
	if since == 0 || accepted > since {
		return restingPrice(o, span{t.price, t.price, t.price})
	}
	return restingPrice(o, span{0, t.high, t.low})
}
