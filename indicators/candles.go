package indicators

import (
	"math"
	"slices"
	"strings"

	"wick/indicators/shape"
	"wick/market"
)

// Candle patterns, by TA-Lib's rules: 61 of them, each a short function over
// the last few candles in one of the tables candles_*.go.

var indCandles = Indicator{
	Name: "candles", Title: "Candles", Aliases: []string{"candle_patterns", "candlestick_patterns", "cdl", "cdl_pattern", "patterns"},
	Category: Pattern, Overlay: true,
	Doc: "Candle patterns: the 61 of TA-Lib, by its rules to the last bit. What counts as long, short, near or equal is measured by the five or ten candles before. " +
		"A pattern that comes both ways has two labels, such as engulfing_bull and engulfing_bear; one that comes one way, or says nothing about direction (doji), has its plain name.",
	Formula: "each pattern is a rule over the last 1 to 5 candles; averages over the 5 or 10 candles before",
	Params: []Param{
		patternParam(),
		{Name: "newest", Aliases: []string{"n", "last"}, Doc: "newest signals to return; 0 returns all, which are one or two a bar", Kind: Int, Min: 0, Max: market.MaxLimit, Quiet: true},
		{Name: "penetration", Doc: "how far into the first body the last candle must reach, as a fraction of it; 0 takes TA-Lib's own, 0.3, and 0.5 for darkcloudcover and mathold",
			Min: 0, Max: 1, Quiet: true},
	},
	Signals: patternLabels(), Meanings: patternMeanings(),
	Warmup: func(Args) int { return candleMemory },
	Compute: func(s *market.Series, a Args) *Result {
		signals := candleSignals(s, chosenPatterns(a.Chosen("pattern")), a.Float("penetration"))
		// Signals are in order of bar, so the newest are at the end.
		if n := a.Int("newest"); n > 0 && n < len(signals) {
			signals = signals[len(signals)-n:]
		}
		return &Result{Signals: signals}
	},
}

// patternParam returns the parameter "pattern".
func patternParam() Param {
	p := manyOf("pattern", "which patterns to look for, one or more; multi leaves out those of a single candle, which come every few bars",
		append([]string{"all", "multi"}, patternNames()...)...)
	p.Aliases = []string{"patterns"}
	return p
}

// chosenPatterns returns the patterns that names stand for. The order is that of the
// list, whatever the order of the names.
func chosenPatterns(names []string) []candlePattern {
	var chosen []candlePattern
	for k, p := range candlePatterns {
		// The patterns of one candle come first in the list, which is how multi leaves
		// them out.
		if slices.Contains(names, "all") || slices.Contains(names, p.name) || slices.Contains(names, "multi") && k >= len(oneCandle) {
			chosen = append(chosen, p)
		}
	}
	return chosen
}

// candleMemory is the number of bars that can have a say in a result: the last
// seven candles and the ten before the first of them.
const candleMemory = 7 + 10

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

// candlePatterns are all patterns, by number of candles.
var candlePatterns = slices.Concat(oneCandle, twoCandles, threeCandles, moreCandles)

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

// patternNames returns the names of all patterns in their order.
func patternNames() []string {
	var names []string
	for _, p := range candlePatterns {
		names = append(names, p.name)
	}
	return names
}

// patternLabels returns every label a pattern can emit.
func patternLabels() []string {
	var labels []string
	for _, p := range candlePatterns {
		for _, l := range p.labels() {
			if l != "" && !slices.Contains(labels, l) {
				labels = append(labels, l)
			}
		}
	}
	return labels
}

// patternMeanings says of every label which pattern is complete.
func patternMeanings() map[string]string {
	out := make(map[string]string)
	for _, p := range candlePatterns {
		// The words stand in the order of labels; a pattern that comes one way needs
		// none.
		kinds := [4]string{"bullish ", "bearish ", "confirmed bullish ", "confirmed bearish "}
		if p.way != Auto {
			kinds = [4]string{}
		}
		for k, l := range p.labels() {
			if l != "" {
				out[l] = "a " + kinds[k] + "pattern " + p.name + " is complete on this bar (TA-Lib's CDL" + strings.ToUpper(p.name) + ")"
			}
		}
	}
	return out
}

// candleSignals returns a signal for every hit of the patterns: bullish ones at the
// low of their last candle, the others at its high. On one bar the patterns come in
// the order of the list.
func candleSignals(s *market.Series, patterns []candlePattern, p float64) []Signal {
	labels := make([][4]string, len(patterns)) // written once, not once a hit
	for k := range patterns {
		labels[k] = patterns[k].labels()
	}
	var signals []Signal
	var candles []candle
	for from := 0; from < s.Len(); from += candleBlock {
		// Each block is measured together with the bars before it that its rules look
		// at.
		first := max(0, from-candleMemory)
		candles = measureCandles(candles, s.Slice(first, min(s.Len(), from+candleBlock)))
		for i := from; i < first+len(candles); i++ {
			signals = appendHits(signals, s, i, candles[:i-first+1], patterns, labels, p)
		}
	}
	return signals
}

// candleBlock is how many bars are measured at a time, so that they stay in
// the processor's cache while 61 rules look at them.
const candleBlock = 256

// appendHits appends the signals of bar i, whose candle is the last of those
// given.
func appendHits(dst []Signal, s *market.Series, i int, candles []candle, patterns []candlePattern, labels [][4]string, p float64) []Signal {
	for k := range patterns {
		verdict := patterns[k].at(candles, i, p)
		if verdict == 0 {
			continue
		}
		// A pattern with a fixed way has that tone; one that comes both ways takes the
		// sign of its verdict. Bullish ones are drawn below the bar.
		found := shape.Mark(i, s.High[i], label(&labels[k], verdict), patterns[k].way)
		if found.Tone == Auto && verdict > 0 {
			found.Tone = Up
		} else if found.Tone == Auto {
			found.Tone = Down
		}
		if found.Tone == Up {
			found.Y = s.Low[i]
		}
		found.Strength = max(verdict, -verdict)
		dst = append(dst, found)
	}
	return dst
}

// candle is one bar, measured. The averages are over the candles before it,
// itself left out, and NaN until there are enough: then no rule that needs one
// holds.
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

// measureCandles returns the candles of s, in the memory of old if it has room.
// Sums over the few bars of a window are taken anew for each bar and not slid:
// a verdict then depends on these bars only, not on the rounding left by all
// that came before.
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

// hit returns the verdict if the rule holds.
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
