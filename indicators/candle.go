package indicators

import (
	"math"
	"slices"

	"wick/market"
)

// candle holds the measures of one bar. The averages are over the candles before it,
// without itself. They are NaN until there are enough candles, and then no rule that needs
// one of them holds.
type candle struct {
	open, high, low, close float64
	body                   float64 // |close - open|
	top, bottom            float64 // edges of the body
	upper, lower           float64 // lengths of the shadows
	sign                   int     // 1 white, -1 black; close = open is white

	bodyAvg          float64 // mean body of ten
	shadowAvg        float64 // mean shadow of ten, of both sides
	tenth            float64 // a tenth of the mean range of ten
	near, far, equal float64 // 0.2, 0.6 and 0.05 of the mean range of five
}

// measureCandles returns the candles of s, in the memory of old if it has room. The sums
// over the few bars of a window are computed for each bar and do not slide. So a verdict
// depends only on these bars, and not on rounding errors of all bars before.
func measureCandles(old []candle, s *market.Series) []candle {
	candles := slices.Grow(old[:0], s.Len())[:s.Len()]
	for i := range candles {
		c := &candles[i]
		c.open, c.high, c.low, c.close = s.Open[i], s.High[i], s.Low[i], s.Close[i]
		// As in TA-Lib a candle that closes where it opened is white.
		c.sign, c.top, c.bottom = 1, c.close, c.open
		if c.close < c.open {
			c.sign, c.top, c.bottom = -1, c.open, c.close
		}
		c.body = math.Abs(c.close - c.open)
		c.upper, c.lower = c.high-c.top, c.bottom-c.low
		c.average(candles[:i])
	}
	return candles
}

// average fills in the averages of c from the candles before it.
func (c *candle) average(before []candle) {
	var body, shadows, ten, five float64
	// A NaN sum makes every comparison with its average false, so no pattern that needs
	// it is found.
	if len(before) < 10 {
		body, shadows, ten = nan, nan, nan
	} else {
		for k := range before[len(before)-10:] {
			b := &before[len(before)-10+k]
			body += b.body
			shadows += b.upper + b.lower
			ten += b.high - b.low
		}
	}
	if len(before) < 5 {
		five = nan
	} else {
		for k := range before[len(before)-5:] {
			b := &before[len(before)-5+k]
			five += b.high - b.low
		}
	}
	// The order of these divisions is TA-Lib's, to the last bit. It averages the
	// shadows of both sides together, hence the half.
	c.bodyAvg, c.shadowAvg, c.tenth = body/10, shadows/10/2, 0.1*(ten/10)
	c.near, c.far, c.equal = 0.2*(five/5), 0.6*(five/5), 0.05*(five/5)
}

func (c *candle) white() bool { return c.sign > 0 }
func (c *candle) black() bool { return c.sign < 0 }

// long and short compare the body with those before. TA-Lib measures both by
// the same average, so a body equal to it is neither.
func (c *candle) long() bool     { return c.body > c.bodyAvg }
func (c *candle) short() bool    { return c.body < c.bodyAvg }
func (c *candle) notLong() bool  { return c.body <= c.bodyAvg }
func (c *candle) doji() bool     { return c.body <= c.tenth }
func (c *candle) marubozu() bool { return c.long() && c.noUpper() && c.noLower() }

// A shadow shorter than a tenth of the usual range counts as none. Long shadows are
// measured by the body, small ones by the shadows before.
func (c *candle) noUpper() bool       { return c.upper < c.tenth }
func (c *candle) noLower() bool       { return c.lower < c.tenth }
func (c *candle) hasUpper() bool      { return c.upper > c.tenth }
func (c *candle) hasLower() bool      { return c.lower > c.tenth }
func (c *candle) longUpper() bool     { return c.upper > c.body }
func (c *candle) longLower() bool     { return c.lower > c.body }
func (c *candle) veryLongUpper() bool { return c.upper > 2*c.body }
func (c *candle) veryLongLower() bool { return c.lower > 2*c.body }
func (c *candle) smallUpper() bool    { return c.upper < c.shadowAvg }
func (c *candle) smallLower() bool    { return c.lower < c.shadowAvg }

// gapsAbove and gapsBelow compare bodies, clearAbove and clearBelow shadows
// too.
func (c *candle) gapsAbove(o *candle) bool  { return c.bottom > o.top }
func (c *candle) gapsBelow(o *candle) bool  { return c.top < o.bottom }
func (c *candle) clearAbove(o *candle) bool { return c.low > o.high }
func (c *candle) clearBelow(o *candle) bool { return c.high < o.low }

// reach returns the price a fraction p of c's body before its close: below it
// for a white candle, above it for a black one.
func (c *candle) reach(p float64) float64 {
	return c.close - float64(float64(c.sign)*float64(p*c.body))
}

// equals reports whether x lies within by of y, both ends included.
func equals(x, y, by float64) bool { return y-by <= x && x <= y+by }

// between reports whether lo < x < hi.
func between(lo, x, hi float64) bool { return lo < x && x < hi }

// hit returns the verdict if the rule holds, else 0.
func hit(holds bool, verdict int) int {
	if holds {
		return verdict
	}
	return 0
}

// opposite reports whether the two candles have different colours.
func opposite(a, b *candle) bool { return a.sign != b.sign }

// allWhite, allBlack and sameColour look at the colours of at least one candle.
func allWhite(k []candle) bool { return sameColour(k) && k[0].white() }
func allBlack(k []candle) bool { return sameColour(k) && k[0].black() }

func sameColour(k []candle) bool {
	for i := range k {
		if k[i].sign != k[0].sign {
			return false
		}
	}
	return true
}

// candlePattern is one pattern. It is compared with TA-Lib to the last bit, so the
// rules keep its strict and loose comparisons as they are.
type candlePattern struct {
	name  string
	size  int // candles it looks at
	begin int // first bar with a verdict, as in TA-Lib
	// way is Up or Down for a pattern that comes one way only, Muted for one
	// without direction, Auto for one that comes both ways.
	way Tone
	// penetration is TA-Lib's default for p, for patterns that use it.
	penetration float64
	confirms    bool // a later bar may confirm it: a verdict of 200
	// rule judges candles 1 to size in k[0] to k[size-1]: 0 for no, positive
	// for bullish, negative for bearish, in TA-Lib's numbers.
	rule func(k []candle, p float64) int
}

// at returns the verdict on bar i, the last of candles, taking penetration p, or the
// pattern's own if that is 0. Candles hold at least as many as the longest rule looks
// at, once begin is passed.
func (c *candlePattern) at(candles []candle, i int, p float64) int {
	if i < c.begin {
		return 0
	}
	if p == 0 {
		p = c.penetration
	}
	return c.rule(candles[len(candles)-c.size:], p)
}

// labels returns what its hits are called, in the order of label.
func (c *candlePattern) labels() [4]string {
	switch {
	case c.way != Auto:
		return [4]string{c.name, c.name}
	case c.confirms:
		return [4]string{c.name + "_bull", c.name + "_bear", c.name + "_confirmed_bull", c.name + "_confirmed_bear"}
	}
	return [4]string{c.name + "_bull", c.name + "_bear"}
}

// label picks the label of a verdict: bullish, bearish, and the same confirmed.
func label(labels *[4]string, verdict int) string {
	switch {
	case verdict >= 200:
		return labels[2]
	case verdict <= -200:
		return labels[3]
	case verdict > 0:
		return labels[0]
	}
	return labels[1]
}
