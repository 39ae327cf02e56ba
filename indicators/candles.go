package indicators

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"wick/market"
)

// candleEntries has the candle patterns.
var candleEntries = []Indicator{
	{Name: "candles", Title: "Candles", Also: "candle_patterns candlestick_patterns cdl cdl_pattern patterns", Category: Pattern, Traits: Overlay,
		Doc: "Candle patterns: the 61 of TA-Lib, by its rules to the last bit. What counts as long, short, near or equal is measured by the five or ten candles before. " +
			"A pattern that comes both ways has two labels, such as engulfing_bull and engulfing_bear; one that comes one way, or says nothing about direction (doji), has its plain name.",
		Formula: "each pattern is a rule over the last 1 to 5 candles; averages over the 5 or 10 candles before",
		Params: []Param{
			patternParam, quiet(factorInt("newest", 0, 0, market.MaxLimit, "newest signals to return; 0 returns all, which are one or two a bar", "n", "last")),
			quiet(factor("penetration", 0, 0, 1, "how far into the first body the last candle must reach, as a fraction of it; 0 takes TA-Lib's own, 0.3, and 0.5 for darkcloudcover and mathold")),
		},
		Events: []Event{patternEvent()},
		Memory: fixed(candleMemory),
		Draw: func(in Input) *Result {
			signals := candleSignals(in.Series, chosenPatterns(in.Chosen("pattern")), in.Float("penetration"))
			if n := in.Int("newest"); n > 0 && n < len(signals) {
				signals = signals[len(signals)-n:]
			}
			return &Result{Signals: signals}
		}},
}

// patternParam is the parameter "pattern".
var patternParam = manyOf("pattern", "which patterns to look for, one or more; multi leaves out those of a single candle, which come every few bars",
	append([]string{"all", "multi"}, patternNames()...)...)

// chosenPatterns returns the patterns that names stand for. The order is that of the
// list, whatever the order of the names.
func chosenPatterns(names []string) []candlePattern {
	var chosen []candlePattern
	for k, p := range candlePatterns {
		// The patterns of one candle come first in the list.
		if slices.Contains(names, "all") || slices.Contains(names, p.name) || slices.Contains(names, "multi") && k >= len(oneCandle) {
			chosen = append(chosen, p)
		}
	}
	return chosen
}

// candleMemory is the number of bars that can have a say in a result: the last
// seven candles and the ten before the first of them.
const candleMemory = 7 + 10

// candlePatterns are all patterns, by number of candles.
var candlePatterns = func() []candlePattern {
	all := slices.Concat(oneCandle, twoCandles, threeCandles, moreCandles)
	for i := range all {
		c := &all[i]
		for n, given := range []bool{c.one != nil, c.two != nil, c.three != nil, c.four != nil, c.five != nil} {
			if given {
				c.size, c.begin = n+1, cmp.Or(c.begin, n+10)
			}
		}
	}
	return all
}()

// patternNames returns the names of all patterns in their order.
func patternNames() []string {
	var names []string
	for _, p := range candlePatterns {
		names = append(names, p.name)
	}
	return names
}

// patternEvent is every label that a pattern can emit, and which pattern is then complete.
func patternEvent() Event {
	e := Event{means: make(map[string]string), unset: func(r Request, label string) string {
		for _, p := range chosenPatterns(r.Args.Chosen("pattern")) {
			if labels := p.labels(); slices.Contains(labels[:], label) {
				return ""
			}
		}
		return "pattern to all"
	}}
	for _, p := range candlePatterns {
		// The words stand in the order of labels; a pattern that comes one way needs none.
		kinds := [4]string{"bullish ", "bearish ", "confirmed bullish ", "confirmed bearish "}
		if p.way != Auto {
			kinds = [4]string{}
		}
		for k, l := range p.labels() {
			if l != "" && e.means[l] == "" {
				e.labels = append(e.labels, l)
				e.means[l] = "a " + kinds[k] + "pattern " + p.name + " is complete on this bar (TA-Lib's CDL" + strings.ToUpper(p.name) + ")"
			}
		}
	}
	return e
}

// candleSignals returns a signal for every hit of the patterns: bullish ones at the
// low of their last candle, the others at its high. On one bar the patterns come in
// the order of the list.
func candleSignals(s *market.Series, patterns []candlePattern, p float64) (signals []Signal) {
	labels := make([][4]string, len(patterns)) // written once, not once a hit
	for k := range patterns {
		labels[k] = patterns[k].labels()
	}
	var candles []candle
	for from := 0; from < s.Len(); from += candleBlock {
		// Each block is measured together with the bars before it that its rules look at.
		first := max(0, from-candleMemory)
		candles = measureCandles(candles, s.Slice(first, min(s.Len(), from+candleBlock)), p)
		for i := from; i < first+len(candles); i++ {
			for k := range patterns {
				verdict := patterns[k].at(candles[:i-first+1], i)
				if verdict == 0 {
					continue
				}
				// A pattern with a fixed way has that tone; one that comes both ways takes
				// the sign of its verdict. Bullish ones are drawn below the bar.
				found := Mark(i, s.High[i], labelOf(&labels[k], verdict), patterns[k].way)
				if found.Tone == Auto {
					found.Tone = [2]Tone{Down, Up}[(1+cmp.Compare(verdict, 0))/2]
				}
				if found.Tone == Up {
					found.Y = s.Low[i]
				}
				found.Strength = max(verdict, -verdict)
				signals = append(signals, found)
			}
		}
	}
	return signals
}

// candleBlock is how many bars are measured at a time, so that they stay in
// the processor's cache while 61 rules look at them.
const candleBlock = 256

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

	penetration float64 // that was asked for; 0 for that of the pattern
}

// measureCandles returns the candles of s, in the memory of old if it has room. The sums
// over the few bars of a window are computed for each bar and do not slide. So a verdict
// depends only on these bars, and not on rounding errors of all bars before.
func measureCandles(old []candle, s *market.Series, penetration float64) []candle {
	candles := slices.Grow(old[:0], s.Len())[:s.Len()]
	for i := range candles {
		c := &candles[i]
		c.open, c.high, c.low, c.close, c.penetration = s.Open[i], s.High[i], s.Low[i], s.Close[i], penetration
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
	n := len(before)
	for k := max(0, n-10); k < n; k++ {
		b := &before[k]
		body += b.body
		shadows += b.upper + b.lower
		ten += b.high - b.low
		if k >= n-5 {
			five += b.high - b.low
		}
	}
	// A NaN makes every comparison false, so that no pattern which needs it is found.
	if n < 10 {
		body, shadows, ten = nan, nan, nan
	}
	if n < 5 {
		five = nan
	}
	// The order of these divisions is TA-Lib's; it averages the shadows of both sides together.
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

// deep is like reach, by the penetration that was asked for, or else that of TA-Lib.
func (c *candle) deep(usual float64) float64 { return c.reach(cmp.Or(c.penetration, usual)) }

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
func allWhite(k ...*candle) bool { return sameColour(k...) && k[0].white() }
func allBlack(k ...*candle) bool { return sameColour(k...) && k[0].black() }
func sameColour(k ...*candle) bool {
	return !slices.ContainsFunc(k, func(c *candle) bool { return c.sign != k[0].sign })
}

// candlePattern is one pattern. It is compared with TA-Lib to the last bit, so the
// rules keep its strict and loose comparisons as they are.
type candlePattern struct {
	name  string
	begin int // first bar with a verdict, as in TA-Lib; by default ten bars come before the first candle
	size  int // candles it looks at, which a rule of one to five says
	// way is Up or Down for a pattern that comes one way only, Muted for one
	// without direction, Auto for one that comes both ways.
	way      Tone
	confirms bool // a later bar may confirm it: a verdict of 200

	// One of these judges as many candles, the oldest first: 0 for no, positive
	// for bullish, negative for bearish, in TA-Lib's numbers.
	one   func(a *candle) int
	two   func(a, b *candle) int
	three func(a, b, c *candle) int
	four  func(a, b, c, d *candle) int
	five  func(a, b, c, d, e *candle) int
	more  func(k []candle) int
}

// at returns the verdict on bar i, the last of candles.
func (c *candlePattern) at(candles []candle, i int) int {
	if i < c.begin {
		return 0
	}
	switch k := candles[len(candles)-c.size:]; c.size {
	case 1:
		return c.one(&k[0])
	case 2:
		return c.two(&k[0], &k[1])
	case 3:
		return c.three(&k[0], &k[1], &k[2])
	case 4:
		return c.four(&k[0], &k[1], &k[2], &k[3])
	case 5:
		return c.five(&k[0], &k[1], &k[2], &k[3], &k[4])
	default:
		return c.more(k)
	}
}

// labels returns what its hits are called, in the order of labelOf.
func (c *candlePattern) labels() [4]string {
	switch {
	case c.way != Auto:
		return [4]string{c.name, c.name}
	case c.confirms:
		return [4]string{c.name + "_bull", c.name + "_bear", c.name + "_confirmed_bull", c.name + "_confirmed_bear"}
	}
	return [4]string{c.name + "_bull", c.name + "_bear"}
}

// labelOf picks the label of a verdict: bullish, bearish, and the same confirmed.
func labelOf(labels *[4]string, verdict int) string {
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

// oneCandle holds the patterns of a single candle.
var oneCandle = []candlePattern{
	{name: "doji", way: Muted, one: func(a *candle) int { return hit(a.doji(), 100) }},
	{name: "dragonflydoji", way: Muted, one: func(a *candle) int { return hit(a.doji() && a.noUpper() && a.hasLower(), 100) }},
	{name: "gravestonedoji", way: Muted, one: func(a *candle) int { return hit(a.doji() && a.noLower() && a.hasUpper(), 100) }},
	{name: "takuri", way: Up, one: func(a *candle) int { return hit(a.doji() && a.noUpper() && a.veryLongLower(), 100) }},
	{name: "longleggeddoji", way: Muted, one: func(a *candle) int { return hit(a.doji() && (a.longUpper() || a.longLower()), 100) }},
	{name: "rickshawman", way: Muted, one: func(a *candle) int {
		mid := a.low + (a.high-a.low)/2
		return hit(a.doji() && a.longUpper() && a.longLower() &&
			a.bottom <= mid+a.near && a.top >= mid-a.near, 100)
	}},
	// From here on the colour gives the sign.
	{name: "highwave", one: func(a *candle) int { return hit(a.short() && a.veryLongUpper() && a.veryLongLower(), a.sign*100) }},
	{name: "spinningtop", one: func(a *candle) int { return hit(a.short() && a.longUpper() && a.longLower(), a.sign*100) }},
	{name: "longline", one: func(a *candle) int { return hit(a.long() && a.smallUpper() && a.smallLower(), a.sign*100) }},
	{name: "shortline", one: func(a *candle) int { return hit(a.short() && a.smallUpper() && a.smallLower(), a.sign*100) }},
	{name: "marubozu", one: func(a *candle) int { return hit(a.marubozu(), a.sign*100) }},
	{name: "closingmarubozu", one: func(a *candle) int {
		return hit(a.long() && (a.white() && a.noUpper() || a.black() && a.noLower()), a.sign*100)
	}},
	{name: "belthold", one: func(a *candle) int {
		return hit(a.long() && (a.white() && a.noLower() || a.black() && a.noUpper()), a.sign*100)
	}},
}

// twoCandles holds the patterns of two candles, a and then b.
var twoCandles = []candlePattern{
	// The four shapes with one long shadow differ by where they stand: the first two by
	// how near they are to the low or the high before, the others by a gap.
	{name: "hammer", way: Up, two: func(a, b *candle) int {
		return hit(b.short() && b.longLower() && b.noUpper() && b.bottom <= a.low+a.near, 100)
	}},
	{name: "hangingman", way: Down, two: func(a, b *candle) int {
		return hit(b.short() && b.longLower() && b.noUpper() && b.bottom >= a.high-a.near, -100)
	}},
	{name: "invertedhammer", way: Up, two: func(a, b *candle) int { return hit(b.short() && b.longUpper() && b.noLower() && b.gapsBelow(a), 100) }},
	{name: "shootingstar", way: Down, two: func(a, b *candle) int { return hit(b.short() && b.longUpper() && b.noLower() && b.gapsAbove(a), -100) }},
	{name: "dojistar", two: func(a, b *candle) int { return hit(a.long() && b.doji() && onwards(a, b), -a.sign*100) }},
	{name: "engulfing", begin: 2, two: func(a, b *candle) int {
		if !opposite(a, b) || b.top < a.top || b.bottom > a.bottom {
			return 0
		}
		return b.sign * strictness(b.top != a.top, b.bottom != a.bottom)
	}},
	{name: "harami", two: func(a, b *candle) int { return hit(b.notLong(), harami(a, b)) }},
	{name: "haramicross", two: func(a, b *candle) int { return hit(b.doji(), harami(a, b)) }},
	{name: "homingpigeon", way: Up, two: func(a, b *candle) int {
		return hit(a.black() && b.black() && a.long() && b.notLong() && b.open < a.open && b.close > a.close, 100)
	}},
	{name: "matchinglow", begin: 6, way: Up, two: func(a, b *candle) int {
		return hit(a.black() && b.black() && equals(b.close, a.close, a.equal), 100)
	}},
	{name: "darkcloudcover", way: Down, two: func(a, b *candle) int {
		return hit(a.white() && a.long() && b.black() && b.open > a.high && between(a.open, b.close, a.deep(0.5)), -100)
	}},
	// This one and the next three open below the low of a long black candle and differ
	// by how far they come back: past its middle, past its close, to its close, to its
	// low.
	{name: "piercing", way: Up, two: func(a, b *candle) int {
		return hit(underLow(a, b) && b.long() && between(a.reach(0.5), b.close, a.open), 100)
	}},
	{name: "thrusting", way: Down, two: func(a, b *candle) int {
		return hit(underLow(a, b) && b.close > a.close+a.equal && b.close <= a.reach(0.5), -100)
	}},
	{name: "inneck", way: Down, two: func(a, b *candle) int {
		return hit(underLow(a, b) && b.close >= a.close && b.close <= a.close+a.equal, -100)
	}},
	{name: "onneck", way: Down, two: func(a, b *candle) int { return hit(underLow(a, b) && equals(b.close, a.low, a.equal), -100) }},
	{name: "counterattack", two: func(a, b *candle) int {
		return hit(opposite(a, b) && a.long() && b.long() && equals(b.close, a.close, a.equal), b.sign*100)
	}},
	{name: "separatinglines", two: func(a, b *candle) int {
		return hit(opposite(a, b) && equals(b.open, a.open, a.equal) && b.long() &&
			(b.white() && b.noLower() || b.black() && b.noUpper()), b.sign*100)
	}},
	{name: "kicking", two: func(a, b *candle) int { return hit(kicking(a, b), b.sign*100) }},
	{name: "kickingbylength", two: func(a, b *candle) int {
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

// threeCandles holds the patterns of three candles, a, b and c.
var threeCandles = []candlePattern{
	{name: "2crows", way: Down, three: func(a, b, c *candle) int {
		return hit(a.white() && a.long() && b.black() && b.gapsAbove(a) &&
			c.black() && between(b.close, c.open, b.open) && between(a.open, c.close, a.close), -100)
	}},
	{name: "upsidegap2crows", way: Down, three: func(a, b, c *candle) int {
		return hit(a.white() && a.long() && b.black() && b.notLong() && b.gapsAbove(a) &&
			c.black() && c.open > b.open && between(a.close, c.close, b.close), -100)
	}},
	// A harami, and then a close beyond the first open: it reverses the first candle.
	{name: "3inside", three: func(a, b, c *candle) int {
		return hit(a.long() && b.notLong() && b.top < a.top && b.bottom > a.bottom && opposite(a, c) &&
			(a.white() && c.close < a.open || a.black() && c.close > a.open), -a.sign*100)
	}},
	{name: "3outside", begin: 3, three: func(a, b, c *candle) int {
		return hit(opposite(a, b) && b.top > a.top && b.bottom < a.bottom &&
			(b.white() && c.close > b.close || b.black() && c.close < b.close), b.sign*100)
	}},
	{name: "3starsinsouth", way: Up, three: func(a, b, c *candle) int {
		return hit(allBlack(a, b, c) && a.long() && a.longLower() &&
			b.body < a.body && b.open > a.close && b.open <= a.high && b.low < a.close && b.low >= a.low && b.hasLower() &&
			c.short() && c.noUpper() && c.noLower() && c.low > b.low && c.high < b.high, 100)
	}},
	{name: "3whitesoldiers", way: Up, three: func(a, b, c *candle) int {
		return hit(allWhite(a, b, c) && a.noUpper() && b.noUpper() && c.noUpper() &&
			c.close > b.close && b.close > a.close && opensInside(a, b) && opensInside(b, c) &&
			b.body > a.body-a.far && c.body > b.body-b.far && c.long(), 100)
	}},
	{name: "advanceblock", way: Down, three: func(a, b, c *candle) int {
		return hit(allWhite(a, b, c) && c.close > b.close && b.close > a.close && opensInside(a, b) && opensInside(b, c) &&
			a.long() && a.smallUpper() && weakening(a, b, c), -100)
	}},
	{name: "stalledpattern", way: Down, three: func(a, b, c *candle) int {
		return hit(allWhite(a, b, c) && c.close > b.close && b.close > a.close && a.long() &&
			b.long() && b.noUpper() && opensInside(a, b) && c.short() && c.open >= b.close-c.body-b.near, -100)
	}},
	{name: "identical3crows", way: Down, three: func(a, b, c *candle) int {
		return hit(allBlack(a, b, c) && a.noLower() && b.noLower() && c.noLower() && a.close > b.close && b.close > c.close &&
			equals(b.open, a.close, a.equal) && equals(c.open, b.close, b.equal), -100)
	}},
	// The stars: a long candle, a small one or a doji beyond a gap, and one that
	// reaches back. Morning turns a fall, evening a rise.
	{name: "morningstar", way: Up, three: func(a, b, c *candle) int { return hit(a.black() && b.notLong() && star(a, b, c), 100) }},
	{name: "morningdojistar", way: Up, three: func(a, b, c *candle) int { return hit(a.black() && b.doji() && star(a, b, c), 100) }},
	{name: "eveningstar", way: Down, three: func(a, b, c *candle) int { return hit(a.white() && b.notLong() && star(a, b, c), -100) }},
	{name: "eveningdojistar", way: Down, three: func(a, b, c *candle) int { return hit(a.white() && b.doji() && star(a, b, c), -100) }},
	{name: "abandonedbaby", three: func(a, b, c *candle) int {
		alone := a.white() && b.clearAbove(a) && c.clearBelow(b) || a.black() && b.clearBelow(a) && c.clearAbove(b)
		return hit(alone && b.doji() && star(a, b, c), c.sign*100)
	}},
	{name: "tristar", three: func(a, b, c *candle) int {
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
	{name: "unique3river", way: Up, three: func(a, b, c *candle) int {
		return hit(a.black() && a.long() && b.black() && b.close > a.close && b.open <= a.open && b.low < a.low &&
			c.white() && c.short() && c.open > b.low, 100)
	}},
	{name: "sticksandwich", begin: 7, way: Up, three: func(a, b, c *candle) int {
		return hit(a.black() && b.white() && c.black() && b.low > a.close && equals(c.close, a.close, a.equal), 100)
	}},
	{name: "gapsidesidewhite", begin: 7, three: func(a, b, c *candle) int {
		switch {
		case !allWhite(b, c) || !equals(c.body, b.body, b.near) || !equals(c.open, b.open, b.equal):
			return 0
		case b.gapsAbove(a) && c.gapsAbove(a):
			return 100
		case b.gapsBelow(a) && c.gapsBelow(a):
			return -100
		}
		return 0
	}},
	{name: "tasukigap", begin: 7, three: func(a, b, c *candle) int {
		if !opposite(b, c) || !between(b.bottom, c.open, b.top) || !(math.Abs(b.body-c.body) < b.near) {
			return 0
		}
		return hit(b.white() && b.gapsAbove(a) && between(a.top, c.close, b.open) ||
			b.black() && b.gapsBelow(a) && between(b.open, c.close, a.bottom), b.sign*100)
	}},
	{name: "xsidegap3methods", begin: 2, three: func(a, b, c *candle) int {
		return hit(!opposite(a, b) && opposite(b, c) && onwards(a, b) &&
			between(b.bottom, c.open, b.top) && between(a.bottom, c.close, a.top), a.sign*100)
	}},
	// Six, because a confirmation may come three candles after the trap of three.
	{name: "hikkake", size: 6, begin: 5, confirms: true, more: func(k []candle) int { return confirmed(k, 3, trap) }},
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
// that reaches back deep into the first body.
func star(a, b, c *candle) bool {
	if !a.long() || !onwards(a, b) || !opposite(a, c) || !c.long() {
		return false
	}
	if a.white() {
		return c.close < a.deep(0.3)
	}
	return c.close > a.deep(0.3)
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

// moreCandles holds the patterns of four and five candles, a to e.
var moreCandles = []candlePattern{
	{name: "3blackcrows", way: Down, four: func(a, b, c, d *candle) int {
		return hit(a.white() && allBlack(b, c, d) && b.noLower() && c.noLower() && d.noLower() &&
			between(b.close, c.open, b.open) && between(c.close, d.open, c.open) &&
			a.high > b.close && b.close > c.close && c.close > d.close, -100)
	}},
	// Three candles of one colour that go on and on, then one of the other colour that
	// opens beyond the third and closes beyond the open of the first. The sign is that
	// of the three.
	{name: "3linestrike", begin: 8, four: func(a, b, c, d *candle) int {
		if !sameColour(a, b, c) || !opposite(c, d) || !opensNear(a, b) || !opensNear(b, c) {
			return 0
		}
		return hit(c.white() && c.close > b.close && b.close > a.close && d.open > c.close && d.close < a.open ||
			c.black() && c.close < b.close && b.close < a.close && d.open < c.close && d.close > a.open, c.sign*100)
	}},
	{name: "concealbabyswall", way: Up, four: func(a, b, c, d *candle) int {
		return hit(allBlack(a, b, c, d) && a.noUpper() && a.noLower() && b.noUpper() && b.noLower() &&
			c.gapsBelow(b) && c.hasUpper() && c.high > b.close && d.high > c.high && d.low < c.low, 100)
	}},
	{name: "breakaway", five: func(a, b, c, d, e *candle) int {
		if !a.long() || opposite(a, b) || opposite(a, d) || !opposite(a, e) || !onwards(a, b) {
			return 0
		}
		return hit(a.black() && lower(b, c) && lower(c, d) && between(b.open, e.close, a.close) ||
			a.white() && lower(c, b) && lower(d, c) && between(a.close, e.close, b.open), e.sign*100)
	}},
	{name: "ladderbottom", way: Up, five: func(a, b, c, d, e *candle) int {
		return hit(allBlack(a, b, c, d) && a.open > b.open && b.open > c.open && a.close > b.close && b.close > c.close &&
			d.hasUpper() && e.white() && e.open > d.open && e.close > d.high, 100)
	}},
	{name: "mathold", way: Up, five: func(a, b, c, d, e *candle) int {
		floor := a.deep(0.5)
		return hit(a.white() && a.long() && b.short() && c.short() && d.short() && b.black() && b.gapsAbove(a) &&
			between(floor, c.bottom, a.close) && between(floor, d.bottom, a.close) && c.top < b.open && d.top < c.top &&
			e.white() && e.open > d.close && e.close > max(b.high, c.high, d.high), 100)
	}},
	{name: "risefall3methods", five: func(a, b, c, d, e *candle) int {
		if !a.long() || !e.long() || opposite(a, e) || !opposite(a, b) || !sameColour(b, c, d) {
			return 0
		}
		for _, k := range []*candle{b, c, d} {
			if !k.short() || k.bottom >= a.high || k.top <= a.low {
				return 0
			}
		}
		return hit(a.white() && c.close < b.close && d.close < c.close && e.open > d.close && e.close > a.close ||
			a.black() && c.close > b.close && d.close > c.close && e.open < d.close && e.close < a.close, a.sign*100)
	}},
	{name: "hikkakemod", size: 7, begin: 10, confirms: true, more: func(k []candle) int { return confirmed(k, 4, nestedTrap) }},
}

// opensNear reports whether b opens within or near a's body.
func opensNear(a, b *candle) bool { return b.open >= a.bottom-a.near && b.open <= a.top+a.near }

// lower reports whether b has a lower high and a lower low than a.
func lower(a, b *candle) bool { return b.high < a.high && b.low < a.low }
