package indicators

// oneCandle holds the patterns of a single candle.
var oneCandle = []candlePattern{
	// A doji is found or not, whatever its colour: its value is always 100.
	{name: "doji", size: 1, begin: 10, way: Muted, rule: func(k []candle, _ float64) int {
		return hit(k[0].doji(), 100)
	}},
	// A body at the top of the range, and only a lower shadow.
	{name: "dragonflydoji", size: 1, begin: 10, way: Muted, rule: func(k []candle, _ float64) int {
		a := &k[0]
		return hit(a.doji() && a.noUpper() && a.hasLower(), 100)
	}},
	// The mirror image: a body at the bottom.
	{name: "gravestonedoji", size: 1, begin: 10, way: Muted, rule: func(k []candle, _ float64) int {
		a := &k[0]
		return hit(a.doji() && a.noLower() && a.hasUpper(), 100)
	}},
	// A dragonfly whose lower shadow is more than twice the body.
	{name: "takuri", size: 1, begin: 10, way: Up, rule: func(k []candle, _ float64) int {
		a := &k[0]
		return hit(a.doji() && a.noUpper() && a.veryLongLower(), 100)
	}},
	// At least one shadow longer than the body.
	{name: "longleggeddoji", size: 1, begin: 10, way: Muted, rule: func(k []candle, _ float64) int {
		a := &k[0]
		return hit(a.doji() && (a.longUpper() || a.longLower()), 100)
	}},
	// A long-legged doji whose body lies near the middle of its range.
	{name: "rickshawman", size: 1, begin: 10, way: Muted, rule: func(k []candle, _ float64) int {
		a := &k[0]
		mid := a.low + (a.high-a.low)/2
		return hit(a.doji() && a.longUpper() && a.longLower() &&
			a.bottom <= mid+a.near && a.top >= mid-a.near, 100)
	}},
	// From here on the colour gives the sign.
	{name: "highwave", size: 1, begin: 10, rule: func(k []candle, _ float64) int {
		a := &k[0]
		return hit(a.short() && a.veryLongUpper() && a.veryLongLower(), a.sign*100)
	}},
	// A small body between two shadows that are longer than it.
	{name: "spinningtop", size: 1, begin: 10, rule: func(k []candle, _ float64) int {
		a := &k[0]
		return hit(a.short() && a.longUpper() && a.longLower(), a.sign*100)
	}},
	// A long body with small shadows, and after it a short one.
	{name: "longline", size: 1, begin: 10, rule: func(k []candle, _ float64) int {
		a := &k[0]
		return hit(a.long() && a.smallUpper() && a.smallLower(), a.sign*100)
	}},
	{name: "shortline", size: 1, begin: 10, rule: func(k []candle, _ float64) int {
		a := &k[0]
		return hit(a.short() && a.smallUpper() && a.smallLower(), a.sign*100)
	}},
	// A long body without shadows, and two that lack one shadow.
	{name: "marubozu", size: 1, begin: 10, rule: func(k []candle, _ float64) int {
		a := &k[0]
		return hit(a.marubozu(), a.sign*100)
	}},
	{name: "closingmarubozu", size: 1, begin: 10, rule: func(k []candle, _ float64) int {
		a := &k[0] // no shadow at the close
		return hit(a.long() && (a.white() && a.noUpper() || a.black() && a.noLower()), a.sign*100)
	}},
	{name: "belthold", size: 1, begin: 10, rule: func(k []candle, _ float64) int {
		a := &k[0] // no shadow at the open
		return hit(a.long() && (a.white() && a.noLower() || a.black() && a.noUpper()), a.sign*100)
	}},
}
