package indicators

// twoCandles holds the patterns of two candles, a and then b.
var twoCandles = []candlePattern{
	// The four shapes with one long shadow differ by where they stand: the first two by
	// how near they are to the low or the high before, the others by a gap.
	{name: "hammer", size: 2, begin: 11, way: Up, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		return hit(b.short() && b.longLower() && b.noUpper() && b.bottom <= a.low+a.near, 100)
	}},
	{name: "hangingman", size: 2, begin: 11, way: Down, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		return hit(b.short() && b.longLower() && b.noUpper() && b.bottom >= a.high-a.near, -100)
	}},
	{name: "invertedhammer", size: 2, begin: 11, way: Up, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		return hit(b.short() && b.longUpper() && b.noLower() && b.gapsBelow(a), 100)
	}},
	{name: "shootingstar", size: 2, begin: 11, way: Down, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		return hit(b.short() && b.longUpper() && b.noLower() && b.gapsAbove(a), -100)
	}},
	// A doji that gaps on from a long candle.
	{name: "dojistar", size: 2, begin: 11, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		return hit(a.long() && b.doji() && onwards(a, b), -a.sign*100)
	}},
	// A body that holds the other one, of the other colour; one edge may be shared.
	{name: "engulfing", size: 2, begin: 2, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		if !opposite(a, b) || b.top < a.top || b.bottom > a.bottom {
			return 0
		}
		return b.sign * strictness(b.top != a.top, b.bottom != a.bottom)
	}},
	// A small body inside a long one before it; with a doji it is a cross.
	{name: "harami", size: 2, begin: 11, rule: func(k []candle, _ float64) int {
		return hit(k[1].notLong(), harami(&k[0], &k[1]))
	}},
	{name: "haramicross", size: 2, begin: 11, rule: func(k []candle, _ float64) int {
		return hit(k[1].doji(), harami(&k[0], &k[1]))
	}},
	// A harami of two black candles.
	{name: "homingpigeon", size: 2, begin: 11, way: Up, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		return hit(a.black() && b.black() && a.long() && b.notLong() && b.open < a.open && b.close > a.close, 100)
	}},
	// Two black candles that close at the same price.
	{name: "matchinglow", size: 2, begin: 6, way: Up, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		return hit(a.black() && b.black() && equals(b.close, a.close, a.equal), 100)
	}},
	// Opens above the high of a long white candle and closes deep in its body.
	{name: "darkcloudcover", size: 2, begin: 11, way: Down, penetration: 0.5, rule: func(k []candle, p float64) int {
		a, b := &k[0], &k[1]
		return hit(a.white() && a.long() && b.black() && b.open > a.high && between(a.open, b.close, a.reach(p)), -100)
	}},
	// This one and the next three open below the low of a long black candle and differ
	// by how far they come back: past its middle, past its close, to its close, to its
	// low.
	{name: "piercing", size: 2, begin: 11, way: Up, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		return hit(underLow(a, b) && b.long() && between(a.reach(0.5), b.close, a.open), 100)
	}},
	{name: "thrusting", size: 2, begin: 11, way: Down, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		return hit(underLow(a, b) && b.close > a.close+a.equal && b.close <= a.reach(0.5), -100)
	}},
	{name: "inneck", size: 2, begin: 11, way: Down, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		return hit(underLow(a, b) && b.close >= a.close && b.close <= a.close+a.equal, -100)
	}},
	{name: "onneck", size: 2, begin: 11, way: Down, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		return hit(underLow(a, b) && equals(b.close, a.low, a.equal), -100)
	}},
	// Two long candles of different colours that close at the same price.
	{name: "counterattack", size: 2, begin: 11, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		return hit(opposite(a, b) && a.long() && b.long() && equals(b.close, a.close, a.equal), b.sign*100)
	}},
	// They open at the same price; the second is long and has no shadow at its open.
	{name: "separatinglines", size: 2, begin: 11, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		return hit(opposite(a, b) && equals(b.open, a.open, a.equal) && b.long() &&
			(b.white() && b.noLower() || b.black() && b.noUpper()), b.sign*100)
	}},
	{name: "kicking", size: 2, begin: 11, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		return hit(kicking(a, b), b.sign*100)
	}},
	// The same two candles, with the sign of the longer one.
	{name: "kickingbylength", size: 2, begin: 11, rule: func(k []candle, _ float64) int {
		a, b := &k[0], &k[1]
		if b.body > a.body {
			return hit(kicking(a, b), b.sign*100)
		}
		return hit(kicking(a, b), a.sign*100)
	}},
}

// onwards reports whether b gaps on in the direction of a.
func onwards(a, b *candle) bool {
	return a.white() && b.gapsAbove(a) || a.black() && b.gapsBelow(a)
}

// strictness grades a body that holds another: 100 when both edges are clear,
// 80 when one touches, 0 when both do.
func strictness(top, bottom bool) int {
	switch {
	case top && bottom:
		return 100
	case top || bottom:
		return 80
	}
	return 0
}

// harami returns the verdict on a body inside a long one before it. TA-Lib
// grades a body that touches both edges 80 too.
func harami(a, b *candle) int {
	if !a.long() || b.top > a.top || b.bottom < a.bottom {
		return 0
	}
	return -a.sign * max(80, strictness(b.top != a.top, b.bottom != a.bottom))
}

// underLow reports a long black candle and a white one that opens below its
// low.
func underLow(a, b *candle) bool {
	return a.black() && a.long() && b.white() && b.open < a.low
}

// kicking reports two marubozus of opposite colours with a clear gap against
// the first.
func kicking(a, b *candle) bool {
	return opposite(a, b) && a.marubozu() && b.marubozu() &&
		(a.black() && b.clearAbove(a) || a.white() && b.clearBelow(a))
}
