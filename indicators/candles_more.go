package indicators

// moreCandles holds the patterns of four and five candles, a to e.
var moreCandles = []candlePattern{
	// A white candle, then three black ones that close ever lower near their lows, each
	// opening within the body before; the first closes below the white one's high.
	{name: "3blackcrows", size: 4, begin: 13, way: Down, rule: func(k []candle, _ float64) int {
		a, b, c, d := &k[0], &k[1], &k[2], &k[3]
		return hit(a.white() && allBlack(k[1:]) && b.noLower() && c.noLower() && d.noLower() &&
			between(b.close, c.open, b.open) && between(c.close, d.open, c.open) &&
			a.high > b.close && b.close > c.close && c.close > d.close, -100)
	}},
	// Three candles of one colour that go on and on, then one of the other colour that
	// opens beyond the third and closes beyond the open of the first. The sign is that
	// of the three.
	{name: "3linestrike", size: 4, begin: 8, rule: func(k []candle, _ float64) int {
		a, b, c, d := &k[0], &k[1], &k[2], &k[3]
		if !sameColour(k[:3]) || !opposite(c, d) || !opensNear(a, b) || !opensNear(b, c) {
			return 0
		}
		return hit(c.white() && c.close > b.close && b.close > a.close && d.open > c.close && d.close < a.open ||
			c.black() && c.close < b.close && b.close < a.close && d.open < c.close && d.close > a.open, c.sign*100)
	}},
	// Four black candles: two without shadows, a third that gaps down and reaches back
	// into the second body, a fourth that covers the third, shadows included.
	{name: "concealbabyswall", size: 4, begin: 13, way: Up, rule: func(k []candle, _ float64) int {
		a, b, c, d := &k[0], &k[1], &k[2], &k[3]
		return hit(allBlack(k) && a.noUpper() && a.noLower() && b.noUpper() && b.noLower() &&
			c.gapsBelow(b) && c.hasUpper() && c.high > b.close && d.high > c.high && d.low < c.low, 100)
	}},
	// A long candle, a gap on, two more steps in that direction, of which the first may
	// have either colour, and a candle of the other colour that closes within the gap.
	{name: "breakaway", size: 5, begin: 14, rule: func(k []candle, _ float64) int {
		a, b, c, d, e := &k[0], &k[1], &k[2], &k[3], &k[4]
		if !a.long() || opposite(a, b) || opposite(a, d) || !opposite(a, e) || !onwards(a, b) {
			return 0
		}
		return hit(a.black() && lower(b, c) && lower(c, d) && between(b.open, e.close, a.close) ||
			a.white() && lower(c, b) && lower(d, c) && between(a.close, e.close, b.open), e.sign*100)
	}},
	// Three black candles with falling opens and closes, a fourth with an upper shadow,
	// then a white one that opens above its body and closes above its high.
	{name: "ladderbottom", size: 5, begin: 14, way: Up, rule: func(k []candle, _ float64) int {
		a, b, c, d, e := &k[0], &k[1], &k[2], &k[3], &k[4]
		return hit(allBlack(k[:4]) && a.open > b.open && b.open > c.open && a.close > b.close && b.close > c.close &&
			d.hasUpper() && e.white() && e.open > d.open && e.close > d.high, 100)
	}},
	// A long white candle, a gap up, three small ones that come back but keep most of
	// the first body, and a white one that closes above them all.
	{name: "mathold", size: 5, begin: 14, way: Up, penetration: 0.5, rule: func(k []candle, p float64) int {
		a, b, c, d, e := &k[0], &k[1], &k[2], &k[3], &k[4]
		floor := a.reach(p)
		return hit(a.white() && a.long() && b.short() && c.short() && d.short() && b.black() && b.gapsAbove(a) &&
			between(floor, c.bottom, a.close) && between(floor, d.bottom, a.close) && c.top < b.open && d.top < c.top &&
			e.white() && e.open > d.close && e.close > max(b.high, c.high, d.high), 100)
	}},
	// A long candle, three small ones of the other colour that stay at least partly
	// within its range, and a long one on in the first direction that closes beyond it.
	{name: "risefall3methods", size: 5, begin: 14, rule: func(k []candle, _ float64) int {
		a, b, c, d, e := &k[0], &k[1], &k[2], &k[3], &k[4]
		if !a.long() || !e.long() || opposite(a, e) || !opposite(a, b) || !sameColour(k[1:4]) {
			return 0
		}
		for i := 1; i <= 3; i++ {
			if !k[i].short() || k[i].bottom >= a.high || k[i].top <= a.low {
				return 0
			}
		}
		return hit(a.white() && c.close < b.close && d.close < c.close && e.open > d.close && e.close > a.close ||
			a.black() && c.close > b.close && d.close > c.close && e.open < d.close && e.close < a.close, a.sign*100)
	}},
	// A hikkake whose inside candle lies within one more candle.
	{name: "hikkakemod", size: 7, begin: 10, confirms: true, rule: func(k []candle, _ float64) int {
		return confirmed(k, 4, nestedTrap)
	}},
}

// opensNear reports whether b opens within or near a's body.
func opensNear(a, b *candle) bool { return b.open >= a.bottom-a.near && b.open <= a.top+a.near }

// lower reports whether b has a lower high and a lower low than a.
func lower(a, b *candle) bool { return b.high < a.high && b.low < a.low }
