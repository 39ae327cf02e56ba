package indicators

import "math"

// threeCandles holds the patterns of three candles, a, b and c.
var threeCandles = []candlePattern{
	// A long white candle, a black one that gaps up, and a black one that opens in the
	// second body and closes in the first.
	{name: "2crows", size: 3, begin: 12, way: Down, rule: func(k []candle, _ float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		return hit(a.white() && a.long() && b.black() && b.gapsAbove(a) &&
			c.black() && between(b.close, c.open, b.open) && between(a.open, c.close, a.close), -100)
	}},
	// The same, but the third body covers the second and stays above the first.
	{name: "upsidegap2crows", size: 3, begin: 12, way: Down, rule: func(k []candle, _ float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		return hit(a.white() && a.long() && b.black() && b.notLong() && b.gapsAbove(a) &&
			c.black() && c.open > b.open && between(a.close, c.close, b.close), -100)
	}},
	// A harami, and then a close beyond the first open: it reverses the first candle.
	{name: "3inside", size: 3, begin: 12, rule: func(k []candle, _ float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		return hit(a.long() && b.notLong() && b.top < a.top && b.bottom > a.bottom && opposite(a, c) &&
			(a.white() && c.close < a.open || a.black() && c.close > a.open), -a.sign*100)
	}},
	// An engulfing pattern, and then a close on in its direction.
	{name: "3outside", size: 3, begin: 3, rule: func(k []candle, _ float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		return hit(opposite(a, b) && b.top > a.top && b.bottom < a.bottom &&
			(b.white() && c.close > b.close || b.black() && c.close < b.close), b.sign*100)
	}},
	// Three black candles that come to rest: a long one with a long lower shadow, a
	// smaller one with a higher low, and a small one without shadows inside the second.
	{name: "3starsinsouth", size: 3, begin: 12, way: Up, rule: func(k []candle, _ float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		return hit(allBlack(k) && a.long() && a.longLower() &&
			b.body < a.body && b.open > a.close && b.open <= a.high && b.low < a.close && b.low >= a.low && b.hasLower() &&
			c.short() && c.noUpper() && c.noLower() && c.low > b.low && c.high < b.high, 100)
	}},
	// Three white candles without upper shadows that close ever higher, each opening in
	// the body before, none much shorter than the one before.
	{name: "3whitesoldiers", size: 3, begin: 12, way: Up, rule: func(k []candle, _ float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		return hit(allWhite(k) && a.noUpper() && b.noUpper() && c.noUpper() &&
			c.close > b.close && b.close > a.close && opensInside(a, b) && opensInside(b, c) &&
			b.body > a.body-a.far && c.body > b.body-b.far && c.long(), 100)
	}},
	// Like the soldiers, but they lose force.
	{name: "advanceblock", size: 3, begin: 12, way: Down, rule: func(k []candle, _ float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		return hit(allWhite(k) && c.close > b.close && b.close > a.close && opensInside(a, b) && opensInside(b, c) &&
			a.long() && a.smallUpper() && weakening(a, b, c), -100)
	}},
	// Two long white candles and a small third one that opens near the second close.
	{name: "stalledpattern", size: 3, begin: 12, way: Down, rule: func(k []candle, _ float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		return hit(allWhite(k) && c.close > b.close && b.close > a.close && a.long() &&
			b.long() && b.noUpper() && opensInside(a, b) && c.short() && c.open >= b.close-c.body-b.near, -100)
	}},
	// Three black candles without lower shadows, each opening where the one before
	// closed.
	{name: "identical3crows", size: 3, begin: 12, way: Down, rule: func(k []candle, _ float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		return hit(allBlack(k) && a.noLower() && b.noLower() && c.noLower() && a.close > b.close && b.close > c.close &&
			equals(b.open, a.close, a.equal) && equals(c.open, b.close, b.equal), -100)
	}},
	// The stars: a long candle, a small one or a doji beyond a gap, and one that
	// reaches back. Morning turns a fall, evening a rise.
	{name: "morningstar", size: 3, begin: 12, way: Up, penetration: 0.3, rule: func(k []candle, p float64) int {
		return hit(k[0].black() && k[1].notLong() && star(k, p), 100)
	}},
	{name: "morningdojistar", size: 3, begin: 12, way: Up, penetration: 0.3, rule: func(k []candle, p float64) int {
		return hit(k[0].black() && k[1].doji() && star(k, p), 100)
	}},
	{name: "eveningstar", size: 3, begin: 12, way: Down, penetration: 0.3, rule: func(k []candle, p float64) int {
		return hit(k[0].white() && k[1].notLong() && star(k, p), -100)
	}},
	{name: "eveningdojistar", size: 3, begin: 12, way: Down, penetration: 0.3, rule: func(k []candle, p float64) int {
		return hit(k[0].white() && k[1].doji() && star(k, p), -100)
	}},
	// A star whose doji is cut off by gaps on both sides, shadows included.
	{name: "abandonedbaby", size: 3, begin: 12, penetration: 0.3, rule: func(k []candle, p float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		alone := a.white() && b.clearAbove(a) && c.clearBelow(b) || a.black() && b.clearBelow(a) && c.clearAbove(b)
		return hit(alone && b.doji() && star(k, p), c.sign*100)
	}},
	// Three dojis, the middle one beyond a gap.
	{name: "tristar", size: 3, begin: 12, rule: func(k []candle, _ float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		switch { // all three are measured by the average at the first
		case a.body > a.tenth || b.body > a.tenth || c.body > a.tenth:
			return 0
		case b.gapsAbove(a) && c.top < b.top:
			return -100
		case b.gapsBelow(a) && c.bottom > b.bottom:
			return 100
		}
		return 0
	}},
	// A long black candle, a harami with a lower low, and a small white one above that
	// low.
	{name: "unique3river", size: 3, begin: 12, way: Up, rule: func(k []candle, _ float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		return hit(a.black() && a.long() && b.black() && b.close > a.close && b.open <= a.open && b.low < a.low &&
			c.white() && c.short() && c.open > b.low, 100)
	}},
	// A white candle between two black ones that close at the same price.
	{name: "sticksandwich", size: 3, begin: 7, way: Up, rule: func(k []candle, _ float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		return hit(a.black() && b.white() && c.black() && b.low > a.close && equals(c.close, a.close, a.equal), 100)
	}},
	// Two white candles of about one size and open, both beyond a gap.
	{name: "gapsidesidewhite", size: 3, begin: 7, rule: func(k []candle, _ float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		switch {
		case !allWhite(k[1:]) || !equals(c.body, b.body, b.near) || !equals(c.open, b.open, b.equal):
			return 0
		case b.gapsAbove(a) && c.gapsAbove(a):
			return 100
		case b.gapsBelow(a) && c.gapsBelow(a):
			return -100
		}
		return 0
	}},
	// A gap, and a candle of the other colour and about the same size that opens in the
	// second body and closes within the gap.
	{name: "tasukigap", size: 3, begin: 7, rule: func(k []candle, _ float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		if !opposite(b, c) || !between(b.bottom, c.open, b.top) || !(math.Abs(b.body-c.body) < b.near) {
			return 0
		}
		return hit(b.white() && b.gapsAbove(a) && between(a.top, c.close, b.open) ||
			b.black() && b.gapsBelow(a) && between(b.open, c.close, a.bottom), b.sign*100)
	}},
	// A gap in the direction of two candles of one colour, and a third of the other
	// colour that closes it, from body to body.
	{name: "xsidegap3methods", size: 3, begin: 2, rule: func(k []candle, _ float64) int {
		a, b, c := &k[0], &k[1], &k[2]
		return hit(!opposite(a, b) && opposite(b, c) && onwards(a, b) &&
			between(b.bottom, c.open, b.top) && between(a.bottom, c.close, a.top), a.sign*100)
	}},
	// The size is six, because a confirmation may come three candles after the trap of
	// three.
	{name: "hikkake", size: 6, begin: 5, confirms: true, rule: func(k []candle, _ float64) int {
		return confirmed(k, 3, trap)
	}},
}

// opensInside reports whether b opens above a's open and at most near its
// close: the step of a steady advance.
func opensInside(a, b *candle) bool { return b.open > a.open && b.open <= a.close+a.near }

// weakening reports an advance of three white candles that loses force: bodies
// shrink or upper shadows grow.
func weakening(a, b, c *candle) bool {
	switch {
	case b.body < a.body-a.far && c.body < b.body+b.near,
		c.body < b.body-b.far,
		c.body < b.body && b.body < a.body && (c.upper > c.shadowAvg || b.upper > b.shadowAvg),
		c.body < b.body && c.longUpper():
		return true
	}
	return false
}

// star reports a long candle, a small one that gaps on, and an opposite one
// that reaches back into the first body by a fraction p of it.
func star(k []candle, p float64) bool {
	a, b, c := &k[0], &k[1], &k[2]
	if !a.long() || !onwards(a, b) || !opposite(a, c) || !c.long() {
		return false
	}
	if a.white() {
		return c.close < a.reach(p)
	}
	return c.close > a.reach(p)
}

// confirmed judges a trap at the last candle of k: 100 or -100 when it is set
// there, 200 or -200 when one of the three candles before set it, no newer one
// has, and this close is the first beyond the candle before it. Width is the
// number of candles that set looks at.
func confirmed(k []candle, width int, set func(k []candle) int) int {
	last := len(k) - 1
	for at := last; at >= last-3; at-- {
		// The newest trap decides; an older one is forgotten when a newer is set.
		way := set(k[at+1-width : at+1])
		if way == 0 {
			continue
		}
		if at == last {
			return way * 100
		}
		// It is confirmed once, on the first close beyond the candle before the break.
		// If an earlier bar has done it, this one says nothing.
		for i := at + 1; i <= last; i++ {
			if way > 0 && k[i].close > k[at-1].high || way < 0 && k[i].close < k[at-1].low {
				return hit(i == last, way*200)
			}
		}
		return 0
	}
	return 0
}

// inside reports whether b's range lies within a's.
func inside(a, b *candle) bool { return b.high < a.high && b.low > a.low }

// trap reports a break out of an inside candle b that hikkake expects to fail:
// 1 for a break down, -1 for one up.
func trap(k []candle) int {
	a, b, c := &k[0], &k[1], &k[2]
	switch {
	case !inside(a, b):
		return 0
	case c.high < b.high && c.low < b.low:
		return 1
	case c.high > b.high && c.low > b.low:
		return -1
	}
	return 0
}

// nestedTrap is trap behind one more candle, whose inside candle closes near
// the end that the break leaves.
func nestedTrap(k []candle) int {
	a, b := &k[0], &k[1]
	way := trap(k[1:])
	switch {
	case !inside(a, b):
		return 0
	case way > 0 && b.close <= b.low+b.near, way < 0 && b.close >= b.high-b.near:
		return way
	}
	return 0
}
